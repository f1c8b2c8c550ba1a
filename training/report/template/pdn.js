// A game as a file in Portable Draughts Notation.

const quoted = (text) => `"${text.replace(/[\r\n]+/g, " ").replace(/["\\]/g, "\\$&")}"`;

const pdn = (game, moves, whiteFirst) => {
  const { start } = league.openings[game.opening];
  const tags = {
    Event: document.title,
    Site: "?",
    Date: "????.??.??",
    Round: String(game.number + 1),
    Black: league.players[game.black],
    White: league.players[game.white],
    Result: RESULTS[game.score],
    GameType: "21",
    ...(start === league.start ? {} : { SetUp: "1", FEN: start }),
    Termination: league.reasons[game.reason],
  };
  const head = Object.entries(tags).map(([name, value]) => `[${name} ${quoted(value)}]\n`);
  const numbered = moves.map(({ text }, index) => {
    const turns = index + whiteFirst;
    if (turns % 2 === 0) return `${turns / 2 + 1}. ${text}`;
    return index ? text : `1... ${text}`;
  });
  return `${head.join("")}\n${[...numbered, RESULTS[game.score]].join(" ")}\n`;
};
