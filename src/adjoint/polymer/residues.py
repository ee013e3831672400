"""The table of the twenty amino acids: bond lengths, angles and dihedrals of side chains, and all hydrogens.

The geometry is that of Engh & Huber (1991), "Accurate bond and angle parameters for X-ray protein structure
refinement", Acta Cryst. A47. The backbone has one geometry for all residues; the small differences of glycine and
proline are left out. Names of atoms and χ angles are those of the Protein Data Bank.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["BACKBONE", "GEOMETRIES", "LETTERS", "RESIDUES", "Geometry", "Residue", "Row"]


class Geometry(NamedTuple):
    """Bond lengths [Å] and bond angles [rad] of the backbone; N-C-O follows, as the three angles about C sum to 2π."""

    N_CA: float
    CA_C: float
    C_N: float
    C_O: float
    N_CA_C: float
    CA_C_N: float
    C_N_CA: float
    CA_C_O: float


GEOMETRIES = {
    "standard": Geometry(1.458, 1.525, 1.329, 1.231, *np.radians([111.2, 116.2, 121.7, 120.8]).tolist()),
    # Table II of Lee, Wang & Chirikjian (2007), "O(n) mass matrix inversion for serial manipulators and polypeptide
    # chains using Lie derivatives", Robotica 25(6). Its γ are π minus the bond angles; the angle N-C-O is 123.3°.
    "paper": Geometry(1.458, 1.525, 1.329, 1.231, *np.radians([109.5, 116.2, 121.7, 120.5]).tolist()),
}


class Row(NamedTuple):
    """An atom of a side chain, placed by its distance, angle and dihedral to three atoms `refs`."""

    atom: str
    refs: tuple[str, str, str]
    length: float  # [Å] the distance to refs[0]
    angle: float  # [rad] atom - refs[0] - refs[1]
    chi: int  # k > 0 if the dihedral is χ_k + turn, or 0 if it is `turn`
    turn: float  # [rad] of the dihedral atom - refs[0] - refs[1] - refs[2]


class Residue(NamedTuple):
    """An amino acid."""

    name: str  # three letters
    letter: str
    chi: tuple[float, ...]  # (k,) [rad] torsions of a common conformation of the side chain
    rows: tuple[Row, ...]  # the heavy atoms of the side chain
    hydrogens: dict[str, tuple[str, ...]]  # {heavy atom: names of its hydrogens}
    ring: tuple[tuple[str, str], ...]  # the bonds that close rings


BACKBONE = ("N", "CA", "C", "O")

# A residue starts with its name, its letter, and the χ of a common conformation [°]. Each further line has an atom, the
# three atoms that place it, its bond length [Å], angle [°] and dihedral [°], and its hydrogens. Acids and bases are
# charged as at pH 7; histidine is neutral, with its hydrogen at NE2.
_TABLE = """
GLY G
ALA A
    CB  CA  C   N    1.521 110.5  122.7      HB1 HB2 HB3
SER S  65
    CB  CA  C   N    1.530 110.1  122.5      HB2 HB3
    OG  CB  CA  N    1.417 111.1  χ1         HG
CYS C  -65
    CB  CA  C   N    1.530 110.1  122.5      HB2 HB3
    SG  CB  CA  N    1.808 114.4  χ1         HG
THR T  -60
    CB  CA  C   N    1.540 109.1  123.4      HB
    OG1 CB  CA  N    1.433 109.6  χ1         HG1
    CG2 CB  CA  N    1.521 110.5  χ1-120.2   HG21 HG22 HG23
VAL V  180
    CB  CA  C   N    1.540 109.1  123.4      HB
    CG1 CB  CA  N    1.521 110.5  χ1         HG11 HG12 HG13
    CG2 CB  CA  N    1.521 110.5  χ1+122.2   HG21 HG22 HG23
ILE I  -65 170
    CB  CA  C   N    1.540 109.1  123.4      HB
    CG1 CB  CA  N    1.530 110.4  χ1         HG12 HG13
    CG2 CB  CA  N    1.521 110.5  χ1-122.2   HG21 HG22 HG23
    CD1 CG1 CB  CA   1.513 113.8  χ2         HD11 HD12 HD13
LEU L  -65 175
    CB  CA  C   N    1.530 110.1  122.5      HB2 HB3
    CG  CB  CA  N    1.530 116.3  χ1         HG
    CD1 CG  CB  CA   1.521 110.7  χ2         HD11 HD12 HD13
    CD2 CG  CB  CA   1.521 110.7  χ2+122.3   HD21 HD22 HD23
MET M  -65 180 70
    CB  CA  C   N    1.530 110.1  122.5      HB2 HB3
    CG  CB  CA  N    1.520 114.1  χ1         HG2 HG3
    SD  CG  CB  CA   1.803 112.7  χ2
    CE  SD  CG  CB   1.791 100.9  χ3         HE1 HE2 HE3
PRO P
    CB  CA  C   N    1.530 111.9  114.6      HB2 HB3
    CG  CB  CA  N    1.492 104.5  28.0       HG2 HG3
    CD  CG  CB  CA   1.503 106.1  -32.9      HD2 HD3
ASP D  -70 -15
    CB  CA  C   N    1.530 110.1  122.5      HB2 HB3
    CG  CB  CA  N    1.516 112.6  χ1
    OD1 CG  CB  CA   1.249 118.4  χ2
    OD2 CG  CB  CA   1.249 118.4  χ2+180
ASN N  -70 -20
    CB  CA  C   N    1.530 110.1  122.5      HB2 HB3
    CG  CB  CA  N    1.516 112.6  χ1
    OD1 CG  CB  CA   1.231 120.8  χ2
    ND2 CG  CB  CA   1.328 116.4  χ2+180     HD21 HD22
GLU E  -65 180 0
    CB  CA  C   N    1.530 110.1  122.5      HB2 HB3
    CG  CB  CA  N    1.520 114.1  χ1         HG2 HG3
    CD  CG  CB  CA   1.516 112.6  χ2
    OE1 CD  CG  CB   1.249 118.4  χ3
    OE2 CD  CG  CB   1.249 118.4  χ3+180
GLN Q  -65 180 0
    CB  CA  C   N    1.530 110.1  122.5      HB2 HB3
    CG  CB  CA  N    1.520 114.1  χ1         HG2 HG3
    CD  CG  CB  CA   1.516 112.6  χ2
    OE1 CD  CG  CB   1.231 120.8  χ3
    NE2 CD  CG  CB   1.328 116.4  χ3+180     HE21 HE22
LYS K  -65 180 180 180
    CB  CA  C   N    1.530 110.1  122.5      HB2 HB3
    CG  CB  CA  N    1.520 114.1  χ1         HG2 HG3
    CD  CG  CB  CA   1.520 111.3  χ2         HD2 HD3
    CE  CD  CG  CB   1.520 111.3  χ3         HE2 HE3
    NZ  CE  CD  CG   1.489 111.9  χ4         HZ1 HZ2 HZ3
ARG R  -65 180 180 180
    CB  CA  C   N    1.530 110.1  122.5      HB2 HB3
    CG  CB  CA  N    1.520 114.1  χ1         HG2 HG3
    CD  CG  CB  CA   1.520 111.3  χ2         HD2 HD3
    NE  CD  CG  CB   1.460 112.0  χ3         HE
    CZ  NE  CD  CG   1.329 124.2  χ4
    NH1 CZ  NE  CD   1.326 120.0  0          HH11 HH12
    NH2 CZ  NE  CD   1.326 120.0  180        HH21 HH22
HIS H  -65 -70
    CB  CA  C   N    1.530 110.1  122.5      HB2 HB3
    CG  CB  CA  N    1.497 113.8  χ1
    ND1 CG  CB  CA   1.378 122.7  χ2
    CD2 CG  CB  CA   1.354 131.2  χ2+180     HD2
    CE1 ND1 CG  CB   1.321 109.0  180        HE1
    NE2 CD2 CG  CB   1.374 107.2  180        HE2
PHE F  -65 -85
    CB  CA  C   N    1.530 110.1  122.5      HB2 HB3
    CG  CB  CA  N    1.502 113.8  χ1
    CD1 CG  CB  CA   1.384 120.7  χ2         HD1
    CD2 CG  CB  CA   1.384 120.7  χ2+180     HD2
    CE1 CD1 CG  CB   1.382 120.7  180        HE1
    CE2 CD2 CG  CB   1.382 120.7  180        HE2
    CZ  CE1 CD1 CG   1.382 120.0  0          HZ
TYR Y  -65 -85
    CB  CA  C   N    1.530 110.1  122.5      HB2 HB3
    CG  CB  CA  N    1.512 113.9  χ1
    CD1 CG  CB  CA   1.389 120.8  χ2         HD1
    CD2 CG  CB  CA   1.389 120.8  χ2+180     HD2
    CE1 CD1 CG  CB   1.382 121.2  180        HE1
    CE2 CD2 CG  CB   1.382 121.2  180        HE2
    CZ  CE1 CD1 CG   1.378 119.6  0
    OH  CZ  CE1 CD1  1.376 119.9  180        HH
TRP W  -65 100
    CB  CA  C   N    1.530 110.1  122.5      HB2 HB3
    CG  CB  CA  N    1.498 113.6  χ1
    CD1 CG  CB  CA   1.365 126.9  χ2         HD1
    CD2 CG  CB  CA   1.433 126.8  χ2+180
    NE1 CD1 CG  CB   1.374 110.2  180        HE1
    CE2 CD2 CG  CB   1.409 107.2  180
    CE3 CD2 CG  CB   1.398 133.9  0          HE3
    CZ2 CE2 CD2 CG   1.394 122.4  180        HZ2
    CZ3 CE3 CD2 CG   1.382 118.6  180        HZ3
    CH2 CZ2 CE2 CD2  1.368 117.5  0          HH2
"""

_RINGS = {
    "PRO": (("CD", "N"),),
    "HIS": (("CE1", "NE2"),),
    "PHE": (("CE2", "CZ"),),
    "TYR": (("CE2", "CZ"),),
    "TRP": (("NE1", "CE2"), ("CZ3", "CH2")),
}


def _row(words: list[str]) -> Row:
    """The atom that a line of the table describes."""
    atom, a, b, c, length, angle, turn = words[:7]
    chi, turn = (int(turn[1]), turn[2:] or "0") if turn.startswith("χ") else (0, turn)
    return Row(atom, (a, b, c), float(length), float(np.radians(float(angle))), chi, float(np.radians(float(turn))))


def _read(table: str) -> dict[str, Residue]:
    """{three-letter name: residue} of the table."""
    found: dict[str, Residue] = {}
    for line in table.strip().splitlines():
        words = line.split()
        if not line.startswith(" "):
            name, letter, *chi = words
            hydrogens = {"CA": ("HA2", "HA3") if name == "GLY" else ("HA",)} | ({} if name == "PRO" else {"N": ("H",)})
            angles = tuple(np.radians([float(x) for x in chi]).tolist())
            found[name] = residue = Residue(name, letter, angles, (), hydrogens, _RINGS.get(name, ()))
        else:
            residue = found[name] = residue._replace(rows=(*residue.rows, _row(words)))  # type: ignore[possibly-unbound]
            residue.hydrogens.update({words[0]: tuple(words[7:])} if words[7:] else {})
    return found


RESIDUES = _read(_TABLE)
LETTERS = {residue.letter: name for name, residue in RESIDUES.items()}
