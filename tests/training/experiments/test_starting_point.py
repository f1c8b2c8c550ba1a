"""Champions against the start of their training, and the readings of evolved n-tuples."""

import io

import numpy as np
import pytest
from rich.console import Console

from training.evolution.state import Champion
from training.experiments.champions import encode_champion, name_champion
from training.experiments.jobs import Run
from training.experiments.measures import MEASURES
from training.experiments.results import Origin, ResultStore, TrainingResult
from training.experiments.starting_point import (
    compare_with_start,
    evolves,
    first_players,
    player_of,
    untouched_share,
)
from training.reproduce import compare_starts

COUNTER = Run("c1-tuple-sum@piece_difference=false,parents=3", 0, 1, 0.1)


@pytest.mark.parametrize(
    ("weights", "share"),
    [
        (np.array([0, 0.1, 0, 5], np.float32), 0.75),  # 0.1 is another number in double precision
        (np.array([1.0, 1, 1, 2]), 0.75),
        (np.ones(4), 1),
        (np.full(4, 0.5), 0),
    ],
)
def test_untouched_share_is_that_of_the_most_similar_first_player(weights, share):
    firsts = [Champion(np.array(it), None) for it in ([0.0, 0.1, 0, 0], [1.0, 1, 1, 1])]
    assert untouched_share(weights, firsts) == share


def test_start_against_itself_is_even_and_untouched():
    state = COUNTER.regime.init(0)
    comparison = compare_with_start(COUNTER, first_players(COUNTER)[0], state)
    won, drawn, lost = comparison["games"]
    assert (won - lost, won + drawn + lost) == (0, 8)  # four of 43 cards
    assert (comparison["untouched"], comparison["untouched_parents"]) == (1, [1, 1, 1])


def test_player_that_counts_pieces_and_advances_beats_a_start_of_zeros():
    start, tables = first_players(COUNTER)[0], np.zeros((32, 5))
    tables[:] = -1.0, -1.5, 0.0, 1.0, 1.5  # opponent's man and king, empty, own man and king
    tables[:, 3] += np.arange(32) // 4 * 0.05  # rows that an own man has advanced
    won, _, lost = compare_with_start(COUNTER, start._replace(genome=tables.ravel()))["games"]
    assert won > 4 > lost == 0


@pytest.mark.parametrize("name", ["c0", "c10", "nguyen", "learns-league"])
def test_first_players_of_every_evolution_are_its_first_population(name):
    run = Run(name, 3, 840, 0.2)
    assert evolves(run)
    genomes, firsts = run.regime.init(3).arrays["genomes"], first_players(run)
    assert len({it.genome.tobytes() for it in firsts}) == len(genomes) > 2
    assert all(untouched_share(genome, firsts) == 1 for genome in genomes)
    assert untouched_share(genomes[0] + 0.1, firsts) < 0.1


@pytest.mark.parametrize("name", ["c5-n0.001", "learns", "strong"])
def test_methods_without_a_population_are_not_compared(name):
    assert not evolves(Run(name, 0, 1))


@pytest.mark.parametrize(
    "name", ["c0", "c0@tie=last,order=piece", "c10@tie=chance", "nguyen-mcts", "nguyen"]
)
def test_players_choose_moves_as_in_training(name):
    run = Run(name, 0, 1, 0.05)
    state = run.regime.init(0)
    trained, *_ = run.regime.contenders(state)
    found = player_of(run.regime.champion(state))
    assert type(found) is type(trained)
    assert found._replace(evaluator=None) == trained._replace(evaluator=None)


def test_comparison_is_kept_beside_its_run(tmp_path):
    run = Run("c1-tuple-sum", 0, 840, 0.01)
    start = {"untouched": 1.0, "untouched_parents": [1.0, 0.0], "games": [1, 2, 3]}
    curves = {"curve/material": np.array([0.5, -1, np.nan], np.float32)}
    result = TrainingResult(("00",), np.arange(3), curves, {}, Origin(1.0), start=start)
    ResultStore(tmp_path).add(run, result)
    back = ResultStore(tmp_path).result(run)
    assert back.start.items() >= start.items()
    assert MEASURES["against-start"].of(back) == [100, 50, pytest.approx(100 / 3), 0.5, -1]
    (tmp_path / "starts.jsonl").write_text("{}\n")
    with pytest.raises(ValueError, match=r"line 1 of .*starts\.jsonl.*is damaged"):
        ResultStore(tmp_path)


def test_command_finds_champions_that_are_their_own_start(tmp_path):
    run, store = Run("c1-tuple-sum", 0, 840, 0.01), ResultStore(tmp_path)
    content = encode_champion(first_players(run)[0], run, run.length)
    name, curves = name_champion(content), {"curve/material": np.zeros(2, np.float32)}
    store.add(run, TrainingResult((name,), np.arange(2), curves, {}, Origin(1.0), {name: content}))
    console = Console(file=io.StringIO(), width=200)
    compare_starts([run], store, console)
    assert "c1-tuple-sum-8-seed-0: the champion is its own start" in console.file.getvalue()
    start = ResultStore(tmp_path).result(run).start
    assert (start["champion"], start["untouched"], sum(start["games"])) == (name, 1, 2)
