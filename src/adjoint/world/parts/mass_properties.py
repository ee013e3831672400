"""Volume, mass, centre and inertia of parts: in closed form where there is one, else from closed meshes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from .moments import inertia_of, mesh_moments
from .part_meshes import is_round, manifold_of, mesh_from, mesh_of, region_of
from .part_trees import Part, combined
from .primitive_kinds import KINDS
from .sweeps import FACETS, is_identity

__all__ = ["center", "inertia", "mass", "volume"]

_SAME = 1e-9  # the part of a volume by which two solids may differ that count as the same


def volume(part: Part) -> float:
    """The volume [m³] of a part.

        >>> round(volume(aj.world.cylinder(1, 2)) / np.pi, 12)
        2.0

    Volumes, and all moments below, are exact for primitives, for polyhedra, and for unions and differences of parts
    that lie apart or one inside the other, since

        V(A ∪ B) = V(A) + V(B) - V(A ∩ B),      V(A \\ B) = V(A) - V(A ∩ B).

    Else A ∩ B is a mesh; if it has round surfaces, with 64 and with 128 facets, from which their limit is extrapolated:
    for a round hole the error is then below 1e-6 of the hole, and about 3e-5 for a thin lens between two balls.
    """
    return float(_moments(_filled(part))[3, 3])


def mass(part: Part) -> float:
    """The mass [kg] of a part: the volume times the density, for each material of a union on its own.

    >>> mass(aj.world.cuboid(0.5, 0.5, 0.5, density=2000))
    250.0
    """
    return float(_weighted(_filled(part))[3, 3])


def center(part: Part) -> np.ndarray:
    """The centre of mass (3,) [m] of a part, in the frame of the part.

    >>> center(aj.world.hemisphere(0.8))
    array([0. , 0. , 0.3])
    """
    P = _weighted(_filled(part))
    return P[:3, 3] / P[3, 3] + 0.0


def inertia(part: Part) -> np.ndarray:
    """The inertia (10,) of a part about the origin of its frame: [m, m c, Ixx, Ixy, Ixz, Iyy, Iyz, Izz].

        >>> aj.world.inertia(aj.world.cuboid(0.1, 0.2, 0.3, density=2000))
        array([12.  ,  0.  ,  0.  ,  0.  ,  0.13,  0.  ,  0.  ,  0.1 ,  0.  ,  0.05])

    This is what `Robot.with_payload` takes, and what `adjoint.lie.inertia` describes: masses in kg, m c in kg m,
    moments in kg m². See `volume` for the precision; Fu, Gonzalez & Lee (1987), Sec. 9.3.1.
    """
    return inertia_of(_weighted(_filled(part)))


# --- moments ----------------------------------------------------------------------------------------------------------


def _filled(part: Part) -> Part:
    """The part, unless it is empty: then its mesh is refused. An operand may be empty."""
    if part.kind in ("intersection", "difference") or not _moments(part)[3, 3] > 0:
        mesh_of(part)
    return part


def _moved(P: np.ndarray, T: np.ndarray) -> np.ndarray:
    return P if is_identity(T) else T @ P @ T.T


@lru_cache(maxsize=512)
def _moments(part: Part) -> np.ndarray:
    """The moments (4, 4) of the volume of a part, in its frame."""
    if not is_identity(part.T_part_solid):
        return _moved(_moments(part.standing), part.T_part_solid)
    if part.kind in KINDS:
        row = KINDS[part.kind]
        P = mesh_moments(*row.mesh(part.values, FACETS, "on")) if row.moments is None else row.moments(part.values)
    elif part.kind == "intersection":
        P = _common(_joined("intersection", part.operands[:-1]), part.operands[-1])
    elif part.kind == "difference":
        P = _moments(part.operands[0]) - _common(part.operands[0], _joined("union", part.operands[1:]))
    else:
        P = np.zeros((4, 4))
        for operand, earlier in zip(part.operands, _earlier(part.operands), strict=True):
            P = P + _moments(operand)
            if earlier:
                P = P - _common(_joined("union", earlier), operand)
    P.setflags(write=False)
    return P


def _joined(kind: str, parts: Sequence[Part]) -> Part:
    return parts[0] if len(parts) == 1 else combined(kind, parts)


def _earlier(parts: Sequence[Part]) -> list[list[Part]]:
    """For each part those before it whose boxes overlap with its own: no others have a volume in common with it."""
    low, high = (np.array(x) for x in zip(*map(_bounds, parts), strict=True))
    found = []
    for k in range(len(parts)):
        meet = np.all(np.minimum(high[:k], high[k]) > np.maximum(low[:k], low[k]), axis=1).tolist()
        found.append([part for part, near in zip(parts[:k], meet, strict=True) if near])
    return found


def _common(a: Part, b: Part) -> np.ndarray:
    """The moments (4, 4) of the volume that two parts have in common."""
    low_a, high_a = _bounds(a)
    low_b, high_b = _bounds(b)
    if (np.minimum(high_a, high_b) <= np.maximum(low_a, low_b)).any():
        return np.zeros((4, 4))
    solid_a, solid_b = manifold_of(a), manifold_of(b)
    both = region_of([solid_a, solid_b], "intersection")
    size, size_a, size_b = (abs(x.volume()) for x in (both, solid_a, solid_b))
    if size <= _SAME * min(size_a, size_b):
        return np.zeros((4, 4))
    if size >= (1 - _SAME) * size_b:
        return _moments(b)
    if size >= (1 - _SAME) * size_a:
        return _moments(a)
    coarse = mesh_moments(*mesh_from(both))
    if not (is_round(a) or is_round(b)):
        return coarse
    # The facets' error is a series in even powers of 1/n: two meshes give the limit up to the fourth power.
    fine = region_of([manifold_of(a, 2 * FACETS), manifold_of(b, 2 * FACETS)], "intersection")
    return (4 * mesh_moments(*mesh_from(fine)) - coarse) / 3


def _bounds(part: Part) -> tuple[np.ndarray, np.ndarray]:
    """The lowest and the highest corner of a box around a part."""
    if not part.operands:
        points = mesh_of(part).vertices
        return points.min(axis=0), points.max(axis=0)
    boxes = [_bounds(p) for p in (part.operands if part.kind == "union" else part.operands[:1])]
    low, high = np.min([b[0] for b in boxes], axis=0), np.max([b[1] for b in boxes], axis=0)
    R, p = part.T_part_solid[:3, :3], part.T_part_solid[:3, 3]
    middle, half = R @ ((low + high) / 2) + p, np.abs(R) @ ((high - low) / 2)
    return middle - half, middle + half


@lru_cache(maxsize=512)
def _weighted(part: Part) -> np.ndarray:
    """The moments (4, 4) of the mass of a part, in its frame."""
    if not np.isnan(part.density):
        return part.density * _moments(part)
    first, *others = part.operands
    if part.kind == "union":
        P = np.zeros((4, 4))
        for operand, earlier in zip(part.operands, _earlier(part.operands), strict=True):
            P = P + _weighted(operand)
            if earlier:
                P = P - _weighted_within(operand, _joined("union", earlier))
    elif part.kind == "difference":
        P = _weighted(first) - _weighted_within(first, _joined("union", others))
    else:
        P = _weighted_within(first, _joined("intersection", others))
    return _moved(P, part.T_part_solid)


def _weighted_within(part: Part, region: Part) -> np.ndarray:
    """The moments (4, 4) of the mass of a part that is in a region; the material of the region does not matter."""
    if not np.isnan(part.density):
        return part.density * _common(part, region)
    T = part.T_part_solid
    back = np.eye(4)
    back[:3, :3], back[:3, 3] = T[:3, :3].T, -T[:3, :3].T @ T[:3, 3]
    region = region.at(back)
    first, *others = part.operands
    if part.kind == "union":
        P = np.zeros((4, 4))
        for operand, earlier in zip(part.operands, _earlier(part.operands), strict=True):
            P = P + _weighted_within(operand, region)
            if earlier:
                P = P - _weighted_within(operand, _joined("intersection", [region, _joined("union", earlier)]))
    elif part.kind == "difference":
        cut = _joined("intersection", [region, _joined("union", others)])
        P = _weighted_within(first, region) - _weighted_within(first, cut)
    else:
        P = _weighted_within(first, _joined("intersection", [region, *others]))
    return _moved(P, T)
