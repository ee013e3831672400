"""Robots with many bodies: loops give what the unrolled algorithms give, for chains, trees, and roots of any kind."""

import numpy as np
import pytest
from trees import close, on_free_base

import adjoint as aj
from adjoint import robots
from adjoint.compile.kernels import eagerly
from adjoint.errors import ArgumentError
from adjoint.rolled import is_long, rows
from adjoint.rolled.calls import in_loops

KINDS = ["revolute", "continuous", "prismatic", "helical", "screw"]


def resisting(robot, seed: int = 0):
    """The robot with all that resists, and gravity in some direction."""
    rng = np.random.default_rng(seed)
    resists = {name: rng.uniform(0.1, 1, robot.nv) for name in ("damping", "friction", "armature")}
    return robot.replace(gravity=5 * rng.normal(size=3), **resists)


def comb(n: int, teeth: int = 2):
    """A backbone with side chains of `teeth` bodies, numbered backbone first."""
    robot = robots.random_tree(0, n * (1 + teeth), KINDS)
    sides = [i if k == 0 else n + i * teeth + k - 1 for i in range(n) for k in range(teeth)]
    return robot.replace(parents=np.array([*range(-1, n - 1), *sides]), mimics={})


ROBOTS = {
    "bare chain": robots.chain(60),
    "bare tree": robots.random_tree(4, 60, KINDS).replace(armature=0.0),
    "chain": resisting(robots.chain(60)),
    "tree": resisting(robots.random_tree(1, 90, KINDS)),
    "comb": resisting(comb(25)),
    "bush": resisting(robots.random_tree(2, 70, KINDS).replace(parents=np.full(70, -1))),
    "flying chain": on_free_base(resisting(robots.chain(60))),
    "flying tree": on_free_base(resisting(robots.random_tree(3, 70, KINDS))),
    "balls": resisting(robots.random_tree(5, 50, ["spherical"]).replace(parents=np.arange(-1, 49))),
    "all joints": resisting(robots.random_tree(6, 60, [*KINDS, "spherical", "planar", "free"])),
    "flying balls": on_free_base(resisting(robots.random_tree(7, 55, [*KINDS, "spherical"]))),
}


@pytest.fixture(params=ROBOTS)
def robot(request):
    return ROBOTS[request.param]


def sample(robot, seed: int = 0):
    rng = np.random.default_rng(seed)
    return aj.random_configuration(robot, rng), *rng.normal(size=(2, robot.nv))


def surroundings(robot):
    rng = np.random.default_rng(1)
    names = robot.body_names
    frames = {"frames": (names[0], names[-1], names[30]), "applied_wrenches": rng.normal(size=(3, 6))}
    return (
        frames
        | {"gravity": rng.normal(size=3)}
        | dict(zip(("base_twist", "base_acceleration"), rng.normal(size=(2, 6)), strict=True))
    )


def test_dynamics(robot):
    q, v, x = sample(robot)
    assert is_long(robot)
    for options in ({}, surroundings(robot)):
        for fn in (aj.inverse_dynamics, aj.forward_dynamics):
            close(fn(robot, q, v, x, **options), fn.eager(robot, q, v, x, **options), 1e-11)
    tau = aj.inverse_dynamics(robot, q, v, x)
    close(aj.forward_dynamics(robot, q, v, tau), x, 1e-9)
    close(aj.bias_force(robot, q, v), aj.bias_force.eager(robot, q, v))
    close(aj.gravity_torque(robot, q), aj.gravity_torque.eager(robot, q))


def test_mass_matrix(robot):
    q, v, b = sample(robot)
    M = aj.mass_matrix(robot, q)
    close(M, aj.mass_matrix.eager(robot, q))
    close(aj.mass_matrix_product(robot, q, b), M @ b)
    uncertain = 1e-15 * np.linalg.cond(M) + 1e-11
    close(aj.solve_mass_matrix(robot, q, b), np.linalg.solve(M, b), uncertain)
    X = aj.mass_matrix_sqrt_solve(robot, q, np.eye(robot.nv)).T
    close(X @ X.T, np.linalg.inv(M), uncertain)
    close(aj.mass_matrix_logdet(robot, q), np.linalg.slogdet(M)[1], 1e-12)
    close(aj.kinetic_energy(robot, q, v), v @ M @ v / 2)
    close(aj.potential_energy(robot, q), aj.potential_energy.eager(robot, q))


def test_gradient_of_the_determinant(robot):
    """Along every third direction, by central differences of fourth order."""
    q, _, _ = sample(robot)
    gradient = aj.dynamics.mass_matrix_logdet_gradient(robot, q)
    h, steps = 1e-3, np.eye(robot.nv)[::3]
    at = {k: aj.mass_matrix_logdet(robot, np.stack([aj.integrate.eager(robot, q, k * h * e) for e in steps]))
          for k in (-2, -1, 1, 2)}  # fmt: skip
    slopes = (8 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12 * h)
    np.testing.assert_allclose(gradient[::3], slopes, rtol=0, atol=1e-8 * np.abs(gradient).max())


def test_placements(robot):
    q, _, _ = sample(robot)
    names = robot.body_names
    T = aj.forward_kinematics.eager(robot, q)
    close(aj.forward_kinematics(robot, q), T, 1e-13)
    close(aj.forward_kinematics(robot, q, names[-1]), T[-1], 1e-13)
    close(aj.forward_kinematics(robot, q, names[7:9]), T[7:9], 1e-13)
    close(aj.forward_kinematics(robot, q, names[-1], names[4]), np.linalg.inv(T[4]) @ T[-1], 1e-12)
    close(aj.forward_kinematics(robot, q, names[7:9], names[4]), np.linalg.inv(T[4]) @ T[7:9], 1e-12)
    close(aj.forward_kinematics(robot, q, robot.base_name), np.eye(4), 1e-13)


def test_batches(robot):
    """Leading axes broadcast; one sample of a batch is what it is alone; `out` and threads change nothing."""
    rng = np.random.default_rng(0)
    q = aj.random_configuration(robot, rng, (3, 5))
    v, a = rng.normal(size=(2, 3, 1, robot.nv))
    g = rng.normal(size=(5, 3))
    tau = aj.inverse_dynamics(robot, q, v, a, gravity=g)
    assert tau.shape == (3, 5, robot.nv)
    close(tau[1, 2], aj.inverse_dynamics(robot, q[1, 2], v[1, 0], a[1, 0], gravity=g[2]), 1e-13)
    out = np.empty_like(tau)
    assert aj.inverse_dynamics(robot, q, v, a, gravity=g, out=out) is out
    np.testing.assert_array_equal(out, tau)
    assert aj.forward_kinematics(robot, q).shape == (3, 5, len(robot.body_names), 4, 4)
    assert aj.solve_mass_matrix(robot, q[:0], np.zeros(robot.nv)).shape == (0, 5, robot.nv)
    assert aj.mass_matrix_logdet(robot, q).shape == (3, 5)


def test_calls_with_one_sample_and_others():
    """One sample of arrays goes straight to the loops; lists, views, other orders and eager calls give the same."""
    robot = robots.chain(60)
    q, _, b = sample(robot)
    solve = aj.solve_mass_matrix.bind(robot)
    x = solve(q, b)
    wide = np.zeros((60, 2))
    wide[:, 0] = b
    for again in (
        solve(q, b), solve(q.tolist(), b), solve(q, wide[:, 0]), solve(q, b=b), solve(q[None], b)[0],
        solve(np.asfortranarray(np.stack([q, q])), b)[1], solve(q.astype(">f8"), b), solve(q, b.view(np.recarray)),
    ):  # fmt: skip
        close(again, x, 1e-13)
    with eagerly():
        close(solve(q, b), x, 1e-11)
    assert np.array_equal(solve(q, b), x)
    for bad in (b[:-1], np.zeros((60, 1)), b + 0j):
        with pytest.raises(ArgumentError, match="solve_mass_matrix: argument 'b'"):
            solve(q, bad)


def test_numbers_are_kept_in_the_frames_of_joints():
    """Code is made for what the joints do: turn only, slide too, with rotors or without."""
    for kind, slides in {"revolute": False, "helical": True}.items():
        bare = robots.random_tree(0, 60, [kind]).replace(armature=0.0, damping=0.0, friction=0.0)
        plan = rows.for_loops(bare).plan
        assert (plan.slides, plan.rotors, plan.resists) == (slides, False, False)
        assert rows.for_loops(bare.replace(armature=1.0)).plan == plan._replace(rotors=True)
        assert rows.for_loops(bare.replace(friction=1.0)).plan == plan._replace(resists=True)


def test_float32_in_float32_out():
    robot, x = robots.chain(60), np.linspace(-1, 1, 60, dtype=np.float32)
    got = aj.solve_mass_matrix(robot, x, x)
    assert got.dtype == np.float32
    close(got, aj.solve_mass_matrix(robot, x.astype(float), x.astype(float)), 1e-7)  # rounded once


def test_few_slots_are_enough():
    """One for a backbone with side chains, whatever the bodies' order; at most log₂ n for any tree."""
    assert ROBOTS["chain"] and rows.visits(np.arange(-1, 9))[1].shape == (10, 0)
    assert rows.for_loops(ROBOTS["comb"]).plan.slots == 1
    rng = np.random.default_rng(0)
    for n in (2, 3, 10, 100, 1000):
        parents = np.array([-1, *(rng.integers(-1, i) for i in range(1, n))])
        _, route = rows.visits(parents)
        assert route.shape[1] // 2 <= np.log2(n)
    balanced = (np.arange(127) - 1) // 2
    balanced[0] = -1
    assert rows.visits(balanced)[1].shape[1] // 2 == 6


def test_small_and_unsuited_robots_are_unrolled():
    assert rows.for_loops(robots.chain(rows.MOST)) is None
    mimics = {5: aj.model.Mimic(3, 2.0, 0.0)}
    few = {name: getattr(robots.chain(60), name)[:-1] for name in ("lower", "upper", "damping", "friction", "armature")}
    few |= {name: getattr(robots.chain(60), name)[:-1] for name in ("velocity_limit", "effort_limit")}
    assert rows.for_loops(robots.chain(60).replace(mimics=mimics, **few)) is None


def test_code_is_compiled_once_for_all_lengths():
    """Chains of other lengths and numbers run the same machine code."""
    q = np.zeros(100)
    aj.solve_mass_matrix(robots.chain(100), q, q)
    loops = in_loops(aj.solve_mass_matrix, {"robot": robots.chain(100)}, ("q", "b")).kernel
    known = len(loops._only("test").codes)
    for n in (200, 3000):
        aj.solve_mass_matrix(robots.chain(n), np.zeros(n), np.zeros(n))
        assert in_loops(aj.solve_mass_matrix, {"robot": robots.chain(n)}, ("q", "b")).kernel is loops
    assert len(loops._only("test").codes) == known


def test_memory_is_linear():
    """What solving for a chain of 5 000 links takes: less than 2 kB each, the robot's numbers and results included."""
    import tracemalloc

    n = 5_000
    robot, x = robots.chain(n), np.zeros(n)
    aj.solve_mass_matrix(robots.chain(50), np.zeros(50), np.zeros(50))
    tracemalloc.start()
    aj.solve_mass_matrix(robot, x, x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2000 * n


def test_a_body_without_inertia_is_named():
    robot = robots.chain(60)
    empty = robot.inertias.copy()
    empty[50:] = 0
    with pytest.raises(ArgumentError, match=f"'{robot.body_names[59]}' and all beyond it have no inertia"):
        aj.forward_dynamics(robot.replace(inertias=empty), *np.zeros((3, 60)))


def test_wrong_shapes_are_named():
    robot = robots.chain(60)
    good = np.zeros(60)
    for bad in (np.zeros(59), np.zeros((60, 1)), 0.0):
        for k, name in enumerate("qva"):
            arguments = [bad if k == j else good for j in range(3)]
            with pytest.raises(ArgumentError, match=f"inverse_dynamics: argument '{name}' has shape"):
                aj.inverse_dynamics(robot, *arguments)
    with pytest.raises(ArgumentError, match="gravity"):
        aj.gravity_torque(robot, good, gravity=np.zeros(2))
    with pytest.raises(ArgumentError, match="give the applied_wrenches"):
        aj.inverse_dynamics(robot, good, good, good, frames=(robot.body_names[3],))
    for out in (np.zeros((2, 60)), np.zeros(60, np.float32), [0.0] * 60):
        with pytest.raises(ArgumentError, match=r"out is .*; an array of float64 \(60,\) is needed"):
            aj.gravity_torque(robot, good, out=out)
    out = np.zeros(60)
    out.flags.writeable = False
    with pytest.raises(ArgumentError, match="out is read-only"):
        aj.gravity_torque(robot, good, out=out)
    with pytest.raises(ArgumentError, match="nowhere"):
        aj.forward_kinematics(robot, good, "nowhere")
