"""The league report: figures against plain counts, games against Board."""

import base64
import hashlib
import json
import math
import random
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from checkers_env import Board, Move, openings
from training.league.records import Entrant, GameRecord, League
from training.report.charts import (
    game_length,
    length_histogram,
    make_axis,
)
from training.report.games import LETTERS, pack_games
from training.report.html_report import render_report
from training.report.standings import StandingsRow

HOSTILE = "</script><script>alert('x')</script><!-- \"&amp;\\ {{ 7 * 7 }}"
NAMES = ("plain", HOSTILE, "third")
KINGS = "W:W18,24,K31:B12,K3"
CARDS = ("9-13 21-17", next(iter(openings.NAMES)), KINGS, "")
VOID = {"meta", "link", "input", "line", "circle", "rect", "path"}


class Page(HTMLParser):
    """A page read by Python's parser: its tags, its tables by section, and its scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open, self.tags, self.scripts = [], [], []
        self.tables: dict[str, list[list[list[str]]]] = {}
        self.section = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append((tag, attributes))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "section":
            self.section = attributes["id"]
        elif tag == "table":
            self.tables.setdefault(self.section, []).append([])
        elif tag == "tr":
            self.tables[self.section][-1].append([])
        elif tag in ("td", "th"):
            self.tables[self.section][-1][-1].append("")
        elif tag == "script":
            self.scripts.append("")

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "script" in self.open:
            self.scripts[-1] += data
        elif {"td", "th"} & set(self.open):
            self.tables[self.section][-1][-1][-1] += data + " "

    def rows(self, section, table=0):
        """Return the rows of a table's body, each cell with single spaces."""
        return [[" ".join(cell.split()) for cell in row] for row in self.tables[section][table][1:]]


def played(number, black, white, opening, rng):
    """Return a game of random moves, sometimes cut short by a forfeit."""
    board = Board(opening if ":" in opening else Board().fen(), max_moves=30)
    for move in [] if ":" in opening else opening.split():
        board.push(move)
    while not (end := board.outcome()) and rng.random() > 0.01:
        board.push(rng.choice(board.legal_moves))
    score = 0.0 if end is None else {None: 0.5, 0: 1.0, 1: 0.0}[end.winner]
    reason = "Black forfeits: <b>late</b>" if end is None else end.reason
    moves = tuple(map(str, board.moves))
    return GameRecord(number, black, white, opening, score, reason, board.piece_difference(), moves)


def some_league():
    rng = random.Random(5)
    pairs = [(a, b) for a in range(3) for b in range(3) if a != b]
    fixtures = [(*pair, card) for card in CARDS for pair in pairs for _ in range(4)]
    games = tuple(played(n, *fixture, rng) for n, fixture in enumerate(fixtures))
    entrants = tuple(Entrant(name, "random", {"seed": n}) for n, name in enumerate(NAMES))
    return League(entrants, {"openings": list(openings.TWO_MOVE), "no_progress": None}, games)


def standing(name, elo=1500.0, low=1450.0, high=1550.0):
    return StandingsRow(name, elo, low, high, 10, 5, 2, 3, 0.6, 0.5, 0.7, f"about {name}")


LEAGUE = some_league()
ORDER = ("third", "plain", HOSTILE)  # of the standings: not that of the entrants
MOVES = [game.replay() for game in LEAGUE.games]
TEXT = render_report(LEAGUE, MOVES, [standing(name) for name in ORDER], notes=[HOSTILE])
PAGE = Page(TEXT)


def scores(player, **wanted):
    """Return a player's scores, by its name, in the games with some property."""
    found = []
    for game in LEAGUE.games:
        sides = (NAMES[game.black], NAMES[game.white])
        if player not in sides:
            continue
        side = sides.index(player)
        facts = {"side": side, "opponent": sides[1 - side], "opening": game.opening}
        if wanted.items() <= facts.items():
            found.append(abs(side - game.score))
    return found


def record(found):
    return "-".join(str(found.count(score)) for score in (1.0, 0.5, 0.0))


def share(found):
    return f"{100 * sum(found) / len(found):.1f}"


def values(*keys):
    """Return all values of some attributes, in the order of the page."""
    return [attributes[key] for _, attributes in PAGE.tags for key in keys if key in attributes]


def test_page_is_complete_and_self_contained() -> None:
    assert PAGE.open == []
    ids = values("id")
    assert len(ids) == len(set(ids))
    assert set(values("aria-labelledby", "for")) <= set(ids)
    links = set(values("href", "src"))
    assert {link for link in links if not link.startswith("#")} == {"data:,"}
    assert {link[1:] for link in links if link.startswith("#") and "?" not in link} <= set(ids)
    assert "url(" not in TEXT.replace("url(#", "")
    assert "@import" not in TEXT


def test_names_are_escaped() -> None:
    assert Counter(tag for tag, _ in PAGE.tags)["script"] == 2
    assert "alert('x')" not in TEXT
    assert [row[0] for row in PAGE.rows("crosstable")] == [" ".join(name.split()) for name in ORDER]
    assert any("Black forfeits: <b>late</b>" in row for row in PAGE.rows("lengths"))
    assert json.loads(PAGE.scripts[0])["players"] == list(ORDER)


def test_content_security_policy_forbids_other_scripts() -> None:
    policy = next(value for value in values("content") if "script-src" in value)
    digest = base64.b64encode(hashlib.sha256(PAGE.scripts[1].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy


def test_standings_equal_the_given_ones() -> None:
    assert [row[1] for row in PAGE.rows("standings")] == [f"{name} about {name}" for name in ORDER]
    assert PAGE.rows("standings")[0][2:] == [
        *("1500", "1450 to 1550", "60.0", "50.0 to 70.0"),
        *("10", "5", "2", "3"),
    ]
    assert PAGE.rows("standings", 1)[0] == ["third", "random", "seed 2"]


def test_crosstable_equals_a_plain_count() -> None:
    for player, row in zip(ORDER, PAGE.rows("crosstable"), strict=True):
        for opponent, cell in zip(ORDER, row[1:], strict=True):
            found = scores(player, opponent=opponent)
            assert cell == (f"{share(found)} {record(found)}" if player != opponent else "")


def test_scores_by_opening_equal_a_plain_count() -> None:
    rows = {int(row[1]): row for row in PAGE.rows("openings")}
    for number, card in enumerate(CARDS, 1):
        games = [game.score for game in LEAGUE.games if game.opening == card]
        each = [share(scores(player, opening=card)) for player in ORDER]
        assert rows[number][2:] == [str(len(games)), share(games), record(games), *each]
    shares = [float(row[3]) for row in PAGE.rows("openings")]
    assert shares == sorted(shares, reverse=True)
    assert rows[2][0] == f"{CARDS[1]} {openings.NAMES[CARDS[1]]}"
    assert rows[4][0] == "start position"


def test_viewer_can_replay_every_game() -> None:
    """Read the packed games back, and play them on a Board."""
    data = json.loads(PAGE.scripts[0])
    assert data["games"]
    for row, game in zip(data["games"], LEAGUE.games, strict=True):
        number, black, white, opening, score, reason, letters = row
        players = (data["players"][black], data["players"][white])
        assert players == (NAMES[game.black], NAMES[game.white])
        assert (number, score / 2) == (game.number, game.score)
        assert data["reasons"][reason] == game.reason
        board = Board(data["openings"][opening]["start"], max_moves=None)
        for packed in re.findall(r"\w\w|\W\w+\W", letters):
            squares = tuple(LETTERS.index(letter) + 1 for letter in packed.strip("()[]"))
            (move,) = (move for move in board.legal_moves if move.squares == squares)
            assert (packed[0] == "[") == (move.ambiguous and len(squares) > 2)
            board.push(move)
        assert tuple(map(str, board.moves)) == game.moves
        assert board.piece_difference() == game.difference


def test_path_that_its_ends_do_not_tell_is_packed_in_square_brackets() -> None:
    moves = Move((22, 15, 8), (18, 11)), Move((22, 15, 8), (18, 11), True), Move("9-13")
    packed = pack_games(replace(LEAGUE, games=LEAGUE.games[:1]), [moves])
    assert packed["games"][0][-1] == "(voh)[voh]im"


@given(st.lists(st.integers(-(10**8), 10**8).map(lambda cents: cents / 100), min_size=1))
@example([0.35, 0.51])
@example([0.0, 0.17])
def test_axis_contains_its_values_in_order(values: list[float]) -> None:
    scale = make_axis([*values, math.inf, math.nan])
    assert scale.ticks[0] <= min(values) <= max(values) <= scale.ticks[-1]
    assert 2 <= len(scale.ticks) <= 12
    places = [scale.place(value) for value in sorted(values)]
    assert places == sorted(places)
    assert (scale.place(-math.inf), scale.place(math.inf)) == (0, 100)


@given(st.lists(st.tuples(st.integers(0, 300), st.sampled_from([0.0, 0.5, 1.0]))))
def test_each_game_is_in_the_bar_of_its_length(drawn: list[tuple[int, float]]) -> None:
    games = [
        replace(LEAGUE.games[0], moves=("9-13",) * plies, score=score) for plies, score in drawn
    ]
    bars = length_histogram(games)
    assert len(bars) <= 30
    assert bars[0].first == 0
    for before, after in pairwise(bars):
        assert after.first == before.last + 1
    for bar in bars:
        inside = [game.score for game in games if bar.first <= game_length(game) <= bar.last]
        assert record(inside) == "-".join(map(str, bar.tally))
    assert sum(bar.tally.games for bar in bars) == len(games)
