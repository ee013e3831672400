"""Polypeptide chains: where the atoms of a sequence are, which atom carries which, and which bonds turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..errors import ArgumentError
from ..model.input_checks import positive, truth
from ..model.parts import Finding
from .atoms import LIGHT, MASSES, Polymer, Site, Torsion, assemble, need_angles, placed
from .hydrogens import bonded, hydrogen_positions
from .residues import GEOMETRIES, LETTERS, RESIDUES, Geometry

__all__ = ["Monomer", "add_hydrogens", "chain_polymer", "polypeptide"]

PEPTIDES, SIDE_CHAINS = ("rigid", "free"), ("rigid", "branches", "none")
PROLINE_PHI = np.radians(-65.0)  # the ring of proline does not let φ turn
# The least and largest length and angle of a geometry, their units, and what may be wrong with a value outside.
_LENGTHS, _ANGLES = (0.5, 5.0, "Å", "nm?"), (0.5, np.pi, "rad", "degrees? np.radians converts them")
_AMMONIUM = ("H1", "H2", "H3")  # the hydrogens at the start of a chain, where the group NH₃⁺ is charged


@dataclass
class Monomer:
    """A residue in space while a chain is made."""

    name: str  # of the kind of residue: "ALA"
    label: str  # of this residue: "ALA12"
    elements: dict[str, str] = field(default_factory=dict)  # {atom: element}
    x: dict[str, np.ndarray] = field(default_factory=dict)  # {atom: position (3,) [Å]}
    follows: bool = True  # it is bonded to the residue before; False starts a chain
    bridged: set[str] = field(default_factory=set)  # atoms bonded to other residues instead of a hydrogen

    def add(self, atom: str, element: str, position: np.ndarray) -> None:
        """Adds an atom."""
        self.elements[atom], self.x[atom] = element, position


# --- a sequence in space ----------------------------------------------------------------------------------------------


def polypeptide(
    sequence: str | Sequence[str],
    phi=np.pi,
    psi=np.pi,
    omega=np.pi,
    *,
    geometry: str | Mapping[str, float] = "standard",
    side_chains: str = "rigid",
    peptide: str = "rigid",
    hydrogens: bool = True,
    base: str = "free",
) -> Polymer:
    """The `Polymer` of an amino-acid sequence, "ACDEF..." or a list of three-letter names, from NH₃⁺ to COO⁻.

        helix = polypeptide("AAAAAAAAAA", phi=np.radians(-57.8), psi=np.radians(-47.0))

    The torsions `phi`, `psi` and `omega` [rad] are one number, or one for each residue. They are the conformation
    `polymer.q` that the chain is made in. ω_i belongs to the bond from residue i to residue i + 1. The first residue
    has no φ, and the ψ of the last one only places its oxygens. The ring of proline fixes its φ, which is always -65°.

    - `geometry` is "standard" (Engh & Huber 1991), "paper" (Table II of Lee, Wang & Chirikjian 2007), or changes to
      the standard geometry, such as {"N_CA": 1.46, "N_CA_C": 1.94} [Å and rad].
    - `side_chains` are "rigid", in a common conformation and part of the body of Cα; "branches", with joints χ1, χ2 and
      so on; or "none", which makes all residues like glycine.
    - `peptide` is "rigid", where C, O, N and H of a peptide bond are in one body; or "free", where ω is a joint.
    - `hydrogens=False` leaves hydrogen atoms and their masses out.
    - `base` is "free", which adds six degrees of freedom, or "fixed", where the first group is at rest.

    See Engh & Huber (1991), "Accurate bond and angle parameters for X-ray protein structure refinement", Acta Cryst.
    A47, and Lee, Wang & Chirikjian (2007), "O(n) mass matrix inversion for serial manipulators and polypeptide chains
    using Lie derivatives", Robotica 25(6).
    """
    need_choice("polypeptide: side_chains", side_chains, SIDE_CHAINS)
    need_choice("polypeptide: peptide", peptide, PEPTIDES)
    names = _names(sequence)
    given = (phi, "phi"), (psi, "psi"), (omega, "omega")
    phi, psi, omega = (need_angles(value, len(names), f"polypeptide: {what}") for value, what in given)
    labels = [f"{name}{k + 1}" for k, name in enumerate(names)]
    kinds = names if side_chains != "none" else ["GLY"] * len(names)
    monomers = _backbone(kinds, labels, phi, psi, omega, _geometry(geometry))
    for monomer in monomers:
        _add_side_chain(monomer)
    if truth(hydrogens, "polypeptide: hydrogens"):
        add_hydrogens(monomers)
    title = sequence if isinstance(sequence, str) else "-".join(names)
    return chain_polymer(title, monomers, side_chains, peptide, base)


def need_choice(what: str, value, choices: Sequence[str]) -> None:
    """Raises an `ArgumentError` if `value` is not one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise ArgumentError(f"{what} is {value!r}; it must be {' or '.join(map(repr, choices))}")


def _names(sequence: str | Sequence[str]) -> list[str]:
    """The three-letter names of a sequence."""
    if not isinstance(sequence, Sequence):
        raise ArgumentError(f"polypeptide: the sequence must be letters or names, got {type(sequence).__name__}")
    if not len(sequence):
        raise ArgumentError("polypeptide: the sequence is empty; give letters such as 'ACDEF'")
    known = LETTERS if isinstance(sequence, str) else {name: name for name in RESIDUES}
    for k, word in enumerate(sequence):
        if not isinstance(word, str) or word not in known:
            raise ArgumentError(f"polypeptide: residue {k + 1} is {word!r}; there are {', '.join(known)}")
    return [known[word] for word in sequence]


def _geometry(geometry: str | Mapping[str, float]) -> Geometry:
    """The `geometry` argument of `polypeptide`, checked."""
    if isinstance(geometry, str):
        if geometry not in GEOMETRIES:
            raise ArgumentError(f"polypeptide: no geometry {geometry!r}; there are {', '.join(GEOMETRIES)}")
        return GEOMETRIES[geometry]
    if not isinstance(geometry, Mapping):
        raise ArgumentError(f"polypeptide: geometry must be a name or {{field: number}}, got {type(geometry).__name__}")
    unknown = set(geometry) - set(Geometry._fields)
    if unknown:
        raise ArgumentError(
            f"polypeptide: geometry has no {', '.join(sorted(unknown))}; only {', '.join(Geometry._fields)}"
        )
    found = {name: positive(value, f"polypeptide: geometry: {name}") for name, value in geometry.items()}
    for name, value in found.items():
        low, high, unit, hint = _ANGLES if name.count("_") == 2 else _LENGTHS
        if not low < value < high:
            raise ArgumentError(f"polypeptide: geometry: {name} is {value:g} {unit}, not {low:g} to {high:g}: {hint}")
    return GEOMETRIES["standard"]._replace(**found)


def _backbone(names: Sequence[str], labels: Sequence[str], phi, psi, omega, g: Geometry) -> list[Monomer]:
    """The residues with their atoms N, CA, C and O, and OXT at the end: the first N at the origin, its CA along x."""
    monomers = [Monomer(*given, follows=k > 0) for k, given in enumerate(zip(names, labels, strict=True))]
    N, CA = np.zeros(3), np.array([g.N_CA, 0.0, 0.0])
    C = CA + g.CA_C * np.array([-np.cos(g.N_CA_C), np.sin(g.N_CA_C), 0.0])
    for k, monomer in enumerate(monomers):
        for atom, x in (("N", N), ("CA", CA), ("C", C)):
            monomer.add(atom, atom[0], x)
        monomer.add("O", "O", placed(N, CA, C, g.C_O, g.CA_C_O, psi[k] + np.pi))
        if k + 1 == len(monomers):
            monomer.add("OXT", "O", placed(N, CA, C, g.C_O, g.CA_C_O, psi[k]))
            break
        turn = PROLINE_PHI if names[k + 1] == "PRO" else phi[k + 1]
        N_next = placed(N, CA, C, g.C_N, g.CA_C_N, psi[k])
        CA_next = placed(CA, C, N_next, g.N_CA, g.C_N_CA, omega[k])
        C = placed(C, N_next, CA_next, g.CA_C, g.N_CA_C, turn)
        N, CA = N_next, CA_next
    return monomers


def _add_side_chain(monomer: Monomer) -> None:
    """Adds the heavy atoms of the side chain, by the table of residues."""
    residue = RESIDUES[monomer.name]
    for row in residue.rows:
        turn = row.turn + (residue.chi[row.chi - 1] if row.chi else 0.0)
        c, b, a = (monomer.x[name] for name in row.refs)
        monomer.add(row.atom, row.atom[0], placed(a, b, c, row.length, row.angle, turn))


def add_hydrogens(monomers: Sequence[Monomer]) -> None:
    """Adds the hydrogens of the standard residues at their ideal places, on the heavy atoms that are present."""
    for k, monomer in enumerate(monomers):
        residue = RESIDUES.get(monomer.name)
        if residue is None:
            continue
        bonds, before = bonded(residue), monomers[k - 1] if monomer.follows else None
        names = residue.hydrogens | ({} if before else {"N": _AMMONIUM[1:] if monomer.name == "PRO" else _AMMONIUM})
        for atom, own in names.items():
            neighbours = [monomer.x[other] for other in bonds[atom] if other in monomer.x]
            if atom == "N" and before:
                neighbours.insert(0, before.x["C"])
            if atom not in monomer.x or len(neighbours) < len(bonds[atom]) or atom in monomer.bridged:
                continue  # the atom is missing or bridged, or a neighbour is missing, so that directions are not known
            first = bonds[atom][0]
            beyond = next((monomer.x[other] for other in bonds[first] if other != atom and other in monomer.x), None)
            for name, x in hydrogen_positions(own, atom[0], monomer.x[atom], neighbours, beyond).items():
                monomer.add(name, "H", x)


# --- atoms and torsions -----------------------------------------------------------------------------------------------


def chain_polymer(
    name: str, monomers: Sequence[Monomer], side_chains: str, peptide: str, base: str, findings: Sequence[Finding] = ()
) -> Polymer:
    """The `Polymer` of residues in space, in the conformation they have."""
    sites: list[Site] = []
    torsions: list[Torsion] = []
    for k, monomer in enumerate(monomers):
        before = monomers[k - 1] if monomer.follows else None
        after = monomers[k + 1] if k + 1 < len(monomers) and monomers[k + 1].follows else None
        sites += _sites(monomer, before)
        torsions += _backbone_torsions(monomer, before, after, peptide)
        if side_chains == "branches":
            torsions += _side_torsions(monomer)
    return assemble(name, sites, torsions, base, findings)


def _sites(monomer: Monomer, before: Monomer | None) -> list[Site]:
    """The atoms of a residue, each after the atom that carries it.

    The carrier is that of the table of residues, or else the nearest heavy atom.
    """
    residue = RESIDUES.get(monomer.name)
    carrier = {"CA": "N", "C": "CA", "O": "C", "OXT": "C"}
    carrier |= {row.atom: row.refs[0] for row in residue.rows} if residue else {}
    heavy = [atom for atom in ("N", *carrier) if atom in monomer.x]
    heavy += [atom for atom, element in monomer.elements.items() if element not in LIGHT and atom not in heavy]
    found: list[Site] = []
    for atom in [*heavy, *(atom for atom, element in monomer.elements.items() if element in LIGHT)]:
        if atom == "N":
            parent = (before.label, "C") if before else None
        elif carrier.get(atom) in monomer.x:
            parent = monomer.label, carrier[atom]
        elif residue is None and atom in heavy:
            parent = monomer.label, "CA"  # an unknown side chain is rigid
        else:
            near = [site for site in found if site.element not in LIGHT]
            parent = min(near, key=lambda site: np.linalg.norm(site.position - monomer.x[atom])).key
        element = monomer.elements[atom]
        found.append(Site(atom, monomer.label, element, monomer.x[atom], parent, MASSES[element]))
    return found


def _backbone_torsions(monomer: Monomer, before: Monomer | None, after: Monomer | None, peptide: str) -> list[Torsion]:
    """The torsions of a residue that exist and turn: ω of the bond from the residue before, φ and ψ."""
    label, found = monomer.label, []
    N, CA, C = ((label, atom) for atom in ("N", "CA", "C"))
    if before and peptide == "free":
        found.append(Torsion(f"{before.label}.omega", ((before.label, "CA"), (before.label, "C"), N, CA)))
    if before and not (monomer.name == "PRO" and "CD" in monomer.x):  # the ring of proline holds φ
        found.append(Torsion(f"{label}.phi", ((before.label, "C"), N, CA, C)))
    if after:
        found.append(Torsion(f"{label}.psi", (N, CA, C, (after.label, "N"))))
    return found


def _side_torsions(monomer: Monomer) -> list[Torsion]:
    """The torsions χ1, χ2, ... of a side chain whose atoms are present."""
    rows = RESIDUES[monomer.name].rows if monomer.name in RESIDUES else ()
    found = []
    for row in rows:
        first_of_its_chi = row.chi and row.chi not in {int(t.name[-1]) for t in found}
        if first_of_its_chi and all(atom in monomer.x for atom in (row.atom, *row.refs)):
            sites = tuple((monomer.label, atom) for atom in (*row.refs[::-1], row.atom))
            found.append(Torsion(f"{monomer.label}.chi{row.chi}", sites))
    return found
