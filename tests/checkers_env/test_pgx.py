"""The pgx environment against the kernels, the referee and pgx's own test."""

import subprocess
import sys
from typing import Literal, get_args

import numpy as np
import pytest

from checkers_env import conformance, fen
from checkers_env.movegen import ROW_WIDTH
from checkers_env.observation import play_and_observe, write_observation
from checkers_env.state import ONGOING, SIDE, DrawRules, has_lost, new_game, set_position

GAMES, LONGEST = 16, 400


@pytest.mark.jax
@pytest.mark.parametrize(
    "rules",
    [DrawRules(60, 2, None), DrawRules(None, None, 20), DrawRules(20, 3, 8, True)],
    ids=["repetition", "no progress", "all"],
)
def test_random_games_equal_those_of_the_kernels(rules):
    import jax

    from checkers_env.pgx import Checkers

    env = Checkers(rules)
    step = jax.jit(jax.vmap(env.step))
    state = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.key(1), GAMES))
    black = np.asarray(state.current_player)
    assert set(black.tolist()) == {0, 1}
    games = np.stack([new_game(rules)] * GAMES)
    histories = np.zeros((GAMES, LONGEST, ROW_WIDTH), np.int64)
    planes, masks = np.zeros((GAMES, 8, 8, 8), np.float32), np.zeros((GAMES, 128), np.int8)
    for game, history, plane, mask in zip(games, histories, planes, masks, strict=True):
        set_position(game, history, *fen.parse(fen.START))
        write_observation(plane, mask, game, game[SIDE], True)
    rng, live = np.random.default_rng(3), np.arange(GAMES)
    while live.size:
        np.testing.assert_array_equal(state.observation[live], planes[live])
        np.testing.assert_array_equal(state.legal_action_mask[live], masks[live])
        assert (np.asarray(state.current_player) == black ^ games[:, SIDE])[live].all()
        assert not np.asarray(state.terminated)[live].any()
        actions = (rng.random(masks.shape) * masks).argmax(axis=1)
        state = step(state, actions)
        events = {
            it: play_and_observe(games[it], histories[it], actions[it], planes[it], masks[it])
            for it in live
        }
        live = np.array([it for it in live if events[it] <= ONGOING], int)
        for it in set(events) - set(live.tolist()):
            loss = float(has_lost(games[it], events[it]))
            loser = int(black[it] ^ games[it][SIDE])
            assert state.terminated[it]
            assert (float(state.rewards[it][loser]), float(state.rewards[it][1 - loser])) == (
                -loss,
                loss,
            )
            np.testing.assert_array_equal(state.observation[it], planes[it])


@pytest.mark.jax
def test_referee_and_pgx_api_test_pass(monkeypatch):
    import jax
    from pgx._src import api_test

    from checkers_env.pgx import Checkers

    env = Checkers(max_moves=40, repetition=3)
    rows = conformance.check(env, games=2)
    assert [row for row in rows if not row.passed] == []
    # The test knows pgx's own names only, and its random choice in one game fails with jax 0.10.
    monkeypatch.setattr(api_test, "EnvId", Literal[(*get_args(api_test.EnvId), env.id)])
    monkeypatch.setattr(
        api_test,
        "act_randomly",
        lambda key, mask: jax.random.categorical(key, np.where(mask, 0.0, -1e9)),
    )
    api_test.api_test(env, 2)


@pytest.mark.jax
def test_positions_pictures_and_refusals(tmp_path):
    import jax

    from checkers_env.pgx import Checkers

    env = Checkers()
    state = env.from_fen("W:W18,24,K31:BK3,12")
    assert state.to_board().fen() == "W:W18,24,K31:BK3,12"
    batch = jax.tree.map(lambda leaf: leaf[None, None], state)
    batch.save_svg(tmp_path / "game.svg")
    assert (tmp_path / "game.svg").read_text().startswith("<svg")
    for arguments, message in (
        ({"max_moves": None, "repetition": 3}, "repetition needs max_moves or no_progress"),
        ({"max_moves": 10**6}, "10000 at most"),
        ({"moves": 3}, "unexpected argument 'moves'"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            Checkers(**arguments)
    with pytest.raises(ValueError, match="the game is over"):
        env.from_fen("B:W18:B")


def test_import_without_jax_names_the_extra():
    code = "import sys; sys.modules['jax'] = None; import checkers_env.pgx"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'checkers-laboratory[jax]'" in done.stderr.splitlines()[-1]
