"""Tactile arrays: rows and columns of electrodes with a pressed resistor at each crossing, and three ways to scan them.

A scan drives one row with a voltage V, holds one column at ground, and measures the current into that column:

- "floating": all other lines are left open. Current also takes detours over other crossings (sneak paths), so that what
  is measured is the conductance between row and column of the whole network.
- "grounded": all other lines are at ground, and I = V / R.
- "diode": other lines float, but a diode in series with each resistor lets current pass only from row to column. A
  detour would have to go from a column to a row somewhere, which its diode blocks. So no current flows on any detour,
  whatever the resistances are, and I = (V - V_d) / R exactly.

Fu, Gonzalez & Lee (1987), section 6.4.2 and problems 6.9 and 6.10.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import ArgumentError, SolveError
from ..model.input_checks import one_of, positive
from .sensor_data import readings_of

__all__ = ["TactileScan", "tactile_currents", "tactile_resistances", "tactile_sensitivity"]

_SCANNING = ("floating", "grounded", "diode")
_ROUNDS = 100
_SOLVED = 1e-24  # the square of Newton's decrement, half of which is what is left to gain


@dataclass(frozen=True)
class TactileScan:
    """How a tactile array is scanned: "floating", "grounded" or "diode", and the voltages of drive and diodes [V].

    >>> scan = TactileScan("diode", drive=5.0)
    """

    scanning: str = "grounded"
    drive: float = 5.0
    diode_drop: float = 0.6

    def __post_init__(self):
        one_of(self.scanning, _SCANNING, "TactileScan: scanning")
        object.__setattr__(self, "drive", positive(self.drive, "TactileScan: drive"))
        object.__setattr__(self, "diode_drop", positive(self.diode_drop, "TactileScan: diode_drop", or_zero=True))

    @property
    def effective_drive(self) -> float:
        """The voltage [V] that is left for a resistor."""
        return max(self.drive - self.diode_drop, 0.0) if self.scanning == "diode" else self.drive


def tactile_currents(scan: TactileScan, resistances) -> np.ndarray:
    """The currents I (..., m, n) [A] that a scan measures at all crossings, for `resistances` (..., m, n) [Ω].

    A resistance is above 0, and infinite where nothing presses. Leading axes are a batch of arrays.

        >>> R = np.array([[100, np.inf, 100], [np.inf, 50, np.inf], [100, 50, 100]])        # problem 6.9
        >>> (1e3 * tactile_currents(TactileScan("floating"), R)).round(3)
        array([[ 66.667,  33.333,  66.667],
               [ 28.571, 100.   ,  28.571],
               [ 66.667, 100.   ,  66.667]])
    """
    _need_scan(scan, "tactile_currents")
    R = readings_of(resistances, "resistances", "tactile_currents", None, None)
    if not R.size or not (R > 0).all():
        raise ArgumentError("tactile_currents: 'resistances' must be above 0; infinity is an open crossing")
    if scan.scanning != "floating":
        return scan.effective_drive / R
    joined, inverse = _network(1 / R)
    m, own = R.shape[-2], np.einsum("...kk->...k", inverse)
    between = own[..., :m, None] + own[..., None, m:] - 2 * inverse[..., :m, m:]  # the effective resistances
    return np.where(joined, scan.drive / np.where(joined, between, 1.0), 0.0)


def tactile_sensitivity(resistances, *, drive: float = 5.0) -> np.ndarray:
    """The slopes (..., m, n, m, n) of the currents of a floating scan by the *conductances* of all crossings [A/S].

    ∂I_ij / ∂G_kl = u² / V, where u is the voltage across the crossing kl while ij is read. Where one crossing is read,
    the slopes at others show how strong sneak paths are; a grounded scan has V at ij and 0 elsewhere.

        >>> slopes = tactile_sensitivity(np.full((2, 2), 100.0))
        >>> slopes[0, 0].round(3)
        array([[5.   , 0.556],
               [0.556, 0.556]])
    """
    R = readings_of(resistances, "resistances", "tactile_sensitivity", None, None)
    if not R.size or not (R > 0).all():
        raise ArgumentError("tactile_sensitivity: 'resistances' must be above 0; infinity is an open crossing")
    joined, inverse = _network(1 / R)
    across = _across(inverse, *R.shape[-2:])
    own = np.einsum("...kk->...k", across)
    safe = np.where(joined.reshape(own.shape), own, np.inf)
    found = positive(drive, "tactile_sensitivity: drive") * (across / safe[..., None]) ** 2
    return found.reshape(*R.shape, *R.shape[-2:])


def tactile_resistances(scan: TactileScan, currents, *, least_current: float = 0.0) -> np.ndarray:
    """The resistances (..., m, n) [Ω] of all crossings from the `currents` (..., m, n) [A]: the inverse of a scan.

    Crossings without current, at most `least_current` [A], are open: infinite.

    Also a floating scan has one inverse. Its readings are effective resistances R_ij, which are the slopes of
    log det L(G) by the conductances G, with the Laplacian L of the network of rows and columns. log det L is strictly
    concave, so that no two networks have the same slopes, and G minimises the convex function Σ R_ij G_ij - log det
    L(G), by Newton's method. Lines that are not connected have no current between them, and their networks are solved
    one by one. Noise can make the conductance of an open crossing negative; then it is taken for open.

        >>> R = np.array([[100, np.inf, 100], [np.inf, 50, np.inf], [100, 50, 100]])
        >>> scan = TactileScan("floating")
        >>> tactile_resistances(scan, tactile_currents(scan, R)).round(6)
        array([[100.,  inf, 100.],
               [ inf,  50.,  inf],
               [100.,  50., 100.]])
    """
    _need_scan(scan, "tactile_resistances")
    I = readings_of(currents, "currents", "tactile_resistances", None, None)
    if not I.size or not np.isfinite(I).all():
        raise ArgumentError("tactile_resistances: 'currents' must be finite numbers")
    least = positive(least_current, "tactile_resistances: least_current", or_zero=True)
    flows = least < I
    if scan.scanning == "floating":
        flat = zip(I.reshape(-1, *I.shape[-2:]), flows.reshape(-1, *I.shape[-2:]), strict=True)
        G = np.array([_unmixed(i / scan.drive, on) for i, on in flat]).reshape(I.shape)
    else:
        if not scan.effective_drive > 0:
            raise ArgumentError("tactile_resistances: the drive is below the diodes' drop, so no current ever flows")
        G = np.where(flows, I, 0.0) / scan.effective_drive
    return np.where(G > 0, 1 / np.where(G > 0, G, 1.0), np.inf)


# --- the network of a floating scan -----------------------------------------------------------------------------------


def _need_scan(scan, caller: str) -> None:
    if not isinstance(scan, TactileScan):
        raise ArgumentError(f"{caller}: 'scan' must be a TactileScan, got {type(scan).__name__}")


def _laplacian(G: np.ndarray) -> np.ndarray:
    """The Laplacian (..., m + n, m + n) of conductances G (..., m, n) between rows and columns."""
    m, n = G.shape[-2:]
    L = np.zeros((*G.shape[:-2], m + n, m + n))
    L[..., :m, m:], L[..., m:, :m] = -G, -np.swapaxes(G, -1, -2)
    sums = np.concatenate([G.sum(axis=-1), G.sum(axis=-2)], axis=-1)
    return L + sums[..., None] * np.eye(m + n)


def _components(on: np.ndarray) -> np.ndarray:
    """Which of all m + n lines are connected, (..., m + n, m + n), through crossings that are `on` (..., m, n)."""
    together = (_laplacian(on.astype(float)) != 0) | np.eye(sum(on.shape[-2:]), dtype=bool)
    for _ in range(int(np.ceil(np.log2(together.shape[-1]))) + 1):  # paths of twice the length each time
        together = (together.astype(float) @ together.astype(float)) > 0
    return together


def _network(G: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which rows and columns are connected (..., m, n), and an inverse (..., m + n, m + n) of the Laplacian L.

    Differences of the inverse are voltages between lines that currents make.
    """
    m = G.shape[-2]
    together = _components(G > 0).astype(float)
    largest = G.max(axis=(-2, -1), keepdims=True)
    scale = np.where(largest > 0, largest, 1.0)
    # L is singular along the constants of each connected part; these are added, and cancel in all differences.
    full = _laplacian(G / scale) + together / together.sum(axis=-1, keepdims=True)
    return together[..., :m, m:] > 0, np.linalg.inv(full) / scale


def _across(inverse: np.ndarray, m: int, n: int) -> np.ndarray:
    """The voltages (..., m n, m n) across all crossings by a unit current between row and column of each of them.

    It is Bᵀ L⁺ B, with one column e_i - e_j of B for each crossing; its diagonal has the effective resistances.
    """
    rows, columns = np.divmod(np.arange(m * n), n)
    half = inverse[..., rows, :] - inverse[..., m + columns, :]
    return half[..., rows] - half[..., m + columns]


def _unmixed(G_seen: np.ndarray, on: np.ndarray) -> np.ndarray:
    """The conductances (m, n) of a network, from those seen between its rows and columns."""
    found, m = np.zeros(G_seen.shape), len(G_seen)
    together = _components(on)
    if (together[:m, m:] != on).any():
        i, j = np.argwhere(together[:m, m:] != on)[0]
        raise SolveError(
            f"tactile_resistances: no current is seen at row {i}, column {j}, though other crossings connect them: "
            "these are not the currents of a floating scan, or `least_current` is too large"
        )
    for row in range(m):
        block = np.flatnonzero(together[row])
        rows, columns = block[block < m], block[block >= m] - m
        if rows[0] == row and len(columns):
            at = np.ix_(rows, columns)
            found[at] = _solved(1 / G_seen[at])
    return found


def _solved(R: np.ndarray) -> np.ndarray:
    """The G (m, n) of a connected network with the effective resistances R (m, n): minimises Σ R G - log det L(G).

    The function is self-concordant: steps of 1/(1 + λ) with Newton's decrement λ always stay where it is finite.
    """
    size = R.min()
    R = R / size
    G = 1 / R / np.sum(R.shape)  # a connected network to start from
    for _ in range(_ROUNDS):
        across = _across(_network(G)[1], *R.shape)
        slope = R.ravel() - across.diagonal()
        step = np.linalg.solve(across**2, -slope)
        decrement = float(-slope @ step)
        G = G + (step / (1 + np.sqrt(max(decrement, 0.0))) if decrement > 0.05 else step).reshape(R.shape)
        if decrement < _SOLVED * R.size:
            # Rounding errors and noise leave small conductances of both signs where crossings are open.
            return np.where(1e-10 * G.max() < G, G, 0.0) / size
    raise SolveError("tactile_resistances: no network has these currents; are they those of a floating scan?")
