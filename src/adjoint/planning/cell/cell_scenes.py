"""`random_cell`: a PUMA with a hand before a table with coloured blocks in random places, and a camera beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from ...errors import ArgumentError
from ...lie import se3, so3
from ...model.input_checks import positive
from ...randomness import Rng, generator
from ...robots import puma560
from ...vision.cameras import Camera, looking_at
from ...world.parts import Part, cuboid
from ...world.state import Gripper, World
from ...world.state.part_contents import solids_of

__all__ = ["CAMERA", "ROBOT", "TABLE", "CellScene", "random_cell"]

ROBOT, TABLE, CAMERA = "puma", "table", "eye"
TABLE_TOP = -0.30  # [m] below the shoulder of the arm
HOME = np.radians([0.0, -100.0, 25.0, 0.0, -60.0, 0.0])  # the arm stands upright, and hides nothing of the table
COLOURS: Mapping[str, tuple[float, float, float]] = MappingProxyType({
    "red": (0.85, 0.15, 0.12), "green": (0.12, 0.65, 0.2), "blue": (0.12, 0.3, 0.85),
    "yellow": (0.9, 0.8, 0.1), "purple": (0.6, 0.15, 0.7), "cyan": (0.1, 0.75, 0.8),
})  # fmt: skip
SIZES = ((0.04, 0.04, 0.04), (0.05, 0.05, 0.05), (0.06, 0.045, 0.04))  # [m]
DENSITIES = (600.0, 7850.0)  # [kg/m³] from wood to steel
BELIEVED_DENSITY = 1000.0  # [kg/m³] what the program takes blocks for
SPAN = np.array([[0.36, 0.62], [-0.24, 0.24]])  # [m] where blocks may lie
APART = 0.13  # [m] between the middles of blocks on the table: an open hand fits between them
VIEWPOINT, VIEWED = np.array([1.1, -0.15, 0.6]), np.array([0.49, 0.0, TABLE_TOP])  # [m] of the camera, about
_TRIES = 1000


@dataclass(frozen=True, eq=False, repr=False)
class CellScene:
    """A cell as it is: the `world`, and what the program that works in it is told, the world `told`.

    - `world` has the robot "puma", the "table", the blocks (by their colours) with their true masses, and the camera
      "eye" with its true lens and pose.
    - `told` has the robot and the table alone. `blocks` {name: part} are the shapes and colours of the blocks, with a
      mass that the program assumes.
    """

    world: World
    told: World
    blocks: Mapping[str, Part]

    @property
    def camera(self) -> Camera:
        """The camera as it is: its lens and its pose."""
        return self.world.sensor_at(CAMERA)

    def __repr__(self) -> str:
        stacked = sum(self.world.frames[name].parent != TABLE for name in self.blocks)
        return f"<CellScene: {', '.join(self.blocks)} ({stacked} on others)>"


def random_cell(*, rng: Rng, blocks: int | None = None, stacked: float = 0.35) -> CellScene:
    """A cell with coloured blocks in random places: some lie on the table, some on other blocks.

        >>> scene = random_cell(rng=0, blocks=4)
        >>> sorted(scene.blocks), list(scene.world.robots)
        (['blue', 'green', 'red', 'yellow'], ['puma'])

    - `blocks` is their number, 2 to 6; without it, 3 to 6 are drawn. They are cubes and bricks of a few sizes, between
      wood and steel in mass, turned by any angle about the vertical, and far enough apart for the hand.
    - `stacked` is the chance of a block to lie on another one, 0 to 1.

    The camera is beside the table, about 1.1 m away; its pose differs from scene to scene.
    """
    rng = generator(rng, "random_cell")
    count = rng.integers(3, 7) if blocks is None else blocks
    if not (isinstance(count, int | np.integer) and 2 <= count <= len(COLOURS)):
        raise ArgumentError(f"random_cell: 'blocks' must be a whole number from 2 to {len(COLOURS)}, got {blocks!r}")
    if not positive(stacked, "random_cell: 'stacked'", or_zero=True) <= 1:
        raise ArgumentError(f"random_cell: 'stacked' must be a number from 0 to 1, got {stacked!r}")
    sizes = {name: SIZES[rng.integers(len(SIZES))] for name in list(COLOURS)[:count]}
    told = empty_cell()
    world = told.add_sensor(CAMERA, _lens(rng), at=_viewpoint(rng))
    for name, size in sizes.items():
        part = cuboid(*size, colour=COLOURS[name], name=name).with_density(rng.uniform(*DENSITIES))
        world = _put(world, name, part, rng, stacked)
    known = {
        name: cuboid(*size, colour=COLOURS[name], name=name).with_density(BELIEVED_DENSITY)
        for name, size in sizes.items()
    }
    return CellScene(world, told, MappingProxyType(known))


def empty_cell() -> World:
    """The robot and the table."""
    hand = Gripper(opening=0.085, depth=0.06, thickness=0.008, force=80.0, T_tool_grip=[0, 0, 0.13])
    top = cuboid(0.6, 0.9, 0.05, colour=[0.33, 0.31, 0.29])
    return (
        World()
        .add_robot(ROBOT, puma560(), q=HOME, gripper=hand)
        .add(TABLE, top, at=[0.52, 0.0, TABLE_TOP - 0.025])
    )


def _lens(rng: np.random.Generator) -> Camera:
    """A camera whose numbers nobody knows exactly."""
    k1, k2 = rng.normal([-0.08, 0.03], [0.02, 0.01])
    return Camera.pinhole((640, 480), rng.uniform(0.68, 0.74), distortion=[k1, k2, 0, 0])


def _viewpoint(rng: np.random.Generator) -> np.ndarray:
    spot = VIEWPOINT + rng.uniform(-0.08, 0.08, 3)
    return looking_at(spot, VIEWED + rng.uniform(-0.02, 0.02, 3))


def _put(world: World, name: str, part: Part, rng: np.random.Generator, stacked: float) -> World:
    """The world with one more block, on the table or on a block that nothing lies on."""
    height = part_size(part)[2]
    below = [x for x in world.parts if x in COLOURS and x not in {f.parent for f in world.frames.values()}]
    low = [x for x in below if world.frames[x].parent == TABLE]  # towers of two
    if low and rng.random() < stacked:
        carrier = low[rng.integers(len(low))]
        top = world.pose(carrier)[2, 3] + part_size(world.parts[carrier])[2] / 2
        spot = world.pose(carrier)[:2, 3] + rng.uniform(-0.004, 0.004, 2)
        pose = flat_pose(spot[0], spot[1], rng.uniform(-np.pi, np.pi), top + height / 2)
        return _laid(world, name, part, pose, carrier)
    pose = free_pose(world, name, height, rng, _TRIES)
    if pose is None:
        raise ArgumentError(f"random_cell: no room for '{name}' on the table")
    return _laid(world, name, part, pose, TABLE)


def free_pose(world: World, name: str, height: float, rng: np.random.Generator, tries: int) -> np.ndarray | None:
    """A random pose (4, 4) on the table of a block of a height [m], far from all others; None if none was found."""
    others = np.array([world.pose(x)[:2, 3] for x in world.parts if x not in (name, TABLE)]).reshape(-1, 2)
    for _ in range(tries):
        spot = rng.uniform(*SPAN.T)
        if np.linalg.norm(others - spot, axis=1).min(initial=np.inf) > APART:
            return flat_pose(spot[0], spot[1], rng.uniform(-np.pi, np.pi), TABLE_TOP + height / 2)
    return None


def _laid(world: World, name: str, part: Part, pose: np.ndarray, carrier: str) -> World:
    """The world with a block at a pose (4, 4) in the world, which lies on its carrier."""
    return world.add(name, part, at=pose).attach(name, carrier, "conditional")


def flat_pose(x: float, y: float, turn: float, z: float) -> np.ndarray:
    """The pose (4, 4) at (x, y, z) [m], turned about the vertical [rad]."""
    return se3.from_rotation_translation(so3.rotation_z(turn), [x, y, z])


def block_mass(part: Part) -> float:
    """What a block weighs [kg]."""
    return float(part.density * np.prod(part_size(part)))


def part_size(part: Part) -> np.ndarray:
    """The lengths (3,) [m] of a block along its axes."""
    (box,) = solids_of(part)
    return 2 * box.dimensions
