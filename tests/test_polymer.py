"""Polymers: geometry of built chains against the tables and real structures, and their dynamics against the atoms."""

import numpy as np
import pytest
from support.polymers import angle, bead_logdet, eager_positions, turned

import adjoint as aj
from adjoint import polymer
from adjoint.compile import kernel, static
from adjoint.errors import ArgumentError, ModelError
from adjoint.kinematics.forward import body_placements
from adjoint.lie import se3
from adjoint.polymer.atoms import Site, Torsion, assemble, axis_frame, dihedral, placed
from adjoint.polymer.hydrogens import BOND_LENGTHS, bonded
from adjoint.polymer.peptide import polypeptide
from adjoint.polymer.residues import GEOMETRIES, RESIDUES

ALL = "ACDEFGHIKLMNPQRSTVWY"
# Molecular formulas of the free amino acids, as anyone prints them.
FORMULAS = {
    "G": (2, 5, 1, 2, 0), "A": (3, 7, 1, 2, 0), "S": (3, 7, 1, 3, 0), "C": (3, 7, 1, 2, 1), "T": (4, 9, 1, 3, 0),
    "V": (5, 11, 1, 2, 0), "I": (6, 13, 1, 2, 0), "L": (6, 13, 1, 2, 0), "M": (5, 11, 1, 2, 1), "P": (5, 9, 1, 2, 0),
    "D": (4, 7, 1, 4, 0), "N": (4, 8, 2, 3, 0), "E": (5, 9, 1, 4, 0), "Q": (5, 10, 2, 3, 0), "K": (6, 14, 2, 2, 0),
    "R": (6, 14, 4, 2, 0), "H": (6, 9, 3, 2, 0), "F": (9, 11, 1, 2, 0), "Y": (9, 11, 1, 3, 0), "W": (11, 12, 2, 2, 0),
}  # fmt: skip
CHARGES = {"D": -1, "E": -1, "K": 1, "R": 1}


@pytest.fixture(scope="module")
def peptide_of_all():
    return polypeptide(ALL, side_chains="branches", peptide="free")


# --- points -----------------------------------------------------------------------------------------------------------


def test_a_placed_point_has_the_length_angle_and_dihedral_asked_for():
    rng = np.random.default_rng(0)
    for turn in rng.uniform(-np.pi, np.pi, 20):
        a, b, c = rng.normal(size=(3, 3))
        d = placed(a, b, c, 1.3, 2.0, turn)
        assert np.allclose([np.linalg.norm(d - c), angle(b, c, d), dihedral(a, b, c, d)], [1.3, 2.0, turn])


def test_dihedrals_have_the_sign_of_iupac():
    """Looking along b-c, here along z, from a to d clockwise is positive."""
    b, c = np.zeros(3), np.array([0.0, 0.0, 1.0])
    a, clockwise = np.array([1.0, 0, 0]), np.array([0.0, 1.0, 1.0])
    assert np.allclose(dihedral(a, b, c, clockwise), np.pi / 2)
    assert np.allclose(dihedral(a, b, c, a + c), 0)


# --- geometry of chains -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("geometry", ["standard", "paper", {"C_N": 1.4, "N_CA_C": 1.9}])
def test_backbone_has_the_lengths_and_angles_of_its_table_at_any_torsions(geometry):
    made = polypeptide("AGPA", geometry=geometry, peptide="free")
    g = GEOMETRIES[geometry] if isinstance(geometry, str) else GEOMETRIES["standard"]._replace(**geometry)
    x = eager_positions(made, turned(made))
    for k, name in enumerate(("ALA1", "GLY2", "PRO3")):
        N, CA, C, O = (x[made.index(name, atom)] for atom in ("N", "CA", "C", "O"))
        N_next, CA_next = (x[made.index(("GLY2", "PRO3", "ALA4")[k], atom)] for atom in ("N", "CA"))
        lengths = [np.linalg.norm(a - b) for a, b in ((N, CA), (CA, C), (C, N_next), (C, O))]
        angles = [angle(N, CA, C), angle(CA, C, N_next), angle(C, N_next, CA_next), angle(CA, C, O)]
        assert np.allclose([*lengths, *angles], g, atol=1e-12)
        assert np.isclose(angle(O, C, N_next), 2 * np.pi - g.CA_C_N - g.CA_C_O, atol=1e-12)  # planar


def test_joint_coordinates_are_the_dihedral_angles(peptide_of_all):
    made = peptide_of_all
    q = turned(made)
    x = eager_positions(made, q)
    names = {"phi": "CNAC", "psi": "NACN", "omega": "ACNA"}
    labels = list(dict.fromkeys(atom.residue for atom in made.atoms))
    checked = 0
    for name in made.robot.joint_names[1:]:
        residue, kind = name.split(".")
        k, wanted = labels.index(residue), q[made.robot.joint(name).q][0]
        if kind.startswith("chi"):
            rows = [row for row in RESIDUES[residue[:3]].rows if row.chi == int(kind[3])]
            keys = [[(residue, atom) for atom in (*row.refs[::-1], row.atom)] for row in rows]
            wanted = [wanted + row.turn for row in rows]
        else:
            first = {"phi": k - 1}.get(kind, k)
            keys, wanted = [[(labels[first + i // 3], a) for i, a in _backbone_atoms(names[kind])]], [wanted]
        found = [dihedral(*(x[made.index(*key)] for key in four)) for four in keys]
        assert np.allclose(np.exp(1j * np.array(found)), np.exp(1j * np.array(wanted)), atol=1e-9), name
        checked += 1
    assert checked == made.robot.nv - 6 == 18 + 19 + 19 + 37  # φ, not of proline, ψ, ω, χ


def _backbone_atoms(letters: str):
    """(place along the backbone counted from the first residue's N, name) of "NACN" and its like."""
    at = {"N": 0, "A": 1, "C": 2}[letters[0]]
    return [(at + k, {"N": "N", "A": "CA", "C": "C"}[letter]) for k, letter in enumerate(letters)]


@pytest.mark.parametrize("side_chains", ["rigid", "branches"])
def test_side_chains_have_the_lengths_and_angles_of_the_table(side_chains):
    made = polypeptide(ALL, side_chains=side_chains)
    x = eager_positions(made, turned(made, 1))
    for residue in {atom.residue for atom in made.atoms}:
        for row in RESIDUES[residue[:3]].rows:
            d, c, b = (x[made.index(residue, atom)] for atom in (row.atom, *row.refs[:2]))
            assert np.allclose([np.linalg.norm(d - c), angle(b, c, d)], [row.length, row.angle], atol=1e-9)


def test_residues_are_l_amino_acids(peptide_of_all):
    """Looking from the hydrogen at Cα: CO, R, N clockwise."""
    made = peptide_of_all
    x = eager_positions(made, made.q)
    for residue in {atom.residue for atom in made.atoms} - {"GLY6"}:
        HA, CA, CO, R, N = (x[made.index(residue, atom)] for atom in ("HA", "CA", "C", "CB", "N"))
        for first, then in ((CO, R), (R, N), (N, CO)):
            assert dihedral(first, HA, CA, then) > 1.5
    # the second centres of threonine and isoleucine: (2S,3R) and (2S,3S)
    for residue, atoms in (("THR17", ("OG1", "CA", "CG2")), ("ILE8", ("CA", "CG1", "CG2"))):
        H, CB, *seen = (x[made.index(residue, atom)] for atom in ("HB", "CB", *atoms))
        turn = dihedral(seen[0], H, CB, seen[1])
        # seen from the hydrogen, that is from the wrong side: R looks counterclockwise, S clockwise
        assert (turn > 0) == (residue == "ILE8"), (residue, turn)


def test_rings_close(peptide_of_all):
    made = peptide_of_all
    x = eager_positions(made, turned(made, 2))
    ideal = {"PRO": [1.473], "HIS": [1.321], "PHE": [1.382], "TYR": [1.378], "TRP": [1.370, 1.400]}
    for residue in {atom.residue for atom in made.atoms if atom.residue[:3] in ideal}:
        ring = RESIDUES[residue[:3]].ring
        found = [np.linalg.norm(x[made.index(residue, a)] - x[made.index(residue, b)]) for a, b in ring]
        assert np.allclose(found, ideal[residue[:3]], atol=0.03), residue


def test_hydrogens_sit_where_bonds_leave_room(peptide_of_all):
    made = peptide_of_all
    x = eager_positions(made, made.q)
    for residue in {atom.residue for atom in made.atoms}:
        standard = RESIDUES[residue[:3]]
        for heavy, names in standard.hydrogens.items():
            if residue == "ALA1" and heavy == "N":
                names = ("H1", "H2", "H3")
            center = x[made.index(residue, heavy)]
            own = [x[made.index(residue, name)] for name in names]
            assert np.allclose(np.linalg.norm(np.array(own) - center, axis=1), BOND_LENGTHS[heavy[0]])
            others = [x[made.index(residue, other)] for other in bonded(standard)[heavy] if other != "OXT"]
            spread = [angle(h, center, other) for h in own for other in (*others, *own) if other is not h]
            assert np.degrees(min(spread)) > 95 and np.degrees(max(spread)) < 131, (residue, heavy)


@pytest.mark.parametrize(
    ("phi", "psi", "turn", "rise"),
    [(-57.8, -47.0, 100.0, 1.50), (-139.0, 135.0, 180.0, 3.4), (-49.0, -26.0, 120.0, 2.0)],
    ids=["alpha helix", "antiparallel strand", "3-10 helix"],
)
def test_secondary_structures_have_their_turn_and_rise(phi, psi, turn, rise):
    """The motion from one residue to the next is a screw: its angle and its translation are those of the helix."""
    made = polypeptide("AAAA", np.radians(phi), np.radians(psi), side_chains="none", hydrogens=False)
    x = eager_positions(made, made.q)
    spots = [[x[made.index(f"ALA{k}", atom)] for atom in ("N", "CA", "C")] for k in (2, 3)]
    T = [axis_frame(N, CA - N, C - CA) for N, CA, C in spots]
    V = se3.log.eager(se3.inverse.eager(T[0]) @ T[1])
    about = np.linalg.norm(V[:3])
    along = V[:3] @ V[3:] / about
    assert abs(np.degrees(about) - turn) < 6 and abs(along - rise) < 0.12  # right-handed: along the axis of the turn


# --- masses and dynamics ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("letter", ALL)
def test_masses_are_those_of_the_molecular_formulas(letter):
    made = polypeptide(letter)
    C, H, N, O, S = FORMULAS[letter]
    H += CHARGES.get(letter, 0)
    found = tuple(made.elements.count(element) for element in "CHNOS")
    assert found == (C, H, N, O, S)
    assert np.isclose(made.robot.mass, made.masses.sum(), rtol=1e-12)


@kernel(robot=static, q="nq", dq="nv", spots=static)
def points(robot, q, dq, spots):
    """Cartesian coordinates (k, 3) of points fixed to bodies, (body, position), after a small motion."""
    T = body_placements(robot, aj.integrate(robot, q, dq))
    return np.stack([T[body][:3, :3] @ np.array(local) + T[body][:3, 3] for body, local in spots])


def cartesian_mass_matrix(made, q):
    """Σ m_k J_kᵀ J_k over the atoms, their Jacobians by automatic differentiation."""
    spots = tuple((atom.body, tuple(atom.position.tolist())) for atom in made.atoms)
    J = points.bind(made.robot, spots=spots).jacobian("dq").eager(q, np.zeros(made.robot.nv))
    return np.einsum("k,kia,kib->ab", made.masses, J, J)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sequence", "options"),
    [
        ("AGP", {"side_chains": "rigid", "peptide": "free"}),
        ("SPF", {"side_chains": "branches", "peptide": "rigid"}),
        ("RG", {"side_chains": "branches", "peptide": "free", "hydrogens": False}),
        ("GGG", {"side_chains": "none", "peptide": "free", "base": "fixed", "geometry": "paper"}),
    ],
)
def test_mass_matrix_is_that_of_the_atoms(sequence, options):
    made = polypeptide(sequence, **options)
    q = aj.random_configuration(made.robot, rng=3)
    M, expected = aj.mass_matrix.eager(made.robot, q), cartesian_mass_matrix(made, q)
    assert np.abs(M - expected).max() < 1e-10 * np.abs(expected).max()
    b = np.linspace(-1, 1, made.robot.nv)
    assert np.allclose(expected @ aj.solve_mass_matrix.eager(made.robot, q, b), b, atol=1e-8)


def test_fixman_potential_is_that_of_the_constraints():
    """Fixman's theorem: log det M of the torsions and log det H_22 of bonds and angles differ by a constant."""
    chain = polymer.bead_chain(7, bond_angle=1.7)
    q = turned(chain, 4, 6)
    gap = [
        2 * polymer.fixman_potential(chain.robot, one) - bead_logdet(14.027, eager_positions(chain, one)) for one in q
    ]
    assert np.ptp(gap) < 1e-9 and np.ptp([bead_logdet(14.027, eager_positions(chain, one)) for one in q]) > 0.1


@pytest.mark.slow
def test_fixman_force_is_minus_the_gradient():
    robot = polymer.bead_chain(6).robot
    q, kT, h = aj.random_configuration(robot, rng=5), 2.5, 1e-5
    force = polymer.fixman_force(robot, q, kT)
    moved = [polymer.fixman_potential(robot, aj.integrate(robot, q, s * h * np.eye(robot.nv)), kT) for s in (1, -1)]
    assert np.allclose(force, -(moved[0] - moved[1]) / (2 * h), atol=1e-7)
    assert np.abs(force[:6]).max() < 1e-9 < np.abs(force[6:]).max()  # nothing pulls at the whole


# --- the object -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_positions_take_batches_and_bases():
    made = polypeptide("AGA", phi=-1.0, psi=2.0)
    q = turned(made, 6, (2, 3))
    x = made.positions(q)
    assert x.shape == (2, 3, len(made.atoms), 3)
    assert np.allclose(x[1, 2], eager_positions(made, q[1, 2]))
    held = polypeptide("AGA", phi=-1.0, psi=2.0, base="fixed")
    assert held.robot.nq == made.robot.nq - 7 and np.allclose(held.positions(), made.positions(), atol=1e-12)
    assert np.allclose(held.positions(q[0, 0, 7:]), x[0, 0], atol=1e-12)
    still = [k for k, atom in enumerate(held.atoms) if atom.body == -1]
    assert len(still) > 3 and np.allclose(held.positions(q[..., 7:])[..., still, :], held.positions()[still])


def test_proline_holds_phi_and_sequences_are_lists_too():
    made = polypeptide(["ALA", "PRO", "ALA"], phi=np.radians(-120))
    assert made.robot.joint_names[1:] == ("ALA1.psi", "PRO2.psi", "ALA3.phi")
    x = eager_positions(made, made.q)
    keys = (("ALA1", "C"), ("PRO2", "N"), ("PRO2", "CA"), ("PRO2", "C"))
    assert np.isclose(np.degrees(dihedral(*(x[made.index(*key)] for key in keys))), -65)
    assert "PRO2.phi" in polypeptide("APA", side_chains="none").robot.joint_names  # no ring


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: polypeptide(""), "empty"),
        (lambda: polypeptide("AXA"), "residue 2 is 'X'"),
        (lambda: polypeptide(["ALA", "FOO"]), "residue 2 is 'FOO'"),
        (lambda: polypeptide("AA", phi=[1, 2, 3]), "phi must be one angle"),
        (lambda: polypeptide("AA", psi=[1, np.nan]), r"psi\[1\] is not finite"),
        (lambda: polypeptide("AA", geometry="exact"), "no geometry 'exact'"),
        (lambda: polypeptide("AA", geometry={"CA_CB": 1.5}), "no CA_CB"),
        (lambda: polypeptide("AA", side_chains="soft"), "'rigid' or 'branches' or 'none'"),
        (lambda: polypeptide("AA", peptide="cis"), "'rigid' or 'free'"),
        (lambda: polypeptide("AA", base="none"), "'free' or 'fixed'"),
        (lambda: polypeptide("AA").index("ALA1", "CX"), "no atom 'CX'"),
        (lambda: polypeptide("AA").index("ALA9", "CA"), "no atom 'CA' in residue 'ALA9'"),
        (lambda: polypeptide("AA", phi=-57, psi=-47), r"phi reaches -57 rad, more than two turns: degrees\?"),
        (lambda: polypeptide("AA", psi=[0.1, 180]), "psi reaches 180 rad"),
        (lambda: polypeptide("AA", geometry={"N_CA_C": 111.2}), r"N_CA_C is 111.2 rad, not .* degrees\?"),
        (lambda: polypeptide("AA", geometry={"N_CA": 0.1458}), r"N_CA is 0.1458 Å, not 0.5 to 5: nm\?"),
        (lambda: polypeptide("AA", geometry={"N_CA": "long"}), "N_CA must be a positive number"),
        (lambda: polypeptide("AA", geometry=3), "geometry must be a name or"),
        (lambda: polypeptide(3), "letters or names, got int"),
        (lambda: polypeptide([3]), "residue 1 is 3"),
        (lambda: polypeptide("AA", side_chains=np.zeros(3)), "side_chains is"),
        (lambda: polymer.bead_chain(6, torsions=180.0), r"torsions reaches 180 rad.*degrees\?"),
        (lambda: polymer.bead_chain(6, bond_angle=112), r"bonds at 112 rad: degrees\? np.radians"),
        (lambda: polymer.bead_chain(6, mass="heavy"), "mass .* must be a positive number"),
        (lambda: polymer.fixman_potential(polymer.bead_chain(4).robot, np.zeros(8), kT="hot"), "kT must be a positive"),
        (lambda: polymer.bead_chain(2), "n >= 3"),
        (lambda: polymer.bead_chain(5, bond_angle=np.pi), "between 0 and π"),
        (lambda: polymer.bead_chain(6, torsions=[1.0, 2.0]), "3 of them"),
    ],
)
def test_bad_arguments_are_named(call, says):
    with pytest.raises(ArgumentError, match=says):
        call()


def test_atoms_in_line_have_no_dihedral():
    x = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0], [2, 1, 0]])
    keys = [("R1", name) for name in "abcd"]
    sites = [Site(n, "R1", "C", x[k], keys[k - 1] if k else None, 12.0) for k, n in enumerate("abcd")]
    with pytest.raises(ModelError, match="R1 a, R1 b, R1 c are in line"):
        assemble("line", sites, [Torsion("t", tuple(keys))], "free")
