"""PDB and mmCIF files: coordinates come back exactly, and what is odd in a file is handled or refused by name.

Real structures: earthworm erythrocruorin (2GTL, 15 chains) and a penicillin-binding protein (7OK9), which come with the
package tmtools.
"""

import gzip
import re
import sys
from pathlib import Path

import numpy as np
import pytest
import tmtools
from support.polymers import angle, eager_positions, turned

import adjoint as aj
from adjoint import polymer
from adjoint.errors import AdjointError, ArgumentError, ModelError
from adjoint.polymer.atoms import dihedral
from adjoint.polymer.residues import RESIDUES

REAL = Path(tmtools.__file__).parent / "data"


@pytest.fixture(scope="module")
def globin():
    return polymer.read(REAL / "2gtl.cif", "A", side_chains="branches")


@pytest.fixture
def small(tmp_path):
    """The lines of a PDB file of six residues with hydrogens, and a function that reads changed lines."""
    polymer.write(polymer.polypeptide("ACDPKG", phi=-1.2, psi=2.4), tmp_path / "small.pdb")
    lines = [line for line in (tmp_path / "small.pdb").read_text().splitlines() if line.startswith(("ATOM", "TER"))]

    def read(changed, name="changed.pdb", **options):
        (tmp_path / name).write_text("\n".join([*changed, "END", ""]))
        return polymer.read(tmp_path / name, **options)

    return lines, read


def of_atom(residue: int, name: str):
    """Whether a line is that of this atom; name "*" for all."""
    return lambda line: line[22:26].strip() == str(residue) and name in ("*", line[12:16].strip())


def codes(made) -> list[str]:
    return [finding.code for finding in made.findings]


# --- real structures --------------------------------------------------------------------------------------------------


def file_positions(path: Path, chain: str) -> dict:
    """{(residue, atom): position} by the columns of the format, without a parser."""
    found = {}
    for line in path.read_text().splitlines():
        if line.startswith("ATOM") and line[21] == chain and line[16] in " A":
            key = line[17:20].strip() + line[22:27].strip(), line[12:16].strip()
            found[key] = np.array([float(line[k : k + 8]) for k in (30, 38, 46)])
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("file", "chain"), [("2gtl.pdb", "A"), ("2gtl.pdb", "M"), ("7ok9.pdb", "P")])
def test_coordinates_of_real_files_come_back(file, chain):
    made = polymer.read(REAL / file, chain, side_chains="branches", peptide="free")
    x, expected = eager_positions(made, made.q), file_positions(REAL / file, chain)
    assert len(expected) == len(made.atoms) == len(x)
    error = max(np.abs(x[k] - expected[atom.residue, atom.name]).max() for k, atom in enumerate(made.atoms))
    assert error < 1e-9  # rounding along the chain: the file's digits themselves are kept


@pytest.mark.slow
def test_pdb_and_mmcif_give_the_same_polymer(globin):
    other = polymer.read(REAL / "2gtl.pdb", "A", side_chains="branches")
    assert other.robot.joint_names == globin.robot.joint_names and np.allclose(other.q, globin.q, atol=1e-9)


@pytest.mark.slow
def test_rigid_groups_of_a_real_chain_keep_their_distances(globin):
    x, moved = (eager_positions(globin, q) for q in (globin.q, turned(globin, 1)))
    for body in (0, 7, 100, 568):
        k = [k for k, atom in enumerate(globin.atoms) if atom.body == body]
        before, after = (np.linalg.norm(y[k][:, None] - y[k], axis=-1) for y in (x, moved))
        assert np.allclose(before, after, atol=1e-9)
    assert np.abs(x - moved).max() > 1


@pytest.mark.slow
def test_findings_tell_of_disulfides_ligands_and_missing_atoms(globin):
    assert {"disulfide", "left out", "hydrogens"} <= set(codes(globin))
    assert any("CYS7" in f.element and "CYS138" in f.message for f in globin.findings)
    linker = polymer.read(REAL / "2gtl.cif", "M", side_chains="branches")
    assert any("LEU13" in str(f) and "no CG, CD1, CD2" in f.message for f in linker.findings)
    assert "LEU13.chi1" not in linker.robot.joint_names and "LEU14.chi2" not in linker.robot.joint_names[:1]


@pytest.mark.slow
def test_tables_agree_with_a_real_structure(globin):
    """Bond lengths, angles and fixed dihedrals of the tables are those of a refined structure, on average."""
    x = eager_positions(globin, globin.q)
    at = {(atom.residue, atom.name): x[k] for k, atom in enumerate(globin.atoms)}
    found: dict = {}
    for residue in {atom.residue for atom in globin.atoms}:
        standard = RESIDUES[residue[:3]]
        for row in standard.rows:
            d, c, b, a = (at.get((residue, atom)) for atom in (row.atom, *row.refs))
            first = next((r for r in standard.rows if r.chi == row.chi), row)
            if a is None or b is None or c is None or d is None:
                continue
            zero = dihedral(a, b, c, at[residue, first.atom]) if row.chi else 0.0
            off = np.angle(np.exp(1j * (dihedral(a, b, c, d) - zero - row.turn)))
            sample = np.linalg.norm(d - c) - row.length, np.degrees(angle(b, c, d) - row.angle), np.degrees(off)
            found.setdefault((residue[:3], row.atom), []).append(sample)
    assert len(found) > 80
    for key, samples in found.items():
        limits = (
            (0.03, 5.0, 15.0) if key[0] == "PRO" else (0.03, 3.0, 3.0)
        )  # the ring of proline puckers in several ways
        assert np.all(np.abs(np.median(samples, axis=0)) < limits), key


@pytest.mark.slow
def test_added_hydrogens_are_those_of_a_built_chain(tmp_path):
    """Without its hydrogens, and with new ones, a chain is what it was."""
    built = polymer.polypeptide("ACDEFGHIKLMNPQRSTVWY", phi=-1.1, psi=-0.8)
    polymer.write(built, tmp_path / "all.cif")
    bare = polymer.read(tmp_path / "all.cif", hydrogens="none")
    full = polymer.read(tmp_path / "all.cif", hydrogens="add")
    assert "H" not in bare.elements and len(full.atoms) == len(built.atoms)
    x, y = (eager_positions(made, made.q) for made in (built, full))
    y = y[[full.index(atom.residue, atom.name) for atom in built.atoms]]
    assert np.abs(x - y).max() < 5e-3  # the file has three digits
    assert np.isclose(full.robot.mass, built.robot.mass)


@pytest.mark.slow
def test_a_real_chain_breaks_into_parts():
    with pytest.raises(ModelError, match=r"7ok9.pdb: residue PRO234: C of PRO226 and N of PRO234 are 14\.18 Å"):
        polymer.read(REAL / "7ok9.pdb", "A")
    made = polymer.read(REAL / "7ok9.pdb", "A", breaks="split")
    assert made.robot.joint_types.count("free") == codes(made).count("break") + 1 == 2


def test_a_chain_must_be_chosen_among_several():
    with pytest.raises(ArgumentError, match=r"15 polypeptides, choose one by chain=...: 'A' \(147 residues\), 'B'"):
        polymer.read(REAL / "2gtl.cif")
    with pytest.raises(ArgumentError, match="no polypeptide of name 'Z'; there are 'A'"):
        polymer.read(REAL / "2gtl.cif", "Z")


@pytest.mark.slow
def test_dynamics_of_a_real_protein():
    """294 degrees of freedom: M (M⁻¹ b) = b by two recursions, and the energy of the atoms' velocities."""
    globin = polymer.read(REAL / "2gtl.cif", "A", hydrogens="add")
    assert "HG" not in {atom.name for atom in globin.atoms if atom.residue == "CYS7"}  # its sulfur has a bond
    robot, q = globin.robot, globin.q
    b = np.random.default_rng(0).normal(size=robot.nv)
    v = aj.solve_mass_matrix(robot, q, b)
    assert np.allclose(aj.mass_matrix_product.eager(robot, q, v), b, atol=1e-8)
    h = 1e-4 / np.abs(v).max()
    moved = [eager_positions(globin, aj.integrate.eager(robot, q, s * h * v)) for s in (1, -1)]
    velocities = (moved[0] - moved[1]) / (2 * h)
    energy = 0.5 * np.sum(globin.masses[:, None] * velocities**2)
    assert np.isclose(energy, 0.5 * v @ b, rtol=1e-6)
    v = aj.dynamics.random_velocity(robot, q, rng=1, kT=polymer.BOLTZMANN * 300)
    path = polymer.langevin(robot, q, v, dt=1e-3, steps=20)
    energy = aj.kinetic_energy(robot, path.q, path.v)
    assert np.ptp(energy) < 1e-6 * energy[0] and np.abs(path.v[-1] - v).max() > 0.05 * np.abs(v).max()


# --- small files, good and bad ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_written_chain_is_read_again(small, tmp_path):
    lines, read = small
    made = polymer.polypeptide("ACDPKG", phi=-1.2, psi=2.4)
    again = read(lines)
    assert again.robot.joint_names == made.robot.joint_names and again.elements == made.elements
    assert np.allclose(again.positions(), made.positions(), atol=6e-4)  # three digits
    models = turned(made, 2, 3)
    polymer.write(made, tmp_path / "three.cif", models)
    third = polymer.read(tmp_path / "three.cif", model=3)
    assert np.allclose(third.positions(), made.positions(models[2]), atol=6e-4) and "models" in codes(third)
    with pytest.raises(ArgumentError, match=r"no model 4; there are 1, 2, 3"):
        polymer.read(tmp_path / "three.cif", model=4)
    zipped = tmp_path / "small.pdb.gz"
    zipped.write_bytes(gzip.compress((tmp_path / "changed.pdb").read_bytes()))
    assert np.array_equal(polymer.read(zipped).q, again.q)


def test_side_chains_none_keeps_the_backbone(small):
    lines, read = small
    made = read(lines, side_chains="none")
    assert {atom.name for atom in made.atoms} <= {"N", "CA", "C", "O", "OXT", "H", "HA", "HA2", "HA3", "H1", "H2", "H3"}
    assert "PRO4.phi" in made.robot.joint_names


def test_alternate_locations(small):
    """Of two conformers the one with more atoms' worth of occupancy, whole; or the one asked for."""
    lines, read = small
    changed = []
    for line in lines:
        if of_atom(3, "CG")(line) or of_atom(3, "OD1")(line):
            for label, occupancy, shift in (("A", "0.40", 0.0), ("B", "0.60", 0.3)):
                x = float(line[30:38]) + shift
                changed.append(f"{line[:16]}{label}{line[17:30]}{x:8.3f}{line[38:54]}  {occupancy}{line[60:]}")
        else:
            changed.append(line)
    plain, best, asked = read(lines), read(changed), read(changed, altloc="A")
    k = plain.index("ASP3", "CG")
    assert np.allclose(best.positions()[k] - plain.positions()[k], [0.3, 0, 0], atol=1e-9)
    assert np.allclose(asked.positions(), plain.positions(), atol=1e-9)
    assert len(best.atoms) == len(plain.atoms) and "alternates" in codes(best)


def test_two_residues_at_one_place(small):
    lines, read = small
    other = [
        re.sub("ALA", "SER", line[:16] + "B" + line[17:54] + "  0.30" + line[60:])
        for line in filter(of_atom(1, "*"), lines)
    ]
    changed = [
        line[:16] + "A" + line[17:54] + "  0.70" + line[60:] if of_atom(1, "*")(line) else line for line in lines
    ]
    made = read([*other, *changed])
    assert made.atoms[0].residue == "ALA1" and any("also SER" in f.message for f in made.findings)


def test_nonstandard_residues_are_rigid(small):
    lines, read = small
    changed = [
        line.replace("LYS", "MLZ").replace("ATOM  ", "HETATM") if of_atom(5, "*")(line) else line for line in lines
    ]
    made = read(changed, side_chains="branches")
    assert "non-standard" in codes(made) and not any("MLZ5.chi" in name for name in made.robot.joint_names)
    assert "MLZ5.phi" in made.robot.joint_names and len(made.atoms) == len(read(lines).atoms)


def test_atoms_of_other_names_move_with_the_nearest(small):
    lines, read = small
    made = read(with_columns(5, "CE", 12, " CX ")(lines), side_chains="branches", hydrogens="none")
    plain = read(lines, side_chains="branches", hydrogens="none")
    assert made.atoms[made.index("LYS5", "CX")].body == made.atoms[made.index("LYS5", "NZ")].body
    assert plain.robot.nv - made.robot.nv == 2  # χ3 and χ4


def test_caps_are_left_out(small):
    lines, read = small
    cap = [line.replace("ALA", "ACE") for line in lines if of_atom(1, "C")(line) or of_atom(1, "O")(line)]
    made = read([*cap, *without(1, "*")(lines)])
    assert made.atoms[0].residue == "CYS2" and "cap" in codes(made)


def test_models_need_not_start_at_one(small):
    lines, read = small
    assert len(read(["MODEL        5", *lines, "ENDMDL"]).atoms) == len(read(lines).atoms)


def test_elements_are_guessed_from_names(small):
    """Old files have no columns for the element, and names that are not where they should be."""
    lines, read = small
    old = [f"{line[:12]}{line[12:16].strip():<4}{line[16:66]}" for line in lines if line.startswith("ATOM")]
    assert read(old).elements == read(lines).elements


def test_missing_side_chain_atoms_end_the_branch(small):
    lines, read = small
    made = read([line for line in lines if not of_atom(5, "CD")(line)], side_chains="branches", hydrogens="none")
    kept = [name for name in made.robot.joint_names if name.startswith("LYS5.chi")]
    assert kept == ["LYS5.chi1"] and any("no CD" in f.message for f in made.findings)


def test_hydrogens_move_with_their_atoms(small):
    lines, read = small
    made = read(lines, side_chains="branches")
    heavy = [k for k, atom in enumerate(made.atoms) if atom.element != "H"]
    light = [k for k, atom in enumerate(made.atoms) if atom.element == "H"]
    x, moved = made.positions(), made.positions(turned(made, 3))
    before, after = (np.linalg.norm(y[light][:, None] - y[heavy], axis=-1) for y in (x, moved))
    nearest = np.argmin(before, axis=1)[:, None]
    assert np.allclose(*(np.take_along_axis(gaps, nearest, 1) for gaps in (before, after)), atol=1e-9)


def without(residue: int, name: str):
    return lambda lines: [line for line in lines if not of_atom(residue, name)(line)]


def with_columns(residue: int, name: str, start: int, text: str):
    """Writes `text` over the columns of an atom from `start` on."""
    return lambda lines: [
        line[:start] + text + line[start + len(text) :] if of_atom(residue, name)(line) else line for line in lines
    ]


ZINC = "ATOM     99 ZN   GLY A   6       0.000   0.000   0.000  1.00  0.00          ZN"
WATER = "HETATM    1  O   HOH A   1       0.000   0.000   0.000  1.00  0.00           O"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (without(3, "CA"), "residue ASP3: it lacks atom CA"),
        (without(2, "*"), "residue ASP3: C of ALA1 and N of ASP3 are"),
        (with_columns(4, "C", 30, "  99.000"), "residue PRO4: CA and C are"),
        (with_columns(4, "HA", 30, "  99.000"), "residue PRO4: hydrogen HA is"),
        (lambda lines: [*lines[:-1], ZINC], "residue GLY6: atom ZN is of element 'Zn'"),
        (with_columns(2, "CA", 30, " " * 24), "residue CYS2: N and CA are"),
        (with_columns(2, "N", 30, "     nan" * 3), "residue CYS2: atom N has the coordinates|gemmi cannot read it"),
        (lambda lines: [line[:30] for line in lines], "gemmi cannot read it|no atoms"),
        (lambda lines: [WATER], "no polypeptide"),
        (lambda lines: [], "no atoms"),
        (lambda lines: ["this is", "not a structure"], "no atoms"),
    ],
    ids=["no CA", "gap", "torn bond", "stray hydrogen", "element", "blank coordinates", "nan", "cut lines", "water",
         "empty", "text"],
)  # fmt: skip
def test_broken_files_are_refused_by_residue_and_atom(small, change, says):
    lines, read = small
    with pytest.raises(ModelError, match=says) as caught:
        read(change(lines))
    assert "changed.pdb" in str(caught.value)


def test_broken_mmcif_and_missing_files_are_refused(tmp_path):
    (tmp_path / "bad.cif").write_text("data_x\nloop_\n_atom_site.id\n_atom_site.Cartn_x\n1\n")
    with pytest.raises(ModelError, match=r"bad\.cif"):
        polymer.read(tmp_path / "bad.cif")
    with pytest.raises(ModelError, match="no such file"):
        polymer.read(tmp_path / "nothing.pdb")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"hydrogens": "yes"}, "hydrogens is 'yes'"),
        ({"breaks": "ignore"}, "'refuse' or 'split'"),
        ({"side_chains": "soft"}, "side_chains"),
        ({"base": "none"}, "base is 'none'"),
    ],
)
def test_bad_options_are_named(small, options, says):
    lines, read = small
    with pytest.raises(ArgumentError, match=says):
        read(lines, **options)


def test_without_gemmi_the_message_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "gemmi", None)
    with pytest.raises(ImportError, match=r"adjoint\[bio\]"):
        polymer.read(tmp_path / "x.pdb")


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["pdb", "cif"])
def test_names_that_are_no_text_are_named(suffix, tmp_path):
    path = tmp_path / f"x.{suffix}"
    polymer.write(polymer.polypeptide("AG"), path)
    good, seen = path.read_bytes(), 0
    for at in range(0, len(good), 7):
        path.write_bytes(good[:at] + b"\xe9" + good[at + 1 :])
        try:
            polymer.read(path)
        except AdjointError as error:
            assert f"x.{suffix}" in str(error)
            seen += "UTF-8" in str(error)
    assert seen if suffix == "pdb" else True


def test_paths_are_paths():
    for path in (3, None, ["x.pdb"]):
        with pytest.raises(ArgumentError, match="path must be a str or os"):
            polymer.read(path)
    with pytest.raises(AdjointError, match="no such file"):
        polymer.read("a\0b.pdb")
