"""`Polymer` is a molecule as a robot: its bodies are groups of atoms, and its joints are torsions.

The units are lengths in Å, masses in Da, times in ps and angles in rad. They are consistent, so that the algorithms of
the library need no change: moments of inertia are in Da Å², and energies in Da Å²/ps², of which 100 make 1 kJ/mol.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..compile.front.arguments import unmasked
from ..drawing.molecules import balls_and_sticks, tube_between
from ..errors import ArgumentError, ModelError
from ..kinematics.forward import forward_kinematics
from ..lazy import cached_property
from ..lie import se3
from ..model.parts import Finding, Visual
from ..model.robot import Robot

__all__ = [
    "LIGHT",
    "MASSES",
    "TURNS",
    "Atom",
    "Polymer",
    "Site",
    "Torsion",
    "assemble",
    "axis_frame",
    "dihedral",
    "need_angles",
    "placed",
]

MASSES = {
    "H": 1.008, "D": 2.014, "C": 12.011, "N": 14.007, "O": 15.999, "F": 18.998, "P": 30.974, "S": 32.06, "Cl": 35.45,
    "Se": 78.971, "Br": 79.904, "I": 126.904,
}  # fmt: skip
"""Standard atomic weights [Da] of the elements that polymers are made of (IUPAC 2021, abridged)."""


LIGHT = ("H", "D")
"""Elements (hydrogen and deuterium) whose atoms move with the heavy atom next to them."""

TURNS = 4 * np.pi
"""Two turns [rad]: a larger angle in the arguments of a user is taken for degrees."""

_MOST_BALLS, _MOST_PIECES = 1500, 20_000  # atoms that are drawn as balls; bodies that are drawn as pieces of a tube
_RING_BOND = 1.7  # [Å] heavy atoms of one body that are nearer are bonded
_STRAIGHT = 0.01  # sine of the least angle between two bonds that define a dihedral


class Atom(NamedTuple):
    """An atom of a `Polymer`, at a fixed position in the frame of one of the robot's bodies."""

    name: str  # as in the Protein Data Bank: "CA", "HB2"
    element: str  # "C", "H"
    residue: str  # such as "ALA12"
    mass: float  # [Da]
    body: int  # the number of the body in `robot.body_names`; -1 is the base
    position: np.ndarray  # (3,) [Å] in the body's frame


class Site(NamedTuple):
    """An atom in space, before the bodies of the robot are known."""

    name: str
    residue: str
    element: str
    position: np.ndarray  # (3,) [Å]
    parent: tuple[str, str] | None  # the key of the bonded site that carries this one; None starts a chain
    mass: float  # [Da]

    @property
    def key(self) -> tuple[str, str]:
        """(residue, name), which no two sites share."""
        return self.residue, self.name


class Torsion(NamedTuple):
    """A bond b-c that turns: its angle is the dihedral a-b-c-d, and the site c starts a new body."""

    name: str
    sites: tuple[tuple[str, str], ...]  # the keys (residue, name) of a, b, c and d


@dataclass(frozen=True, eq=False)
class Polymer:
    """A molecule as a robot. `polypeptide`, `bead_chain` and `read` make it.

    The joint coordinates are the dihedral angles themselves [rad], so q reads like a list of φ, ψ, χ. By the IUPAC
    convention an angle of 0 is cis, and looking along the bond clockwise is positive. Lengths are in Å, masses in Da,
    times in ps.

        helix = polypeptide("AAAAAAAAAA", phi=np.radians(-57.8), psi=np.radians(-47.0))
        x = helix.positions()
        M = mass_matrix(helix.robot, helix.q)
    """

    robot: Robot  # bodies are groups of atoms, joints are torsions
    atoms: tuple[Atom, ...]
    q: np.ndarray  # (nq,) the configuration that the polymer was made in
    findings: tuple[Finding, ...] = ()  # what `read` left out, chose or did not understand

    @cached_property
    def masses(self) -> np.ndarray:
        """The masses (k,) [Da] of the k atoms."""
        return np.array([atom.mass for atom in self.atoms])

    @cached_property
    def elements(self) -> tuple[str, ...]:
        """The elements of the atoms, such as "C"."""
        return tuple(atom.element for atom in self.atoms)

    def index(self, residue: str, name: str) -> int:
        """The number of an atom in `atoms`, such as `index("ALA12", "CA")`."""
        if isinstance(residue, str) and isinstance(name, str) and (residue, name) in self._numbers:
            return self._numbers[residue, name]
        present = [atom.name for atom in self.atoms if atom.residue == str(residue)]
        known = f"its atoms are {', '.join(present)}" if present else f"the first one is called {self.atoms[0].residue}"
        raise ArgumentError(f"polymer '{self.robot.name}' has no atom {name!r} in residue {residue!r}; {known}")

    def positions(self, q=None) -> np.ndarray:
        """Cartesian coordinates (..., k, 3) [Å] of the k atoms at q (..., nq), by default the polymer's own."""
        T = forward_kinematics(self.robot, self.q if q is None else q)
        base = np.broadcast_to(np.eye(4), (*T.shape[:-3], 1, 4, 4))
        T = np.concatenate([T, base], axis=-3)[..., self._bodies, :, :]  # the base is last, as its number is -1
        return np.einsum("...kij,kj->...ki", T[..., :3, :3], self._local) + T[..., :3, 3]

    @cached_property
    def _numbers(self) -> dict[tuple[str, str], int]:
        return {(atom.residue, atom.name): k for k, atom in enumerate(self.atoms)}

    @cached_property
    def _bodies(self) -> np.ndarray:
        return np.array([atom.body for atom in self.atoms])

    @cached_property
    def _local(self) -> np.ndarray:
        return np.array([atom.position for atom in self.atoms])

    def __repr__(self) -> str:
        robot, found = self.robot, f", {len(self.findings)} findings" if self.findings else ""
        return (
            f"<Polymer {robot.name!r}: {len(self.atoms)} atoms in {len(robot.body_names)} bodies, "
            f"{self.masses.sum():.6g} Da, {robot.nv} degrees of freedom{found}>"
        )


# --- geometry of points -----------------------------------------------------------------------------------------------


def _direction(x: np.ndarray) -> np.ndarray:
    """The unit vector along x."""
    return x / np.linalg.norm(x)


def axis_frame(origin, axis, side) -> np.ndarray:
    """The frame (4, 4) at `origin` with z along `axis` and x towards `side`, directions (3,) that are not parallel."""
    z = _direction(axis)
    y = _direction(np.cross(z, side))
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = np.stack([np.cross(y, z), y, z], axis=1), origin
    return T


def placed(a, b, c, length: float, angle: float, turn: float) -> np.ndarray:
    """The point d (3,) at `length` [Å] from c, with the angle b-c-d and the dihedral angle a-b-c-d [rad]."""
    T = axis_frame(c, c - b, a - b)
    d = length * np.array([np.sin(angle) * np.cos(turn), np.sin(angle) * np.sin(turn), -np.cos(angle)])
    return T[:3, :3] @ d + c


def dihedral(a, b, c, d) -> np.ndarray:
    """The dihedral angle a-b-c-d [rad] of points (..., 3), in (-π, π].

    It is 0 if a and d are on the same side (cis); looking along b-c, clockwise is positive.
    """
    axis = (c - b) / np.linalg.norm(c - b, axis=-1, keepdims=True)
    first, last = np.cross(axis, a - b), np.cross(axis, d - c)
    return np.arctan2(np.sum(axis * np.cross(first, last), axis=-1), np.sum(first * last, axis=-1))


def need_angles(value, n: int, what: str) -> np.ndarray:
    """Angles (n,) [rad] from one number or n of them; anything else is an `ArgumentError` that names `what`."""
    try:
        angles = np.broadcast_to(np.asarray(unmasked(value), float), (n,))
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"{what} must be one angle [rad], or {n} of them, got {value!r}") from None
    if not np.isfinite(angles).all():
        raise ArgumentError(f"{what}[{int(np.argmin(np.isfinite(angles)))}] is not finite")
    if np.abs(angles).max(initial=0.0) > TURNS:
        largest = angles[np.argmax(np.abs(angles))]
        raise ArgumentError(f"{what} reaches {largest:g} rad, more than two turns: degrees? np.radians converts them")
    return angles


# --- from atoms in space to a robot -----------------------------------------------------------------------------------


class _Group(NamedTuple):
    """Atoms that move as one body."""

    frame: np.ndarray  # (4, 4) the body's frame in space
    carrier: str | None  # the name of the group that carries this one; None for the first group of a chain
    torsion: Torsion | None  # the joint to the carrier
    zero: np.ndarray  # (4, 4) the frame in space if this torsion alone were turned to 0
    members: list[Site]

    def local(self) -> np.ndarray:
        """Positions (k, 3) of the members in the group's frame."""
        return (np.array([site.position for site in self.members]) - self.frame[:3, 3]) @ self.frame[:3, :3]


def assemble(
    name: str, sites: Sequence[Site], torsions: Sequence[Torsion], base: str, findings: Sequence[Finding] = ()
) -> Polymer:
    """The `Polymer` of atoms in space, in the configuration they have; atoms between torsions become one body.

    Every site comes after its parent. `base` is "fixed" or "free"; a free base gives every chain a free joint.
    """
    if not isinstance(base, str) or base not in ("free", "fixed"):
        raise ArgumentError(f"polymer '{name}': base is {base!r}; it must be 'free' or 'fixed'")
    groups = _grouped(sites, torsions)
    robot = _robot(name, groups, base, findings)
    number = {label: k for k, label in enumerate(robot.body_names)}
    spots = {}
    for label, group in groups.items():
        body = number.get(label, -1)  # the first group of a fixed chain belongs to the world
        local = group.local() if body >= 0 else [site.position for site in group.members]
        spots |= {site.key: (body, x) for site, x in zip(group.members, local, strict=True)}
    atoms = [Atom(site.name, site.element, site.residue, site.mass, *spots[site.key]) for site in sites]
    return Polymer(robot, tuple(atoms), _configuration(robot, groups), tuple(findings))


def _grouped(sites: Sequence[Site], torsions: Sequence[Torsion]) -> dict[str, _Group]:
    """{name: group}; a group is named after the site that starts it, such as "ALA12.CA"."""
    x = {site.key: site.position for site in sites}
    starts = {torsion.sites[2]: torsion for torsion in torsions}
    groups: dict[str, _Group] = {}
    group_of: dict[tuple[str, str], str] = {}
    for site in sites:
        key, label = site.key, ".".join(site.key)
        if key in starts:
            a, b, c, d = _turnable(starts[key], x)
            frame, zero = axis_frame(c, c - b, d - c), axis_frame(c, c - b, a - b)
            groups[label] = _Group(frame, group_of[starts[key].sites[1]], starts[key], zero, [])
        elif site.parent is None:
            frame = np.eye(4)
            frame[:3, 3] = site.position
            groups[label] = _Group(frame, None, None, np.eye(4), [])
        else:
            label = group_of[site.parent]
        group_of[key] = label
        groups[label].members.append(site)
    return groups


def _turnable(torsion: Torsion, x: Mapping) -> list[np.ndarray]:
    """The positions of the four sites of a torsion; a `ModelError` if three neighbours are in line."""
    points = [x[key] for key in torsion.sites]
    for k in range(2):
        u, v = points[k + 1] - points[k], points[k + 2] - points[k + 1]
        if not np.linalg.norm(np.cross(u, v)) > _STRAIGHT * np.linalg.norm(u) * np.linalg.norm(v):
            at = ", ".join(" ".join(key) for key in torsion.sites[k : k + 3])
            raise ModelError(f"torsion '{torsion.name}': atoms {at} are in line; it has no angle")
    return points


def _robot(name: str, groups: Mapping[str, _Group], base: str, findings: Sequence[Finding]) -> Robot:
    """The robot with one body for each group, without gravity."""
    builder = Robot.builder(name, gravity=(0.0, 0.0, 0.0))
    builder.findings.extend(findings)
    builder.link("world")
    for label, group in groups.items():
        builder.link(label, _inertia(group))
        if group.carrier is None or group.torsion is None:
            fixed = {"type": "free"} if base == "free" else {"type": "fixed", "placement": group.frame}
            builder.joint(f"{label}.base", parent="world", child=label, **fixed)
        else:
            home = se3.inverse.eager(groups[group.carrier].frame) @ group.zero
            builder.joint(group.torsion.name, "continuous", group.carrier, label, home)
    builder.visuals = list(_visuals(groups))
    return builder.build()


def _visuals(groups: Mapping[str, _Group]) -> Iterator[Visual]:
    """What the groups look like: their atoms and bonds, or, if there are many, a tube from group to group."""
    sites = {site.key: site.position for group in groups.values() for site in group.members}
    for number, (label, group) in enumerate(groups.items()):
        R, p = group.frame[:3, :3], group.frame[:3, 3]
        if len(sites) <= _MOST_BALLS:
            bonds = [(site.position, sites[site.parent]) for site in group.members if site.parent is not None]
            local = [((a - p) @ R, (b - p) @ R) for a, b in (*bonds, *_ring_bonds(group.members))]
            yield from balls_and_sticks(label, [site.element for site in group.members], group.local(), local)
        elif group.carrier is not None and len(groups) <= _MOST_PIECES:
            carrier = groups[group.carrier].frame
            start = (p - carrier[:3, 3]) @ carrier[:3, :3]
            yield from tube_between(group.carrier, np.zeros(3), start, number / len(groups))


def _ring_bonds(members: Sequence[Site]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Pairs of positions of heavy atoms that are as near as bonds, but neither carries the other: they close rings."""
    heavy = [site for site in members if site.element not in LIGHT]
    x = np.array([site.position for site in heavy]).reshape(-1, 3)
    near = np.linalg.norm(x[:, None] - x, axis=-1) < _RING_BOND
    for i, k in np.argwhere(np.triu(near, 1)).tolist():
        if heavy[i].parent != heavy[k].key and heavy[k].parent != heavy[i].key:
            yield x[i], x[k]


def _inertia(group: _Group) -> np.ndarray:
    """The inertia (10,) of the group's atoms, as point masses, in the group's frame."""
    m, x = np.array([site.mass for site in group.members]), group.local()
    second = np.einsum("k,ki,kj->ij", m, x, x)
    I = np.trace(second) * np.eye(3) - second
    return np.array([m.sum(), *(m @ x), I[0, 0], I[0, 1], I[0, 2], I[1, 1], I[1, 2], I[2, 2]])


def _configuration(robot: Robot, groups: Mapping[str, _Group]) -> np.ndarray:
    """The configuration q (nq,) that the groups have in space.

    The frame of a group and its frame at torsion 0 have the same z axis, so the torsion is the angle between their x.
    """
    q = [np.zeros(0)]
    for label, kind in zip(robot.body_names, robot.joint_types, strict=True):
        T, zero = groups[label].frame, groups[label].zero
        if kind == "free":
            q.append(np.array([*T[:3, 3], 1.0, 0.0, 0.0, 0.0]))
        else:
            q.append(np.arctan2(T[:3, 0] @ zero[:3, 1], T[:3, 0] @ zero[:3, 0])[None])
    found = np.concatenate(q)
    found.flags.writeable = False
    return found
