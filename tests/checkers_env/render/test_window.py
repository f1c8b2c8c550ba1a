"""The window of render_mode "human", on SDL's dummy screen."""

import copy
import pickle
import sys
import types
import warnings
from typing import Any

import numpy as np
import pygame
import pytest
from pettingzoo.test import render_test

import checkers_env
from checkers_env.actions import move_to_actions
from checkers_env.envs.aec import raw_env
from checkers_env.render.raster import Image
from tests.checkers_env.render.pixels import DOUBLE_JUMP, after_double_jump


class Clock:
    """Clock that records the requested frame rates, and does not wait."""

    ticks: list[float]

    def tick(self, fps: float) -> None:
        self.ticks.append(fps)


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> list[pygame.Window]:
    """Yield the windows on an invisible screen, with clocks that do not wait."""
    opened: list[pygame.Window] = []
    real = pygame.Window

    def open_window(*arguments: Any) -> pygame.Window:
        opened.append(real(*arguments))
        return opened[-1]

    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr(pygame, "Window", open_window)
    monkeypatch.setattr(pygame.time, "Clock", Clock)
    monkeypatch.setattr(Clock, "ticks", [], raising=False)
    return opened


def on_screen(window: pygame.Window) -> Image:
    return pygame.surfarray.array3d(window.get_surface()).swapaxes(0, 1)


def played(render_mode: str, actions: int = 0) -> Any:
    env = raw_env(opening=DOUBLE_JUMP, render_mode=render_mode)
    env.reset()
    for action in move_to_actions(after_double_jump()[1], 0)[:actions]:
        env.step(action)
    return env


def press_close(window: pygame.Window) -> None:
    pygame.event.post(pygame.event.Event(pygame.WINDOWCLOSE, window=window))


def test_pettingzoo_accepts_each_mode(windows: list[pygame.Window]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        render_test(checkers_env.env)
    assert len(windows) == 1
    assert not pygame.display.get_init()


def test_window_shows_the_image_after_each_step(windows: list[pygame.Window]) -> None:
    env = played("human")
    for actions, title in enumerate(
        ["Checkers: Black to move", "Checkers: Black to move", "Checkers: White to move"]
    ):
        if actions:
            env.step(move_to_actions(after_double_jump()[1], 0)[actions - 1])
        assert np.array_equal(on_screen(windows[0]), played("rgb_array", actions).render())
        assert windows[0].title == title
    assert env.render() is None
    assert len(windows) == 1
    env.close()


def test_close_ends_pygame_and_rendering_can_begin_again(windows: list[pygame.Window]) -> None:
    env = played("human")
    for opened in (1, 2):
        env.close()
        env.close()
        assert not pygame.display.get_init()
        assert not pygame.get_init()
        assert len(windows) == opened
        env.reset()
        assert np.array_equal(on_screen(windows[-1]), played("rgb_array").render())
    env.close()


def test_window_closed_by_its_button_stays_closed(windows: list[pygame.Window]) -> None:
    env, other = played("human"), played("human")
    press_close(windows[0])
    other.render()  # the events of all windows come to whichever asks first
    shown = len(Clock.ticks)
    for action in move_to_actions(after_double_jump()[1], 0):
        env.step(action)
    assert env.board == after_double_jump()[0]
    assert len(Clock.ticks) == shown
    press_close(windows[1])
    other.render()
    assert not pygame.display.get_init()
    assert len(windows) == 2
    env.close()
    env.render()
    assert len(windows) == 3
    env.close()
    other.close()


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copy_has_the_game_but_not_the_window(windows: list[pygame.Window], duplicate: Any) -> None:
    env = checkers_env.env(opening=DOUBLE_JUMP, render_mode="human")
    env.reset()
    first, second = move_to_actions(after_double_jump()[1], 0)
    env.step(first)
    other = duplicate(env)
    assert len(windows) == 1
    other.step(second)
    assert np.array_equal(on_screen(windows[0]), played("rgb_array", 1).render())
    assert np.array_equal(on_screen(windows[1]), played("rgb_array", 2).render())
    env.close()
    other.close()


@pytest.mark.parametrize("found", [None, types.ModuleType("pygame")])
def test_without_pygame_the_error_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, found: types.ModuleType | None
) -> None:
    monkeypatch.setitem(sys.modules, "pygame", found)
    env = raw_env(render_mode="human")
    with pytest.raises(ImportError, match=r"pip install 'checkers-laboratory\[human\]'"):
        env.reset()
    env.close()
