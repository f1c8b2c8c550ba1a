// Games as text, in Portable Draughts Notation (checkers_env/pdn.py).

import { Board, MARK, readFen, START, writeFen } from "/static/engine/rules.js";

const RESULT = String.raw`(?:(?:1/2|\u00bd)(?:DASH(?:1/2|\u00bd))?|[0-2]DASH[0-2]|\*)(?![0-9x:/]|-[0-9])`
  .replaceAll("DASH", String.raw`\s*[-\u2010-\u2015\u2212]\s*`);
const TOKEN = new RegExp([
  `(?<result>${RESULT})`,
  `(?<move>[0-9]+(?:${MARK}[0-9]+)+)`,
  String.raw`(?<passed>[\s\x1a,]+|\{[^}]*\}|;[^\r\n]*|(?<![^\r\n])%[^\r\n]*|\$[0-9]+|[!?]+|[0-9]+\.+|\.{2,})`,
  String.raw`(?<variation>\()`,
  String.raw`/\s*FEN\s*"(?<setup>[^"/\r\n]*)"\s*/`,
  String.raw`\[\s*(?<name>\w+)\s*"(?<value>(?:[^"\\\r\n]|\\[^\r\n])*)"\s*\]`,
  String.raw`(?<number>[0-9]+)(?=\s+[0-9])`,
  String.raw`(?<remark>(?<![0-9])["']?\p{L}(?:\p{L}|[-.,:!?'"])*(?![\p{L}0-9]))`,
].join("|"), "yu");
const EXPECTED = 'expected a move such as 11-15, a result or a tag such as [Event "Match"]';
const WIDTH = 80;
const HAS_GAMES = /^\s*\[\s*\w+\s*"|(?<!\S)(?:\*|[0-2]-[0-2]|1\/2\S*)\s*$|^\s*(?!1\.)[0-9]+\./m;
const MAX_WEIGHT = 1000;
export const MAX_BOOK = 100_000; // characters

// The place behind a variation; -1 if it does not end.
const endOfVariation = (text, start) => {
  let depth = 0;
  for (const match of text.slice(start).matchAll(/\{[^}]*\}|;[^\r\n]*|[()]/g)) {
    depth += Number(match[0] === "(") - Number(match[0] === ")");
    if (!depth) return start + match.index + 1;
  }
  return -1;
};

// The move of a text: of several routes the one after which the next text is legal, if it decides.
const decide = (board, text, next) => {
  const found = board.findMoves(text);
  const kept = found.length < 2 ? found : found.filter((move) => {
    board.push(move);
    const goesOn = next && board.findMoves(next).length;
    board.pop();
    return goesOn;
  });
  return kept.length === 1 ? kept[0] : text; // which push() refuses
};

// The games of a text: {start, moves, weight} each, the weight that of an opening.
export const readGames = (text) => {
  const games = [];
  let [game, isOver] = [null, false];
  const fail = (message, at) => {
    const lines = text.slice(0, at).split("\n");
    throw new Error(`line ${lines.length}, column ${lines.at(-1).length + 1}: ${message}`);
  };
  const attempt = (action, at) => {
    try {
      return action();
    } catch (error) {
      return fail(error.message, at);
    }
  };
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < text.length;) {
    const at = TOKEN.lastIndex;
    const { variation, name, value, result, setup, move, number } = TOKEN.exec(text)?.groups
      ?? fail(`'${/\S{1,60}/.exec(text.slice(at))?.[0] ?? text[at]}': ${EXPECTED}`, at);
    const tag = name?.toLowerCase();
    const isEnd = result && !(result === "*" && /\d/.test(text[at - 1])); // 24-20* is no end
    const isNew = !game || isOver;
    if (number && (isNew || game.start === START) && Number(number) !== Math.floor((isNew ? 0 : game.written.length) / 2) + 1) fail(`'${number}': ${EXPECTED}`, at);
    if (isEnd && isOver) fail(`'${result}' after the result: expected a game`, at);
    if (variation) {
      TOKEN.lastIndex = endOfVariation(text, at);
      if (TOKEN.lastIndex < 0 || !TOKEN.lastIndex) fail("unterminated variation: expected )", at);
    }
    if ((isNew && (isEnd || tag || move || setup !== undefined)) || (tag && game.written.length)) {
      games.push(game = { start: START, board: new Board(START), written: [], weight: "1" });
      isOver = false;
    }
    if (tag === "fen" || setup !== undefined) {
      game.board = attempt(() => new Board(writeFen(readFen(value ?? setup, true))), at);
      if (tag && ![START, game.board.fen].includes(game.start)) fail("a second tag FEN, which differs from the first", at);
      game.start = game.board.fen;
      game.written = [];
    }
    if (tag === "gametype" && !["21", "?", ""].includes(value.split(",")[0].trim())) {
      fail(`GameType '${value}': expected '21', English draughts`, at);
    }
    if (tag === "weight") game.weight = value;
    if (move) game.written.push({ move, at });
    isOver ||= isEnd;
  }
  for (const { board, written } of games) {
    written.forEach(({ move, at }, index) => attempt(() => board.push(decide(board, move, written[index + 1]?.move)), at));
  }
  return games.map(({ start, board, weight }) => ({ start, moves: board.moves.map((each) => each.text), weight }));
};

// The only game of a text.
export const readPdn = (text) => {
  const games = readGames(text);
  if (games.length !== 1) throw new Error(`The PDN holds ${games.length} games: give one to go on with.`);
  return games[0];
};

const lineToPdn = (line, cards) => {
  const comment = /[#;](?:\s*weight\s+(?<weight>\S+))?/.exec(line);
  const words = line.slice(0, comment?.index).trim();
  const opening = cards.get(words.toLowerCase()) ?? words;
  if (opening && !/[0-9]/.test(opening)) throw new Error(`'${opening}' is no opening: expected moves, a FEN or the name of a card`);
  const weight = comment?.groups.weight ? `[Weight "${comment.groups.weight}"] ` : "";
  return opening && `${weight}${/^[BW?]\s*:/i.test(opening) ? `[FEN "${opening}"]` : opening} *`;
};

// The openings of PDN, or of lines with one each (checkers_env/openings.py). `cards` holds moves by the name of a card.
export const readBook = (text, cards) => {
  if (text.length > MAX_BOOK) throw new Error(`The text has more than ${MAX_BOOK} characters: give fewer openings.`);
  const games = readGames(HAS_GAMES.test(text) ? text : text.split(/\r?\n|\r/).map((line) => lineToPdn(line, cards)).join("\n"));
  if (!games.length) throw new Error("The text holds no opening.");
  const wrong = games.find(({ weight }) => !/^[0-9]+$/.test(weight) || Number(weight) < 1 || Number(weight) > MAX_WEIGHT);
  if (wrong) throw new Error(`the weight '${wrong.weight}' of an opening is not 1 to ${MAX_WEIGHT}`);
  return games;
};

const wrap = (words) => words.reduce((lines, word) => {
  if (lines.length && lines.at(-1).length + 1 + word.length <= WIDTH) lines[lines.length - 1] += ` ${word}`;
  else lines.push(word);
  return lines;
}, []).join("\n");

export const writePdn = (tags, start, moves, result) => {
  const { Event = "?", Site = "?", Date: date = "????.??.??", Round = "?", Black = "?", White = "?", ...others } = tags;
  const fen = writeFen(readFen(start));
  const position = fen === START ? {} : { SetUp: "1", FEN: fen };
  const all = { Event, Site, Date: date, Round, Black, White, Result: result, GameType: "21", ...position, ...others };
  const lines = Object.entries(all).map(([name, value]) => `[${name} "${value.replace(/[\r\n]+/g, " ").replace(/["\\]/g, "\\$&")}"]\n`);
  const first = Number(fen.startsWith("W"));
  const words = moves.flatMap((move, index) => {
    const ply = index + first;
    if (ply % 2 === 0) return [`${ply / 2 + 1}.`, move];
    return index === 0 ? ["1...", move] : [move];
  });
  return `${lines.join("")}\n${wrap([...words, result])}\n`;
};
