"""What can be measured of a tool, and how the numbers of a measurement become the inputs of a kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..compile import Kernel
from ..errors import ArgumentError
from ..model.input_checks import floats, nearest_motions, numbers, positive
from .chain import distance_rows, plane_rows, point_rows, pose_rows

__all__ = ["Distances", "Measured", "OnPlane", "OnSphere", "Poses", "Positions", "Reading", "as_reading", "whitening"]

_ORIGIN = (0.0, 0.0, 0.0)


class Poses(NamedTuple):
    """Measured poses T (n, 4, 4) of the frame in the measuring frame [m].

    The noise ν of T exp(ν) is (rotation, shift) (6,) [rad, m], seen from the frame.
    """

    T: Any = None


class Positions(NamedTuple):
    """Measured positions p (n, 3), or (n, k, 3), of one or k `points` (k, 3) of the frame, both [m].

    By default one point is measured: the origin of the frame.
    """

    p: Any = None
    points: Any = _ORIGIN


class Distances(NamedTuple):
    """Measured distances d (n,) [m] from `center` (3,) in the measuring frame to `point` (3,) in the frame.

    This is what a ball bar or a draw wire measures.
    """

    d: Any = None
    center: Any = _ORIGIN
    point: Any = _ORIGIN


class OnPlane(NamedTuple):
    """The `point` (3,) of the frame touches the plane normal · x = offset [m] of the measuring frame in every sample.

    By default this is the plane z = 0. If "base" is estimated, it is found where the plane is: only its normal and its
    distance can be seen then, which the report says.
    """

    normal: Any = (0.0, 0.0, 1.0)
    offset: float = 0.0
    point: Any = _ORIGIN


class OnSphere(NamedTuple):
    """The `point` (3,) of the frame is on a sphere about `center` (3,) of the measuring frame in every sample.

    If `radius` [m] is None, it is estimated. A radius of 0 is a tip that stays in a socket, for which `Positions` of
    one place are meant.
    """

    center: Any = _ORIGIN
    radius: float | None = None
    point: Any = _ORIGIN


Measured = Poses | Positions | Distances | OnPlane | OnSphere
"""The type of `measured`: one of the five kinds of measurements; plain arrays of poses and positions also do."""


class Reading(NamedTuple):
    """A measurement as inputs of a kernel `kernel(chain, q, **samples, **fixed, **numbers) -> Rows`.

    Other folders make their own kinds of measurements of it, and give them to `calibrate` as `measured`.
    """

    kind: str  # in words
    kernel: Kernel
    samples: dict[str, np.ndarray]  # inputs with one row for each sample
    fixed: dict[str, Any]  # inputs that are the same for all samples
    groups: tuple[tuple[str, str, int], ...]  # (name, unit, number of rows) of the parts of a residual
    points: int = 1
    radius: float | None = 0.0  # None: it is estimated
    repeat: int = 1  # the number of samples at each configuration
    usual: float = 1e-3  # [rad, m or pixel] residuals above this are errors of the model more than noise
    generic: Callable[[np.ndarray], dict[str, np.ndarray]] | None = None  # the samples of poses T (n, 4, 4)

    @property
    def rows(self) -> int:
        """The number m of rows of one residual."""
        return sum(size for _, _, size in self.groups)

    @property
    def is_contact(self) -> bool:
        """Whether nothing is read off an instrument: the tool just keeps touching something."""
        return not self.samples


def as_reading(measured, n: int, caller: str) -> Reading:
    """The `Reading` of `measured`, which must have n samples; arrays (n, 4, 4) are poses, and (n, 3) are positions."""
    made = measured
    if not isinstance(made, Reading):
        measured = _named(measured, caller)
        made = _READINGS[type(measured)](measured, caller)
    for name, array in made.samples.items():
        if len(array) != n * made.repeat:
            raise ArgumentError(f"{caller}: {name} has {len(array)} samples, and q has {n}")
    return made


def _named(measured, caller: str) -> Measured:
    """The measurement as one of the five kinds."""
    if isinstance(measured, Measured):
        return measured
    shape = floats(measured).shape
    if shape[1:] == (4, 4):
        return Poses(measured)
    if len(shape) in (2, 3) and shape[-1] == 3:
        return Positions(measured)
    hint = "; distances are Distances(d, center)" if len(shape) == 1 else ""
    raise ArgumentError(
        f"{caller}: measured must be poses (n, 4, 4), positions (n, 3), Poses, Positions, Distances, OnPlane or "
        f"OnSphere, got {type(measured).__name__ if not shape else f'an array of shape {shape}'}{hint}"
    )


def _poses(measured: Poses, caller: str) -> Reading:
    T = _samples(measured.T, (4, 4), f"{caller}: poses")
    whole = np.isfinite(T).all(axis=(1, 2))
    fixed, bad = nearest_motions(T[whole])
    if bad is not None:
        k = int(np.flatnonzero(whole)[bad])
        raise ArgumentError(f"{caller}: pose {k} is not a rigid motion [R p; 0 1] with R Rᵀ = 1, det R = 1")
    T = T.copy()
    T[whole] = fixed
    return Reading("poses", pose_rows, {"measured": T}, {}, (("rotation", "rad", 3), ("position", "m", 3)))


def _positions(measured: Positions, caller: str) -> Reading:
    points = np.atleast_2d(floats(measured.points))
    points = numbers(points, (None, 3), f"{caller}: points")
    p = floats(measured.p)
    p = p[:, None] if p.ndim == 2 else p
    p = _samples(p, (len(points), 3), f"{caller}: positions")
    return Reading(
        "positions", point_rows, {"measured": p}, {"points": points}, (("position", "m", 3 * len(points)),), len(points)
    )


def _distances(measured: Distances, caller: str) -> Reading:
    d = _samples(measured.d, (), f"{caller}: distances")
    if (d < 0).any():
        raise ArgumentError(f"{caller}: distance {int(np.argmax(d < 0))} is negative")
    fixed = {"center": numbers(measured.center, (3,), f"{caller}: center")}
    fixed |= {"point": numbers(measured.point, (3,), f"{caller}: point")}
    return Reading("distances", distance_rows, {"length": d}, fixed, (("distance", "m", 1),))


def _plane(measured: OnPlane, caller: str) -> Reading:
    normal = numbers(measured.normal, (3,), f"{caller}: normal")
    size = np.linalg.norm(normal)
    if not abs(size - 1) < 1e-6:
        raise ArgumentError(f"{caller}: the normal of the plane has length {size:g}; it must be 1")
    fixed = {
        "normal": normal / size,
        "offset": float(numbers(measured.offset, (), f"{caller}: offset")),
        "point": numbers(measured.point, (3,), f"{caller}: point"),
    }
    return Reading("contacts with a plane", plane_rows, {}, fixed, (("distance", "m", 1),))


def _sphere(measured: OnSphere, caller: str) -> Reading:
    radius = None if measured.radius is None else positive(measured.radius, f"{caller}: radius")
    fixed = {
        "length": radius or 0.0,
        "center": numbers(measured.center, (3,), f"{caller}: center"),
        "point": numbers(measured.point, (3,), f"{caller}: point"),
    }
    return Reading("contacts with a sphere", distance_rows, {}, fixed, (("distance", "m", 1),), radius=radius)


_READINGS = {Poses: _poses, Positions: _positions, Distances: _distances, OnPlane: _plane, OnSphere: _sphere}


def _samples(value, shape: tuple[int, ...], label: str) -> np.ndarray:
    """Measured numbers (n, *shape); NaN marks samples that are missing."""
    array = floats(value)
    if array.shape[1:] != shape or array.ndim != len(shape) + 1:
        wanted = ", ".join(map(str, ("n", *shape)))
        raise ArgumentError(f"{label} must be numbers ({wanted}{',' * (not shape)}), got shape {array.shape}")
    return array


# --- noise ------------------------------------------------------------------------------------------------------------


def whitening(noise, reading: Reading, n: int, caller: str) -> np.ndarray:
    """W (m, m), or (n, m, m) if samples differ, with W Σ Wᵀ = 1 for the covariance Σ of the noise of one residual.

    `noise` is one standard deviation for each group of rows, such as (rotation [rad], position [m]) of poses; or one
    number if there is one group; or a covariance (m, m) or (n, m, m).
    """
    given, m = floats(noise), reading.rows
    sizes = [size for _, _, size in reading.groups]
    if given.shape == () and len(sizes) == 1:
        given = given[None]
    if given.shape == (len(sizes),) and ((given > 0) & np.isfinite(given)).all():
        return np.diag(1 / np.repeat(given, sizes))
    if given.shape in ((m, m), (n, m, m)) and np.isfinite(given).all():
        with np.errstate(all="ignore"):
            symmetric = np.allclose(given, np.swapaxes(given, -1, -2), rtol=1e-9, atol=0)
            if symmetric and np.linalg.eigvalsh(given).min() > 0:
                return np.linalg.inv(np.linalg.cholesky(given))
    units = ", ".join(f"{name} [{unit}]" for name, unit, _ in reading.groups)
    raise ArgumentError(
        f"{caller}: noise must be the positive standard deviations ({units}), or covariances ({m}, {m}) or "
        f"({n}, {m}, {m}) that are positive definite"
    )
