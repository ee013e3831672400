"""`Session`: the state of a viewer, which one thread changes: what people do in the browser waits until it is free."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..errors import AdjointError
from ..model.robot import Robot
from .drawn import Drawn
from .looks import Extent, Look, poses_of

if TYPE_CHECKING:
    import viser

__all__ = ["ROOT", "Panel", "Session"]

ROOT = "/stage/robot"  # all that belongs to the robot is below this node of the scene, in the axes of its base
_FRAME = 1 / 60  # [s]
_LOG = logging.getLogger("adjoint")


class Panel(Protocol):
    """A part of the viewer. Both methods are called by the thread of the session."""

    def tick(self, now: float) -> bool:
        """Go on to the time `now` [s]; whether it wants to be called again for the next frame."""
        ...

    def moved(self, q: np.ndarray) -> None:
        """Show the configuration q (nq,), which has changed."""
        ...


class Session:
    """The server, the robot and its configuration, and the panels that show and change it."""

    def __init__(self, server: viser.ViserServer, robot: Robot, look: Look, extent: Extent, q: np.ndarray):
        self.server, self.robot, self.look, self.extent = server, robot, look, extent
        self.drawn = Drawn(server.scene, f"{ROOT}/body", look)
        self.panels: list[Panel] = []
        self.asked: Callable[[np.ndarray], Any] | None = None  # who is asked to go to a configuration, if not `move`
        self._q = np.array(q, float)
        self._shown: np.ndarray | None = None
        self._posted: dict[Any, Callable[[], None]] = {}
        self._lock, self._wake = threading.Lock(), threading.Event()
        self._ended = False
        self._thread = threading.Thread(target=self._loop, name="adjoint viewer", daemon=True)

    # --- the configuration --------------------------------------------------------------------------------------------

    @property
    def q(self) -> np.ndarray:
        """The configuration (nq,) that is shown; never changed in place."""
        return self._q

    def move(self, q: np.ndarray, instead_of: np.ndarray | None = None) -> np.ndarray:
        """Show another configuration (nq,), and return it as it is kept.

        If `instead_of` is given and another thread has put the robot elsewhere since, the robot stays there.
        """
        q = np.array(q, float)
        with self._lock:
            if instead_of is None or self._q is instead_of:
                self._q = q
        self._wake.set()
        return q

    def ask(self, q: np.ndarray) -> None:
        """Go to q (nq,): at once, or, under physics, as its controller does. The thread of the session calls this."""
        (self.asked or self.move)(q)

    def put(self, q: np.ndarray) -> None:
        """Go to q (nq,), like `ask`, from any thread."""
        if self.asked is None:
            self.move(q)
        else:
            self.post("put", lambda: self.ask(q))

    # --- one thread ---------------------------------------------------------------------------------------------------

    def post(self, key: Any, task: Callable[[], None]) -> None:
        """Do something soon. A task that waits under the same key is dropped: only the newest counts."""
        with self._lock:
            self._posted.pop(key, None)
            self._posted[key] = task
        self._wake.set()

    def listen(self, handle: Any, task: Callable[[Any], None]) -> None:
        """Do something with the new value when a person changes an input; what the program changes does not count."""

        @handle.on_update
        def _(event) -> None:
            if event.client_id is not None:
                self.post(id(handle), lambda: task(handle.value))

    def clicked(self, handle: Any, task: Callable[[], None]) -> None:
        """Do something when a person clicks a button."""
        handle.on_click(lambda _: self.post(id(handle), task))

    def start(self) -> None:
        """Begin to show what happens."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread, and wait until it has ended."""
        self._ended = True
        self._wake.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(timeout=10)

    def idle(self, seconds: float = 10.0) -> bool:
        """Wait until all that was asked for is done and shown; whether this was so in time."""
        done = threading.Event()
        self.post(done, done.set)
        if not done.wait(seconds):
            return False
        end = time.monotonic() + seconds
        while self._shown is not self._q and time.monotonic() < end:
            time.sleep(0.005)
        return self._shown is self._q

    def _loop(self) -> None:
        while not self._ended:
            began = time.monotonic()
            self._wake.clear()
            with self._lock:
                posted, self._posted = self._posted, {}
            for task in posted.values():
                self._try(task)
            if self._ended:  # a task may have taken long
                return
            active = [self._try(partial(panel.tick, began)) for panel in self.panels]
            shown = self._try(self._show)
            if shown or any(active):  # panels may have something to do about what is shown
                time.sleep(max(0.0, _FRAME - (time.monotonic() - began)))
            else:
                self._wake.wait()

    def _show(self) -> bool:
        """Draw the configuration, if it is another one; whether it is."""
        q = self._q
        if self._shown is q:
            return False
        with self.server.atomic():
            self.drawn.place(poses_of(self.robot, self.look, q))
            for panel in self.panels:
                self._try(partial(panel.moved, q))
        self._shown = q
        return True

    def _try(self, task: Callable[[], Any]) -> Any:
        """Do something; an error is told in the browser and in the log, and the viewer goes on."""
        try:
            return task()
        except Exception as error:
            if self._ended:
                return None
            if not isinstance(error, AdjointError):
                _LOG.exception("viewer")
            for client in self.server.get_clients().values():
                client.add_notification("This did not work", str(error), color="red", auto_close_seconds=10.0)
            return None
