"""How well a frame can be moved: manipulability, and the directions in which it cannot."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile import kernel, static
from ..errors import ArgumentError
from ..model.input_checks import positive
from ..model.robot import Robot
from .jacobians import jacobian

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

    `part`: "all", "rotation" or "translation" of the twist. If fewer joints move the frame than it has directions,
    √det(Jᵀ J) of their columns; 0 if none does.
    """
    moving = _moving(robot, frame)
    J = part_of(jacobian(robot, q, frame, "world"), part)[:, moving]
    gram = J @ J.T if J.shape[0] <= len(moving) else J.T @ J
    return np.sqrt(np.maximum(np.linalg.det(gram), 0.0)) if moving else 0.0


def _moving(robot: Robot, frame: str) -> list[int]:
    """Places in v of the joints that move a frame."""
    at = robot.layout
    bodies = robot.path(robot.frame(frame).body)
    return sorted({at.v_start[i] + k for i in bodies for k in range(at.dof_start[i + 1] - at.dof_start[i])})


class SingularDirections(NamedTuple):
    """Singular values (..., r) of J, largest first; `twists` (..., r, r) and `rates` (..., nv, r), one per column:
    v = rates[:, i] moves the frame with values[i] · twists[:, i]. A twist out of reach has value and rates 0.
    """

    values: np.ndarray
    twists: np.ndarray
    rates: np.ndarray


def singular_directions(
    robot: Robot, q, frame: str, expressed: str = "body", part: str = "all", *, length: float = 1.0
) -> SingularDirections:
    """Singular value decomposition of a frame's Jacobian at q (..., nq): what it can and cannot do.

    Where a value is 0, the twist in its column is out of reach, and the wrench along it costs no torque. `expressed` is
    as for `jacobian`, and `part` as for `manipulability`; r is 6 or 3. Angular rows are multiplied by `length` [m],
    which says how many metres count as one radian; so are the angular parts of `twists`. A q with NaN gives NaN, for
    its own sample only.
    """
    length = positive(length, "singular_directions: length [m]")
    J = part_of(jacobian(robot, q, frame, expressed) * np.repeat([length, 1.0], 3)[:, None], part)
    unknown = ~np.isfinite(J).all(axis=(-2, -1))
    U, values, Vt = np.linalg.svd(np.where(unknown[..., None, None], 0.0, J), full_matrices=True)
    U[unknown], values[unknown], Vt[unknown] = np.nan, np.nan, np.nan
    missing = U.shape[-1] - values.shape[-1]  # directions beyond the number of joints
    rates = np.swapaxes(Vt, -1, -2)[..., : values.shape[-1]]
    return SingularDirections(_padded(values, missing), U, _padded(rates, missing))


def _padded(x: np.ndarray, zeros: int) -> np.ndarray:
    """x with zeros added at the end of its last axis."""
    return np.concatenate([x, np.zeros((*x.shape[:-1], zeros))], axis=-1)
