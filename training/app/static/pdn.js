// Games as text, in Portable Draughts Notation (checkers_env/pdn.py).

import { Board, MARK, readFen, START, writeFen } from "/static/engine/rules.js";

const RESULT = String.raw`(?:(?:1/2|\u00bd)(?:DASH(?:1/2|\u00bd))?|[0-2]DASH[0-2]|\*)(?![0-9x:/]|-[0-9])`
  .replaceAll("DASH", String.raw`\s*[-\u2010-\u2015\u2212]\s*`);
const TOKEN = new RegExp([
  `(?<result>${RESULT})`,
  `(?<move>[0-9]+(?:${MARK}[0-9]+)+)`,
  String.raw`(?<passed>[\s\x1a,]+|\{[^}]*\}|;[^\r\n]*|(?<![^\r\n])%[^\r\n]*|\$[0-9]+|[!?]+|[0-9]+\.+|\.{2,})`,
  String.raw`(?<variation>\()`,
  String.raw`\[\s*(?<name>\w+)\s*"(?<value>(?:[^"\\\r\n]|\\[^\r\n])*)"\s*\]`,
  String.raw`(?<number>[0-9]+)(?=\s+[0-9])`,
  String.raw`(?<remark>(?<![0-9])["']?\p{L}(?:\p{L}|[-.,:!?'"])*(?![\p{L}0-9]))`,
].join("|"), "yu");
const EXPECTED = 'expected a move such as 11-15, a result or a tag such as [Event "Match"]';
const WIDTH = 80;

// The place behind a variation; -1 if it does not end.
const endOfVariation = (text, start) => {
  let depth = 0;
  for (const match of text.slice(start).matchAll(/\{[^}]*\}|;[^\r\n]*|[()]/g)) {
    depth += Number(match[0] === "(") - Number(match[0] === ")");
    if (!depth) return start + match.index + 1;
  }
  return -1;
};

// The start and the moves of a single game: {start, moves}.
export const readPdn = (text) => {
  let [start, board, isOver] = [START, null, false];
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
    const { variation, name, value, result, move, number } = TOKEN.exec(text)?.groups
      ?? fail(`'${/\S{1,60}/.exec(text.slice(at))?.[0] ?? text[at]}': ${EXPECTED}`, at);
    if (number && start === START && Number(number) !== (board?.ply ?? 0) / 2 + 1) fail(`'${number}': ${EXPECTED}`, at);
    if (isOver && (name || move)) throw new Error("The PDN holds several games: give one to go on with.");
    if (variation) {
      TOKEN.lastIndex = endOfVariation(text, at);
      if (TOKEN.lastIndex < 0 || !TOKEN.lastIndex) fail("unterminated variation: expected )", at);
    }
    if (name && board) throw new Error("The PDN holds several games: give one to go on with.");
    if (name?.toLowerCase() === "fen") {
      start = attempt(() => writeFen(readFen(value)), at);
    }
    if (name?.toLowerCase() === "gametype" && value.split(",")[0].trim() !== "21") {
      fail(`GameType '${value}': expected '21', English draughts`, at);
    }
    if (result) isOver = board !== null && (result !== "*" || !/\d/.test(text[at - 1])); // 24-20* is no end
    if (move) {
      board ??= new Board(start);
      attempt(() => board.push(move), at);
    }
  }
  if (!board && !/[[*]|\d-\d/.test(text)) throw new Error("The PDN holds 0 games: give one to go on with.");
  return { start, moves: (board?.moves ?? []).map((each) => each.text) };
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
