"""Relations between features: the book's equations, freedoms in two formulations, families, conflicts, bad input."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.assembly_features import BOOK, block, book_blocks, peg, row_matrix

from adjoint.errors import ArgumentError, SolveError
from adjoint.lie import se3, so3
from adjoint.sensing import Box
from adjoint.world.features import Feature, feature_frame
from adjoint.world.parts import cuboid, cylinder
from adjoint.world.relations import (
    ContradictionError,
    Relation,
    against,
    against_pose,
    aligned,
    at_angle,
    at_distance,
    centred,
    coincident,
    coplanar,
    coplanar_pose,
    fits,
    fits_pose,
    fixed_at,
    in_,
    on,
    parallel,
    perpendicular,
    placements,
    socket_pose,
    solve_relations,
)
from adjoint.world.relations.relation_systems import relation_system
from adjoint.world.relations.row_kernels import row_slopes
from adjoint.world.relations.sources import Source
from adjoint.world.state import World

M = np.diag([-1.0, 1.0, -1.0, 1.0])
# Residuals are sums of a few products of numbers of about 1, and descents end at 1e-15 of them.
EXACT = 1e-12


def bench(T=None) -> dict:
    """The peg at some pose and the block at the pose T."""
    return {"peg": (se3.random(rng=1), peg()), "block": (np.eye(4) if T is None else T, block())}


# --- the book, 10.9.1 -------------------------------------------------------------------------------------------------


def twix(angle):
    c, s = np.cos(angle), np.sin(angle)
    return row_matrix([[1, 0, 0], [0, c, s], [0, -s, c]], [0, 0, 0])


def trans(x, y, z):
    return row_matrix(np.eye(3), [x, y, z])


def turn_of(T):
    """The primed matrix: the rotation alone."""
    return row_matrix(T[:3, :3], [0, 0, 0])


def test_the_closed_form_is_the_books_product_transposed():
    """(10.9-1) with the word trans: A = f⁻¹ M twix(θ) trans(0, y, z) g B, for rows."""
    f, g = BOOK["f3"], BOOK["f2"]
    B = se3.random(rng=0)
    A = np.linalg.inv(f) @ M @ twix(0.4) @ trans(0, 0.2, -0.3) @ g @ B.T
    np.testing.assert_allclose(against_pose(B, g.T, f.T, 0.4, 0.2, -0.3), A.T, atol=EXACT)


def test_equation_10_9_4_holds_as_corrected_and_not_as_printed():
    f1, f2, f3, f4 = (BOOK[name] for name in ("f1", "f2", "f3", "f4"))
    rng = np.random.default_rng(0)
    for a, y1, z1, b, y2, z2 in rng.normal(size=(5, 6)):
        left = np.linalg.inv(f3) @ M @ twix(a) @ trans(0, y1, z1) @ f1
        right = np.linalg.inv(f4) @ M @ twix(b) @ trans(0, y2, z2) @ f2
        wanted = left @ np.linalg.inv(right)
        start, end = np.linalg.inv(f3) @ M @ twix(a), twix(-b) @ M @ f4
        turn = np.linalg.inv(turn_of(f2))
        corrected = start @ trans(-1, y1 + 1, z1) @ turn @ trans(0, -y2, -z2) @ end
        printed = start @ trans(0, y1 + 1, z1 + 1) @ turn @ trans(0, -y1, -z2) @ end
        np.testing.assert_allclose(corrected, wanted, atol=EXACT)
        assert np.abs(printed - wanted).max() > 0.1


def test_equations_10_9_5_to_10_9_8_hold():
    f2, f3, f4 = (turn_of(BOOK[name]) for name in ("f2", "f3", "f4"))
    assert np.array_equal(f3, np.eye(4))
    # The line before (10.9-7) must read (f2')⁻¹ = M (f4')⁻¹ M; f2' as printed is another matrix.
    np.testing.assert_array_equal(np.linalg.inv(f2), M @ np.linalg.inv(f4) @ M)
    assert np.abs(f2 - M @ np.linalg.inv(f4) @ M).max() > 1
    np.testing.assert_allclose(f3 @ M @ twix(0) @ np.linalg.inv(f2) @ twix(0) @ M @ f4, np.eye(4), atol=EXACT)  # -5
    np.testing.assert_allclose(M @ np.linalg.inv(f4) @ M @ f2, np.eye(4), atol=EXACT)  # (10.9-7)
    y1, z1, y2, z2 = 0.3, 0.4, 0.5, 0.6
    rows = np.diag([-1.0, 1, -1])
    first = np.linalg.inv(BOOK["f3"]) @ M @ trans(0, y1, z1) @ BOOK["f1"]  # (10.9-8), for Block2 = I
    np.testing.assert_allclose(first, row_matrix(rows, [1, y1, 2 + z1]), atol=EXACT)
    second = np.linalg.inv(BOOK["f4"]) @ M @ trans(0, y2, z2) @ BOOK["f2"]
    np.testing.assert_allclose(second, row_matrix(rows, [2 - y2, 0, 2 + z2]), atol=EXACT)


def test_block1_slides_along_z():
    """PLACE Block1 (f1 against f3) and (f2 against f4): θ = 0, y1 = 0, y2 = 1, one free translation; rank 5."""
    found = placements(book_blocks(), "Block1", [against("Block2.f1", "Block1.f3"), against("Block2.f2", "Block1.f4")])
    assert len(found) == 1 and found[0].rank == 5 and found.dof == 1 and found[0].exact
    assert found.taken == (3, 2) and found.redundant == ()
    T = found.T_world_part
    z = T[2, 3] - 2
    wanted = np.array([[-1, 0, 0, 1], [0, 1, 0, 0], [0, 0, -1, 2 + z], [0, 0, 0, 1]])
    np.testing.assert_allclose(T, wanted, atol=EXACT)
    np.testing.assert_allclose(found[0].basis, [[0, 0, 0, 0, 0, 1]], atol=EXACT)
    assert found[0].freedoms[0].kind == "translation"
    moved = found[0]([0.7])
    np.testing.assert_allclose(moved, T + 0.7 * np.outer([0, 0, 1, 0], [0, 0, 0, 1]), atol=EXACT)
    # (10.9-8) with y1 = 0 and y2 = 1 is the same pose.
    G = {name: BOOK[name].T for name in BOOK}
    np.testing.assert_allclose(against_pose(np.eye(4), G["f1"], G["f3"], 0.0, 0.0, z), T, atol=EXACT)
    np.testing.assert_allclose(against_pose(np.eye(4), G["f2"], G["f4"], 0.0, 1.0, z), T, atol=EXACT)


def test_a_face_and_a_fit_on_one_axis_leave_a_spin():
    found = placements(bench(), "peg", [against("peg.bottom", "block.floor"), fits("peg.shaft", "block.hole")])
    assert [family.dof for family in found] == [1]
    spin = found[0].freedoms[0]
    assert spin.kind == "rotation" and spin.pitch == 0
    np.testing.assert_allclose(np.abs(spin.direction), [0, 0, 1], atol=EXACT)
    np.testing.assert_allclose(spin.point[:2], 0, atol=EXACT)


def test_a_face_and_two_parallel_fits_leave_nothing():
    relations = [against("peg.bottom", "block.floor"), fits("peg.shaft", "block.hole")]
    found = placements(bench(), "peg", [*relations, fits("peg.shaft2", "block.hole2")])
    assert [family.dof for family in found] == [0] and found.taken == (3, 2, 1)
    np.testing.assert_allclose(found.T_world_part, se3.from_rotation_translation(np.eye(3), [0, 0, 0.02]), atol=EXACT)
    assert found[0].basis.shape == (0, 6)


# --- families ---------------------------------------------------------------------------------------------------------

SETS = {
    "one face": ([against("peg.bottom", "block.top")], [3]),
    "coplanar": ([coplanar("peg.side", "block.side")], [3]),
    "fit": ([fits("peg.shaft", "block.hole")], [2]),
    "fit, other way round": ([fits("block.hole", "peg.shaft")], [2]),
    "ball": ([fits("peg.ball", "block.socket")], [3]),
    "ball in a hole": ([fits("peg.ball", Feature("pipe", "hole", np.eye(4), radius=0.02))], [4]),
    "axes of either sense": ([aligned("peg.shaft", "block.hole"), against("peg.tip", "block.floor")], [1, 1]),
    "axes of one sense": ([aligned("peg.shaft", "block.hole", sense="same")], [2]),
    "point and plane": ([against("peg.tip", "block.top")], [5]),
    "edge and plane": ([against("peg.rim", "block.top")], [4]),
    "ball and plane": ([against("peg.ball", "block.top")], [5]),
    "shaft and plane": ([against("peg.shaft", "block.top")], [4]),
    "points": ([coincident("peg.tip", "block.corner")], [3]),
    "point and line": ([coincident("peg.tip", "block.edge")], [4]),
    "ball and vertex": ([against("peg.ball", "block.corner")], [5]),
    "shaft and edge": ([against("peg.shaft", "block.edge")], [3, 3]),
    "parallel": ([parallel("peg.side", "block.side", sense="same")], [4]),
    "parallel axis and face": ([parallel("peg.rim", "block.top")], [5]),
    "perpendicular": ([perpendicular("peg.rim", "block.edge")], [5]),
    "perpendicular axis and face": ([perpendicular("peg.rim", "block.top")], [4, 4]),
    "faces at a distance": ([at_distance("peg.bottom", "block.top", 0.02)], [3]),
    "points at a distance": ([at_distance("peg.tip", "block.corner", 0.1)], [5]),
    "axes at a distance": ([at_distance("peg.shaft", "block.edge", 0.1)], [3, 3]),
    "angle": ([at_angle("peg.rim", "block.edge", 1.0)], [5]),
    "no angle": ([at_angle("peg.rim", "block.edge", 0.0)], [4]),
    "centred": ([against("peg.bottom", "block.top"), centred("peg.bottom", "block.top")], [1]),
    "on": ([on("peg.bottom", "block.top")], [3]),
    "in": ([in_("peg.shaft", "block.hole")], [2]),
    "fixed": ([fixed_at("peg", [0, 0, 0.3], relative_to="block")], [0]),
    "mirrored": (
        [against("peg.rim", "block.top"), against("peg.rim", "block.side"), against("peg.ball", "block.top")],
        [1, 1, 1, 1],
    ),
}  # fmt: skip


def shift_along(family, k, size):
    s = np.zeros(family.dof)
    s[k] = size
    return family(s)


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_all_families_hold_and_move(name):
    """Every family fulfils its relations, has the freedoms expected, and moves along them."""
    relations, dofs = SETS[name]
    found = placements(bench(), "peg", relations)
    assert [family.dof for family in found] == dofs
    for family in found:
        assert np.abs(family.residuals()).max() < EXACT
        assert family.rank == 6 - family.dof and family.shaky == 0
        for k in range(family.dof):
            far = shift_along(family, k, 0.02)
            r = family.residuals(far)[~family.system.bounds]
            assert np.abs(r).max(initial=0) < 1e-11
            # Differences of a motion along one freedom are its twist, up to (h / 20 mm)², the radius of the ball.
            h = 1e-5
            ahead, behind = shift_along(family, k, h), shift_along(family, k, -h)
            V = se3.log(ahead @ np.linalg.inv(behind)) / (2 * h)
            np.testing.assert_allclose(V, family.basis[k], atol=1e-6)
        # Samples fulfil the relations too, as far as bounds allow.
        sample = family.sample(rng=3, spread=0.003)
        assert np.abs(family.residuals(sample)).max() < 1e-11


@pytest.mark.slow
def test_placements_move_with_the_world():
    """Moving all parts by X moves all placements by X, and freedoms with them."""
    X = se3.random(rng=5)
    relations = [aligned("peg.shaft", "block.hole"), against("peg.tip", "block.floor")]
    here, start = bench(), bench()["peg"][0]
    there = {"peg": (X @ start, peg()), "block": (X, block())}
    one, two = placements(here, "peg", relations), placements(there, "peg", relations)
    assert len(one) == len(two) == 2
    for a, b in zip(one, two, strict=True):
        np.testing.assert_allclose(X @ a.T_world_part, b.T_world_part, atol=1e-7)
        for V, W in zip(a.basis, b.basis, strict=True):
            moved = se3.Ad_action(X, V)
            np.testing.assert_allclose(moved * np.sign(moved @ W), W, atol=1e-7)


def test_far_from_the_origin_and_in_other_units_nothing_changes():
    """Lengths a thousand times as large, ten kilometres away, have the same families."""
    far = se3.from_rotation_translation(so3.random(rng=1), [1e4, -1e4, 5e3])
    grown = [Feature(f.name, f.kind, _grown(f.T_part_feature)) for f in book_blocks()["Block2"]]
    other = [Feature(f.name, f.kind, _grown(f.T_part_feature)) for f in book_blocks()["Block1"]]
    relations = [against("Block2.f1", "Block1.f3"), against("Block2.f2", "Block1.f4")]
    found = placements({"Block2": (far, grown), "Block1": (far, other)}, "Block1", relations, tolerance=1e-6)
    assert [family.dof for family in found] == [1] and found[0].freedoms[0].kind == "translation"


def _grown(T):
    T = T.copy()
    T[:3, 3] *= 1000
    return T


def test_a_relation_reads_the_same_from_both_sides():
    """Where A may be beside B, B may be beside A: poses are inverse."""
    pairs = [fits("peg.shaft", "block.hole"), against("peg.side", "block.side")]
    turned = [Relation(r.kind, r.second, r.first) for r in pairs]
    features = {"peg": peg(), "block": block()}
    for relations in (pairs, turned):
        one, two = placements(features, "peg", relations[:1]), placements(features, "block", relations[:1])
        assert one.dof == two.dof
        assert np.abs(two[0].residuals(np.linalg.inv(one.T_world_part))).max() < EXACT
        assert np.abs(one[0].residuals(np.linalg.inv(two.T_world_part))).max() < EXACT


def test_nearest_is_nearest():
    """Walks end where no small motion along the family comes nearer, and at the goal if it is a placement."""
    found = placements(bench(), "peg", [against("peg.bottom", "block.top")])
    goal = found[0]([0.3, -0.2, 2.5])
    np.testing.assert_allclose(found.nearest(goal), goal, atol=1e-6)
    other = se3.random(rng=8)
    end = found.nearest(other)
    middle = end[:3, :3] @ found[0].system.centres[0] + end[:3, 3]
    wanted = other[:3, :3] @ found[0].system.centres[0] + other[:3, 3]
    np.testing.assert_allclose(middle[:2], wanted[:2], atol=1e-6)  # the plane leaves x and y free


# --- freedoms by a second formulation ---------------------------------------------------------------------------------


def _parameters(kind, F, G, T):
    """The parameters of the closed form of one relation at a pose T of part a, with part b at the origin."""
    middle = np.linalg.inv(G) @ T @ F @ (np.eye(4) if kind in ("coplanar", "socket") else M)
    if kind == "socket":
        return so3.log(middle[:3, :3])
    theta = np.arctan2(middle[2, 1], middle[1, 1])
    return np.array([theta, *middle[1:3, 3]]) if kind != "fits" else np.array([theta, middle[0, 3]])


CLOSED = {"against": against_pose, "coplanar": coplanar_pose, "fits": fits_pose}


def _closed(kind, F, G, s):
    return socket_pose(np.eye(4), G, F, s) if kind == "socket" else CLOSED[kind](np.eye(4), G, F, *s)


def _freedoms_of_closed_forms(pairs, T):
    """Parameters minus the rank of the slopes of twelve residuals for each relation after the first."""
    parameters = [_parameters(kind, F, G, T) for kind, F, G in pairs]
    sizes = np.cumsum([0, *(len(s) for s in parameters)])

    def residual(all_):
        poses = [_closed(*pair, all_[a:b]) for pair, a, b in zip(pairs, sizes[:-1], sizes[1:], strict=True)]
        return np.concatenate([np.zeros(0), *((P - poses[0])[:3].ravel() for P in poses[1:])])

    at = np.concatenate(parameters)
    assert np.abs(residual(at)).max(initial=0) < 1e-9
    h = 1e-6
    J = np.array([(residual(at + h * e) - residual(at - h * e)) / (2 * h) for e in np.eye(len(at))])
    s = np.linalg.svd(J, compute_uv=False) if J.size else np.zeros(1)
    return len(at) - int((s > 1e-5).sum())


FEATURES = {"against": ("face", "face"), "coplanar": ("face", "face"), "fits": ("shaft", "hole")}
FEATURES |= {"socket": ("sphere", "socket")}
MAKERS = {"against": against, "coplanar": coplanar, "fits": fits, "socket": fits}


def _special(rng):
    """A rotation: one of the 24 of a cube as often as an arbitrary one, so that axes are often parallel."""
    if rng.random() < 0.5:
        return so3.random(rng=rng)
    R = np.eye(3)[rng.permutation(3)] * rng.choice([-1.0, 1.0], 3)
    return R * np.linalg.det(R)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1), kinds=st.lists(st.sampled_from([*sorted(CLOSED), "socket"]), min_size=1, max_size=3)
)
def test_freedoms_agree_with_closed_forms(seed, kinds):
    """Random features that fit at some pose: the pose is found, and the freedoms are those of the twelve residuals."""
    rng = np.random.default_rng(seed)
    T = se3.random(rng=rng, scale=0.5)
    on_a, on_b, pairs, relations = [], [], [], []
    for k, kind in enumerate(kinds):
        F = se3.from_rotation_translation(_special(rng), rng.integers(-2, 3, 3) / 2)
        s = {"fits": 2}.get(kind, 3)
        free = np.round(rng.normal(size=s), 1)
        # G such that the closed form with these parameters is T.
        G = T @ np.linalg.inv(_closed(kind, F, np.eye(4), free))
        sizes = [{"radius": 0.1}, {"radius": 0.1}] if kind in ("fits", "socket") else [{}, {}]
        on_a.append(Feature(f"f{k}", FEATURES[kind][0], F, **sizes[0]))
        on_b.append(Feature(f"g{k}", FEATURES[kind][1], G, **sizes[1]))
        pairs.append((kind, F, G))
        relations.append(MAKERS[kind](f"a.f{k}", f"b.g{k}"))
    found = placements({"a": on_a, "b": on_b}, "a", relations, near=T)
    np.testing.assert_allclose(found.T_world_part, T, atol=1e-6)
    assert found.dof + found[0].shaky == _freedoms_of_closed_forms(pairs, T)
    for family in found:
        assert np.abs(family.residuals()).max() < 1e-11
        assert family.exact or family.shaky
        for pair in pairs:  # every family is in the image of every closed form
            P = family.T_world_part
            np.testing.assert_allclose(_closed(*pair, _parameters(*pair, P)), P, atol=1e-9)


def test_slopes_of_rows_are_exact():
    """Against central differences, and compiled code against the Python function."""
    relations = [
        fits("peg.shaft", "block.hole"),
        at_distance("peg.tip", "block.corner", 0.1),
        against("peg.ball", "block.top"),
        at_distance("peg.ball", "block.edge", 0.2),
        fixed_at("peg", np.eye(4), relative_to="block"),
    ]
    system = relation_system(Source({"peg": peg(), "block": block()}, "test"), ["peg", "block"], relations)
    x = system.variables(se3.random((2,), rng=4))
    _, J = system.slopes(x)
    h = 1e-6
    for k in range(12):
        step = h * np.eye(12)[k]
        ahead, behind = system.slopes(system.moved(x, step))[0], system.slopes(system.moved(x, -step))[0]
        np.testing.assert_allclose((ahead - behind) / (2 * h), J[:, k], atol=1e-8)
    poses = x.reshape(2, 12)
    for row in system.rows:
        eager = row_slopes.eager(row, poses[int(row[0]) - 1], poses[int(row[1]) - 1])
        compiled = row_slopes(row, poses[int(row[0]) - 1], poses[int(row[1]) - 1])
        for a, b in zip(eager, compiled, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-13)


# --- tangential contacts ----------------------------------------------------------------------------------------------


def test_freedoms_that_are_only_first_order_do_not_count():
    """A point midway between two points, as far from both as it can be: it cannot move, though slopes say it could."""
    ends = [Feature(name, "vertex", [x, 0, 0]) for name, x in (("left", -0.05), ("right", 0.05))]
    found = placements({"peg": peg()}, "peg", [at_distance("peg.tip", end, 0.05) for end in ends])
    assert len(found) == 1 and found.dof == 3 and found[0].shaky == 2 and not found.redundant
    np.testing.assert_allclose(found.T_world_part[:3, 3], 0, atol=1e-6)
    assert "first order only" in str(found)


# --- several parts ----------------------------------------------------------------------------------------------------

CUBE = [
    Feature("top", "face", feature_frame([0, 0, 1], [0, 0, 1])),
    Feature("bottom", "face", feature_frame([0, 0, 0], [0, 0, -1])),
    Feature("side", "face", feature_frame([0.5, 0, 0.5], [1, 0, 0])),
]


@pytest.mark.slow
def test_a_stack_of_five_parts():
    names = "abcdef"
    pairs = list(pairwise(names))
    relations = [against(f"{y}.bottom", f"{x}.top") for x, y in pairs]
    relations += [coplanar(f"{y}.side", f"{x}.side") for x, y in pairs]
    found = solve_relations(dict.fromkeys(names, CUBE), list("bcdef"), relations)
    assert len(found) == 1 and found.dof == 5 and found[0].exact
    for k, name in enumerate("bcdef"):
        np.testing.assert_allclose(found.poses[name][:3, :3], np.eye(3), atol=EXACT)
        np.testing.assert_allclose(found.poses[name][[0, 2], 3], [0, k + 1], atol=EXACT)
    moved = found[0]([0.1, 0.2, 0.3, 0.4, 0.5])
    assert isinstance(moved, dict) and np.abs(found[0].residuals(moved)).max() < EXACT
    assert found[0].twists("c").shape == (5, 6)
    with pytest.raises(ArgumentError, match="several parts"):
        _ = found.T_world_part


def bar(length):
    return [
        Feature("pin", "shaft", feature_frame([0, 0, 0], [0, 0, -1]), radius=0.01),
        Feature("bore", "hole", feature_frame([length, 0, 0], [0, 0, 1]), radius=0.01),
        Feature("below", "face", feature_frame([0, 0, 0], [0, 0, -1])),
        Feature("above", "face", feature_frame([0, 0, 0], [0, 0, 1])),
    ]


@pytest.mark.slow
def test_a_four_bar_linkage_has_two_modes_and_one_freedom():
    """Grashof's crank and rocker: 0.3 + 0.9 <= 0.6 + 0.8, so the two ways to assemble it are not connected."""
    ground = [
        Feature("a", "hole", np.array(bar(0)[1].T_part_feature), radius=0.01),
        Feature("b", "shaft", feature_frame([0.8, 0, 0], [0, 0, -1]), radius=0.01),
        Feature("above", "face", feature_frame([0, 0, 0], [0, 0, 1])),
    ]
    world = {"ground": ground, "crank": bar(0.3), "coupler": bar(0.9), "rocker": bar(0.6)}
    relations = [fits("crank.pin", "ground.a"), against("crank.below", "ground.above"),
                 fits("coupler.pin", "crank.bore"), against("coupler.below", "crank.above"),
                 fits("rocker.pin", "coupler.bore"), against("rocker.below", "coupler.above"),
                 fits("ground.b", "rocker.bore")]  # fmt: skip
    found = solve_relations(world, ["crank", "coupler", "rocker"], relations, starts=32)
    assert [family.dof for family in found] == [1, 1] and not found[0].exact
    family = found[0]
    assert np.abs(family.residuals(family([0.8]))).max() < EXACT
    # The cosine rule between the ends of crank and rocker.
    poses = family([0.8])
    joint = poses["coupler"][:3, 3] - [0.8, 0, 0]
    far = poses["rocker"][:3, 3] - poses["coupler"][:3, 3]
    assert np.linalg.norm(far) == pytest.approx(0.9) and np.linalg.norm(joint + far) == pytest.approx(0.6)


# --- conflicts --------------------------------------------------------------------------------------------------------


def test_a_contradiction_is_told_in_words():
    with pytest.raises(ContradictionError) as error:
        relations = [
            on("peg.bottom", "block.top"),
            fits("peg.shaft", "block.hole"),
            against("peg.bottom", "block.side"),
        ]
        placements(bench(), "peg", relations[1:])
    text = "placements: peg.shaft fits block.hole and peg.bottom against block.side cannot both hold: "
    text += "the directions are 90° apart"
    assert str(error.value) == text
    assert error.value.conflict.relations == (relations[1], relations[2])
    assert error.value.conflict.angle == pytest.approx(np.pi / 2, abs=1e-6)
    assert isinstance(error.value, SolveError)


@pytest.mark.parametrize(
    ("relations", "told"),
    [
        ([against("peg.bottom", "block.top"), against("peg.bottom", "block.floor")], "the positions are 30 mm apart"),
        ([coplanar("peg.side", "block.side"), against("peg.side", "block.side")], "the directions are 180° apart"),
        ([fits("peg.shaft", "block.hole"), fits("peg.shaft2", "block.socket2")], "the positions are 10 mm apart"),
        ([perpendicular("peg.rim", "block.top"), parallel("peg.side", "block.side")], "the directions are 90° apart"),
    ],
)
def test_conflicts_have_sizes(relations, told):
    world = bench()
    world["block"][1].append(Feature("socket2", "hole", feature_frame([0.04, 0, 0.05], [0, 0, 1]), radius=0.0105))
    with pytest.raises(ContradictionError, match=told):
        placements(world, "peg", relations)


def test_a_conflict_names_only_what_contradicts():
    """Of four relations two contradict; three balls and planes contradict only together."""
    relations = [at_distance("peg.tip", "block.corner", 1.0), against("peg.bottom", "block.top"),
                 against("peg.side", "block.side"), against("peg.side", "block.back")]  # fmt: skip
    with pytest.raises(ContradictionError) as error:
        placements(bench(), "peg", relations)
    assert set(error.value.conflict.relations) == set(relations[2:])
    relations = [against("peg.ball", f"block.{name}") for name in ("top", "side", "corner")]
    with pytest.raises(ContradictionError, match=r"cannot all hold: the positions are 8\.284 mm apart"):
        placements(bench(), "peg", relations)


def test_redundant_relations_are_named():
    relations = [fits("peg.shaft", "block.hole"), aligned("peg.shaft", "block.hole"), against("peg.tip", "block.floor")]
    found = placements(bench(), "peg", relations)
    assert found.taken == (4, 0, 1) and found.redundant == tuple(relations[:2])
    assert "0 (redundant)" in str(found)


def test_a_shaft_that_is_too_thick_is_refused():
    with pytest.raises(SolveError, match=r"too thick.*the clearance is -1 mm"):
        placements(bench(), "peg", fits("peg.shaft", "block.thin"))


# --- worlds and parts -------------------------------------------------------------------------------------------------


def test_relations_between_parts_of_a_world():
    """A peg is put into the hole of a block that stands on a table; the world then has it there."""
    body = cuboid(0.1, 0.1, 0.05) - cylinder(0.0105, 0.2)
    pin = cylinder(0.01, 0.08)
    hole = next(name for name, f in body.features.items() if f.kind == "hole")
    shaft = next(name for name, f in pin.features.items() if f.kind == "shaft")
    features = {"block": (se3.from_rotation_translation(np.eye(3), [0.4, 0, 0.025]), body), "pin": pin}
    found = placements(features, "pin", [fits(f"pin.{shaft}", f"block.{hole}"), coplanar("pin.top", "block.bottom")])
    assert found.dof == 1
    np.testing.assert_allclose(found.T_world_part[:3, 3], [0.4, 0, 0.04], atol=EXACT)


def test_names_are_found_in_a_world():
    w = World().add("table", Box([1, 1, 0.1]), at=[0, 0, 0.35]).add("crate", Box([0.2, 0.2, 0.2]), at=[3, 0, 0])
    found = placements(w, "crate", on("crate.bottom", "table.top"))
    assert found.dof == 3 and found.T_world_part[2, 3] == pytest.approx(0.5)
    assert (np.abs(found.T_world_part[:2, 3]) < 0.5).all()  # well inside, though the nearest point is at the rim
    moved = w.move("crate", found.T_world_part)
    np.testing.assert_allclose(moved.pose("crate"), found.T_world_part, atol=EXACT)


def test_a_part_in_a_box():
    """All corners are inside; a part that is too long does not go in."""
    room = {
        "crate": cuboid(0.2, 0.2, 0.1),
        "cup": (se3.random(rng=2), cuboid(0.1, 0.05, 0.05)),
        "rod": cuboid(0.4, 0.01, 0.01),
    }
    found = placements(room, "cup", in_("cup", "crate"), starts=16)
    assert found.dof == 6 and (found[0].residuals() == 0).all()
    corners = room["cup"][1].mesh.vertices @ found.T_world_part[:3, :3].T + found.T_world_part[:3, 3]
    assert (np.abs(corners) <= [0.1, 0.1, 0.05]).all()
    with pytest.raises(ContradictionError, match="rod in crate cannot hold"):
        placements(room, "rod", in_("rod", "crate"), starts=16)


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (lambda: against("peg.bottom", "peg.bottom"), "related to itself"),
        (lambda: against(3, "peg.bottom"), "a side must be"),
        (lambda: at_distance("a.f", "b.g", np.nan), "finite"),
        (lambda: at_angle("a.f", "b.g", 4.0), "at most"),
        (lambda: aligned("a.f", "b.g", sense="sideways"), "sense must be"),
        (lambda: fixed_at("a", np.full((4, 4), np.nan)), "finite"),
        (lambda: against(Feature("a", "face", np.eye(4)), Feature("b", "face", np.eye(4))), "both fixed in the world"),
    ],
)
def test_bad_relations(made, told):
    with pytest.raises(ArgumentError, match=told):
        made()


@pytest.mark.parametrize(
    ("part", "relations", "told"),
    [
        ("peg", [against("peg.bottum", "block.top")], "no feature 'bottum'; did you mean 'bottom'"),
        ("peg", [against("pig.bottom", "block.top")], "there is no part for 'pig.bottom'; did you mean 'peg'"),
        ("pig", [against("peg.bottom", "block.top")], "there is no part 'pig'"),
        ("peg", [against("peg", "block.top")], "'peg' is a part; a feature of it is needed"),
        ("peg", [against("peg.bottom", "peg.side")], "both sides belong to part 'peg'"),
        ("peg", [], "there are no relations"),
        ("peg", ["peg.bottom against block.top"], "is not a Relation"),
        ("peg", [against("block.hole", "peg.bottom")], "has no outer side"),
        ("peg", [fits("peg.bottom", "block.hole")], "it needs a shaft in a hole"),
        ("peg", [coplanar("peg.shaft", "block.top")], "it needs two faces"),
        ("peg", [aligned("peg.bottom", "block.top")], "shafts, holes or edges"),
        ("peg", [on("peg.bottom", "block.floor")], "has no outline"),
        ("peg", [on("peg.shaft", "block.top")], "both sides must be faces"),
        ("peg", [at_distance("peg.tip", "block.corner", -0.1)], "must be 0 or more"),
        ("peg", [at_distance("peg.tip", "block.corner", 0.1, sense="same")], "leave sense out"),
        ("peg", [parallel("peg.rim", "block.top", sense="same")], "leave sense out"),
        ("peg", [in_("peg", "block.hole")], "both sides must be features or both must be parts"),
        ("peg", [Relation("beside", "peg.bottom", "block.top")], "no kind of relation 'beside'"),
    ],
)
def test_bad_placements(part, relations, told):
    with pytest.raises(ArgumentError, match=told):
        placements(bench(), part, relations)


def test_more_bad_input():
    with pytest.raises(ArgumentError, match="a World or"):
        placements([peg()], "peg", against("peg.bottom", "block.top"))
    with pytest.raises(ArgumentError, match="neither 'peg' and 'block' is placed"):
        relations = [against("cup.bottom", "block.top"), against("peg.bottom", "block.top")]
        placements({**bench(), "cup": peg()}, "cup", relations)
    with pytest.raises(ArgumentError, match="no relation names part 'cup'"):
        solve_relations({**bench(), "cup": peg()}, ["peg", "cup"], [against("peg.bottom", "block.top")])
    with pytest.raises(ArgumentError, match="different names"):
        solve_relations(bench(), ["peg", "peg"], [against("peg.bottom", "block.top")])
    with pytest.raises(ArgumentError, match="tolerance"):
        placements(bench(), "peg", against("peg.bottom", "block.top"), tolerance=0)
    with pytest.raises(ArgumentError, match="near"):
        placements(bench(), "peg", against("peg.bottom", "block.top"), near=np.full((4, 4), np.nan))
    family = placements(bench(), "peg", against("peg.bottom", "block.top"))[0]
    with pytest.raises(ArgumentError, match="3 finite numbers"):
        family([0.1])
    with pytest.raises(ArgumentError, match="3 finite numbers"):
        family([0.1, np.nan, 0])
    with pytest.raises(ArgumentError, match="not placed here"):
        family.twists("block")


def test_relations_are_values():
    assert against("a.f", "b.g") == against("a.f", "b.g") and len({against("a.f", "b.g"), against("a.f", "b.g")}) == 1
    assert against("a.f", "b.g") != coplanar("a.f", "b.g")
    assert str(at_distance("a.f", "b.g", 0.02)) == "a.f at distance 20 mm from b.g"


def test_copies_of_relations_are_equal():
    """The value NaN of a relation without one does not make its copies differ."""
    for relation in (against("peg.bottom", "block.top"), fixed_at("peg", np.eye(4)), at_distance("a.p", "b.q", 0.1)):
        other = pickle.loads(pickle.dumps(relation))
        assert other == relation and hash(other) == hash(relation) and len({other, relation}) == 1
    assert against("a.p", "b.q") != coplanar("a.p", "b.q")
    assert at_distance("a.p", "b.q", 1) != at_distance("a.p", "b.q", 2)


def test_conflicts_of_distances_are_told_in_metres():
    """A point at 0.5 m from one vertex is at least 1.5 m from another one that is 2 m away: 1 m too far."""

    def vertex(name, at):
        return Feature(name, "vertex", feature_frame(at, [1, 0, 0]))

    world = {"a": [vertex("p", [0, 0, 0])], "w": [vertex("A", [0, 0, 0]), vertex("B", [2, 0, 0])]}
    with pytest.raises(ContradictionError) as error:
        placements(world, "a", [at_distance("a.p", "w.A", 0.5), at_distance("a.p", "w.B", 0.5)])
    assert error.value.conflict.distance == pytest.approx(1.0, abs=1e-3)


def test_conflicts_tell_positions_where_directions_agree():
    """Each of two cubes on the other one: descents end with a little of both, and only the positions disagree."""
    cube = cuboid(0.05, 0.05, 0.05)
    world = World().add("a", cube).add("b", cube, at=[0.2, 0, 0])
    with pytest.raises(ContradictionError, match=r"the positions are .* mm apart"):
        placements(world, "a", [on("a.bottom", "b.top"), on("b.bottom", "a.top")])
