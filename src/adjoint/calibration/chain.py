"""The chain of joints from the base to a frame, with its numbers as inputs, and what a measurement tells of them.

The frame is at

    T = B · M_1 exp(S_1 (γ_1 q_1 + δ_1)) ··· M_n exp(S_n (γ_n q_n + δ_n)) · X                                       (1)

in the measuring frame: the local form of the product of exponentials, Park (1994), §III, with the placements B of the
base and X of the frame in its body (the tool), gear factors γ and joint offsets δ. Errors of a screw live in its
adjoint orbit, S_i → Ad(exp(x_i)) S_i: Okamura & Park (1996), "Kinematic calibration using the product of exponentials
formula", Robotica 14(4). So a calibrated revolute joint stays revolute, and no parameter is singular where axes are
parallel.

A small change of the numbers moves the frame by a twist V, seen from the frame itself. With X_i, which takes
coordinates of body i to those of the frame, and h = exp(-S_i θ_i), the columns of V are

    x_i of a screw:     Ad(X_i) (Ad(h) x_i - x_i)          δ_i:   Ad(X_i) S_i          B exp(b):   Ad(X_0) b
    x_i of M_i exp(x_i):    Ad(X_i h) x_i                  γ_i:   Ad(X_i) S_i q_i      X exp(t):   t                (2)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..compile import kernel, static
from ..lie import se3, series
from ..model.joints import JOINTS

__all__ = [
    "NUMBERS",
    "Chain",
    "Crossing",
    "Numbers",
    "Rows",
    "distance_rows",
    "placement",
    "plane_rows",
    "point_rows",
    "pose_rows",
    "twists",
]


class Crossing(NamedTuple):
    """A joint of the chain: its type, its place in q, and which of its numbers are estimated."""

    kind: str  # a key of `JOINTS`
    start: int  # the place of its (or its leader's) first coordinate in q
    screws: tuple[tuple[float, ...], ...]  # those of a joint with several degrees of freedom, which are kept; else ()
    tilts: int  # how many directions of its screw are estimated: 4, 2 if it is prismatic, or 0
    placement: bool
    offset: bool
    gear: bool


class Chain(NamedTuple):
    """The structure of equation (1), without its numbers: chains of the same structure share their machine code."""

    nq: int
    joints: tuple[Crossing, ...]
    base: bool  # whether the placement of the base is estimated
    tool: bool
    radius: bool  # whether the radius of the sphere is estimated
    points: int = 1  # the number of points that are measured

    @property
    def n(self) -> int:
        """The number of joints."""
        return len(self.joints)


class Numbers(NamedTuple):
    """The numbers of equation (1); `tilts` (n, 4, 6) are the directions x_i in which the screws are varied."""

    placements: np.ndarray  # (n, 4, 4) the M_i
    screws: np.ndarray  # (n, 6) the S_i
    gears: np.ndarray  # (n,) the γ_i, or the multiplier if the joint follows another
    offsets: np.ndarray  # (n,) the δ_i [rad or m]
    base: np.ndarray  # (4, 4) the placement B of the base in the measuring frame
    tool: np.ndarray  # (4, 4) the placement X of the frame in its body
    radius: float  # [m] of the sphere on which the tool point stays
    tilts: np.ndarray


class Rows(NamedTuple):
    """Of one sample: the `residual` (m,), measured minus predicted, and the `slopes` (m, p) of the prediction."""

    residual: Any
    slopes: Any


NUMBERS = {
    "placements": ("n", 4, 4),
    "screws": ("n", 6),
    "gears": "n",
    "offsets": "n",
    "base": (4, 4),
    "tool": (4, 4),
    "radius": (),
    "tilts": ("n", 4, 6),
}
"""{name: shape} of the numbers of a chain, as inputs of a kernel: `@kernel(chain=static, q="nq", **NUMBERS)`."""


def twists(chain: Chain, q, numbers: Numbers) -> tuple[Any, list]:
    """T (4, 4) of equation (1), and the columns (6,) of equation (2), in the order of the parameters."""
    X, own = se3.inverse(numbers.tool), []
    for i, joint in reversed(list(enumerate(chain.joints))):
        back, found = _crossed(joint, i, q, numbers)
        own.append([se3.Ad_action(X, V) for V in found])
        X = se3.compose(X, back)
        if joint.placement:
            own[-1] += list(se3.Ad(X).T)
        X = se3.compose(X, se3.inverse(numbers.placements[i]))
    columns = [V for found in reversed(own) for V in found]
    columns += list(se3.Ad(X).T) if chain.base else []
    columns += list(np.eye(6)) if chain.tool else []
    return se3.compose(numbers.base, se3.inverse(X)), columns


def _crossed(joint: Crossing, i: int, q, numbers: Numbers) -> tuple[Any, list]:
    """exp(-S θ) (4, 4) of joint number i, and the twists of its estimated numbers, seen from its body."""
    if joint.screws:  # several degrees of freedom: nothing of the joint itself is estimated
        row = JOINTS[joint.kind]
        return se3.inverse(row.placement(q[joint.start : joint.start + row.nq], np.array(joint.screws))), []
    S, coordinate = numbers.screws[i], q[joint.start]
    back = se3.exp(-S * (numbers.gears[i] * coordinate + numbers.offsets[i]))
    found = [se3.Ad_action(back, x) - x for x in numbers.tilts[i, : joint.tilts]]
    return back, found + [S] * joint.offset + [S * coordinate] * joint.gear


@kernel(chain=static, q="nq", **NUMBERS)
def placement(chain: Chain, q, placements, screws, gears, offsets, base, tool, radius, tilts) -> np.ndarray:
    """The placement T (4, 4) of the frame in the measuring frame, equation (1)."""
    return twists(chain, q, Numbers(placements, screws, gears, offsets, base, tool, radius, tilts))[0]


@kernel(chain=static, q="nq", measured=(4, 4), **NUMBERS)
def pose_rows(chain: Chain, q, measured, placements, screws, gears, offsets, base, tool, radius, tilts) -> Rows:
    """The rows of a measured pose: e = log(T⁻¹ T_measured) (6,), which is seen from the frame, and its slopes.

    As log(exp(-V) exp(e)) = e - J_l(e)⁻¹ V + ..., the slopes are J_l(e)⁻¹ times the columns of equation (2).
    """
    T, V = twists(chain, q, Numbers(placements, screws, gears, offsets, base, tool, radius, tilts))
    e = se3.log(se3.compose(se3.inverse(T), measured))
    return Rows(e, se3.left_jacobian_inv(e) @ np.stack(V, axis=-1))


@kernel(chain=static, q="nq", measured=("points", 3), points=("points", 3), **NUMBERS)
def point_rows(
    chain: Chain, q, measured, points, placements, screws, gears, offsets, base, tool, radius, tilts
) -> Rows:
    """The rows of measured points (k, 3), which are at `points` (k, 3) in the frame: 3k differences."""
    T, V = twists(chain, q, Numbers(placements, screws, gears, offsets, base, tool, radius, tilts))
    seen = [_point(T, V, x) for x in points]
    return Rows(
        np.concatenate([m - x for m, (x, _) in zip(measured, seen, strict=True)]),
        np.concatenate([slopes for _, slopes in seen]),
    )


@kernel(chain=static, q="nq", length=(), center=3, point=3, **NUMBERS)
def distance_rows(
    chain: Chain, q, length, center, point, placements, screws, gears, offsets, base, tool, radius, tilts
) -> Rows:
    """The row of a measured `length` from `center` to a point of the frame; the sphere's radius takes its place."""
    T, V = twists(chain, q, Numbers(placements, screws, gears, offsets, base, tool, radius, tilts))
    x, slopes = _point(T, V, point)
    reach = series.norm(x - center)
    row = (x - center) / reach @ slopes
    if not chain.radius:
        return Rows(np.stack([length - reach]), row[None])
    return Rows(np.stack([radius - reach]), np.concatenate([row, [-1.0]])[None])


@kernel(chain=static, q="nq", normal=3, offset=(), point=3, **NUMBERS)
def plane_rows(
    chain: Chain, q, normal, offset, point, placements, screws, gears, offsets, base, tool, radius, tilts
) -> Rows:
    """The row of a point of the frame that touches the plane normal · x = offset."""
    T, V = twists(chain, q, Numbers(placements, screws, gears, offsets, base, tool, radius, tilts))
    x, slopes = _point(T, V, point)
    return Rows(np.stack([offset - normal @ x]), (normal @ slopes)[None])


def _point(T, V: list, point) -> tuple[Any, Any]:
    """Where a point (3,) of the frame is, R point + p, and its slopes R (v + w × point) (3, p)."""
    R = T[:3, :3]
    moved = np.stack([v[3:] + np.cross(v[:3], point) for v in V], axis=-1)
    return R @ point + T[:3, 3], R @ moved
