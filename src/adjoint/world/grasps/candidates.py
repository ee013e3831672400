"""`grasp_candidates`: where a gripper can hold a part, whatever is around it."""

from __future__ import annotations

import dataclasses

import numpy as np

from ...errors import ArgumentError
from ...model.input_checks import count, positive
from ...randomness import Rng, generator
from ...sensing.scene.scene_checks import number
from ..state.grippers import Gripper
from .antipodal import antipodal_sites
from .face_pairs import Sites, face_sites, joined
from .grasp_results import Grasps, GraspTable
from .graspable import Graspable, graspable
from .separations import box_hull, separations

__all__ = ["grasp_candidates"]

TOUCH = 1e-6  # [m] solids that overlap by less than this only touch
LEAST_CONTACT = 0.05  # of the finger's inner side has to be in contact with a face
GRAVITY = 9.81


def grasp_candidates(
    part, gripper: Gripper, *, friction: float = 0.5, approaches: int = 8, positions: int = 3, samples: int = 24,
    spread: float = 0.01, gravity: float = GRAVITY, rng: Rng = 0,
) -> Grasps:  # fmt: skip
    """Ways to hold a part with two parallel fingers, ranked, and those that fail with their reasons: `Grasps`.

        >>> from adjoint.world import Gripper, cuboid
        >>> print(grasp_candidates(cuboid(0.08, 0.04, 0.02), Gripper(opening=0.05), positions=1))
        32 of 48 candidates: 16 too wide

    Candidates are of two kinds:

    - Two parallel faces that look away from each other: the fingers stand on the region that both have in common, seen
      along the normal, over the centre of mass and on a grid of `positions` × `positions` points.
    - Antipodal points of curved surfaces: from `samples` random points, drawn with `rng`, rays go through the part, one
      along the normal and three inside the friction cone; where a ray leaves the part for the last time, it must be
      inside the friction cone, too: at most atan μ from the normal.

    Around the line of the fingers the hand comes from `approaches` directions, each with both orders of the fingers.
    A candidate is pruned if it is

    - "too wide" for the opening, or "too narrow" for the least width of the gripper;
    - "with too little contact": less than 5 % of the finger is on both faces;
    - "not p-convex": near the faces a part must lie between them, so that fingers which are `spread` [m] wider open, as
      far as the gripper opens, do not meet the part;
    - "stopped by the palm", which meets the part;
    - "slipping": the `friction` μ of both fingers cannot hold the weight, 2 μ F < m g, with `gravity` g [m/s²].

    `part` is a `Part`, or a solid such as `Box`, which has the density of water. `find_grasps` asks the world and a
    robot, too. Reference: Fu, Gonzalez & Lee (1987), Sec. 10.9.3.
    """
    who = "grasp_candidates"
    if not isinstance(gripper, Gripper):
        raise ArgumentError(f"{who}: 'gripper' must be a Gripper, got {type(gripper).__name__}")
    thing = graspable(part, who)
    mu = positive(friction, f"{who}: friction")
    turns, grid = count(approaches, f"{who}: approaches"), count(positions, f"{who}: positions")
    if turns < 1 or grid < 1:
        raise ArgumentError(f"{who}: 'approaches' and 'positions' must be 1 or more, got {turns} and {grid}")
    sites = face_sites(thing, gripper, turns, grid)
    sites += antipodal_sites(thing, gripper, turns, count(samples, f"{who}: samples"), mu, generator(rng, who))
    wider = number(spread, "spread", who, least=0)
    g = positive(gravity, f"{who}: gravity", or_zero=True)
    table = _table(thing, gripper, joined(sites) if sites else _nothing(), mu, g)
    name = getattr(part, "name", "") or "part"
    return Grasps(name, gripper, scored(_pruned(thing, gripper, table, wider), gripper, thing, mu, None, (1, 1, 1)))


def _nothing() -> Sites:
    none = np.zeros(0)
    return Sites(np.zeros((0, 4, 4)), none, none, none, (), ())


def _table(thing: Graspable, gripper: Gripper, sites: Sites, mu: float, g: float) -> GraspTable:
    """The candidates with their numbers."""
    T, weight = sites.T_part_grip, thing.mass * g
    arm = np.linalg.norm(np.cross(thing.center - T[:, :3, 3], T[:, :3, 1]), axis=1)
    torque = weight * arm
    n = len(T)
    slip = np.full(n, 2 * mu * gripper.force / weight if weight > 0 else np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        hold = 4 / 3 * mu * gripper.force * np.sqrt(sites.area / np.pi)
        turn = np.where(torque > 1e-12, np.where(sites.area > 0, hold / torque, 0.0), np.inf)
    far, blank = np.full(n, np.inf), np.full(n, "", object)
    return GraspTable(
        T, sites.width, sites.kind, sites.faces, sites.area, np.arctan(mu) - sites.tilt, arm, torque, slip, turn, far,
        np.zeros(n), blank,
    )  # fmt: skip


def prune(reason: np.ndarray, bad: np.ndarray, why) -> None:
    """Write a reason to the candidates that are bad and have none yet."""
    reason[bad & (reason == "")] = why


def _pruned(thing: Graspable, gripper: Gripper, table: GraspTable, spread: float) -> GraspTable:
    """The candidates with reasons that the part and the gripper alone give."""
    slack, reason = 1e-9 * gripper.opening, table.reason.copy()
    prune(reason, table.width > gripper.opening + slack, "too wide")
    prune(reason, table.width < gripper.least - slack, "too narrow")
    pad = gripper.breadth * gripper.depth
    faces = np.array(table.kind, object) == "faces"
    prune(reason, faces & (table.area < LEAST_CONTACT * pad), "with too little contact")
    prune(reason, table.slip_margin < 1, "slipping")
    left = np.flatnonzero(reason == "")
    T, apart = table.T[left], open_widths(gripper, table.width[left], spread)
    # The prism around a round piece is larger than the piece by less than 0.5 % of its radius.
    slack = TOUCH + 0.0025 * table.width[left]
    for why, names in (("not p-convex", ("finger", "finger#2")), ("stopped by the palm", ("palm",))):
        deep = np.zeros(len(left), bool)
        for name, hull, at in hand_hulls(gripper, T, apart):
            if name in names:
                for piece in thing.pieces:
                    deep |= separations(hull, at, piece, 0.0) < -slack
        some = np.zeros(len(table), bool)
        some[left[deep]] = True
        prune(reason, some, why)
    return dataclasses.replace(table, reason=reason)


def open_widths(gripper: Gripper, width: np.ndarray, spread: float) -> np.ndarray:
    """How far apart (n,) [m] the fingers are before they close."""
    return np.clip(width + spread, gripper.least, gripper.opening)


def hand_hulls(gripper: Gripper, T_grip: np.ndarray, apart: np.ndarray):
    """The name, the hull and the poses (n, 4, 4) of palm and fingers, for grip frames (n, 4, 4) and widths (n,)."""
    g = gripper
    places = [
        ("palm", [g.breadth, g.opening + 2 * g.thickness, g.palm], 0.0 * apart, g.tip - g.depth - g.palm / 2),
        ("finger", [g.breadth, g.thickness, g.depth], (apart + g.thickness) / 2, g.tip - g.depth / 2),
        ("finger#2", [g.breadth, g.thickness, g.depth], -(apart + g.thickness) / 2, g.tip - g.depth / 2),
    ]
    for name, size, y, z in places:
        at = T_grip.copy()
        at[:, :3, 3] += y[:, None] * T_grip[:, :3, 1] + z * T_grip[:, :3, 2]
        yield name, box_hull(size), at


def scored(
    table: GraspTable, gripper: Gripper, thing: Graspable, mu: float, error: float | None, weights
) -> GraspTable:  # fmt: skip
    """The table with scores, the weighted mean of three numbers from 0 to 1; see `find_grasps`."""
    pad = gripper.breadth * gripper.depth
    size = np.linalg.norm(thing.mesh.vertices - thing.center, axis=1).max()
    stability = (np.minimum(table.area / pad, 1) + table.cone_margin / np.arctan(mu)) / 2
    balance = 1 / (1 + table.arm / size)
    room = np.ones(len(table))
    if error is not None:
        free = np.maximum(table.clearance, 0)
        finite = np.isfinite(free)
        room = np.where(finite, np.where(finite, free, 0) / (np.where(finite, free, 0) + error), 1.0)
    w = np.asarray(weights, float) / np.sum(weights)
    return dataclasses.replace(table, score=w[0] * stability + w[1] * balance + w[2] * room)
