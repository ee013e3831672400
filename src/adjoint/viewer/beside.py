"""Things beside the robot in a viewer: parts of a world, which rest, move in time, or are held by the robot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..drawing.props import Prop
from ..kinematics.forward import forward_kinematics
from ..lie import so3
from .sessions import ROOT, Session

__all__ = ["Beside", "pose_at"]


def pose_at(prop: Prop, time: float) -> np.ndarray:
    """The pose (4, 4) of a prop at a time [s]: the last one that it has reached."""
    if prop.t is None:
        return prop.poses[0]
    return prop.poses[max(0, int(np.searchsorted(prop.t, time + 1e-9, side="right")) - 1)]


class Beside:
    """Props in the scene; those that actor 0 holds follow the robot. It is a `Panel` without a tab."""

    def __init__(self, session: Session, props: Sequence[Prop], now: Callable[[], float]):
        self._session, self._now = session, now
        self._moving: list[tuple[Prop, Any]] = []
        for k, prop in enumerate(props):
            T, clear = pose_at(prop, now()), prop.color[3]
            handle = session.server.scene.add_mesh_simple(
                f"{ROOT}/beside/{k}", prop.mesh.vertices, prop.mesh.faces, color=prop.color[:3],
                opacity=clear if clear < 1 else None, wxyz=so3.to_quat_wxyz(T[:3, :3]), position=T[:3, 3],
                flat_shading=True,
            )  # fmt: skip
            if prop.t is not None or prop.actor is not None:
                self._moving.append((prop, handle))

    def tick(self, now: float) -> bool:
        """Props have no life of their own: they move with the robot and with the time that is shown."""
        return False

    def moved(self, q: np.ndarray) -> None:
        """Place the props that are held, or have times, when the robot is at q (nq,)."""
        if not self._moving:
            return
        bodies = [*forward_kinematics(self._session.robot, q), np.eye(4)]  # the base has the number -1
        for prop, handle in self._moving:
            T = pose_at(prop, self._now())
            if prop.actor is not None:
                T = bodies[prop.body] @ T
            handle.wxyz, handle.position = so3.to_quat_wxyz(T[:3, :3]), T[:3, 3]
