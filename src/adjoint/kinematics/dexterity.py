"""How well a frame can be moved: manipulability, and the directions in which it cannot."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile import kernel, static
from ..errors import ArgumentError
from ..robot.model import Robot
from .jacobian import jacobian

__all__ = ["SingularDirections", "manipulability", "singular_directions"]

PARTS = {"all": slice(0, 6), "rotation": slice(0, 3), "translation": slice(3, 6)}


def part_of(J, part: str):
    """The rows of J (..., 6, k) that `part` names: "all", "rotation" or "translation"."""
    if part not in PARTS:
        raise ArgumentError(f"part is {part!r}; it must be one of {', '.join(map(repr, PARTS))}")
    return J[..., PARTS[part], :]


@kernel(robot=static, q="nq", frame=static, part=static)
def manipulability(robot, q, frame, part="all"):
    """√det(J Jᵀ), Yoshikawa's measure, of a frame's "world" Jacobian at q (nq,); 0 at singularities.

    `part`: "all", "rotation" or "translation" of the twist. With fewer joints than directions, √det(Jᵀ J).
    """
    J = part_of(jacobian(robot, q, frame, "world"), part)
    gram = J @ J.T if J.shape[0] <= J.shape[1] else J.T @ J
    return np.sqrt(np.maximum(np.linalg.det(gram), 0.0))


class SingularDirections(NamedTuple):
    """Singular values (..., k) of J, largest first; `twists` (..., r, k) and `rates` (..., nv, k), one per column:
    v = rates[:, i] moves the frame with values[i] · twists[:, i].
    """

    values: np.ndarray
    twists: np.ndarray
    rates: np.ndarray


def singular_directions(
    robot: Robot, q, frame: str, expressed: str = "world", part: str = "all", length: float = 1.0
) -> SingularDirections:
    """Singular value decomposition of a frame's Jacobian at q (..., nq): what it can and cannot do.

    Where a value is 0, the twist in its column is out of reach, and the wrench along it costs no torque. `length` [m]
    says how many metres count as one radian: angular rows are multiplied by it.
    """
    J = jacobian(robot, q, frame, expressed) * np.repeat([length, 1.0], 3)[:, None]
    U, values, Vt = np.linalg.svd(part_of(J, part), full_matrices=False)
    return SingularDirections(values, U, np.swapaxes(Vt, -1, -2))
