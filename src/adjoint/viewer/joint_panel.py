"""Sliders for the joints, in degrees and millimetres, and gizmos for bases that move freely."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..drawing.actors import ENDLESS, shown_at_first
from ..kinematics.forward import forward_kinematics
from ..lie import se3, so3
from ..model.configuration import random_configuration
from ..model.joints import FRAMES, JOINTS
from ..model.robot import Robot
from .sessions import ROOT, Session

if TYPE_CHECKING:
    import viser

__all__ = ["JointPanel", "Knob", "knobs_of", "random_pose", "reading", "turned"]

_OFTEN = 0.1  # [s] between two updates of the sliders while the robot moves by itself
_FLAT = 10  # up to so many joints are in one list, without folders
_PAGE = 40  # sliders at a time
_LONG = 1.0  # [m] the range of a slide without limits


class Knob(NamedTuple):
    """A slider: its label, unit, range, and the number of units in a radian or metre.

    It turns coordinate `place` of q; of a spherical joint, `part` 0 to 2 of the rotation vector of q[place:place+4].
    """

    label: str
    joint: str
    low: float
    high: float
    units: float
    place: int
    part: int | None = None


def knobs_of(robot: Robot) -> list[Knob]:
    """The knobs of all joints but free ones and those that follow others."""
    found, at = [], robot.layout
    for i, (name, kind) in enumerate(zip(robot.body_joint_names, robot.joint_types, strict=True)):
        k = at.q_start[i]
        if i in robot.mimics or kind == "free":
            continue
        if kind == "spherical":
            found += [Knob(f"{name} {axis} [°]", name, -180, 180, np.degrees(1), k, n) for n, axis in enumerate("xyz")]
        elif kind == "planar":
            found += [_knob(robot, f"{name} {axis}", name, k + n, n == 2) for n, axis in enumerate("xyθ")]
        else:
            found.append(_knob(robot, name, name, k, bool(robot.screw(i)[0, :3].any())))
    return found


def _knob(robot: Robot, label: str, joint: str, place: int, turns: bool) -> Knob:
    """The knob of one coordinate."""
    low, high = float(robot.lower[place]), float(robot.upper[place])
    half = np.pi if turns else _LONG
    if not low > -ENDLESS:
        low = high - 2 * half if high < ENDLESS else -half
    if not high < ENDLESS:
        high = low + 2 * half
    units = np.degrees(1) if turns else 1000.0
    return Knob(f"{label} {'[°]' if turns else '[mm]'}", joint, low * units, high * units, units, place)


def reading(knob: Knob, q: np.ndarray) -> float:
    """What a knob shows at q (nq,), inside its range; full turns are taken off an angle that would be outside."""
    if knob.part is not None:
        row = JOINTS["spherical"]
        vector = row.difference(np.array(row.neutral), q[knob.place : knob.place + 4])
        return float(vector[knob.part] * knob.units)
    x = float(q[knob.place] * knob.units)
    if not knob.low <= x <= knob.high and knob.high - knob.low >= 359.9 and knob.units != 1000.0:
        x = knob.low + (x - knob.low) % 360.0
    return min(max(x, knob.low), knob.high)


def turned(knob: Knob, q: np.ndarray, value: float) -> np.ndarray:
    """q (nq,) with a knob turned to a value."""
    q = q.copy()
    if knob.part is None:
        q[knob.place] = value / knob.units
        return q
    row, own = JOINTS["spherical"], slice(knob.place, knob.place + 4)
    vector = np.array(row.difference(np.array(row.neutral), q[own]))
    vector[knob.part] = value / knob.units
    q[own] = row.integrate(np.array(row.neutral), vector)
    return q


def random_pose(robot: Robot, q: np.ndarray) -> np.ndarray:
    """A random configuration (nq,) whose free bodies stay where they are at q (nq,), so that they stay in sight."""
    found = random_configuration(robot)
    for i, kind in enumerate(robot.joint_types):
        if kind == "free":
            own = slice(robot.layout.q_start[i], robot.layout.q_start[i] + 7)
            found[own] = q[own]
    return found


class JointPanel:
    """The tab with the sliders."""

    def __init__(self, session: Session):
        self._session, self._gui = session, session.server.gui
        self._knobs = knobs_of(session.robot)
        self._sliders: list[tuple[Knob, Any]] = []
        self._folders: list[Any] = []
        self._told, self._late = 0.0, False
        self._wanted: np.ndarray | None = None  # what the sliders show while a controller drives the robot there
        tasks = {"Home": self._home, "Random": self._random}
        buttons = self._gui.add_button_group("All joints", tuple(tasks))
        session.clicked(buttons, lambda: tasks[buttons.value]())
        self._bases = [_Base(session, i) for i, kind in enumerate(session.robot.joint_types) if kind == "free"]
        self._place = self._gui.add_folder(None)
        pages = [self._knobs[k : k + _PAGE] for k in range(0, len(self._knobs), _PAGE)]
        if len(pages) > 1:
            names = [f"{_PAGE * k + 1} to {_PAGE * k + len(p)}: {p[0].joint} …" for k, p in enumerate(pages)]
            with self._place:
                choice = self._gui.add_dropdown("Joints", names, initial_value=names[0])
            session.listen(choice, lambda name: self._open(pages[names.index(name)]))
        if pages:
            self._open(pages[0])

    def _open(self, knobs: list[Knob]) -> None:
        """Show the sliders of these knobs."""
        for folder in self._folders:
            folder.remove()
        self._sliders, self._folders = [], []
        branches = _branches(self._session.robot)
        groups: dict[str, list[Knob]] = {}
        for knob in knobs:
            groups.setdefault("" if len(self._knobs) <= _FLAT else branches[knob.joint], []).append(knob)
        for k, (title, group) in enumerate(groups.items()):
            with self._place:
                folder = self._gui.add_folder(title or None, expand_by_default=k < 2)
            self._folders.append(folder)
            with folder:
                self._sliders += [(knob, self._slider(knob)) for knob in group]

    def _slider(self, knob: Knob) -> viser.GuiSliderHandle[float]:
        step = 0.1 if knob.high - knob.low > 10 else max((knob.high - knob.low) / 1000, 1e-6)
        digits = 1 if step == 0.1 else 6
        low, high = round(knob.low, digits), round(max(knob.high, knob.low + step), digits)
        value = round(reading(knob, self._session.q), digits)
        handle = self._gui.add_slider(knob.label, low, high, step, min(max(value, low), high))
        self._session.listen(handle, lambda value: self._turn(knob, value))
        return handle

    def _turn(self, knob: Knob, value: float) -> None:
        start = self._session.q if self._session.asked is None or self._wanted is None else self._wanted
        q = turned(knob, start, min(max(value, knob.low), knob.high))  # a slider's ends are rounded
        self.want(q)
        self._session.ask(q)

    def want(self, q: np.ndarray | None) -> None:
        """The configuration that a controller drives the robot to, which the sliders show then; None for no longer."""
        self._wanted = q

    def _home(self) -> None:
        self._go(shown_at_first(self._session.robot))

    def _random(self) -> None:
        self._go(random_pose(self._session.robot, self._session.q))

    def _go(self, q: np.ndarray) -> None:
        self.want(q)
        self._session.ask(q)
        self._write(q)

    def tick(self, now: float) -> bool:
        """Bring the sliders up to date, if they are late."""
        if self._late and now - self._told >= _OFTEN:
            self._told, self._late = now, False
            self._write(self._session.q)
        return self._late

    def moved(self, q: np.ndarray) -> None:
        """Move the sliders, soon, and the gizmos of the bases."""
        self._late = True
        for base in self._bases:
            base.moved(q)

    def _write(self, q: np.ndarray) -> None:
        driven = self._session.asked is not None and self._wanted is not None
        shown = self._wanted if driven else q
        assert shown is not None
        for knob, handle in self._sliders:
            handle.value = round(reading(knob, shown), 1 if handle.step == 0.1 else 6)


def _branches(robot: Robot) -> dict[str, str]:
    """{joint: title of the branch of the tree that it is on}: a branch ends where the tree forks."""
    parents = robot.parents.tolist()
    children, title = Counter(parents), dict[int, str]()
    for i, (joint, body) in enumerate(zip(robot.body_joint_names, robot.body_names, strict=True)):
        alone = children[parents[i]] == 1 and parents[i] >= 0
        title[i] = title[parents[i]] if alone else f"{body} …"
        title[i] = title[i] if joint else body
    return {joint: title[i] for i, joint in enumerate(robot.body_joint_names)}


class _Base:
    """The gizmo of a free joint."""

    def __init__(self, session: Session, body: int):
        self._session, self._body = session, body
        robot, name = session.robot, session.robot.body_names[body]
        self._gizmo = session.server.scene.add_transform_controls(
            f"{ROOT}/base {body}", scale=0.18 * session.extent.reach, depth_test=False, visible=False
        )
        box = session.server.gui.add_checkbox(
            f"Drag {name}", False, hint="It moves freely: drag its gizmo in the scene"
        )
        session.listen(box, self._show)
        self._held = False
        self._own = slice(robot.layout.q_start[body], robot.layout.q_start[body] + 7)

        @self._gizmo.on_update
        async def _(event) -> None:
            self._held = event.phase != "end"
            session.post(self, self._drag)

    def _show(self, on: bool) -> None:
        self._gizmo.visible = on

    def _drag(self) -> None:
        """Put the body where the gizmo is."""
        robot, i, q = self._session.robot, self._body, self._session.q.copy()
        T = se3.from_xyz_quat_wxyz(np.concatenate([self._gizmo.position, self._gizmo.wxyz]))
        parent = int(robot.parents[i])
        above = np.eye(4) if parent < 0 else forward_kinematics(robot, q)[parent]
        # T = above M Q X Q⁻¹, with the pose X that q has and the joint's frame Q.
        Q = FRAMES["free"](robot.screw(i))
        X = se3.inverse(Q) @ se3.inverse(robot.placements[i]) @ se3.inverse(above) @ T @ Q
        q[self._own] = np.concatenate([X[:3, 3], so3.to_quat_wxyz(X[:3, :3])])
        self._session.ask(q)

    def moved(self, q: np.ndarray) -> None:
        """Follow the body, unless someone holds the gizmo."""
        if not self._held:
            T = forward_kinematics(self._session.robot, q)[self._body]
            self._gizmo.wxyz, self._gizmo.position = so3.to_quat_wxyz(T[:3, :3]), T[:3, 3]
