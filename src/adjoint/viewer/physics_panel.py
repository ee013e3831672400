"""Physics: let the robot swing, pull it with the mouse, and choose the controller."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..drawing.actors import Curves
from .charts import Chart, legend
from .joint_panel import JointPanel
from .sessions import ROOT, Session
from .swinging import (
    CONTROLLERS,
    HOLDS,
    INTEGRATORS,
    Grab,
    Moving,
    Settings,
    advanced,
    arrow_of,
    begun,
    energies,
    grab_at,
    grabbed,
    usual_stiffness,
)

__all__ = ["PhysicsPanel"]

_LATE = 0.1  # [s] a computer that is later than this runs slower than real time
_OFTEN = 0.4  # [s] between two points of the energy's chart
_KEPT = 150  # points of it
_PULL = (0.9, 0.35, 0.1)


class PhysicsPanel:
    """The tab of physics. Time of the simulation is that of the clock, as long as the computer keeps up."""

    def __init__(
        self, session: Session, joints: JointPanel, rate: float, world: Callable[[], tuple[np.ndarray, np.ndarray]]
    ):
        self._session, self._joints, self._world = session, joints, world
        self._rate = rate  # of simulated time to that of the clock
        self._moving: Moving | None = None
        self._begin = 0.0  # when time 0 of the simulation was, on the clock
        self._mine: np.ndarray | None = None  # the configuration that the simulation began with or gave last
        self._energy: deque[tuple[float, ...]] = deque(maxlen=_KEPT)
        self._told = 0.0
        self._arrow: Any = None
        self.started: Callable[[], None] | None = None
        self._build()

    @property
    def moving(self) -> Moving | None:
        """The robot on its way; None if physics is off."""
        return self._moving

    def _build(self) -> None:
        gui, session, robot = self._session.server.gui, self._session, self._session.robot
        self._on = gui.add_checkbox("Physics", False, hint="Let it swing; then pull it with the mouse")
        self._controller = gui.add_dropdown("Controller", CONTROLLERS, initial_value="none")
        self._speed = gui.add_slider("Speed of control [rad/s]", 1.0, 30.0, 0.5, 8.0)
        self._integrator = gui.add_dropdown("Integrator", tuple(INTEGRATORS), initial_value="rk4")
        most = float(f"{max(1e-3, 0.5 * robot.mass):.1g}")
        self._damping = gui.add_slider("Joint damping [N m s]", 0.0, most, most / 200, 0.0)
        self._stops = gui.add_checkbox("Ends of the joints' ranges", False)
        soft = float(f"{usual_stiffness(robot):.1g}")
        self._stiffness = gui.add_slider("Spring of the mouse [N/m]", soft / 10, soft * 3, soft / 100, soft)
        session.clicked(gui.add_button("Stop it here", hint="All velocities become zero"), self._rest)
        self._text = gui.add_markdown("Switch physics on, and drag any part of the robot.")
        names = ("kinetic", "potential", "total")
        self._chart = Chart(gui, np.array([0.0, 1.0]), Curves("energy", "J", names, np.zeros((2, 3))), height=170)
        gui.add_html(legend(names))
        session.listen(self._on, self.switch)
        for handle in (self._controller, self._integrator, self._damping, self._stops, self._speed):
            session.listen(handle, lambda _: self._again())

    @property
    def _settings(self) -> Settings:
        return Settings(
            str(self._controller.value), str(self._integrator.value), float(self._speed.value),
            float(self._damping.value), bool(self._stops.value), 0.001 * self._rate,
        )  # fmt: skip

    # --- on and off ---------------------------------------------------------------------------------------------------

    def switch(self, on: bool) -> None:
        """Begin, or end."""
        self._on.value = on
        session = self._session
        if not on:
            self._moving, session.asked = None, None
            self._joints.want(None)
            self._draw_arrow(None)
            for handle in session.drawn.handles:
                handle.remove_drag_callback("all")
            self._text.content = "Physics is off."
            return
        if self.started is not None:
            self.started()
        self._energy.clear()
        self._mine = session.q
        self._start(self._mine)
        for part, handle in enumerate(session.drawn.handles):
            handle.on_drag("left")(self._dragger(part))

    def _start(self, q: np.ndarray, v: np.ndarray | None = None, target: np.ndarray | None = None) -> None:
        """Begin anew at (q, v), compile what is new, and set the clock."""
        self._text.content = "Compiling …"
        self._session.server.flush()
        moving = begun(self._session.robot, self._settings, q, v, target)
        self._moving = advanced(moving, 2 * moving.settings.dt)  # code for going on is compiled too
        self._begin = 0.0
        holds = moving.settings.controller in HOLDS
        self._session.asked = self._aim if holds else None
        self._joints.want(moving.target if holds else None)

    def _again(self) -> None:
        """Other settings; the robot goes on from where it is."""
        if self._moving is not None:
            self._start(self._moving.q, self._moving.v, self._moving.target)

    def _rest(self) -> None:
        if self._moving is not None:
            self._start(self._moving.q)

    def _aim(self, q: np.ndarray) -> None:
        """Drive the robot to q."""
        self._joints.want(q)
        if self._moving is not None:
            self._moving = replace(self._moving, target=np.array(q, float))

    # --- a hand -------------------------------------------------------------------------------------------------------

    def _dragger(self, part: int):
        """The callback for drags of a mesh; it runs in the server's thread, in order, and only posts."""

        async def dragged(event) -> None:
            if event.phase == "end":
                self._session.post(self, lambda: self.pull(None, None))
            elif event.phase == "start":
                body = self._session.drawn.body_of(part, event.instance_index or 0)
                start, end = np.array(event.start_position), np.array(event.end_position)
                self._session.post((self, "start"), lambda: self.pull(self._base(end), body, self._base(start)))
            else:
                end = np.array(event.end_position)
                self._session.post(self, lambda: self.pull(self._base(end), None))

        return dragged

    def _base(self, x: np.ndarray) -> np.ndarray:
        """A place (3,) of the world, in the axes of the base."""
        R, place = self._world()
        return R.T @ x - place

    def pull(self, hand: np.ndarray | None, body: int | None, start: np.ndarray | None = None) -> None:
        """Take hold of a body at the place `start`, move the hand, or, with hand=None, let go; places in the base."""
        moving = self._moving
        if moving is None:
            return
        if hand is None:
            self._moving = grabbed(moving, None)
        elif body is not None and start is not None and body >= 0:
            grab = grab_at(moving.robot, moving.q, body, start, float(self._stiffness.value))
            self._moving = grabbed(moving, grab._replace(hand=np.array(hand, float)))
        elif moving.grab is not None:
            held: Grab = moving.grab._replace(hand=np.array(hand, float), stiffness=float(self._stiffness.value))
            self._moving = grabbed(moving, held)

    def _draw_arrow(self, line: np.ndarray | None) -> None:
        if line is None:
            if self._arrow is not None:
                self._arrow.visible = False
            return
        if self._arrow is None:
            r = self._session.extent.reach
            self._arrow = self._session.server.scene.add_arrows(
                f"{ROOT}/pull", line[None], _PULL, shaft_radius=0.008 * r, head_radius=0.025 * r, head_length=0.05 * r
            )
        self._arrow.points, self._arrow.visible = line[None], True

    # --- time ---------------------------------------------------------------------------------------------------------

    def tick(self, now: float) -> bool:
        """Simulate up to now."""
        if self._moving is None:
            return False
        seen = self._session.q
        if seen is not self._mine:  # somebody has put the robot elsewhere
            self._start(seen)
        moving = self._moving
        if self._begin == 0.0:
            self._begin = now - moving.time / self._rate
        late = (now - self._begin) - moving.time / self._rate
        if late > _LATE:
            self._begin += late - _LATE
        try:
            self._moving = moving = advanced(moving, (now - self._begin) * self._rate)
        except Exception:
            self.switch(False)
            raise
        self._mine = self._session.move(moving.q, instead_of=seen)
        self._draw_arrow(arrow_of(moving))
        if now - self._told >= _OFTEN:
            self._told = now
            self._tell(late > _LATE)
        return True

    def _tell(self, is_late: bool) -> None:
        assert self._moving is not None
        T, U, E = energies(self._moving)
        self._energy.append((self._moving.time, T, U, E))
        late = " · slower than real time" if is_late else ""
        self._text.content = (
            f"**{self._moving.time:.1f} s**{late} · energy {E:.4g} J: kinetic {T:.4g}, potential {U:.4g}"
        )
        rows = np.array(self._energy)
        if len(rows) > 1:
            self._chart.replace(rows[:, 0], rows[:, 1:])

    def moved(self, q: np.ndarray) -> None:
        """The robot has moved; `tick` sees whether somebody else did that."""
