"""Page that watches evolution runs.

A run is known by its name in the folders of the command line. The server looks the name up in a
listing; the name never becomes part of a path.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agents.match_kernel import DRAW
from checkers_env.openings import TWO_MOVE
from checkers_env.state import REASONS
from training.app.async_agent import in_thread, run_in_thread
from training.app.champion_games import play_champions
from training.app.generation_replay import (
    RESULTS,
    ReplayGame,
    replay_checkpoint,
    replay_latest,
)
from training.app.request_body import Json, JSONAnswer, read_fields
from training.app.run_launcher import (
    DEFAULT_GENERATIONS,
    GENERATIONS,
    SEEDS,
    RunLauncher,
    offered_presets,
)
from training.app.run_reader import (
    find_runs,
    is_running,
    last_generation,
    read_run,
    run_version,
    save_time_ns,
)
from training.app.templates import render_page
from training.trainer.cli import EVOLVE, shell_words


def show_page(request: Request) -> Response:
    """Return the page; its script reads ``?run=NAME``."""
    return render_page(
        "evolution.html.jinja",
        "Evolution",
        presets=offered_presets() if request.app.state.runs else {},
        default_generations=DEFAULT_GENERATIONS,
        max_generations=GENERATIONS[-1],
        max_seed=SEEDS[-1],
        two_move=TWO_MOVE,
        command=shlex.join(shell_words(EVOLVE)),
    )


def list_runs(request: Request) -> Response:
    """Return all runs, the most recent checkpoint first."""
    runs = [
        {
            "name": name,
            "generation": last_generation(run),
            "running": is_running(run),
            "save_time": save_time_ns(run) / 1e9,
        }
        for name, run in all_runs(request).items()
    ]
    return JSONAnswer({"runs": sorted(runs, key=lambda run: -run["save_time"])})


def show_run(request: Request) -> Response:
    """Return a run's measurements; 204 if its version is still that of ``?version=``."""
    run = _find_run(request)
    if request.query_params.get("version") == run_version(run):
        return Response(status_code=204)
    launched = request.app.state.launcher.generations_of(run)
    return JSONAnswer(read_run(run) | ({"asked_generations": launched} if launched else {}))


def show_generation(request: Request) -> Response:
    """Return the standings and the games of a run's current generation."""
    with _lookup_error_as_404():
        save_ns, replay = replay_latest(_find_run(request))
    return JSONAnswer(
        {
            "version": str(save_ns),
            "number": replay.number,
            "survivors": replay.survivors,
            "outcome": replay.outcome,
            "standings": [standing._asdict() for standing in replay.standings],
            "games": [_game_header(game) for game in replay.games],
        }
    )


def show_game(request: Request) -> Response:
    """Return a game of the generation after a checkpoint."""
    run = _find_run(request)
    save_ns, number = _path_number(request, "version"), _path_number(request, "number")
    with _lookup_error_as_404():
        replay = replay_checkpoint(run, save_ns)
    if number >= len(replay.games):
        raise HTTPException(404, f"There are {len(replay.games)} games, counted from 0.")
    tags = {"Event": f"{run.name}, generation {replay.number}", "Round": str(number + 1)}
    game = _game_to_json(replay.games[number], tags)
    return JSONAnswer({**game, "generation": replay.number, "number": number})


def show_champions_game(request: Request) -> Response:
    """Play a game between two champions that a run has kept, from the start or a ballot card.

    Card 0 is the start position. The game is always the same one.
    """
    run = _find_run(request)
    black, white, card = (_path_number(request, name) for name in ("black", "white", "card"))
    with _lookup_error_as_404():
        game = play_champions(run, black, white, card)
    tags = {"Event": f"Champions of {run.name}", "Round": str(card)}
    return JSONAnswer(_game_to_json(game, tags) | {"card": card})


def show_launch(request: Request) -> Response:
    """Return the status of the run that the page has started."""
    return JSONAnswer(_launcher(request).status())


async def start_run(request: Request) -> Response:
    """Start a small run."""
    fields = await read_fields(request, preset=str, generations=int, seed=int)
    return JSONAnswer(await run_in_thread(_launcher(request).start, **fields), 201)


async def stop_run(request: Request) -> Response:
    """Stop the run that the page has started."""
    await read_fields(request)
    return JSONAnswer(await run_in_thread(_launcher(request).stop))


def _launcher(request: Request) -> RunLauncher:
    launcher: RunLauncher = request.app.state.launcher
    return launcher


def all_runs(request: Request) -> dict[str, Path]:
    """Return the runs of all folders by name; among equal names the first folder's."""
    runs: dict[str, Path] = {}
    for folder in request.app.state.runs:
        runs = find_runs(folder) | runs
    return runs


def _find_run(request: Request) -> Path:
    name = request.path_params["run"]
    run = all_runs(request).get(name)
    if run is None:
        raise HTTPException(404, f"There is no run {name!r}.")
    return run


def _path_number(request: Request, name: str) -> int:
    text: str = request.path_params[name]
    if not (text.isascii() and text.isdecimal() and len(text) < 20):
        raise HTTPException(404, f"{text!r} is not a number.")
    return int(text)


@contextmanager
def _lookup_error_as_404() -> Iterator[None]:
    try:
        yield
    except LookupError as error:
        raise HTTPException(404, f"{error.args[0]}.") from None


def _game_to_json(game: ReplayGame, tags: dict[str, str]) -> Json:
    """Return a game: its moves from the start position, its end, and tags of its PDN."""
    winner, reason, _ = game.game.result
    return {
        **_game_header(game),
        "winner": None if winner == DRAW else winner,
        "reason": REASONS[reason],
        "moves": [str(move) for move in game.game.board.moves],
        "tags": tags,
    }


def _game_header(game: ReplayGame) -> Json:
    winner, _, plies = game.game.result
    return {"black": game.black, "white": game.white, "result": RESULTS[winner], "plies": plies}


routes = [
    Route("/evolution", show_page),
    Route("/api/runs", in_thread(list_runs)),
    Route("/api/runs/{run}", in_thread(show_run)),
    Route("/api/runs/{run}/generation", in_thread(show_generation)),
    Route("/api/runs/{run}/champions/{black}/{white}/{card}", in_thread(show_champions_game)),
    Route("/api/launch", in_thread(show_launch)),
    Route("/api/launch", start_run, methods=["POST"]),
    Route("/api/launch/stop", stop_run, methods=["POST"]),
    Route("/api/runs/{run}/generation/{version}/games/{number}", in_thread(show_game)),
]
