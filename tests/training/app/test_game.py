"""The game model of the pages, in Node: words, PDN, clock, draw offers, ratings, storage."""

import numpy as np
import pytest

from checkers_env import Board, fen, openings, pdn
from tests.agents.search.test_alphabeta import random_boards
from tests.training.app.test_engine import random_game

pytestmark = pytest.mark.browser

FORCED = "W:W30,31,22,K6:B26,18,17,9,3,K14"  # 30x23, 22x15, 22x13 and 6x13
ROUTES = "B:W6,7,14,15:BK2"  # 2x9x18x11x2 and 2x11x18x9x2: the same ends

IMPORTS = """
import { Game, createBoard, readOpening } from "./game.js";
import { readBook, readPdn, writePdn } from "./pdn.js";
import { describeMove, explainForcedCapture, explainIllegalMove } from "./words.js";

const stored = new Map();
globalThis.window = { localStorage: {
  getItem: (key) => stored.get(key) ?? null, setItem: (key, text) => stored.set(key, text),
  removeItem: (key) => stored.delete(key),
} };
let now = 0;
performance.now = () => 1000 * now;
Date.now = () => 1000 * now;
const begin = (changes = {}) => new Game({
  player: { agent: "it" }, agent: "it", label: "it", name: "It", person: "Ada", rating: 1800,
  side: 0, start: createBoard().fen, moves: [], standard: true, clock: null, seed: 1,
  startTime: "2026-01-02", ...changes,
});
const attempt = (action) => { try { return action(); } catch (error) { return error.message; } };
const legal = (game, text) => game.board.parseMove(text);
const reply = (game, move, fields = {}) =>
  game.playAgentMove({ label: "it", move, pv: [move], ...fields });
"""


@pytest.fixture
def play(run_js):
    return lambda script, **asked: run_js(IMPORTS + script, **asked)


# Words


@pytest.mark.parametrize(("position", "squares", "words"), [
    (fen.START, [15], "no piece on 15"),
    (fen.START, [22], "is White's, and Black is to move"),
    (fen.START, [1], "blocked"),
    (fen.START, [11, 20], "one square diagonally forward. The piece on 11 can go 11-15 or 11-16"),
    ("B:W32:BK10", [10, 1], "in any diagonal direction"),
    (FORCED, [31], "White must capture: 30x23, 22x15, 22x13 or 6x13. The piece on 31 cannot."),
    (ROUTES, [2, 9], "not finished"),
    (ROUTES, [2, 6], "A capture must be made"),
])  # fmt: skip
def test_illegal_moves_are_refused_with_a_reason(play, position, squares, words):
    script = "answer = explainIllegalMove(createBoard(asked.position), asked.squares);"
    assert words in play(script, position=position, squares=squares)


def test_any_squares_are_refused_in_words(play):
    rng, asked = np.random.default_rng(8), []
    for board in random_boards(9, 60, 90):
        legal = {move.squares for move in board.legal_moves}
        tries = [tuple(rng.integers(1, 33, rng.integers(1, 5)).tolist()) for _ in range(20)]
        asked.append([board.fen(), [it for it in tries if it not in legal]])
    said = play(
        """answer = asked.boards.map(([fen, all]) => {
            const board = createBoard(fen);
            const refusals = all.map((each) => explainIllegalMove(board, each));
            return [explainForcedCapture(board), ...refusals];
        });""",
        boards=asked,
    )
    for (position, _), (forced, *refusals) in zip(asked, said, strict=True):
        assert bool(forced) == bool(Board(position).legal_moves[0].captured)
        assert all(refusal.endswith(".") for refusal in refusals)


def test_moves_are_described_in_words(play):
    script = """answer = asked.cases.map(([fen, text]) => {
        const board = createBoard(fen);
        return describeMove(board, board.parseMove(text));
    });"""
    cases = {
        (fen.START, "11-15"): "Black's man moves from 11 to 15.",
        ("B:W5:B25", "25-30"): "Black's man moves from 25 to 30, and becomes a king.",
        (ROUTES, "2x9x18x11x2"): "Black's king jumps from 2 to 9, 18, 11 then 2, "
        "capturing on 6, 14, 15 and 7.",
    }
    assert play(script, cases=[list(case) for case in cases]) == list(cases.values())


# PDN


def test_games_are_written_and_read_as_python_does(play):
    rng = np.random.default_rng(4)
    starts = [fen.START] * 5 + ["W:W30,K31:B1,2", "B:WK29,K30:BK3,K4", FORCED]
    games = []
    for start in starts:
        board, texts = Board(start, max_moves=None), random_game(rng, start)[1]
        for text in texts:
            board.push(text)
        tags = {"FEN": start, "Black": 'a "b" \\', "Event": "e"}
        games.append((tags, start, texts, pdn.Game(tags, tuple(board.moves), "1-0")))
    written = play(
        """answer = asked.games.map(([{ FEN, ...tags }, start, moves]) => {
            const text = writePdn(tags, start, moves, "1-0");
            return [text, readPdn(text)];
        });""",
        games=[list(game[:3]) for game in games],
    )
    for (_, start, texts, game), (text, found) in zip(games, written, strict=True):
        assert text == pdn.dumps([game])
        assert found == {"start": Board(start).fen(), "moves": texts, "weight": "1"}


@pytest.mark.parametrize("text", [
    "1. 11-15 22-18 *",
    "1. 11-15 {a (comment} 22-18! ; to the end\n2. 15:22?? $5 25x18 *",
    "1. 11-15 (1. 11-16 (1. 9-13 {)}) 24-19) 23-19 1-0",
    '[FEN "B:WK32:BK1,K28"]\n% escaped\n\n1. 1-6 32-27* 1/2-1/2',
    "*",
    "\ufeff1 11\u201315 22x18, 2 15-22 good 25 x 18 1/2 \x1a",
    '[FEN "w:W18,24,k31,:B12,k3"] 31-27 \u00bd-\u00bd',
    '9-13 /FEN "W:W32:B1,29"/ 32-28 *',
    '[FEN "B:W14,15,22,23:B10"] 10x26 {9-13} 23-18',
])  # fmt: skip
def test_pdn_is_read_as_python_does(play, text):
    (game,) = pdn.loads(text)
    found = play("answer = attempt(() => readPdn(asked.text));", text=text)
    assert found == {"start": game.start, "moves": list(map(str, game.moves)), "weight": "1"}


@pytest.mark.parametrize(("text", "words"), [
    ("1. 11-12", "line 1, column 4: '11-12' is illegal"),
    ('[FEN "B:W1"]', "line 1, column 1: bad FEN"),
    ("1. 11-15\n{never closed", "line 2, column 1: '{never'"),
    ("1. 11-15 (24-19", "unterminated variation"),
    ('[FEN "B:W14,15,22,23:B10"] 10x26 *', "'10x26' is ambiguous: write 10x17x26 or 10x19x26"),
    ("11-15 e4", "'e4': expected a move such as 11-15"),
    ('[GameType "20"]', "expected '21', English draughts"),
    ("", "The PDN holds 0 games"),
    ("1. 11-15 1-0\n\n1. 11-15 1-0", "The PDN holds 2 games"),
    ("1. 11-15 1-0\n1-0", "line 2, column 1: '1-0' after the result"),
    ('[FEN "B:W32:B1"] [FEN "B:W32:B2"]', "a second tag FEN"),
])  # fmt: skip
def test_wrong_pdn_is_refused_with_a_reason(play, text, words):
    assert words in play("answer = attempt(() => readPdn(asked.text));", text=text)


@pytest.mark.parametrize("text", [
    '[FEN "B:W32:B1"] *\n[FEN "W:W32:B1,2"]\n[Weight "3"]\n*\n[Event "x"]\n1. 9-13* 22-18*\n',
    "1. 11-15 22-18 1-0\n1 9-13 0-1\n\n9-14 22-18 *",
    "# a list\n11-15 23-19 ; weight 2\r\nB:W32:B1 # a FEN\ntyne\n9-13, 21-17",
    "B:W32:B1\r?:W31,k30:B1,2,",
])  # fmt: skip
def test_openings_are_read_as_python_does(play, text):
    cards = [[name.lower(), card] for card, name in openings.NAMES.items()]
    script = "answer = readBook(asked.text, new Map(asked.cards));"
    found = play(script, text=text, cards=cards)
    names = [" ".join(it["moves"]) or it["start"] for it in found for _ in range(int(it["weight"]))]
    assert names == list(openings.read_book(text))


@pytest.mark.parametrize(("text", "words"), [
    ("11-15 # weight 1001", "the weight '1001' of an opening is not 1 to 1000"),
    ("11-15\nfoo", "'foo' is no opening: expected moves, a FEN or the name of a card"),
    ("11-15\n11-16 11-16", "line 2, column 7: '11-16' is illegal"),
    ("# none", "no opening"),
    ("1 " * 50_001, "more than 100000 characters"),
])  # fmt: skip
def test_wrong_openings_are_refused_with_a_reason(play, text, words):
    assert words in play("answer = attempt(() => readBook(asked.text, new Map()));", text=text)


def test_opening_is_moves_or_a_position(play):
    script = "answer = asked.texts.map((text) => attempt(() => readOpening(text)));"
    texts = ["", "1. 11-15,  23x19", "b:W32,:BK1,K28", "first", "B:W1", "11-16 1-2"]
    *good, first, position, move = play(script, texts=texts)
    assert good == [
        {"start": fen.START, "moves": []},
        {"start": fen.START, "moves": ["11-15", "23-19"]},
        {"start": "B:W32:BK1,K28", "moves": []},
    ]
    assert "is not a move" in first
    assert "bad FEN" in position
    assert "'1-2' is illegal" in move


# Game


def test_agent_is_asked_about_the_whole_game(play):
    script = """
        const game = begin({ moves: ["11-15"], side: 1, clock: { minutes: 1, increment: 2 } });
        answer = game.question();
    """
    assert play(script) == {
        "agent": "it", "start": fen.START, "moves": ["11-15"], "repetition": 3, "no_progress": 40,
        "seed": 1, "clock": {"seconds": pytest.approx(13.6), "share": pytest.approx(3.4)},
    }  # fmt: skip


def test_takeback_and_hint_need_ones_turn(play):
    script = """
        const game = begin();
        answer = [attempt(() => game.takeBack())];
        game.playMove(legal(game, "11-15"));
        answer.push(game.status, attempt(() => game.giveHint("", [])));
        answer.push(attempt(() => game.offerDraw()), attempt(() => game.playMove({})));
        reply(game, "22-18", { score: 0.5 });
        game.takeBack();
        answer.push(game.board.ply, Object.keys(game.analyses).length, game.status, game.message);
        game.giveHint("Strong", ["11-15", "22-18"]);
        answer.push(game.message, attempt(() => game.interruptAgent()));
        game.playMove(legal(game, "11-15"));
        game.takeBack();
        answer.push(game.board.ply);
        game.resign();
        for (const action of ["resign", "offerDraw", "takeBack", "giveHint", "playMove"]) {
            answer.push(attempt(() => game[action]({})));
        }
    """
    turn = "It is It's turn."
    assert play(script) == [
        "There is no move of yours to take back.",
        "thinking", turn, turn, turn,
        0, 0, "yours", "Taken back: it is your move again.",
        "Strong would play 11-15, expecting 22-18.",
        "The agent is not thinking.",
        0, *["The game is over."] * 5,
    ]  # fmt: skip


@pytest.mark.parametrize(("start", "score", "accepted", "words"), [
    (fen.START, 0.0, True, "It sees no advantage for itself, at +0.00."),
    (fen.START, 0.25, False, "It sees an advantage for itself, at +0.25."),
    (fen.START, -0.25, True, "It sees no advantage for itself, at \N{MINUS SIGN}0.25."),
    ("B:WK32,K31:BK1,K2", None, True, "It has no more pieces than you."),
    ("B:WK32,K31,K30:BK1,K2", None, False, "It has more pieces."),
])  # fmt: skip
def test_draw_offer_is_decided_by_the_evaluation_or_the_pieces(play, start, score, accepted, words):
    script = """
        const game = begin({ start: asked.start });
        game.offerDraw();
        answer = [game.message];
        game.playMove(game.board.legalMoves[0]);
        reply(game, game.board.legalMoves[0].text, { score: asked.score });
        game.offerDraw();
        answer.push(game.result, game.message);
    """
    hardly, result, message = play(script, start=start, score=score)
    assert hardly == "The offer of a draw is declined: the game has hardly begun."
    said = "Drawn by agreement: " if accepted else "The offer of a draw is declined: "
    assert (result, message) == ("1/2-1/2" if accepted else "*", said + words)


def test_clock_runs_from_the_second_move_on_and_adds_the_increment(play):
    script = """
        const game = begin({ clock: { minutes: 1, increment: 2 } });
        now = 1000;
        game.playMove(legal(game, "11-15"));
        answer = [[...game.clock.left]];
        reply(game, "22-18", { seconds: 5 });
        answer.push([...game.clock.left]);
        now += 10;
        answer.push(game.clock.remaining(0));
        game.playMove(legal(game, "15x22"));
        answer.push([...game.clock.left], attempt(() => game.takeBack()));
        game.clock.left[1] = 1;
        answer.push(game.question().clock.seconds);
    """
    assert play(script) == [
        [60, 60], [60, 57], 50, [52, 57], "No move is taken back in a game with a clock.", 0.5,
    ]  # fmt: skip


def test_flag_falls_for_either_side(play):
    script = """
        answer = [0, 60.5].map((seconds) => {
            const game = begin({ clock: { minutes: 1, increment: 2 } });
            game.playMove(legal(game, "11-15"));
            reply(game, "22-18", { seconds });
            if (game.status !== "over") {
                now += 60.5;
                if (!game.isFlagDown) throw new Error();
                game.playMove(legal(game, "15x22"));
            }
            const hasClock = game.toPdn().includes('"60+2"');
            return [game.result, game.reason, game.message, game.board.ply, hasClock];
        });
    """
    assert play(script) == [
        ["0-1", "White wins: Black's time is up.", "You lost: Black's time is up.", 2, True],
        ["1-0", "Black wins: White's time is up.", "You won: White's time is up.", 1, True],
    ]


UNRATED = {
    "you gave no rating of your own": "begin({ rating: null })",
    "it did not begin from the start or a card of the ballots": "begin({ standard: false })",
    "a hint was given": "game.hints = 1; game",
    "a move was taken back": "game.takebacks = 1; game",
    "the agent was told to move at once": "game.interruptions = 1; game",
    "the agent's weight file has changed since it began":
        'game.playMove(legal(game, "11-15")); reply(game, "22-18", { label: "other" }); game',
    "": "game",
}  # fmt: skip


def test_unfair_games_are_not_rated(play):
    cases = ", ".join(
        f"(() => {{ let game = begin(); {code.replace('begin(', 'game = begin(', 1)}; "
        "return game.unratedReason(); })()"
        for code in UNRATED.values()
    )
    assert play(f"answer = [{cases}];") == list(UNRATED)


def test_game_is_recorded_with_its_players(play):
    script = """
        const game = begin({ moves: ["11-15"], side: 1 });
        game.playMove(legal(game, "22-18"));
        game.resign();
        answer = game.toPdn();
    """
    (game,) = pdn.loads(play(script))
    assert (list(map(str, game.moves)), game.result) == (["11-15", "22-18"], "1-0")
    assert game.tags == {
        "Event": "A game against an agent", "Site": "checkers-play", "Date": "2026.01.02",
        "Round": "-", "Black": "it", "White": "Ada", "GameType": "21", "WhiteType": "human",
        "BlackType": "program", "WhiteRating": "1800", "Termination": "Black wins: White resigned.",
        "Rated": "yes",
    }  # fmt: skip


def test_game_is_stored_and_loaded(play):
    script = """
        const game = begin({ clock: { minutes: 1, increment: 0 }, moves: ["11-15"], side: 1 });
        game.playMove(legal(game, "22-18"));
        reply(game, "15x22", { seconds: 1, score: 0.5 });
        game.save();
        now = 10; // the person thinks while the page is closed
        const found = Game.load(game.key);
        answer = [found.frames().length, found.analyses[3].score, found.status, found.version];
        answer.push(found.clock.remaining(1), found.clock.remaining(0));
        for (let count = 0; count < 60; count += 1) begin().save();
        answer.push(stored.size, Game.load(game.key));
        const setup = '{"setup": {"moves": []}}';
        for (const damaged of ["", "{}", "[]", "null", '{"setup": 7}', setup]) {
            stored.set("game x", damaged);
            answer.push(Game.load("x"));
        }
    """
    assert play(script) == [4, 0.5, "yours", 2, 50, 59, 51, None, *[None] * 6]
