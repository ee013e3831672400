"""Checkboxes for what is drawn over the robot."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..drawing.axes import upright
from ..drawing.triangles import ball
from ..kinematics.center import center_of_mass
from ..lazy import cached_property
from ..lie import so3
from .overlays import (
    Ellipsoids,
    frame_groups,
    frame_poses,
    inertia_ellipsoids,
    joint_axes,
    tool_arrows,
    tool_ellipsoid,
    workspace,
)
from .sessions import ROOT, Session

if TYPE_CHECKING:
    import viser

__all__ = ["OverlayPanel", "heat"]

_TURN, _SLIDE = (0.16, 0.42, 0.85), (0.9, 0.5, 0.1)
_MOST_NAMES = 150
_HEAT = np.array([[0.19, 0.07, 0.23], [0.27, 0.55, 0.95], [0.25, 0.93, 0.6], [0.95, 0.8, 0.2], [0.6, 0.05, 0.02]])


def heat(x: np.ndarray) -> np.ndarray:
    """Colors (k, 3) of numbers (k,) from 0, dark blue, to 1, red."""
    at = np.clip(x, 0, 1) * (len(_HEAT) - 1)
    return np.stack([np.interp(at, np.arange(len(_HEAT)), _HEAT[:, k]) for k in range(3)], axis=-1)


class OverlayPanel:
    """The tab of overlays: each is drawn anew, when the robot has moved, if its box is checked."""

    def __init__(self, session: Session, frame: Callable[[], str]):
        self._session, self._frame = session, frame
        self._scene: viser.SceneApi = session.server.scene
        self._size = session.extent.reach
        self._handles: dict[str, list[Any]] = {}
        self._boxes: dict[str, Any] = {}
        self._cloud: tuple[str, Any] | None = None
        gui = session.server.gui
        self._kinds: dict[str, tuple[str, Callable[[np.ndarray], list[Any]]]] = {
            "Frames": ("Axes of all frames: x red, y green, z blue", self._frames),
            "Names": ("Names of all frames", self._names),
            "Joint axes": ("Screws of the joints: blue turn, orange slide", self._axes),
            "Centre of mass": ("The centre of mass, and the point below it", self._center),
            "Inertia ellipsoids": ("Solid ellipsoids with the mass and inertia of each body", self._inertias),
            "Manipulability": ("How fast the chosen frame moves in each direction", self._velocities),
            "Force ellipsoid": ("How hard the chosen frame pushes in each direction", self._forces),
            "Jacobian columns": ("How the chosen frame moves with each joint", self._columns),
            "Workspace": ("100 000 random configurations, coloured by manipulability, and cut open", self._workspace),
        }
        for name, (hint, _) in self._kinds.items():
            self._boxes[name] = gui.add_checkbox(name, False, hint=hint)
            session.listen(self._boxes[name], lambda _, name=name: self._draw(name, session.q))
        self.dark = gui.add_checkbox("Dark background", False)
        self._look = gui.add_checkbox("Robot", True, hint="Hide the robot to see what is inside it")
        session.listen(self._look, lambda on: session.drawn.show(on))

    def tick(self, now: float) -> bool:
        """Nothing happens by itself."""
        return False

    def moved(self, q: np.ndarray) -> None:
        """Draw all that is checked, at q."""
        for name, box in self._boxes.items():
            if box.value and name != "Workspace":
                self._draw(name, q)

    def _draw(self, name: str, q: np.ndarray) -> None:
        """Draw an overlay, or take it away. Nodes with the same names replace those before."""
        if self._boxes[name].value:
            self._handles[name] = self._kinds[name][1](q)
        else:
            for handle in self._handles.pop(name, ()):
                handle.remove()

    # --- the kinds ----------------------------------------------------------------------------------------------------

    def _frames(self, q: np.ndarray) -> list[Any]:
        T, r = frame_poses(self._session.robot, q), self._size
        wxyz, xyz = so3.to_quat_wxyz(T[:, :3, :3]), T[:, :3, 3]
        known = self._handles.get("Frames")
        if known:
            known[0].batched_wxyzs, known[0].batched_positions = wxyz, xyz
            return known
        length = 0.1 * r if len(T) < 40 else 0.04 * r
        return [self._scene.add_batched_axes(
            f"{ROOT}/frames", wxyz, xyz, axes_length=length, axes_radius=0.05 * length
        )]  # fmt: skip

    def _names(self, q: np.ndarray) -> list[Any]:
        T, groups = frame_poses(self._session.robot, q)[:, :3, 3], self._groups[:_MOST_NAMES]
        known = self._handles.get("Names")
        if known:
            for handle, (k, _) in zip(known, groups, strict=True):
                handle.position = T[k]
            return known
        return [self._scene.add_label(f"{ROOT}/names/{k}", text, position=T[k], font_screen_scale=0.8,
                                      anchor="bottom-center") for k, text in groups]  # fmt: skip

    @cached_property
    def _groups(self) -> list[tuple[int, str]]:
        return frame_groups(self._session.robot)

    def _axes(self, q: np.ndarray) -> list[Any]:
        arrows, turns = joint_axes(self._session.robot, q, 0.35 * self._size)
        return self._arrows("Joint axes", arrows, np.where(turns[:, None], _TURN, _SLIDE))

    def _columns(self, q: np.ndarray) -> list[Any]:
        arrows = tool_arrows(self._session.robot, q, self._frame(), 0.5 * self._size)
        return self._arrows("Jacobian columns", arrows, heat(np.linspace(0.1, 0.9, max(len(arrows), 1)))[: len(arrows)])

    def _arrows(self, name: str, points: np.ndarray, colors: np.ndarray) -> list[Any]:
        known, r = self._handles.get(name), self._size
        if known:
            known[0].points = points
            return known
        return [self._scene.add_arrows(
            f"{ROOT}/{name}", points, colors, shaft_radius=0.006 * r, head_radius=0.015 * r, head_length=0.04 * r
        )] if len(points) else []  # fmt: skip

    def _center(self, q: np.ndarray) -> list[Any]:
        c, r = center_of_mass(self._session.robot, q), self._size
        up = upright(self._session.robot)[2]
        below = c - up * (up @ c - min(0.0, float(self._session.extent.low[2])))
        known = self._handles.get("Centre of mass")
        if known:
            known[0].position, known[1].points = c, np.array([[c, below]])
            return known
        return [
            self._scene.add_icosphere(f"{ROOT}/center", 0.028 * r, color=(0.95, 0.75, 0.1), position=c),
            self._scene.add_line_segments(
                f"{ROOT}/plumb", np.array([[c, below]]), (0.5, 0.4, 0.1), thickness=0.004 * r
            ),
        ]

    def _ellipsoids(self, name: str, found: Ellipsoids, color: tuple[float, float, float]) -> list[Any]:
        known = self._handles.get(name)
        if known:
            handle = known[0]
            handle.batched_wxyzs, handle.batched_positions = found.wxyz, found.xyz
            handle.batched_scales = np.maximum(found.axes, 1e-6).astype(np.float32)
            return known
        unit = ball(1.0, sides=32)
        return [self._scene.add_batched_meshes_simple(
            f"{ROOT}/{name}", unit.vertices, unit.faces, found.wxyz, found.xyz, batched_scales=found.axes,
            batched_colors=color, opacity=0.4, cast_shadow=False, receive_shadow=False, lod="off",
        )] if len(found.xyz) else []  # fmt: skip

    def _inertias(self, q: np.ndarray) -> list[Any]:
        return self._ellipsoids("Inertia ellipsoids", inertia_ellipsoids(self._session.robot, q), (0.55, 0.25, 0.75))

    def _velocities(self, q: np.ndarray) -> list[Any]:
        found = tool_ellipsoid(self._session.robot, q, self._frame(), 0.3 * self._size)
        return self._ellipsoids("Manipulability", found, (0.15, 0.65, 0.35))

    def _forces(self, q: np.ndarray) -> list[Any]:
        found = tool_ellipsoid(self._session.robot, q, self._frame(), 0.3 * self._size, force=True)
        return self._ellipsoids("Force ellipsoid", found, (0.85, 0.3, 0.25))

    def _workspace(self, q: np.ndarray) -> list[Any]:
        cloud = workspace(self._session.robot, self._frame())
        x, y = cloud.points[:, 0], cloud.points[:, 1]
        kept = (x < 0) | (y > 0)  # the quarter in front is left out, so that one sees the robot and the inside
        return [self._scene.add_point_cloud(
            f"{ROOT}/workspace", cloud.points[kept].astype(np.float32), heat(cloud.measure[kept]),
            point_size=0.004 * self._size,
            point_shape="circle", precision="float32", point_shading="flat",
        )]  # fmt: skip
