"""The cell of the book's insertion program: a PUMA 560, a feeder with a bolt, and a beam with a bore."""

from __future__ import annotations

import numpy as np

from ..robots import puma560
from ..world.parts import cuboid, cylinder, difference
from ..world.state import Gripper, World
from ..world.units import INCH

__all__ = ["insertion_world"]

_STEEL = 7850.0  # kg/m³
_FLOOR = -6.0  # in
_TOP = 1.95  # in; the mouth of the bore is a little below the frame D of the program, at 2 in
_HOME = np.array([-1.35, -1.9, -0.4, 0.0, -0.8, 1.0])


def insertion_world(*, bolt: bool = True, bore: bool = True, shift=(0.0, 0.0), clearance: float = 0.01) -> World:
    """The cell in which the AL program of Table 9.7 inserts a bolt into the bore of a beam.

        >>> world = insertion_world()
        >>> sorted(world.parts), list(world.robots)
        (['beam', 'bolt', 'feeder', 'stand'], ['puma'])

    - The robot "puma" has its base, at the height of its shoulder, at (20, 0, 15) in, and a hand whose frame is 5 in
      from the flange, as in Tables 9.2 and 9.3. Its fingers open to 1.6 in, and end 0.45 in above this frame: the
      program holds the bolt half an inch above its tip, and the fingers must stay above the beam.
    - The "feeder" at (25, 20, 0) in is a thin post, with the "bolt" on it: 0.5 in in diameter and 1.5 in high. Without
      `bolt` it is empty.
    - The "beam" at (20, 15, 0) in is turned by 90°. Its `bore` goes from its top, at z = 1.95 in, down to z = 1 in, and
      is wider than the bolt by `clearance` [in] on each side. Without a bore it is plugged.
    - `shift` (x, y) [in] moves the bore off the place where the program expects it.

    Reference: Fu, Gonzalez & Lee (1987), Tables 9.2, 9.3 and 9.7, and Fig. 9.1, whose sizes are not told.
    """
    hand = Gripper(
        opening=1.6 * INCH, depth=4.05 * INCH, palm=0.5 * INCH, thickness=0.25 * INCH, breadth=0.5 * INCH,
        tip=-0.45 * INCH, force=60.0,
    )  # fmt: skip
    turned = np.eye(4)
    turned[:3, :3], turned[:3, 3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]], np.array([20, 15, 0]) * INCH
    block = cuboid(3 * INCH, 6 * INCH, _TOP * INCH, name="beam").at([0, 0, _TOP / 2 * INCH])
    if bore:
        deep = _TOP - 1 + 1  # above the top, too
        hole = cylinder((0.25 + clearance) * INCH, deep * INCH)
        # Axes of the beam are turned by 90° from those of the station.
        block = difference(block, hole, at=[shift[1] * INCH, -shift[0] * INCH, (1 + deep / 2) * INCH])
    post = cylinder(0.2 * INCH, -_FLOOR * INCH).at([0, 0, _FLOOR / 2 * INCH])
    world = World().add_robot("puma", puma560(), q=_HOME, at=np.array([20, 0, 15]) * INCH, gripper=hand)
    world = world.add("feeder", post.with_density(_STEEL), at=np.array([25, 20, 0]) * INCH)
    world = world.add("beam", block.with_density(_STEEL), at=turned)
    world = world.add("stand", cuboid(6 * INCH, 3 * INCH, -_FLOOR * INCH), at=np.array([20, 15, _FLOOR / 2]) * INCH)
    if not bolt:
        return world
    pin = cylinder(0.25 * INCH, 1.5 * INCH).at([0, 0, 0.75 * INCH]).with_density(_STEEL)
    return world.add("bolt", pin.with_colour([0.8, 0.7, 0.2]), at=[0, 0, 0], parent="feeder", attachment="conditional")
