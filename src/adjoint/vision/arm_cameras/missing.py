"""Which motions of an arm are missing, in words: what poses or pixels do not show of a camera, and why."""

from __future__ import annotations

import numpy as np

from ...lie import se3, so3

__all__ = ["cause_of", "unseen_words"]

_STILL = 0.02  # [rad] an arm that turns by less than this does not turn
_ONE_AXIS = 0.05  # turns about a second axis below this part of those about the first are none
_ROUND = 0.02  # parts of a unit direction below this are not shown


def unseen_words(directions: np.ndarray, thing: str, carrier: str) -> tuple[str, ...]:
    """What twists (d, 6) of the `thing`, seen from its `carrier`, that data do not show, mean in words."""
    if not len(directions):
        return ()
    _, s, V = np.linalg.svd(directions, full_matrices=False)
    basis = V[s > 1e-6 * max(s[0], 1e-12)]
    U, turning, axes = np.linalg.svd(basis[:, :3])
    turns = int(np.sum(turning > 1e-3))
    shifts = U.T[turns:] @ basis  # combinations that do not turn
    found = []
    if len(shifts):
        found.append(f"the position of the {thing} {_subspace(shifts[:, 3:], carrier)}")
    if turns:
        found.append(f"the rotation of the {thing} {_subspace(axes[:turns], carrier, turns=True)}")
    return tuple(found)


def _subspace(vectors: np.ndarray, carrier: str, turns: bool = False) -> str:
    """The span of vectors (d, 3) in words."""
    V = np.linalg.svd(vectors)[2]
    if len(vectors) == 1:
        return f"{'about' if turns else 'along'} {_direction(V[0])} of the {carrier}"
    if len(vectors) == 2:
        return f"{'about axes' if turns else ''} at right angles to {_direction(V[2])} of the {carrier}".strip()
    return f"in the {carrier}"


def _direction(n: np.ndarray) -> str:
    """A unit vector in words: an axis, or its numbers."""
    n = np.where(np.abs(n) < _ROUND, 0.0, n / np.linalg.norm(n))
    n = n * np.sign(n[np.argmax(np.abs(n))])
    return "xyz"[int(np.argmax(n))] if np.sum(n != 0) == 1 else f"({', '.join(f'{x:.2f}' for x in n + 0.0)})"


def cause_of(T_carrier: np.ndarray, carrier: str) -> str:
    """Why something may be unseen, from the poses (n, 4, 4) of the carrier: it does not turn, or about one axis."""
    i, j = np.triu_indices(len(T_carrier), 1)
    turns = so3.log(se3.compose(se3.inverse(T_carrier[j]), T_carrier[i])[..., :3, :3])
    s, V = np.linalg.svd(turns, full_matrices=False)[1:]
    if np.linalg.norm(turns, axis=-1).max(initial=0.0) < _STILL:
        return f"the {carrier} never turns; turn it about two axes, by 30° or more"
    if s[1] < _ONE_AXIS * s[0]:
        return (
            f"all turns of the {carrier} are about one axis, {_direction(V[0])} of the {carrier}; turn it about "
            "another axis, too, by 30° or more"
        )
    return "more stations, farther apart in rotation, would show it"
