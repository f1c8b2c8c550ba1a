"""Leagues: schedule, games, adjudication, journal and results."""

import hashlib
import itertools
import json
import os
import re
import signal
import stat
import sys
import threading
import time
from concurrent.futures import CancelledError
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import agents
from agents import match
from agents.agent import select_packed_move
from agents.agent_spec import AgentSpec
from agents.endgame.probe import probe_board
from agents.endgame.tables import load_tablebase
from checkers_env import openings, pdn
from checkers_env.board import Board
from checkers_env.errors import EngineError, GameEndedError
from checkers_env.moves import Move
from checkers_env.state import DrawRules
from tests import DATA
from training.league import game as league_game
from training.league.adjudicate import (
    adjudicate_by_material,
    adjudicate_by_tablebase,
    make_adjudicator,
)
from training.league.entrants import display_name, make_entry
from training.league.game import LeagueRules, play_game
from training.league.journal import FILE_NAME, Journal, check_game
from training.league.records import (
    Entrant,
    GameRecord,
    League,
    games_to_pdn,
    load_league,
    save_league,
)
from training.league.runner import run_league
from training.league.schedule import (
    LeagueFixture,
    read_openings,
    round_robin_pairings,
    schedule_games,
)

START = LeagueFixture(0, 0, 1, "")
CARDS = openings.TWO_MOVE[:4]
SHORT = DrawRules(max_moves=30)
RULES = LeagueRules()


class Plain:
    """Agent known by its act alone, as a stranger's."""

    def __init__(self, agent):
        self.act = agent.act


class Draws:
    """Stranger's agent that uses chance, and records its calls."""

    def __init__(self):
        self.games, self.ends = 0, []

    def new_game(self, rng):
        self.rng, self.games = rng, self.games + 1

    def act(self, board):
        return board.legal_moves[self.rng.integers(len(board.legal_moves))]

    def game_over(self, board, side):
        self.ends.append((board.outcome(), side))


class Does:
    """Agent that does something else than move, from its second move on."""

    def __init__(self, what):
        self._what, self._moves = what, itertools.count()

    def act(self, board):
        return self._what(board) if next(self._moves) else board.legal_moves[0]


def raises(error):
    def act(board):
        raise error

    return Does(act)


def fixtures(count=2, cards=CARDS):
    return schedule_games(round_robin_pairings(count), cards)


def in_order(games):
    return sorted(games, key=lambda game: game.number)


@pytest.fixture
def journal(tmp_path):
    journal = Journal(tmp_path / FILE_NAME)
    journal.create({})
    return journal


# Who plays whom.


def test_each_pairing_plays_each_opening_with_both_colours():
    games = schedule_games(round_robin_pairings(3), ("a", "b"), rounds=2)
    assert [game.number for game in games] == list(range(24))
    expected = list(itertools.product(itertools.permutations(range(3), 2), "ab")) * 2
    assert sorted(((game.black, game.white), game.opening) for game in games) == sorted(expected)
    for first, second in zip(games[::2], games[1::2], strict=True):
        assert (first.black, first.white) == (second.white, second.black)
        assert first.opening == second.opening


@pytest.mark.parametrize(
    ("text", "openings"),
    [
        ('[FEN "B:W21,22:B1,2"] *', ["B:W21,22:B1,2"]),
        ("1. 9-13 21-17\n2. 5-9 *", ["9-13 21-17 5-9"]),
        ("1. 9-13 21-17\n2. 5-9", ["9-13 21-17 5-9"]),
        ("1. 9-13 21-17\n1. 9-14", ["9-13 21-17", "9-14"]),
        ('[Weight "2"]\n1. 9-13 1-0\n\n[FEN "W:W32:B1"]\n32x28 *', ["9-13"] * 2 + ["B:W28:B1"]),
        ("1. 9-13, 22x18 ; weight 2\nw:w32,:b1 # a FEN", ["9-13 22-18"] * 2 + ["W:W32:B1"]),
        ("Edinburgh Single; its name", ["9-13 22-18 11-15"]),
        ("\ufeff9-13  22-18 # a card\n\n# nothing\nB:W18:B12\n", ["9-13 22-18", "B:W18:B12"]),
    ],
)
def test_books_of_the_field_are_read(tmp_path, text, openings):
    path = tmp_path / "book.pdn"
    path.write_text(text)
    assert read_openings(str(path)) == tuple(openings)


def test_one_opening_is_read_from_its_text():
    found = [read_openings(text) for text in ("Edinburgh Single", "B:W18:B1")]
    assert found == [("9-13 22-18 11-15",), ("B:W18:B1",)]


def test_equal_positions_in_a_file_are_one_opening(tmp_path):
    path = tmp_path / "cards.txt"
    lines = ["9-13 24-20 11-15", "11-15 24-20 9-13", "11-15", "B:W21-32:B1-12", "B:B1-12:W21-32"]
    path.write_text("\n".join(lines))
    first, fen = lines[0], lines[3]
    assert read_openings(str(path)) == (first, first, "11-15", fen, fen)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("9-13\n9-13 22-19\n", "line 2, column 6: '22-19' is illegal"),
        ("# nothing\n", "has no openings"),
        ("9-13\nEdinburg\n", "'Edinburg' is no opening: expected moves, a FEN or the name of a"),
        ("B:W18,W18", "line 1, column 1: bad FEN"),
        ("9-13 ; weight 1.5", "the weight '1.5' of an opening is not 1 to 1000"),
        (b"\xff\xfe", "two-move, .* start, moves, a FEN, or a file, not .*: it is not UTF-8 text"),
        (None, "or a file, not .*cards.txt"),
    ],
)
def test_file_without_openings_is_refused(tmp_path, text, message):
    path = tmp_path / "cards.txt"
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=message):
        read_openings(str(path))


def test_illegal_opening_is_named():
    for text, message in (("11-15 23-20", "'23-20' is illegal"), ("B:W18,W18", "bad FEN")):
        with pytest.raises(ValueError, match=f"not '{text}': .*{message}"):
            read_openings(text)


# What becomes of a game.


@pytest.mark.parametrize("opening", ["", "9-13 22-18", "W:W18,22,K7:B12,K2,3"])
def test_kernel_game_equals_the_game_through_act(opening):
    players = [agents.make("blondie24", depth=2), agents.make("blondie24", depth=1)]
    fixture = LeagueFixture(5, 0, 1, opening)
    fast = play_game(players, fixture, LeagueRules(SHORT))
    slow = play_game([Plain(agent) for agent in players], fixture, LeagueRules(SHORT))
    assert slow.seconds > (0, 0) == fast.seconds
    assert replace(slow, seconds=(0.0, 0.0)) == fast
    assert len(fast.moves) > len(openings.parse_opening(opening or None)[1])


def test_kernel_and_environment_use_the_same_generators():
    players = [agents.make("random"), agents.make("material", depth=1)]
    game = play_game(players, LeagueFixture(7, 0, 1, "9-13 22-18"), LeagueRules(SHORT, seed=3))
    again = match.play_game(
        *(agent.player for agent in players),
        opening="9-13 22-18",
        rules=SHORT,
        rng=np.random.default_rng((3, 7)),
        engine="env",
    )
    assert game.moves == tuple(map(str, again.board.moves))
    assert len(game.moves) == again.result.plies


def test_blunders_are_made_in_leagues_too():
    def play(blunder):
        pair = [agents.make("material", depth=1, blunder=blunder) for _ in range(2)]
        return play_game(pair, START, RULES).moves

    assert play(1) == play(1) != play(0)


def test_each_game_and_each_agent_has_its_own_generator():
    firsts = []

    class Keeps(Draws):
        def new_game(self, rng):
            super().new_game(rng)
            firsts.append(rng.bit_generator.state["state"]["state"])

    def moves(number, seed, *both):
        return play_game(both, LeagueFixture(number, 0, 1, ""), LeagueRules(SHORT, seed)).moves

    used = Keeps(), Keeps()
    assert moves(1, 0, *used) != moves(2, 0, *used) != moves(3, 0, *used)
    assert moves(2, 0, *used) == moves(2, 0, Draws(), Draws())
    games = {moves(number, seed, *used) for number in range(3) for seed in range(3)}
    assert (len(games), len(set(firsts))) == (9, 20)


def test_agents_get_a_copy_of_the_board():
    def spoils(board):
        board.push(board.legal_moves[-1])
        board.moves.clear()
        board.rules = DrawRules(max_moves=1)
        board.pop = None
        return Board("W:W32:B1").legal_moves[0]

    game = play_game((Does(spoils), agents.make("random")), START, RULES)
    assert game.moves[1:] == game.moves[1:2]
    assert "is illegal" in game.reason


@pytest.mark.parametrize(
    ("agent", "reason"),
    [
        (raises(KeyError("weights")), "KeyError: 'weights'"),
        (raises(EngineError("it hung")), "forfeits: it hung"),
        (raises(ValueError("two\n\tlines \ud800")), r"ValueError: two lines \ud800"),
        (raises(ValueError("and so on " * 1000)), "ValueError: and so on and so on "),
        (raises(StopIteration()), "StopIteration"),
        (Does(lambda board: Move((1, 32))), "Move('1-32')"),
        (Does(lambda board: Move(())), "is illegal in "),
        (Does(lambda board: str(board.legal_moves[0])), "' is illegal in "),
        (Does(lambda board: None), "None is illegal in "),
        (Does(lambda board: raises(RuntimeError()).never), "AttributeError"),
    ],
)
@pytest.mark.parametrize("side", [0, 1])
def test_error_of_an_agent_forfeits_the_game(agent, reason, side):
    agent._moves = itertools.count()
    players = [Draws(), Draws()]
    players[side] = agent
    game = play_game(players, LeagueFixture(3, 4, 5, "9-13 22-18"), LeagueRules())
    assert (game.number, game.black, game.white) == (3, 4, 5)
    assert game.score == side
    assert reason in game.reason
    assert game.reason.startswith(("Black forfeits: ", "White forfeits: ")[side])
    assert game.reason.isprintable()
    assert game.reason.isascii()
    assert len(game.reason) <= 300
    assert len(game.moves) == 4 + side
    assert players[1 - side].ends == []


def test_errors_before_a_game_forfeit_it_and_errors_after_it_do_not_count():
    class Faulty(Draws):
        def new_game(self, rng):
            super().new_game(rng)
            if self.games == 2:
                raise RuntimeError("not again")

        def game_over(self, board, side):
            raise RuntimeError("too late to matter")

    both = agents.make("material", depth=2), Faulty()
    game, again = (play_game(both, START, RULES) for _ in range(2))
    assert (game.score, "forfeits" in game.reason) == (1, False)
    assert (again.score, again.moves) == (1, ())
    assert again.reason == "White forfeits: before the game, RuntimeError: not again"


def test_move_after_the_time_limit_forfeits_the_game(monkeypatch):
    now = 0.0

    def dawdles(board):
        nonlocal now
        now += 0.1
        return board.legal_moves[0]

    monkeypatch.setattr(league_game.time, "perf_counter", lambda: now)
    game = play_game((Draws(), Does(dawdles)), START, LeagueRules(move_limit=0.05))
    assert game.score == 1
    assert game.reason == "White forfeits: 0.1 s for a move, of 0.05"
    assert len(game.moves) == 3
    assert game.seconds == (0.0, pytest.approx(0.1))
    unlimited = play_game((Draws(), Does(dawdles)), START, LeagueRules(DrawRules(3)))
    assert "forfeits" not in unlimited.reason


def test_compilation_is_no_part_of_a_move(monkeypatch):
    search, calls = select_packed_move, []

    def compiled_late(*arguments):
        if not calls:
            time.sleep(2.5)
        calls.append(arguments)
        return search(*arguments)

    monkeypatch.setattr("agents.agent.select_packed_move", compiled_late)
    players = [agents.make("material", depth=1, seed=0), Draws()]
    game = play_game(players, START, LeagueRules(DrawRules(3), move_limit=2.0))
    assert game.reason == "max moves"
    assert len(calls) == 1 + 3


class Consents(Draws):
    """Returns an answer to a claim of a draw, and spoils the board that it is given."""

    def __init__(self, answer):
        super().__init__()
        self.answer = answer

    def accept_draw(self, board):
        board.pop()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


REFUSED = "{} ended the game and claimed a draw, which was refused: it is over"
LOST = "{} ended the game: it is over"


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize(
    ("claim", "opponent", "reason"),
    [
        *((it, Consents(True), LOST) for it in ("loss", "win", "nothing", "a draw", "")),
        ("draw", Draws(), REFUSED),
        ("draw", agents.make("material", depth=1), REFUSED),
        *(("draw", Consents(answer), REFUSED) for answer in (False, 1, "yes", ValueError("no"))),
        ("draw", Consents(True), "draw agreed, claimed by {}: it is over"),
    ],
)
def test_agent_that_ends_a_game_loses_unless_a_draw_is_agreed(claim, opponent, reason, side):
    players = [opponent, opponent]
    players[side] = raises(GameEndedError("it is over", claim))
    game = play_game(players, START, RULES)
    assert game.score == (0.5 if "agreed" in reason else side)
    assert game.reason == reason.format(("Black", "White")[side])


def test_claim_of_a_draw_does_not_reach_the_adjudicator():
    """A player that is behind must not get more by a claim than by playing on."""
    rules = LeagueRules(SHORT, adjudicator=adjudicate_by_material)
    agent = raises(GameEndedError("it is drawn", "draw"))
    opening = "B:W18,K31:B12"
    game = play_game((agent, Draws()), LeagueFixture(0, 0, 1, opening), rules)
    assert game.score == 0


@pytest.mark.parametrize("opening", ["B:W18,K31:B12", "B:W18:B12,K3"])
def test_agreed_draw_stays_one(opening):
    rules = LeagueRules(SHORT, adjudicator=adjudicate_by_material)
    agent = raises(GameEndedError("it is drawn", "draw"))
    game = play_game((agent, Consents(True)), LeagueFixture(0, 0, 1, opening), rules)
    assert (game.score, game.reason) == (0.5, "draw agreed, claimed by Black: it is drawn")
    check_game(game, rules)
    with pytest.raises(ValueError, match=r"its moves give Black 0\.5, not 1"):
        check_game(replace(game, score=1.0), rules)


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize(
    ("endless", "plain"),
    [
        (("blondie24", {"depth": 64}), False),
        (("blondie24", {"depth": 64}), True),
        (("mcts", {"simulations": 10**9}), True),
    ],
)
def test_endless_search_of_ours_forfeits(endless, side, plain):
    name, options = endless
    quick = agents.make("material", depth=1)
    players = [quick, quick]
    players[side] = agents.make(name, **options)
    opening = "9-13 22-18"
    agents.make(name).act(Board())  # compiled before its time is taken
    if plain:  # move by move, against an agent that is not ours
        players[1 - side] = Draws()
    began = time.monotonic()
    game = play_game(players, LeagueFixture(0, 0, 1, opening), LeagueRules(move_limit=0.5))
    assert time.monotonic() - began < 60
    forfeit = f"{('Black', 'White')[side]} forfeits: more than 0.5 s for a move"
    assert (game.score, game.reason) == (side, forfeit)
    assert len(game.moves) == 2 + side
    again = play_game([quick, quick], START, RULES)  # nothing is left of the stop
    assert again == play_game([quick, quick], START, LeagueRules(move_limit=5.0))


def test_game_of_ours_is_interrupted():
    endless, stop = agents.make("blondie24", depth=64), threading.Event()
    threading.Timer(0.5, stop.set).start()
    with pytest.raises(CancelledError):
        play_game([endless, endless], START, RULES, stop)


# Drawn games.


def drawn(opening, rules):
    players = [agents.make("blondie24", depth=1)] * 2
    return play_game(players, LeagueFixture(2, 0, 1, opening), rules)


@pytest.mark.parametrize(
    ("opening", "score", "told"),
    [
        ("B:W5:B12,K32", 1.0, "max moves; by material +1"),
        ("B:WK5,21,22:B12", 0.0, "max moves; by material -2"),
        ("", 0.5, "max moves; by material +0"),
    ],
)
def test_drawn_game_is_adjudicated_by_material(opening, score, told):
    game = drawn(opening, LeagueRules(DrawRules(1), adjudicator=make_adjudicator("material", 0)))
    assert (game.score, game.reason) == (score, told)
    plain = drawn(opening, LeagueRules(DrawRules(1)))
    assert (plain.score, plain.reason) == (0.5, "max moves")


@pytest.mark.parametrize(
    "opening",
    ["W:WK15,20:B12,K28", "B:WK15,20:B12,K28", "B:WK1,K2,21:BK6,K10,12"],
)
def test_drawn_game_is_adjudicated_by_endgame_tables(opening):
    tables = load_tablebase(4)
    rules = LeagueRules(DrawRules(1), adjudicator=adjudicate_by_tablebase(tables))
    plain, game = drawn(opening, LeagueRules(DrawRules(1))), drawn(opening, rules)
    board = Board(opening)
    for move in plain.moves:
        board.push(move)
    ending = probe_board(tables, board)
    if ending is None or ending.value == 0:
        assert game == plain
    else:
        winner = board.turn if ending.value > 0 else 1 - board.turn
        assert game.score == 1 - winner
        assert game.reason == f"max moves; by endgame tables in {ending.plies} plies"


@pytest.mark.parametrize("name", ["material@depth=3", "random"])
def test_drawn_game_can_be_played_out_by_an_agent(name):
    opening = "B:W21,22,K30:B1,2,K3,K4"
    rules = LeagueRules(DrawRules(2), seed=9, adjudicator=make_adjudicator(name, 9))
    game = drawn(opening, rules)
    board = drawn(opening, LeagueRules(DrawRules(2)))
    rest = Board(opening)
    for move in board.moves:
        rest.push(move)
    rest = Board(rest.fen())
    spec = AgentSpec.parse(name)
    agent = agents.make(spec.name, **spec.options)
    agent.new_game(np.random.default_rng((9, 2, 1)))
    while not rest.outcome():
        rest.push(agent.act(rest.copy()))
    winner = rest.outcome().winner
    assert game.score == (0.5 if winner is None else 1.0 - winner)
    assert game.reason == f"max moves; played out by {name}: {rest.outcome().reason}"
    assert game.moves == board.moves
    assert game == drawn(opening, rules)


def test_decided_games_are_not_adjudicated():
    def judge(board, game):
        raise AssertionError(game)

    players = agents.make("material"), agents.make("random")
    assert play_game(players, START, LeagueRules(adjudicator=judge)).score == 1
    assert (
        play_game((raises(ValueError()), Draws()), START, LeagueRules(adjudicator=judge)).score == 0
    )


# The league is held.


def played(journal, threads, makers=None, games=None, **league_rules):
    makers = makers or [
        lambda: agents.make("random"),
        lambda: agents.make("material", depth=1),
        Draws,
    ]
    games = fixtures(len(makers)) if games is None else games
    return list(run_league(makers, [games], LeagueRules(SHORT, **league_rules), journal, threads))


def test_games_do_not_depend_on_the_number_of_threads(journal):
    leagues = []
    for threads in (1, 3):
        games = in_order(played(journal, threads, seed=4))
        leagues.append([replace(game, seconds=(0.0, 0.0)) for game in games])
    assert leagues[0] == leagues[1]
    assert [game.number for game in leagues[0]] == list(range(24))
    others = in_order(played(journal, 1, seed=5))
    assert [game.moves for game in others] != [game.moves for game in leagues[0]]


class Closes(Draws):
    """Agent that counts the instances that were not closed."""

    open = 0

    def __init__(self):
        super().__init__()
        Closes.open += 1

    def close(self):
        Closes.open -= 1


def test_each_thread_has_its_own_agents_and_all_are_closed(journal):
    most = []
    all_cards = fixtures(cards=openings.TWO_MOVE)
    games = run_league([Closes, Closes], [all_cards], LeagueRules(SHORT), journal, 3)
    most.extend(Closes.open for _ in games)
    assert 2 <= max(most) <= 6
    assert Closes.open == 0


def test_interruption_ends_the_running_games(journal, tmp_path):
    began = threading.Event()

    class Endless(Closes):
        def act(self, board):
            began.set()
            time.sleep(0.01)
            return super().act(board)

    def interrupt():
        began.wait()
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    rules = DrawRules(max_moves=10_000)
    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        next(run_league([Endless, Draws], [fixtures()], LeagueRules(rules), journal, 2))
    assert Closes.open == 0
    assert len((tmp_path / FILE_NAME).read_text().splitlines()) == 1


def test_agent_that_cannot_be_created_forfeits_and_is_tried_again(journal):
    attempts = itertools.count()

    def moody():
        if next(attempts) % 2 == 0:
            raise EngineError("not in the mood")
        return Draws()

    games = in_order(played(journal, 1, [Draws, moody]))
    assert games[0].reason == "White forfeits: before the game, not in the mood"
    assert not any("forfeits" in game.reason for game in games[1:])


# The games on disk.

RECORDS = [
    GameRecord(0, 0, 1, "9-13 22-18", 1.0, "no pieces", 3, ("9-13", "22-18"), (0.25, 1.5)),
    GameRecord(1, 1, 0, "9-13 22-18", 0.5, 'Black forfeits: "é"', 0, ("9-13",)),
    GameRecord(2, 0, 1, "", 0.0, "no legal move", -1, ()),
]
FIXTURES = [LeagueFixture(game.number, game.black, game.white, game.opening) for game in RECORDS]


def filled(folder, records=RECORDS, identity=None):
    journal = Journal(folder / FILE_NAME)
    journal.create(identity or {"a": (1, 2)})
    journal.append(records[:1])
    journal.append(records[1:])
    return journal


def test_journal_begins_with_known_games(tmp_path):
    journal = Journal(tmp_path / FILE_NAME)
    journal.create({"a": 1}, RECORDS[:2])
    journal.append(RECORDS[2:])
    assert journal.resume({"a": 1}, FIXTURES) == RECORDS


@given(st.data())
def test_half_written_line_is_cut_off(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("journal")
    journal, path = filled(folder), folder / FILE_NAME
    content = path.read_bytes()
    first = content.index(b"\n") + 1
    end = data.draw(st.integers(first, len(content)))
    path.write_bytes(content[:end])
    whole = content[:end].count(b"\n") - 1
    assert journal.resume({"a": (1, 2)}, FIXTURES) == RECORDS[:whole]
    journal.append(RECORDS[whole:])
    assert path.read_bytes() == content


def line(fields, **changes):
    """Return a line of a journal, with its checksum."""
    fields = {**fields, **changes}
    checksum = hashlib.sha256(json.dumps(fields).encode()).hexdigest()[:16]
    return json.dumps(fields | {"checksum": checksum})


HEAD, *PLAYED = ({"a": 1}, *map(vars, RECORDS))
NO_CHECKSUM = "is damaged: it has no checksum"


@pytest.mark.parametrize(
    ("number", "damaged", "message"),
    [
        *((1, text, "line 1 is damaged: Expecting value") for text in ("no", "", "\x00\x00")),
        *((1, text, f"line 1 {NO_CHECKSUM}") for text in ("[]", "null", json.dumps(HEAD))),
        (3, "garbage", "line 3 is damaged: Expecting value"),
        (3, "[" * 100_000, "line 3 is damaged: "),
        (3, "[1]", f"line 3 {NO_CHECKSUM}"),
        (3, json.dumps(PLAYED[1]), f"line 3 {NO_CHECKSUM}"),
        (3, line(PLAYED[1]).replace("0.5", "1.0"), "line 3 is damaged: its checksum does not fit"),
        (3, line({}), "missing 8 required positional arguments"),
        (3, line(PLAYED[0]), "a game is there twice"),
        (3, line(PLAYED[1], number=2), "game 3 is not what"),
        (3, line(PLAYED[1], number=77), "out of range"),
        (3, line(PLAYED[1], number=-1), "game 0 is not what"),
        (3, line(PLAYED[1], number="1"), "must be integers"),
        (3, line(PLAYED[1], opening="9-13 22-17"), "game 2 is not what"),
        (3, line(PLAYED[1], score=0.7), "game 2 has a score of 0.7"),
        (3, line(PLAYED[1], score=None), "game 2 has a score of None"),
        (3, line(PLAYED[1], season=""), "unexpected keyword argument"),
        (3, line(PLAYED[1], moves=None), "not iterable"),
    ],
)
def test_damaged_journal_is_refused(tmp_path, number, damaged, message):
    path, lines = tmp_path / FILE_NAME, [*map(line, (HEAD, *PLAYED))]
    lines[number - 1] = damaged
    content = "".join(f"{text}\n" for text in lines)
    path.write_text(content)
    with pytest.raises(ValueError, match=rf"{FILE_NAME}' cannot be resumed: .*{message}") as raised:
        Journal(path).resume({"a": 1}, FIXTURES)
    assert "\n" not in str(raised.value)
    assert path.read_text() == content


@given(st.data())
def test_flipped_bit_of_a_journal_is_named(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("journal")
    journal, path = filled(folder), folder / FILE_NAME
    content = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(content) - 2))  # without its end the last line is unfinished
    content[at] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(content)
    try:
        found = journal.resume({"a": (1, 2)}, FIXTURES)
    except ValueError as error:
        assert FILE_NAME in str(error)  # noqa: PT017 - or it is a blank between two fields
        assert path.read_bytes() == content
    else:
        assert found == RECORDS


def test_journal_reaches_the_disk_before_the_game_counts(tmp_path, monkeypatch):
    flushed, fsync = {}, os.fsync

    def record(descriptor):
        fsync(descriptor)
        status = os.fstat(descriptor)
        is_folder = stat.S_ISDIR(status.st_mode)
        flushed[status.st_ino] = os.listdir(descriptor) if is_folder else status.st_size

    monkeypatch.setattr(os, "fsync", record)
    folder = tmp_path / "league"
    folder.mkdir()
    path = folder / FILE_NAME
    journal = Journal(path)
    journal.create({})
    assert flushed[tmp_path.stat().st_ino] == ["league"]
    assert flushed[folder.stat().st_ino] == [FILE_NAME]
    for game in run_league([Draws, Draws], [fixtures()], LeagueRules(SHORT), journal, 1):
        assert flushed[path.stat().st_ino] == path.stat().st_size, game
    with path.open("ab") as file:
        file.write(b"{")
    journal.resume({}, fixtures(), LeagueRules(SHORT))
    assert flushed[path.stat().st_ino] == path.stat().st_size


@pytest.mark.parametrize(
    "put_there",
    [os.mkfifo, lambda path: path.symlink_to("/dev/full"), Path.touch, Path.exists],
    ids=["pipe", "device", "other file", "nothing"],
)
def test_lost_journal_is_named_and_the_league_goes_on(journal, tmp_path, caplog, put_there):
    path, stop = tmp_path / FILE_NAME, threading.Event()
    league = run_league([Draws, Draws], [fixtures()], LeagueRules(SHORT), journal, 1)
    games = [next(league)]
    path.unlink()
    put_there(path)
    thread = threading.Thread(target=lambda: (games.extend(league), stop.set()), daemon=True)
    thread.start()
    assert stop.wait(60)
    assert len(games) == len(fixtures())
    (line,) = caplog.messages
    assert line.startswith(f"The journal {str(path)!r} is lost (")
    assert not path.is_file() or not path.stat().st_size


# Limits beside the games.


def test_endless_playout_leaves_the_game_drawn():
    judge = make_adjudicator("blondie24@depth=64", 0, 0.5)
    game = drawn("", LeagueRules(DrawRules(2), adjudicator=judge))
    late = "not played out by blondie24@depth=64, which took more than 0.5 s for a move"
    assert (game.score, game.reason) == (0.5, f"max moves; {late}")
    check_game(game, LeagueRules(DrawRules(2), adjudicator=judge))


# Replay.


def replayed(journal, rules=SHORT, **league_rules):
    """Play a league of all kinds of ends; return its games and rules."""
    makers = [
        lambda: agents.make("material", depth=2),
        Draws,
        lambda: raises(ValueError("no idea")),
        lambda: raises(GameEndedError("enough", "draw")),
        lambda: Consents(True),
    ]
    cards = (*CARDS[:2], "W:W18,22,K7:B12,K2,3", "")
    pairings, rules = round_robin_pairings(len(makers)), LeagueRules(rules, **league_rules)
    games = schedule_games(pairings, cards)
    return in_order(run_league(makers, [games], rules, journal, 1)), games, rules


@pytest.mark.parametrize("adjudicate", ["none", "material@depth=1"])
def test_resumed_league_replays_its_games(journal, adjudicate):
    judge = make_adjudicator(adjudicate, 0)
    games, schedule, rules = replayed(journal, DrawRules(max_moves=12), adjudicator=judge)
    assert in_order(journal.resume({}, schedule, rules)) == games
    reasons = " ".join(game.reason for game in games)
    for reason in ("forfeits", "ended the game", "draw agreed", "max moves", "no "):
        assert reason in reasons


def changes(game):
    """Records of a game that its moves contradict."""
    yield replace(game, difference=game.difference + 1)
    yield from (replace(game, score=score) for score in (0.0, 0.5, 1.0) if score != game.score)
    yield replace(game, moves=game.moves[:-1])
    yield replace(game, moves=(*game.moves, "1-6"))
    yield replace(game, moves=("1-5", *game.moves[1:]))
    yield replace(game, moves=())
    yield replace(game, reason="no pieces" if game.reason != "no pieces" else "max moves")
    yield replace(game, reason="because I say so")


def test_game_whose_moves_do_not_give_its_score_is_refused(tmp_path, journal):
    games, schedule, rules = replayed(journal)
    ends = {game.reason: game for game in games}
    assert len(ends) > 6
    for reason, game in ends.items():
        by_rule = not any(it in reason for it in ("ended", "forfeits", "agreed"))
        for changed in itertools.islice(changes(game), None if by_rule else 3):
            forged = Journal(tmp_path / f"{len(list(tmp_path.iterdir()))}.jsonl")
            forged.create({})
            forged.append([changed])
            text = f"line 2, game {game.number + 1}: "
            with pytest.raises(ValueError, match=text):
                forged.resume({}, schedule, rules)
            assert forged.resume({}, schedule) == [changed]


def test_empty_journal_is_started_anew(tmp_path):
    path = tmp_path / FILE_NAME
    path.write_text("")
    with pytest.raises(ValueError, match="there is no league to resume"):
        Journal(path).resume({"a": (1, 2)}, FIXTURES)
    assert filled(tmp_path).resume({"a": (1, 2)}, FIXTURES) == RECORDS


LEAGUE = League(
    (Entrant("first", "blondie24", {"depth": 2}, "alpha-beta"), Entrant('the "second"', "x.py:y")),
    {"seed": 3, "version": "0.1"},
)


def test_league_file_round_trips(tmp_path):
    league = replace(LEAGUE, games=tuple(RECORDS))
    save_league(tmp_path / "league.json", league)
    assert load_league(tmp_path / "league.json") == league


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"format": 9}', '{"format": 1}'])
def test_invalid_league_file_is_named(tmp_path, content):
    (tmp_path / "league.json").write_text(content)
    with pytest.raises(ValueError, match=r"league.json' is not a valid league file"):
        load_league(tmp_path / "league.json")


# Portable Draughts Notation.


def test_games_are_read_back_as_played(tmp_path, journal):
    cards = (*openings.TWO_MOVE[:2], openings.THREE_MOVE[5], "", "W:W18,22,K7:B12,K2,3")
    makers = [
        Draws,
        lambda: agents.make("random"),
        lambda: raises(ValueError('a "quoted" \\ reason')),
    ]
    games = in_order(played(journal, 1, makers, fixtures(3, cards)))
    entrants = (*LEAGUE.entrants, Entrant("third", "none"))
    league = replace(LEAGUE, entrants=entrants, games=tuple(games))
    pdn.dump(games_to_pdn(league, [game.replay() for game in games]), tmp_path / "games.pdn")
    found = pdn.load(tmp_path / "games.pdn")
    assert len(found) == len(games) == 30
    for game, read in zip(games, found, strict=True):
        assert tuple(map(str, read.board().moves)) == game.moves
        assert read.result == game.result
        assert (
            read.board().piece_difference() == game.difference == int(read.tags["PieceDifference"])
        )
        assert read.tags["Black"] == entrants[game.black].name
        assert read.tags["White"] == entrants[game.white].name
        assert read.tags["WhiteAbout"] == entrants[game.white].about
        assert read.tags["Reason"] == game.reason
        assert read.tags["Round"] == str(game.number + 1)
        assert read.tags["Conditions"] == "seed 3; version 0.1"
        if ":" in game.opening:
            assert Board(read.start) == Board(game.opening)
        else:
            assert read.tags.get("Opening", "") == game.opening


def test_game_with_an_illegal_move_is_named():
    with pytest.raises(ValueError, match="game 12: '9-13' is illegal"):
        replace(RECORDS[0], number=11, moves=("9-13", "9-13")).replay()


# Who enters.


@pytest.mark.parametrize(
    ("name", "options", "shown"),
    [
        ("players/c10.safetensors", {}, "c10"),
        ("runs/c10-seed-0/champion.safetensors", {"depth": 4}, "c10-seed-0 (depth 4)"),
        ("hub:sh -c 'cd x\n run'", {}, "hub:sh -c 'cd x run'"),
        ("a.py:First", {"label": "\x1b[31m\udcff"}, "a.py:First (label ?[31m\\udcff)"),
    ],
)
def test_names_in_tables_are_short_and_printable(name, options, shown):
    assert display_name(name, options) == shown


@pytest.mark.parametrize(
    ("text", "given", "name"),
    [
        ("blondie24", {"depth": 2}, "blondie24 (depth 2)"),
        ("blondie24", {"seconds": 0.5}, "blondie24 (seconds 0.5)"),
        ("blondie24@depth=3", {"depth": 2}, "blondie24 (depth 3)"),
        ("blondie24@depth=3", {"seconds": 0.5}, "blondie24 (depth 3)"),
        ("blondie24@endgame=2", {"depth": 2}, "blondie24 (endgame 2, depth 2)"),
        ("mcts-ept", {"seconds": 2.0}, "mcts-ept (seconds 2.0)"),
        ("random", {"depth": 2}, "random"),
        ("dxp:127.0.0.1:27531", {"depth": 2}, "dxp:127.0.0.1:27531"),
    ],
)
def test_common_limit_applies_to_searching_agents_without_their_own(text, given, name):
    entry = make_entry(text, **given)
    assert (
        entry.entrant.name
        == name
        == display_name(AgentSpec.parse(text).name, entry.entrant.options)
    )
    assert entry.single == text.startswith("dxp")


def test_description_of_an_entrant_changes_with_its_file(tmp_path):
    engine, abouts = tmp_path / "engine.py", []
    for text in ("", "# another version"):
        engine.write_text((DATA / "faulty_engine.py").read_text() + text)
        entrant = make_entry(f"hub:{sys.executable} -IS {engine} kills-itself").entrant
        abouts.append(entrant.about)
    assert all(re.fullmatch(r"faulty engine \d+, .*engine.py [0-9a-f]{12}", it) for it in abouts)
    assert abouts[0].split()[-1] != abouts[1].split()[-1]
    assert make_entry("blondie24").entrant.about == "alpha-beta, Network"
    assert make_entry("mcts").entrant.about.startswith("Monte Carlo, ")
    assert make_entry("random").entrant.about == "no search"
