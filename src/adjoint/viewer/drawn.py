"""Robots in the scene: one handle for each mesh, with all its copies, whose poses are pushed as whole arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .looks import Look, Poses

if TYPE_CHECKING:
    import viser

__all__ = ["Drawn"]

_GHOST = 1.008  # how much larger ghosts are, so that their surfaces are not those of the robot
_GAMMA = 2.2  # the client takes the colors of copies as amounts of light, which are powers of those of a screen
_FEW = 64  # up to so many copies, far ones are drawn with all their triangles


def _without_base(look: Look) -> Look:
    """A look of the moving bodies alone."""
    moving = [look.bodies[part.spots] >= 0 for part in look.parts]
    pairs = zip(look.parts, moving, strict=True)
    parts = (part._replace(spots=part.spots[m], colors=part.colors[m]) for part, m in pairs if m.any())
    return look._replace(parts=tuple(parts))


class Drawn:
    """`count` robots of one look in the scene, in their own colors or all in one `tint`, 0 to 1.

    Ghosts, which are drawn over a robot, have `opacity` < 1 and no base.
    """

    def __init__(
        self, scene: viser.SceneApi, name: str, look: Look, count: int = 1, *,
        tint: tuple[float, float, float] | None = None, opacity: float = 1.0, visible: bool = True,
    ):  # fmt: skip
        self._look, self.count = look, count
        self._size = 1.0 if opacity == 1 else _GHOST
        self.handles = []
        if opacity < 1:
            self._look = look = _without_base(look)
        for k, part in enumerate(look.parts):
            copies = count * len(part.spots)
            own = part.colors[:, :3] if tint is None else np.array([tint] * len(part.spots))
            own = np.power(own, _GAMMA)
            clear = opacity * float(part.colors[0, 3])
            self.handles.append(scene.add_batched_meshes_simple(
                f"{name}/part{k}", part.mesh.vertices, part.mesh.faces,
                np.tile([1.0, 0, 0, 0], (copies, 1)), np.zeros((copies, 3)),
                batched_colors=np.tile(own, (count, 1)), batched_scales=np.full(copies, self._size),
                opacity=clear if clear < 1 else None, lod="off" if copies <= _FEW else "auto",
                cast_shadow=opacity == 1, receive_shadow=opacity == 1, visible=visible,
            ))  # fmt: skip

    def place(self, poses: Poses, offsets: np.ndarray | None = None, seen: np.ndarray | None = None) -> None:
        """Move all robots: poses of spots (count, s, ...), each robot moved by its row of `offsets` (count, 3) [m].

        Robots that are not `seen` (count,) vanish.
        """
        for part, handle in zip(self._look.parts, self.handles, strict=True):
            xyz = poses.xyz[..., part.spots, :]
            if offsets is not None:
                xyz = xyz + offsets[:, None, :].astype(np.float32)
            handle.batched_wxyzs = poses.wxyz[..., part.spots, :].reshape(-1, 4)
            handle.batched_positions = xyz.reshape(-1, 3)
            if seen is not None:
                handle.batched_scales = np.repeat(np.where(seen, self._size, 0.0), len(part.spots)).astype(np.float32)

    def body_of(self, part: int, copy: int) -> int:
        """The number of the body that shows copy number `copy` of a part; -1 is the base."""
        spots = self._look.parts[part].spots
        return int(self._look.bodies[spots[copy % len(spots)]])

    def show(self, visible: bool) -> None:
        """Show or hide the robots."""
        for handle in self.handles:
            handle.visible = visible

    def remove(self) -> None:
        """Take the robots out of the scene."""
        for handle in self.handles:
            handle.remove()
