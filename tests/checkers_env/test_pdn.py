"""PDN: round trips, skipped text, and the places of errors."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers_env import fen, pdn, pdn_tokens
from checkers_env.board import Board
from checkers_env.movegen import BLACK, WHITE
from checkers_env.pdn import Game, PdnError
from tests.checkers_env.test_board import random_game
from tests.checkers_env.test_fen import PIECES
from tests.oracle import write_fen

TINSLEY = """\
[Event "1981 World Championship Match, Game #37"]
[Black "M. Tinsley"]
[White "A. Long"]
[Result "1-0"]

1. 9-14 23-18 2. 14x23 27x18 3. 5-9 26-23 4. 12-16 30-26 5. 16-19 24x15
6. 10x19 23x16 7. 11x20 22-17 8. 7-11 18-15 9. 11x18 28-24 10. 20x27 32x5 1-0
"""
TAG_NAMES = st.text("ABCabc_019", min_size=1, max_size=8)
TAG_VALUES = st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]))
STARTS = st.one_of(
    st.just(fen.START),
    st.builds(write_fen, st.sampled_from("bw"), PIECES).filter(lambda text: text != fen.START),
)


@st.composite
def games(draw):
    tags = draw(st.dictionaries(TAG_NAMES | st.sampled_from(pdn.ROSTER[:-1]), TAG_VALUES))
    start = draw(STARTS)
    if start != fen.START:
        tags |= {"SetUp": "1", "FEN": start}
    board = Board(start, max_moves=None)
    for choice in draw(st.lists(st.integers(0, 10**6), max_size=60)):
        if board.legal_moves:
            board.push(board.legal_moves[choice % len(board.legal_moves)])
    return Game(tags, tuple(board.moves), draw(st.sampled_from(pdn.RESULTS)))


def moves_of(text):
    [game] = pdn.loads(text)
    return [str(move) for move in game.moves]


@given(st.lists(games(), max_size=3))
def test_games_round_trip(written):
    text = pdn.dumps(written)
    read = pdn.loads(text)
    assert [replace(game, tags={}) for game in read] == [replace(game, tags={}) for game in written]
    for before, after in zip(written, read, strict=True):
        unset = {"Date": "????.??.??", "GameType": "21"} | dict.fromkeys(pdn.ROSTER[:-1], "?")
        assert after.tags == unset | {"Date": "????.??.??"} | before.tags
        assert after.board() == before.board()
    assert pdn.dumps(read) == text
    for line in text.split("\n"):
        assert len(line) <= 80 or line.startswith("[")


def test_written_file_has_the_expected_text():
    tags = {"Note": 'a "b" \\', "White": "Us", "FEN": "W:W6,7,14,15,32:BK2,1"}
    board = Board("W:W6,7,14,15,32:B1,K2")
    for move in ("32-28", "1x10x19"):
        board.push(move)
    written = pdn.dumps([Game(tags, tuple(board.moves), "*"), Game()])
    assert written == (
        '[Event "?"]\n[Site "?"]\n[Date "????.??.??"]\n[Round "?"]\n[Black "?"]\n[White "Us"]\n'
        '[Result "*"]\n[GameType "21"]\n[SetUp "1"]\n[FEN "W:W6,7,14,15,32:B1,K2"]\n'
        '[Note "a \\"b\\" \\\\"]\n\n1... 32-28 2. 1x19 *\n\n'
        '[Event "?"]\n[Site "?"]\n[Date "????.??.??"]\n[Round "?"]\n[Black "?"]\n[White "?"]\n'
        '[Result "*"]\n[GameType "21"]\n\n*\n'
    )


def test_ambiguous_captures_are_written_in_full():
    game = Game({"FEN": "B:W6,7,14,15,32:BK2"})
    for move in game.board().legal_moves:
        bare = replace(move, ambiguous=False)
        [read] = pdn.loads(pdn.dumps([replace(game, moves=(bare,))]))
        assert read.moves == (move,)


@pytest.mark.parametrize(
    "text",
    [
        "1. 9-13 22-18 2. 13-17 *",
        "9-13 22-18 13-17",
        "1. 9-13 1... 22-18 2. 13-17 *",
        "1. 9-13! $14 22-18?! 2. 13-17!! *",
        "{first} 1. 9-13 {a (b ; c} 22-18 ; and ( { so on\n2. 13-17 {two\nlines} * {end}",
        "% 9-14\n1. 9-13 22-18\n%(\n2. 13-17",
        "1. 9-13 (1. 9-14 22-17 (1... 22-18 {)} ; )\n) 2. 5-9) 22-18 2. 13-17 () *",
        '[Event "}{"] 1. 9-13 22-18 2. 13-17 *',
        "1. 9-13 ; 22-17\r22-18 (22-17 ; )\r) 2. 13-17\r% 17-14\r*",
        "1. 9-13* 22-18*! 2. 13-17* *",
        "1. 9-13* {strong} 22-18 2. 13-17*",
    ],
)
def test_comments_and_variations_are_skipped(text):
    assert moves_of(text) == ["9-13", "22-18", "13-17"]


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("1-0", "1-0"),
        ("9-13 0-1", "0-1"),
        ("9-13 1/2-1/2", "1/2-1/2"),
        ("9-13 2-0", "1-0"),
        ("9-13 0-2", "0-1"),
        ("9-13 1-1", "1/2-1/2"),
        ("9-13 *", "*"),
        ("9-13*", "*"),
        ("9-13* 1-0", "1-0"),
        ("9-13", "*"),
        ('[Result "2-0"] 9-13', "1-0"),
        ('[Result "0-1"] 9-13 *', "0-1"),
        ('[Result "*"] 9-13 0-1', "0-1"),
        ('[Result ""] 9-13 1-1', "1/2-1/2"),
    ],
)
def test_results_are_read(text, result):
    [game] = pdn.loads(text)
    assert game.result == result


def test_several_games_are_read():
    text = '[Event "1"] 9-13 1-0 [Event "2"] 9-14\n[Event "3"]\n[Round "1"] *\n[Event "4"]\n'
    read = pdn.loads(text)
    assert [game.tags["Event"] for game in read] == ["1", "2", "3", "4"]
    assert [len(game.moves) for game in read] == [1, 1, 0, 0]
    assert pdn.loads(text.replace("[Event", "\ufeff[Event")) == read  # files behind each other
    read = pdn.loads("1. 11-15 23-19 1-0\n\n1. 9-13* 22-18 *\n9-14 0-1 {end}")  # without tags
    assert [(game.result, len(game.moves)) for game in read] == [("1-0", 2), ("*", 2), ("0-1", 1)]


def test_alternative_spellings_are_read():
    text = '[fen "W:W23:B10,14,1"]\n[RESULT "?"]\n[Setup "1"]\n1. ... 23-18 14:23 0-0'
    (game,) = pdn.loads(text)
    assert game.result == "*"
    assert [str(move) for move in game.moves] == ["23-18", "14x23"]
    assert pdn.dumps([game]).count("SetUp") == 1
    assert game.warnings == ()
    for capture in ("9x27", "9x18x27"):
        assert moves_of(f'[FEN "B:W14,23,32:B9"] {capture}') == ["9x27"]


@pytest.mark.parametrize(
    ("text", "moves", "result", "warning"),
    [
        ("1. 11-15 23-18 2. 10x14 *", "11-15 23-18 10-14", "*", "19: '10x14' is read as 10-14"),
        ("11-15 22-18 15-22 25-18", "11-15 22-18 15x22 25x18", "*", "13: '15-22' is read as 15x22"),
        ("1 11-15 22-18 2 15x22 *", "11-15 22-18 15x22", "*", "1: '1' is read as the number of"),
        ("1.11-15,22-18", "11-15 22-18", "*", "8: ',' is passed over"),
        ("11 \u2013 15 22\u221218", "11-15 22-18", "*", "1: '11 \u2013 15' is read as 11-15"),
        ("1. 11-15 22-18 1/2", "11-15 22-18", "1/2-1/2", "16: the result '1/2' is read as 1/2-1/2"),
        ("1. 11-15 \u00bd-\u00bd", "11-15", "1/2-1/2", "10: the result '\u00bd-\u00bd' is read as"),
        ("1. 11-15 0 - 1", "11-15", "0-1", "10: the result '0 - 1' is read as 0-1"),
        ('[Result "\u00bd"] 11-15', "11-15", "1/2-1/2", "1: the result '\u00bd' is read as 1/2"),
        ("1. 11-15 good 22-18 *", "11-15 22-18", "*", "10: 'good' is passed over"),
        ('[FEN "w:W32,:B1"] 32-28', "32-28", "*", "1: the position 'w:W32,:B1' is read as 'W:W32:"),
        ('[FEN "B:W32:B29,1"] 29-25', "29-25", "*", "1: the position 'B:W32:B29,1' is read as"),
        ('9-13 /FEN "W:W32:B1"/ 32-28', "32-28", "*", "6: the game begins here; 1 moves before"),
        ("1. 11-15 22-18 * \x1a", "11-15 22-18", "*", ""),
        ("\ufeff1. 11-15 *", "11-15", "*", ""),
    ],
)
def test_spellings_of_the_field_are_read_with_a_warning(text, moves, result, warning):
    [game] = pdn.loads(text)
    assert (" ".join(map(str, game.moves)), game.result) == (moves, result)
    assert len(game.warnings) == bool(warning)
    if warning:
        assert game.warnings[0].startswith(f"line 1, column {warning}")
        with pytest.raises(PdnError, match="line 1, column"):
            pdn.loads(text, strict=True)
    [again] = pdn.loads(pdn.dumps([game]), strict=True)
    assert (again.moves, again.result, again.board()) == (game.moves, game.result, game.board())


def test_first_of_two_tags_counts():
    [game] = pdn.loads('[Event "a"]\n[Event "b"]\n[FEN "B:W32:B1"]\n[fen "B:W32:B1"] 1-6')
    assert game.tags == {"Event": "a", "FEN": "B:W32:B1"}
    assert [it.split(": ")[1] for it in game.warnings] == [
        "a second tag Event is passed over",
        "a second tag FEN is passed over",
    ]
    [game] = pdn.loads("".join(f'[A{number} "x"]\n[A{number} "y"]\n' for number in range(101)))
    assert (len(game.tags), len(game.warnings)) == (101, pdn.MAX_WARNINGS)


FORK = '[FEN "B:W14,15,22,23:B10"] 10x26 '


def test_next_move_decides_between_two_routes():
    [game] = pdn.loads(FORK + "23-18")
    assert game.moves[0].squares == (10, 17, 26)
    assert "'10x26' fits 10x17x26 and 10x19x26; the next move" in game.warnings[0]
    for text, undecided in (("", "10x26"), ("1-5", "10x26"), ("23-19 9-13", "9-13")):
        with pytest.raises(PdnError, match=rf"'{undecided}' is (ambiguous: write 10x17|illegal)"):
            pdn.loads(FORK + text)
    with pytest.raises(PdnError, match="fits 10x17x26 and 10x19x26"):
        pdn.loads(FORK + "23-18", strict=True)


GAMES = 12  # in a collection


def played(seed):
    """Return a random game, from the start or from a later position."""
    board, first = random_game(seed, max_moves=40), seed % 3 * 10
    result = {BLACK: "1-0", WHITE: "0-1", None: "1/2-1/2"}[board.outcome().winner]
    moves = tuple(board.moves[first:])
    while board.ply > first:
        board.pop()
    return Game({"Event": f"game {seed}", "FEN": board.fen()}, moves, result)


MARK = r"(?<!\b[01])(?<=[0-9])[-x](?=[0-9]+[\sx])"  # of a move, not of a result
BETWEEN = r"(?<=[0-9])\s(?=[0-9]+[-x][0-9]+[\sx])"  # two moves


@pytest.mark.parametrize(
    ("standard", "dialect"),
    [
        *((MARK, mark) for mark in ("x", "-", ":", "->", " to ", "\u2013", " \u2212 ")),
        (r"(?<=[0-9])\. ", "."),
        (r"(?<=[0-9])\.(?=\s)", ""),
        *((BETWEEN, it) for it in (",", "\n", "*! {9-13} (9-13 {(} 22-18) $7 ", " well, ")),
        (r'0-1(?!")', "0 \u2013 1"),
        (r'\[FEN "(.*)"', lambda match: match[0].lower().replace(":b", ",:b")),
    ],
)
def test_collection_in_a_dialect_is_read_back_equal(standard, dialect):
    written = pdn.loads(pdn.dumps(map(played, range(GAMES))))
    text = re.sub(standard, dialect, pdn.dumps(written))
    assert text != pdn.dumps(written)
    assert pdn.loads(text) == pdn.loads(text.replace("\n", "\r\n")) == written


def test_games_are_streamed_from_parts_of_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr(pdn_tokens, "MAX_GAME", 1000)
    path, errors, expected = tmp_path / "games.pdn", [], []
    games = [played(seed) for seed in range(GAMES)]
    text = "\r\n9-14 9-14 * ".join(pdn.dumps([game]) for game in games)
    text += '[Event "open"]\n{' + "and so on\n" * 999 + '[Event "behind"]\n9-13 *\n' + text
    path.write_text(f"\ufeff{text}", "utf-8")
    read = list(pdn.stream(path, errors))
    assert len(read) == 2 * GAMES + 1
    monkeypatch.undo()
    assert pdn.load(path, expected) == read
    assert [*map(str, expected)] == [*map(str, errors)]


def test_errors_can_be_collected():
    good = '[Event "{}"]\n1. 9-13 22-18 *\n'
    bad = [
        '[Event "moves"]\n1. 9-14 18-9 *\n',
        '[Event "tag"]\n[White-Elo "3"]\n[Site "x"]\n9-13 *\n',
        '[Event "words"]\n1. 9-13 and so on (\n',
        '[Event "comment"]\n1. 9-13 {and\n',
    ]
    text = "".join(good.format(number) + it for number, it in enumerate(bad)) + good.format("last")
    errors = []
    games = pdn.loads(text, errors)
    assert [game.tags["Event"] for game in games] == ["0", "1", "2", "3", "last"]
    assert [error.line for error in errors] == [4, 8, 14, 18]
    assert not any(error.__traceback__ or error.__context__ for error in errors)  # keep games
    with pytest.raises(PdnError, match=r"^line 4, "):
        pdn.loads(text)


@pytest.mark.parametrize(
    ("text", "moves", "line"),
    [
        # A bracket behind moves is no tag, which would begin another game.
        ('[Event "a"]\n1. 9-13 22-18 [%clk 0:30]\n2. 10-14 1-0\n\n[Event "b"]\n1. 11-15 *', [1], 2),
        ("1. 9-13 e4 22-18 1-0\n1. 11-15 0-1\n1. 12-16 22-18 *", [1, 2], 1),
        ('[Event "a"]\ne4\n\n  [Event "b"]\n1. 11-15 *', [1], 2),
        ('[Event "a"]\n{ open 1-0\n1. 9-13 22-18 *\n[Event "b"]\n1. 11-15 *', [1], 2),
        ('[Event "a"]\n9-13 (9-14\n[Event "b"]\n11-15 (12-16) 22-18 *', [2], 2),
    ],
)
def test_games_next_to_a_faulty_one_are_read(text, moves, line):
    errors = []
    games = pdn.loads(text, errors)
    assert [len(game.moves) for game in games] == moves
    assert [error.line for error in errors] == [line]


@pytest.mark.parametrize("text", ["", " \n", "{only a comment}", "; only a line", "% and this"])
def test_text_without_games_gives_none(text):
    assert pdn.loads(text) == []


@pytest.mark.parametrize(
    ("text", "line", "column", "wrong"),
    [
        ("1. 9-13 {so\non", 1, 9, "unterminated comment: expected }"),
        ("1. 9-13\n (22-18 (22-17) ", 2, 2, "unterminated variation: expected )"),
        ("1. 9-13 (22-18 {) ", 1, 16, "unterminated comment"),
        ('[Event "x]\n1. 9-13', 1, 1, "bad tag: expected the form"),
        ('[Event "x"\n1. 9-13', 1, 1, "bad tag"),
        ("[Event x]", 1, 1, "bad tag"),
        ('[White-Elo "3"]', 1, 1, "with a name of letters, digits and _"),
        ('[Event "x\r9-13"]', 1, 1, "bad tag"),
        ("9-13\n22-19", 2, 1, "'22-19' is illegal: the legal moves are "),
        ("1. 9-14 22-18\n2. 14-23", 2, 4, "'14-23' is illegal"),
        ('[FEN "B:W6,7,14,15:BK2"] 2x2', 1, 26, "'2x2' is ambiguous: write 2x9x18x11x2 or"),
        ("9-13 40-3", 1, 6, "names square 40"),
        ("9-13 * 22-18", 1, 8, "'22-18' is illegal"),  # the first move of another game
        ("9-13* * 22-18", 1, 9, "'22-18' is illegal"),
        ("9-13 1-0\n1-0", 2, 1, "'1-0' after the result: expected a game"),
        ("9-13 2-2", 1, 6, "result '2-2': expected 1-0, 0-1, 1/2-1/2, *, 2-0, 0-2, 1-1, 0-0, ?"),
        ('[Result "won"]\n9-13', 1, 1, "result 'won': expected 1-0"),
        ('[Result "0-1"]\n9-13 1-0', 2, 6, "result 1-0, but the tag Result says 0-1"),
        ('[FEN "W:W18:B40"]', 1, 1, "square 40 is not 1 to 32"),
        ('[Event "x"]\n[GameType "20"] *', 2, 1, "GameType '20': expected '21'"),
        ('[GameType "25,W"] *', 1, 1, "GameType '25,W': expected '21'"),
        ('[Result "1-0"]\n[result "0-1"]', 2, 1, "a second tag Result, which differs"),
        ("1. e4 e5", 1, 4, "'e4': expected a move such as 11-15, a result or a tag"),
        ("1. 9-13 )", 1, 9, "')': expected a move"),
        ("1. 9-13 22 18-14", 1, 9, "'22': expected a move"),  # no number of a move
        ("1. 9-13 22-18 2 1-0", 1, 15, "'2': expected a move"),
        ("Dear reader, hello", 1, 1, "'Dear': expected a move"),
        ("9-13x", 1, 5, "'x': expected a move"),
    ],
)
def test_errors_name_the_place(text, line, column, wrong):
    with pytest.raises(PdnError, match=f"^line {line}, column {column}: ") as error:
        pdn.loads(text)
    assert (error.value.line, error.value.column) == (line, column)
    assert wrong in str(error.value)


@pytest.mark.parametrize(
    ("game", "wrong"),
    [
        ({"tags": {"A b": "x"}}, "tag name 'A b'"),
        ({"tags": {"Event": "x\ny"}}, "tag Event holds a line break"),
        ({"tags": {"Event": "x\ry"}}, "tag Event holds a line break"),
        ({"tags": {"Round": 3}}, "tag 'Round' holds 3: names and values are text"),
        ({"tags": {3: "Round"}}, "tag 3 holds 'Round'"),
        ({"tags": {"FEN": None}}, "a FEN is text"),
        ({"tags": {"FEN": "W:W18"}}, "bad FEN"),
        ({"moves": (Board("W:W18:B1").legal_moves[0],)}, "is illegal"),
        ({"result": "2-0"}, r"result '2-0' is not one of 1-0, 0-1, 1/2-1/2, \*"),
    ],
)
def test_unwritable_games_are_refused(game, wrong, tmp_path):
    path = tmp_path / "games.pdn"
    path.write_text("as before")
    with pytest.raises(ValueError, match=wrong):
        pdn.dump([Game(), Game(**game)], path)
    assert [file.name for file in tmp_path.iterdir()] == ["games.pdn"]
    assert path.read_text() == "as before"


def test_files_of_other_programs_are_read(tmp_path):
    path = tmp_path / "games.pdn"
    path.write_bytes(b'\xef\xbb\xbf[Event "x"]\r\n\r\n1. 9-13 {a\r\nb}\r\n22-18 *\r\n')
    assert [len(game.moves) for game in pdn.load(path)] == [2]
    path.write_bytes('[Event "Grüße"] *'.encode("latin-1"))
    with pytest.raises(ValueError, match=r"is not UTF-8 text: .*; read it in its own encoding"):
        pdn.load(path)


def test_games_are_read_from_and_written_to_files(tmp_path):
    path = tmp_path / "games.pdn"
    pdn.dump(pdn.loads(TINSLEY), path)
    pdn.dump(pdn.loads(TINSLEY * 2), str(path))
    assert [str(game.moves[0]) for game in pdn.load(path)] == ["9-14", "9-14"]
    with pytest.raises(OSError, match=str(tmp_path)):
        pdn.dump([Game()], tmp_path)
    assert list(tmp_path.iterdir()) == [path]
