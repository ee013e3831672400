"""Drag a frame, and the robot follows: its branches as buttons, and a slider for what a pose leaves free."""

from __future__ import annotations

import html
from typing import Any

import numpy as np

from ..inverse.redundancy import redundancy_of
from ..kinematics.forward import forward_kinematics
from ..lie import se3, so3
from .drawn import Drawn
from .looks import poses_of
from .reaching import Reach, Way, in_branch, reach, way_of
from .sessions import ROOT, Session

__all__ = ["ReachPanel"]

_CURRENT, _OTHER = "blue", "gray"
_RED, _GREEN = (220, 50, 40), (40, 160, 70)
_GHOST = (0.25, 0.5, 0.9)


class ReachPanel:
    """The tab for inverse kinematics, and the gizmo at the frame that is dragged."""

    def __init__(self, session: Session, frames: list[str]):
        self._session, self._gui = session, session.server.gui
        self._held = False
        self._way: Way | None = None
        self._last: Reach | None = None
        self._buttons: list[Any] = []
        self._ghosts: Drawn | None = None
        self._free: Any = None
        size = session.extent.reach
        scene = session.server.scene
        self._gizmo = scene.add_transform_controls(f"{ROOT}/target", scale=0.22 * size, depth_test=False, visible=False)
        self._mark = scene.add_icosphere(f"{ROOT}/mark", 0.02 * size, color=_RED, visible=False, cast_shadow=False)
        self._on = self._gui.add_checkbox("Drag the frame", False, hint="Drag its gizmo in the scene; the arm follows")
        self._frame = self._gui.add_dropdown("Frame", frames, initial_value=frames[-1])
        self._every = self._gui.add_checkbox("Show all branches", False, hint="All configurations, as ghosts")
        self._text = self._gui.add_html("")
        self._place = self._gui.add_folder(None)
        session.listen(self._on, lambda _: self._switch())
        session.listen(self._frame, lambda _: self._switch())
        session.listen(self._every, lambda _: self._refresh(session.q))

        @self._gizmo.on_update
        async def _(event) -> None:
            self._held = event.phase != "end"
            session.post(self, self._drag)

    @property
    def frame(self) -> str:
        """The frame that is dragged, where ellipsoids and arrows are drawn too."""
        return str(self._frame.value)

    @property
    def is_on(self) -> bool:
        """Whether the frame can be dragged."""
        return bool(self._on.value)

    def _switch(self) -> None:
        """Begin with a frame, or end."""
        self._gizmo.visible = self.is_on
        self._clear()
        if not self.is_on:
            self._text.content, self._mark.visible = "", False
            return
        self._text.content = _paragraph("Looking for the closed form …")
        self._way = way = way_of(self._session.robot, self.frame)
        with self._place:
            if way.redundancy:
                low, high = round(way.low, 1), round(way.high, 1)
                self._free = self._gui.add_slider(way.redundancy, low, high, 0.1, self._free_now(way, self._session.q))
                self._session.listen(self._free, lambda _: self._turn())
            for k, name in enumerate(way.branches):
                button = self._gui.add_button(name, color=_OTHER)
                self._session.clicked(button, lambda k=k: self._choose(k))
                self._buttons.append(button)
        self._refresh(self._session.q)

    def _clear(self) -> None:
        for handle in [*self._buttons, *([self._free] if self._free is not None else [])]:
            handle.remove()
        self._buttons, self._free, self._way = [], None, None
        self._show_ghosts(None)

    # --- what people do -----------------------------------------------------------------------------------------------

    def _target(self) -> np.ndarray:
        return se3.from_xyz_quat_wxyz(np.concatenate([self._gizmo.position, self._gizmo.wxyz]))

    def _parameter(self) -> float | None:
        return None if self._free is None or self._way is None else float(self._free.value) / self._way.units

    def _drag(self) -> None:
        """Follow the gizmo; when it is let go, it returns to the frame."""
        if self._way is None:
            return
        found = reach(self._session.robot, self._way, self._target(), self._session.q, self._parameter())
        self._session.ask(found.q)
        self._tell(found)
        if not self._held:
            self._mark.visible = False
            self._follow(found.q)

    def _turn(self) -> None:
        """The frame stays, and the rest of the arm moves around it."""
        if self._way is not None:
            T = forward_kinematics(self._session.robot, self._session.q, self._way.frame)
            found = reach(self._session.robot, self._way, T, self._session.q, self._parameter())
            if found.reached:
                self._session.ask(found.q)
            self._tell(found)

    def _choose(self, branch: int) -> None:
        """Switch to another branch."""
        if self._way is not None:
            T = forward_kinematics(self._session.robot, self._session.q, self._way.frame)
            found = in_branch(self._session.robot, self._way, T, self._session.q, branch, self._parameter())
            self._session.ask(found.q)
            self._tell(found)

    # --- what they see ------------------------------------------------------------------------------------------------

    def tick(self, now: float) -> bool:
        """Nothing happens by itself."""
        return False

    def moved(self, q: np.ndarray) -> None:
        """Move the gizmo with the frame, unless somebody holds it."""
        if self.is_on and self._way is not None and not self._held:
            self._follow(q)
            self._refresh(q)

    def _follow(self, q: np.ndarray) -> None:
        T = forward_kinematics(self._session.robot, q, self.frame)
        self._gizmo.wxyz, self._gizmo.position = so3.to_quat_wxyz(T[:3, :3]), T[:3, 3]

    def _refresh(self, q: np.ndarray) -> None:
        """Find out what the branches are at q."""
        if self._way is None:
            return
        robot, way = self._session.robot, self._way
        self._follow(q)
        if self._free is not None:
            self._free.value = self._free_now(way, q)
        self._tell(reach(robot, way, forward_kinematics(robot, q, way.frame), q))

    def _free_now(self, way: Way, q: np.ndarray) -> float:
        """What the slider of the redundancy shows at q."""
        value = float(redundancy_of(self._session.robot, q, way.frame)) * way.units
        return round(min(max(value, way.low), way.high), 1)

    def _tell(self, found: Reach) -> None:
        """Show what was found: text, buttons, ghosts, and a red ball at a target out of reach."""
        self._last, way = found, self._way
        assert way is not None
        dot = f'<span style="color:rgb{_GREEN if found.reached else _RED}">●</span>'
        method = f'<span style="opacity:.65">{html.escape(_capital(way.method))}</span>'
        self._text.content = _paragraph(f"{dot} <b>{html.escape(_capital(found.text))}</b><br>{method}")
        self._mark.visible = self._held and not found.reached
        self._mark.position = self._gizmo.position
        for k, button in enumerate(self._buttons):
            usable = bool(found.inside[k])
            state = "" if usable else " · outside limits" if found.exists[k] else " · does not exist"
            button.label, button.disabled = way.branches[k] + state, not usable
            button.color = _CURRENT if k == found.branch else _OTHER
        self._show_ghosts(found if self._every.value else None)

    def _show_ghosts(self, found: Reach | None) -> None:
        """All branches inside the limits but the one of the robot itself, or none."""
        session = self._session
        if found is None or not len(found.found):
            if self._ghosts is not None:
                self._ghosts.show(False)
            return
        if self._ghosts is None or self._ghosts.count != len(found.found):
            if self._ghosts is not None:
                self._ghosts.remove()
            name = f"{ROOT}/branches"
            self._ghosts = Drawn(session.server.scene, name, session.look, len(found.found), tint=_GHOST, opacity=0.25)
        seen = found.inside & (np.arange(len(found.inside)) != found.branch)
        self._ghosts.place(poses_of(session.robot, session.look, found.found), seen=seen)
        self._ghosts.show(True)


def _paragraph(text: str) -> str:
    return f'<div style="padding:0 1em .4em 1em;font-size:.85em;line-height:1.4">{text}</div>'


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
