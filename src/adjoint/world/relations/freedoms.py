"""The freedoms that relations leave: a basis of twists in a form that people can read, and what kind each twist is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["Freedom", "freedoms_of", "null_space"]

# A pose is known up to √ρ where surfaces touch each other tangentially, with residuals of ρ = 1e-12. So a singular
# value below 1e-6 (of slopes that are about 1) cannot be told from 0, and axes that differ by less count as parallel.
RANK = 1e-6


class Freedom(NamedTuple):
    """One freedom of one or several parts that move together.

    - `kind` is "translation", "rotation" or "screw", that of the first part that moves.
    - `twists` (n, 6) are the space twists (ω, v) of all unknown parts: the pose of part i is exp(s V_i) T_world_i, to
      first order in s and, for an exact family, for every s. |ω| = 1 and s is in rad, or |v| = 1 and s is in m.
    - `direction` (3,) is the axis or direction in the world, and `point` (3,) a point of the axis (NaN for
      translations); `pitch` [m/rad] is 0 for rotations and NaN for translations.
    """

    kind: str
    twists: np.ndarray
    direction: np.ndarray
    point: np.ndarray
    pitch: float

    def __str__(self) -> str:
        along = "(" + ", ".join(f"{x + 0.0:.4g}" for x in np.round(self.direction, 9)) + ")"
        if self.kind == "translation":
            return f"translation along {along}"
        at = "(" + ", ".join(f"{x + 0.0:.4g}" for x in np.round(self.point, 9)) + ")"
        pitch = f" with pitch {self.pitch:.4g} m/rad" if self.kind == "screw" else ""
        return f"{self.kind} about {along} through {at}{pitch}"


def null_space(J: np.ndarray) -> np.ndarray:
    """An orthonormal basis (columns) of the motions that leave all rows of J (m, k) as they are."""
    if len(J) == 0:
        return np.eye(J.shape[1])
    _, s, Vt = np.linalg.svd(J)
    rank = int((s > RANK * max(1.0, s[0])).sum())
    return Vt[rank:].T


def freedoms_of(
    null: np.ndarray, directions: np.ndarray, centres: np.ndarray, length: float, rough: float = RANK
) -> tuple[Freedom, ...]:
    """The freedoms of a basis (6 n, d) of small motions, about `centres` (n, 3) [m] in the world.

    Motions (ω, v) have lengths in units of `length`. Translations come first. They and the axes of the other motions
    lie along `directions` (columns of (3, 3)) as far as possible; the rest of a rotation has no part along the
    translations, so that it turns about an axis near the centre of the first part. A pitch below `rough`, in units of
    `length`, counts as 0.
    """
    n, d = len(centres), null.shape[1]
    if d == 0:
        return ()
    turns = null.reshape(n, 6, d)[:, :3].reshape(3 * n, d)
    _, s, Vt = np.linalg.svd(turns)
    k = int((s > RANK).sum())
    slides = _along(null @ Vt[k:].T, directions, 3)
    # The columns are divided by s, so that angular velocities are orthonormal: axes then lie along directions exactly.
    turning = _along(null @ Vt[:k].T / s[:k], directions, 0)
    turning = [_without_pitch(move, slides) for move in turning]
    return tuple(_freedom(move.reshape(n, 6), centres, length, rough) for move in [*slides, *turning])


def _along(left: np.ndarray, directions: np.ndarray, at: int) -> list[np.ndarray]:
    """Combinations (6 n,) of columns, each the one whose rows `at` of a part are nearest to a direction, then the rest.

    The columns (6 n, k) are orthonormal in these rows.
    """
    n, found = len(left) // 6, []
    while left.shape[1]:
        wanted, size = np.eye(left.shape[1])[0], 1e-9
        for part in range(n):
            for axis in directions.T:
                toward = left.reshape(n, 6, -1)[part, at : at + 3].T @ axis
                # Later axes and parts count only if they are clearly nearer, so that rounding errors choose nothing.
                if np.linalg.norm(toward) > size + 1e-6:
                    wanted, size = toward, float(np.linalg.norm(toward))
        wanted = wanted / np.linalg.norm(wanted)
        found.append(left @ wanted)
        rest, _, _ = np.linalg.svd(wanted[:, None])
        left = left @ rest[:, 1:]
    return found


def _without_pitch(move: np.ndarray, slides: list[np.ndarray]) -> np.ndarray:
    """A turning motion (6 n,) with such translations that the first part that turns has no pitch, if there are any."""
    parts = move.reshape(-1, 6)
    lead = int(np.argmax(np.linalg.norm(parts[:, :3], axis=1) > RANK))
    w, v = parts[lead, :3], parts[lead, 3:]
    along = np.array([slide.reshape(-1, 6)[lead, 3:] @ w for slide in slides])
    if not slides or np.linalg.norm(along) < 1e-3 * np.linalg.norm(w):
        return move
    return move - (w @ v) / (along @ along) * (np.stack(slides, axis=1) @ along)


def _freedom(move: np.ndarray, centres: np.ndarray, length: float, rough: float) -> Freedom:
    """The freedom of small motions (n, 6) about centres, normalised."""
    w, v = move[:, :3], move[:, 3:] * length
    turn = np.linalg.norm(w, axis=1)
    if turn.max() > RANK:
        lead = int(np.argmax(turn > 0.5 * turn.max()))
        scale = _signed(w[lead])
    else:
        w, speed = np.zeros_like(w), np.linalg.norm(v, axis=1)
        lead = int(np.argmax(speed > 0.5 * speed.max()))
        scale = _signed(v[lead])
    w, v = _clean(w / scale), v / scale
    twists = np.concatenate([w, _clean(v - np.cross(w, centres), length)], axis=1)
    omega, speed = twists[lead, :3], v[lead]
    if not np.any(omega):
        return Freedom("translation", twists, speed, np.full(3, np.nan), np.nan)
    pitch = float(omega @ speed)
    point = centres[lead] + np.cross(omega, speed)
    screw = abs(pitch) > rough * length
    return Freedom("screw" if screw else "rotation", twists, omega, point, pitch if screw else 0.0)


def _signed(vector: np.ndarray) -> float:
    """The length of a vector, negative if its largest entry is."""
    k = int(np.argmax(np.abs(vector) > np.abs(vector).max() * (1 - 1e-6)))
    return float(np.linalg.norm(vector) * np.sign(vector[k]))


def _clean(values: np.ndarray, unit: float = 1.0) -> np.ndarray:
    """The values without rounding errors near 0."""
    return np.where(np.abs(values) < 1e-12 * unit, 0.0, values)


def __dir__() -> list[str]:
    return __all__
