"""`read` and `write`: polypeptides from and to PDB and mmCIF files, by the package gemmi (extra `bio`).

The geometry of a polymer is exactly that of the file.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Sequence

import numpy as np

from ..errors import ArgumentError, ModelError
from ..extras import package
from ..model.parts import Finding, Where
from .atoms import LIGHT, MASSES, Polymer
from .peptide import PEPTIDES, SIDE_CHAINS, Monomer, add_hydrogens, chain_polymer, need_choice
from .residues import BACKBONE, RESIDUES

__all__ = ["read", "write"]

HYDROGENS, BREAKS = ("file", "add", "none"), ("refuse", "split")

# Names that force fields give to protonation states of the standard residues.
_OTHER_NAMES = {
    "HID": "HIS", "HIE": "HIS", "HIP": "HIS", "HSD": "HIS", "HSE": "HIS", "HSP": "HIS", "CYX": "CYS", "CYM": "CYS",
    "ASH": "ASP", "GLH": "GLU", "LYN": "LYS",
}  # fmt: skip

_BACKBONE_BOND = (1.2, 1.8)  # [Å] the shortest and longest bonds N-CA and CA-C that are accepted
_PEPTIDE_BOND = 2.0  # [Å] a longer distance C-N is a break of the chain; the bond has 1.33 Å
_HYDROGEN_BOND = 1.6  # [Å] the longest distance of a hydrogen from the heavy atom that carries it
_SIDE_BOND = 2.3  # [Å] longer than any bond in a side chain, the longest of which, C-S, has 1.81 Å
_DISULFIDE = 2.5  # [Å] two sulfurs that are nearer than this are bonded; the bond has 2.05 Å


def _gemmi():
    return package("gemmi", "bio", "reading and writing PDB and mmCIF files")


# --- read -------------------------------------------------------------------------------------------------------------


def read(
    path: str | os.PathLike,
    chain: str | None = None,
    *,
    model: int | None = None,
    altloc: str | None = None,
    side_chains: str = "rigid",
    peptide: str = "rigid",
    hydrogens: str = "file",
    breaks: str = "refuse",
    base: str = "free",
) -> Polymer:
    """The `Polymer` of one polypeptide chain of a PDB or mmCIF file, which may be compressed (.gz).

        protein = read("1ubq.pdb", chain="A", hydrogens="add")

    `polymer.q` is the conformation in the file: `polymer.positions()` are the coordinates of the file.

    - `chain` is the name of the chain (in mmCIF the one that the authors gave). It is needed if the file has several
      polypeptides.
    - `model` is the number of the model; by default the first one is read.
    - `altloc` is the label of the alternate locations to take, where they exist; otherwise those of the highest
      occupancy are taken.
    - `hydrogens` are "file" (those in the file), "add" (all, at their ideal places) or "none".
    - `breaks` says what happens where residues are missing: "refuse" raises an error, "split" makes several chains,
      each with a base of its own.
    - `side_chains`, `peptide` and `base` are as in `polypeptide`.

    Water, ligands and ions are left out. A residue that is not one of the standard twenty is read if it has a backbone,
    with a rigid side chain. Disulfide bonds are ignored, as they would close loops. `polymer.findings` lists what was
    left out, chosen or not understood.
    """
    need_choice("read: side_chains", side_chains, SIDE_CHAINS)
    need_choice("read: peptide", peptide, PEPTIDES)
    need_choice("read: hydrogens", hydrogens, HYDROGENS)
    need_choice("read: breaks", breaks, BREAKS)
    if not isinstance(path, str | os.PathLike):
        raise ArgumentError(f"read: path must be a str or os.PathLike, got {type(path).__name__}")
    for what, value, kind in (("chain", chain, str), ("altloc", altloc, str), ("model", model, int)):
        if value is not None and not isinstance(value, kind):
            raise ArgumentError(f"read: {what} must be a {kind.__name__} or None, got {value!r}")
    report = _Report(os.fspath(path))
    try:
        residues, name = _residues(report, _structure(report), chain, model)
        residues = _without_caps(report, residues)
        monomers = [_monomer(report, same, altloc, side_chains, hydrogens) for same in residues]
    except UnicodeDecodeError as error:  # gemmi keeps bytes, and decodes names when they are asked for
        raise ModelError(f"{report.where}: a name in it is no text in UTF-8: {error}; save it as UTF-8") from None
    _find_breaks(report, monomers, breaks)
    _find_disulfides(report, monomers)
    if hydrogens == "add":
        add_hydrogens(monomers)
    _check_hydrogens(report, monomers)
    return chain_polymer(name, monomers, side_chains, peptide, base, report.findings)


class _Report:
    """Collects the findings about a file, and makes errors that name it."""

    def __init__(self, file: str):
        self.where = Where(file)
        self.findings: list[Finding] = []

    def error(self, element: str, message: str) -> ModelError:
        """An error about an element of the file, for the caller to raise."""
        return ModelError(f"{self.where}: {element}: {message}")

    def add(self, level: str, code: str, element: str, message: str) -> None:
        """Keeps a finding."""
        self.findings.append(Finding(level, code, element, message, self.where))


def _structure(report: _Report):
    """The gemmi structure of the file."""
    file, gemmi = report.where.file, _gemmi()
    if "\0" in file or not os.path.isfile(file):
        raise ModelError(f"{file}: there is no such file")
    try:
        structure = gemmi.read_structure(file)
    except (RuntimeError, ValueError, OSError) as error:
        raise ModelError(f"{file}: gemmi cannot read it: {error}") from None
    if not any(model.count_atom_sites() for model in structure):
        raise ModelError(f"{file}: it has no atoms; a PDB file has ATOM records, an mmCIF file an _atom_site table")
    structure.merge_chain_parts()
    structure.setup_entities()
    return structure


def _residues(report: _Report, structure, chain: str | None, number: int | None) -> tuple[list[list], str]:
    """The residues of the chain and a name for the polymer; residues that share a place are in one list."""
    models = {m.num: m for m in structure}
    number = next(iter(models)) if number is None else number
    if number not in models:
        shown = ", ".join(map(str, models))
        raise ArgumentError(f"read: {report.where} has no model {number}; there are {shown}")
    if len(models) > 1:
        report.add("note", "models", "file", f"{len(models)} models; this is number {number}")
    found = _one_chain(report, models[number], chain)
    polymer, places = found.get_polymer(), {}
    for residue in polymer:
        places.setdefault(str(residue.seqid), []).append(residue)
    if left := len(found) - len(polymer):
        what = f"{left} residues besides the polypeptide (water, ligands, ions)"
        report.add("note", "left out", f"chain {found.name}", what)
    return list(places.values()), f"{structure.name or 'structure'} {found.name}"


def _one_chain(report: _Report, model, name: str | None):
    """The polypeptide chain of that name, or the only one of the model."""
    gemmi = _gemmi()
    kinds = (gemmi.PolymerType.PeptideL, gemmi.PolymerType.PeptideD)
    found = {c.name: c for c in model if c.get_polymer().check_polymer_type() in kinds}
    shown = ", ".join(f"{name!r} ({c.get_polymer().length()} residues)" for name, c in found.items())
    if not found:
        raise ModelError(f"{report.where}: it has no polypeptide chain")
    if name is None and len(found) > 1:
        raise ArgumentError(f"read: {report.where} has {len(found)} polypeptides, choose one by chain=...: {shown}")
    name = next(iter(found)) if name is None else name
    if name not in found:
        raise ArgumentError(f"read: {report.where} has no polypeptide of name {name!r}; there are {shown}")
    return found[name]


def _without_caps(report: _Report, residues: list[list]) -> list[list]:
    """The residues without groups at the ends that have no backbone, such as ACE and NME."""
    backbone = {"N", "CA", "C"}
    caps = [
        r for r in (residues[0], residues[-1]) if r[0].name not in RESIDUES and not backbone <= {a.name for a in r[0]}
    ]
    for cap, *_ in caps:
        report.add("warning", "cap", f"residue {cap.name}{cap.seqid}", "it has no N, CA and C: left out")
    kept = [r for r in residues if r not in caps]
    if not kept:
        raise report.error("chain", "none of its residues has a backbone of N, CA and C")
    return kept


def _monomer(report: _Report, same: Sequence, altloc: str | None, side_chains: str, hydrogens: str) -> Monomer:
    """One residue, chosen by occupancy from those that share a place, with one location of each atom."""
    residue = max(same, key=lambda r: max((atom.occ for atom in r), default=0.0))
    label = f"{residue.name}{residue.seqid}"
    if len(same) > 1:
        others = ", ".join(r.name for r in same if r is not residue)
        report.add("note", "alternates", f"residue {label}", f"also {others} at this place, of lower occupancy")
    kind: str = residue.name
    monomer = Monomer(_OTHER_NAMES.get(kind, kind), label)
    for name, atom in _locations(report, residue, label, altloc).items():
        element = _element(monomer.name, name, atom.element.name)
        if element not in MASSES:
            known = ", ".join(MASSES)
            raise report.error(f"residue {label}", f"atom {name} is of element {element!r}; known are {known}")
        if element not in LIGHT or hydrogens == "file":
            monomer.add(name, element, np.array(atom.pos.tolist()))
    _check_residue(report, monomer, residue.name)
    if side_chains == "none":
        kept = {*BACKBONE, "OXT", "H", "HA", "HA2", "HA3", "H1", "H2", "H3"}
        elements = {atom: element for atom, element in monomer.elements.items() if atom in kept}
        monomer = Monomer("GLY", label, elements, {atom: monomer.x[atom] for atom in elements})
    return monomer


def _element(residue: str, atom: str, stated: str) -> str:
    """The element of an atom: that which the file states, or else, in standard residues, the letter of its name.

    Old files do not state elements, and gemmi may then take a "CA" in the wrong columns for calcium. So an element that
    does not occur in polymers is not believed in a standard residue.
    """
    letter = atom.lstrip("0123456789")[:1]
    return letter if stated not in MASSES and residue in RESIDUES and letter in MASSES else stated


def _locations(report: _Report, residue, label: str, altloc: str | None) -> dict:
    """{name: atom}: of alternate locations the one asked for, or else the one with the highest occupancy in total."""
    weight: dict[str, float] = {}
    for atom in residue:
        if atom.has_altloc():
            weight[atom.altloc] = weight.get(atom.altloc, 0.0) + atom.occ
    chosen = altloc if altloc in weight else max(weight, key=weight.__getitem__, default="")
    if weight:
        report.add("note", "alternates", f"residue {label}", f"locations {', '.join(weight)}; this is {chosen}")
    found: dict = {}
    for atom in residue:
        rank = (not atom.has_altloc() or atom.altloc == chosen, atom.occ)
        if atom.name not in found or rank > found[atom.name][0]:
            found[atom.name] = rank, atom
    return {name: atom for name, (_, atom) in found.items()}


def _check_residue(report: _Report, monomer: Monomer, name: str) -> None:
    """Raises an error about a broken backbone, and keeps findings about missing or unknown parts of the side chain."""
    element, x = f"residue {monomer.label}", monomer.x
    if missing := [atom for atom in ("N", "CA", "C") if atom not in x]:
        raise report.error(element, f"it lacks atom {', '.join(missing)}; a backbone has N, CA and C")
    for atom, position in x.items():
        if not np.isfinite(position).all():
            raise report.error(element, f"atom {atom} has the coordinates {position.tolist()}")
    for a, b in (("N", "CA"), ("CA", "C")):
        length, (low, high) = np.linalg.norm(x[a] - x[b]), _BACKBONE_BOND
        if not low <= length <= high:
            raise report.error(element, f"{a} and {b} are {length:.3f} Å apart; a bond has {low} to {high} Å")
    if "O" not in x:
        report.add("warning", "missing atoms", element, "no O: its mass is left out")
    standard = RESIDUES.get(monomer.name)
    if standard is None:
        report.add("warning", "non-standard", element, f"{name} is not one of the twenty: its side chain is rigid")
        return
    for row in standard.rows:
        if row.atom in x and row.refs[0] in x and np.linalg.norm(x[row.atom] - x[row.refs[0]]) > _SIDE_BOND:
            message = f"{row.atom} is {np.linalg.norm(x[row.atom] - x[row.refs[0]]):.2f} Å from {row.refs[0]}"
            report.add("warning", "long bond", element, message)
    if missing := [row.atom for row in standard.rows if row.atom not in x]:
        what = "their masses, and the χ that need them, are left out"
        report.add("warning", "missing atoms", element, f"no {', '.join(missing)}: {what}")


def _find_breaks(report: _Report, monomers: Sequence[Monomer], breaks: str) -> None:
    """Marks the residues that are not bonded to the one before; an error if `breaks` is "refuse"."""
    monomers[0].follows = False
    for before, after in itertools.pairwise(monomers):
        gap = np.linalg.norm(after.x["N"] - before.x["C"])
        if gap <= _PEPTIDE_BOND:
            continue
        what = f"C of {before.label} and N of {after.label} are {gap:.2f} Å apart, which is no bond"
        if breaks == "refuse":
            raise report.error(f"residue {after.label}", f"{what}; breaks='split' makes chains of the parts")
        after.follows = False
        report.add("warning", "break", f"residue {after.label}", f"{what}: a new chain starts there")


def _find_disulfides(report: _Report, monomers: Sequence[Monomer]) -> None:
    """Marks the sulfurs that are bonded to each other, which carry no hydrogen, and keeps a finding about each pair."""
    sulfurs = [monomer for monomer in monomers if monomer.name == "CYS" and "SG" in monomer.x]
    for k, one in enumerate(sulfurs):
        for other in sulfurs[k + 1 :]:
            if np.linalg.norm(one.x["SG"] - other.x["SG"]) < _DISULFIDE:
                message = f"its bond to {other.label} closes a loop: left open"
                report.add("warning", "disulfide", f"residue {one.label}", message)
                one.bridged.add("SG")
                other.bridged.add("SG")


def _check_hydrogens(report: _Report, monomers: Sequence[Monomer]) -> None:
    """Raises an error if a hydrogen has no heavy atom next to it to move with; a finding if there are no hydrogens."""
    any_hydrogen = False
    for monomer in monomers:
        heavy = np.array([x for atom, x in monomer.x.items() if monomer.elements[atom] not in LIGHT])
        for atom in [atom for atom in monomer.x if monomer.elements[atom] in LIGHT]:
            any_hydrogen, gap = True, np.linalg.norm(heavy - monomer.x[atom], axis=1).min()
            if gap > _HYDROGEN_BOND:
                what = f"hydrogen {atom} is {gap:.2f} Å from the nearest other atom; hydrogens='add' places them anew"
                raise report.error(f"residue {monomer.label}", what)
    if not any_hydrogen:
        report.add("note", "hydrogens", "file", "no hydrogens: their masses are left out; hydrogens='add' places them")


# --- write ------------------------------------------------------------------------------------------------------------


def write(polymer: Polymer, path: str | os.PathLike, q=None) -> None:
    """Writes the atoms at q (nq,), by default the polymer's own, or at q (k, nq) as k models, into a file.

    A path that ends in .cif gives an mmCIF file, any other a PDB file. It needs gemmi (extra `bio`).

        write(polymer, "motion.cif", trajectory.q)
    """
    if not isinstance(polymer, Polymer) or not isinstance(path, str | os.PathLike):
        raise ArgumentError(f"write needs a Polymer and a path, got {type(polymer).__name__}, {type(path).__name__}")
    gemmi = _gemmi()
    structure = gemmi.Structure()
    structure.name = polymer.robot.name
    x = polymer.positions(q)
    for number, positions in enumerate(x.reshape(-1, *x.shape[-2:]), 1):
        model = gemmi.Model(number)
        model.add_chain(_chain(gemmi, polymer, positions))
        structure.add_model(model)
    structure.setup_entities()
    if os.fspath(path).endswith(".cif"):
        structure.make_mmcif_document().write_file(os.fspath(path))
    else:
        structure.write_pdb(os.fspath(path))


def _chain(gemmi, polymer: Polymer, positions: Iterable):
    """The gemmi chain "A" of the polymer's atoms at the given positions (k, 3)."""
    chain, label, residue = gemmi.Chain("A"), None, None
    for atom, position in zip(polymer.atoms, positions, strict=True):
        if atom.residue != label:
            if residue is not None:
                chain.add_residue(residue)
            label, residue = atom.residue, gemmi.Residue()
            name, number = re.fullmatch(r"(.{3}|.{1,2}?)(-?\d+[A-Z]?)", label).groups()  # type: ignore[union-attr]
            residue.name, residue.seqid = name, gemmi.SeqId(number)
            residue.entity_type = gemmi.EntityType.Polymer
        made = gemmi.Atom()
        made.name, made.element, made.pos = atom.name, gemmi.Element(atom.element), gemmi.Position(*position)
        residue.add_atom(made)  # type: ignore[union-attr]
    chain.add_residue(residue)
    return chain
