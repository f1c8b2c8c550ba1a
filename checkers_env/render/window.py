"""A window on the screen, by pygame-ce, which is imported at the first image."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pygame

_open: WeakSet[Window] = WeakSet()


class Window:
    """A window for images, opened by the first of them; a copy of it begins closed."""

    def __init__(self) -> None:
        self._shown: tuple[pygame.Window, pygame.time.Clock] | None = None
        self._dismissed = False

    def show(self, image: NDArray[np.uint8], title: str, fps: float) -> None:
        """Show an image for 1 / `fps` seconds at least.

        When the user closes the window, nothing more is shown or waited for until :meth:`close`.
        """
        if self._dismissed:
            return
        pygame = _pygame()
        if self._shown is None or not pygame.display.get_init():  # others may have quit pygame
            pygame.display.init()
            height, width, _ = image.shape
            self._shown = pygame.Window(title, (width, height)), pygame.time.Clock()
            _open.add(self)
        window, clock = self._shown
        window.title = title
        window.get_surface().blit(pygame.surfarray.make_surface(image.swapaxes(0, 1)), (0, 0))
        window.flip()
        for event in pygame.event.get():  # all of them, without which a window freezes
            if event.type == pygame.WINDOWCLOSE:
                _dismiss(event.window)
        if not self._dismissed:
            clock.tick(fps)

    def close(self) -> None:
        """Shut the window if it is open, and pygame's display with the last of all windows."""
        self._dismissed = False
        if self._shown:
            self._shown[0].destroy()
            self._shown = None
            _open.discard(self)
            if not _open:
                _pygame().display.quit()

    def __reduce__(self) -> tuple[type[Window], tuple[()]]:
        return Window, ()


def _dismiss(shown: Any) -> None:
    """Shut a window of pygame's, and keep it so until :meth:`Window.close`."""
    for window in list(_open):
        if window._shown and window._shown[0] is shown:
            window.close()
            window._dismissed = True


def _pygame() -> Any:
    try:
        import pygame

        if not hasattr(pygame, "Window"):
            raise ImportError("the pygame that is installed is not pygame-ce")
    except ImportError as error:
        raise ImportError(
            f"render_mode 'human' needs pygame (pip install 'checkers-laboratory[human]'): {error}"
        ) from error
    return pygame
