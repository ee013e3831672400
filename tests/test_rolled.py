"""Robots with many bodies: loops give what the unrolled algorithms give, for chains, trees, and roots of any kind."""

import numpy as np
import pytest
from support.trees import close, on_free_base

import adjoint as aj
from adjoint import robots
from adjoint.compile.front.inline import eagerly
from adjoint.dynamics import linearization
from adjoint.errors import ArgumentError
from adjoint.rolled import is_long, rolls, rows
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


def plan_of(robot):
    return rows.in_rows(robot).plan


def sample(robot, seed: int = 0):
    rng = np.random.default_rng(seed)
    return aj.random_configuration(robot, rng=rng), *rng.normal(size=(2, robot.nv))


def surroundings(robot):
    rng = np.random.default_rng(1)
    names = robot.body_names
    frames = {"frames": (names[0], names[-1], names[30]), "applied_wrenches": rng.normal(size=(3, 6))}
    return (
        frames
        | {"gravity": rng.normal(size=3)}
        | dict(zip(("base_twist", "base_acceleration"), rng.normal(size=(2, 6)), strict=True))
    )


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_gradient_of_the_determinant(robot):
    """Along every tenth direction, by central differences of fourth order."""
    q, _, _ = sample(robot)
    gradient = aj.dynamics.mass_matrix_logdet_gradient(robot, q)
    h, steps = 1e-3, np.eye(robot.nv)[::10]
    at = {k: aj.mass_matrix_logdet(robot, np.stack([aj.integrate.eager(robot, q, k * h * e) for e in steps]))
          for k in (-2, -1, 1, 2)}  # fmt: skip
    slopes = (8 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12 * h)
    np.testing.assert_allclose(gradient[::10], slopes, rtol=0, atol=1e-8 * np.abs(gradient).max())


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


def close_enough(got, want, slack=1e-11):
    """As `close`, for matrices that may be zero but for rounding errors."""
    np.testing.assert_allclose(got, want, rtol=0, atol=slack * max(1.0, np.abs(want).max(initial=0.0)))


@pytest.mark.slow
def test_derivatives_of_inverse_dynamics(robot):
    """Columns found by loops are those of the pairwise recursion, with all options."""
    q, v, a = sample(robot)
    options = surroundings(robot)
    got = aj.inverse_dynamics_derivatives(robot, q, v, a, **options)
    for x, want in zip(got, aj.inverse_dynamics_derivatives.eager(robot, q, v, a, **options), strict=True):
        close_enough(x, want)


def test_derivatives_of_forward_dynamics(robot):
    """M ∂a = -∂τ at that acceleration; the linearization is made of them."""
    q, v, tau = sample(robot)
    options = surroundings(robot)
    a = aj.forward_dynamics(robot, q, v, tau, **options)
    by_torque = aj.inverse_dynamics_derivatives(robot, q, v, a, **options)
    got = aj.forward_dynamics_derivatives(robot, q, v, tau, **options)
    M = by_torque.da
    uncertain = 1e-14 * np.linalg.cond(M) + 1e-11
    for x, want in zip(got, (-by_torque.dq, -by_torque.dv, np.eye(robot.nv)), strict=True):
        close_enough(x, np.linalg.solve(M, want), uncertain)
    A, B = aj.linearize(robot, q, v, tau, **options)
    turned = linearization._joint_brackets(robot, v)
    close_enough(A, np.block([[-turned, np.eye(robot.nv)], [got.dq, got.dv]]))
    close_enough(B, np.concatenate([0 * got.dtau, got.dtau]))


@pytest.mark.slow
def test_coriolis_matrix(robot):
    """It is that of the Christoffel symbols: C v is the force of the motion, and Ṁ = C + Cᵀ."""
    q, v, x = sample(robot)
    bare = robot.replace(damping=0.0, friction=0.0)
    C = aj.coriolis_matrix(robot, q, v)
    close_enough(C, aj.coriolis_matrix.eager(robot, q, v))
    close_enough(C @ v, aj.bias_force(bare, q, v) - aj.gravity_torque(bare, q), 1e-10)
    close_enough(aj.dynamics.coriolis.coriolis_product(robot, q, v, x), C @ x)
    h, M = 1e-5, aj.mass_matrix
    dM = (M(robot, aj.integrate.eager(robot, q, h * v)) - M(robot, aj.integrate.eager(robot, q, -h * v))) / (2 * h)
    close_enough(C + C.T, dM, 1e-6)


def test_factors_and_inverse_of_the_mass_matrix(robot):
    q, _, _ = sample(robot)
    M = aj.mass_matrix(robot, q)
    W, Omega = aj.mass_matrix_factors(robot, q)
    close(W * Omega @ W.T, M, 1e-12)
    assert np.array_equal(np.diag(W), np.ones(robot.nv)) and np.array_equal(W, np.triu(W)) and Omega.min() > 0
    close(aj.mass_matrix_inverse(robot, q), np.linalg.inv(M), 1e-14 * np.linalg.cond(M) + 1e-11)


EXPRESSIONS = ("body", "space", "world")


@pytest.mark.slow
@pytest.mark.parametrize("expressed", EXPRESSIONS)
def test_jacobians_and_motions_of_frames(robot, expressed):
    """Of frames at a tip, at the root, at the base, and relative to others on the same branch or another."""
    q, v, a = sample(robot)
    names, F = robot.body_names, np.random.default_rng(2).normal(size=6)
    ways = [(names[-1], None), (names[30], names[4]), (names[0], names[40]), (names[7], names[7])]
    for frame, other in [*ways, (robot.base_name, names[5])]:
        where = frame, expressed, other
        J, rate = aj.jacobian(robot, q, *where), aj.jacobian_rate(robot, q, v, *where)
        close_enough(J, aj.jacobian.eager(robot, q, *where))
        close_enough(rate, aj.jacobian_rate.eager(robot, q, v, *where))
        close_enough(aj.frame_twist(robot, q, v, *where), J @ v)
        close_enough(aj.frame_acceleration(robot, q, v, a, *where), J @ a + rate @ v)
        close_enough(aj.static_torque(robot, q, F, *where), J.T @ F)


def test_momenta_and_the_centre_of_mass(robot):
    q, v, _ = sample(robot)
    p, J, A = (f(robot, q) for f in (aj.center_of_mass, aj.center_of_mass_jacobian, aj.centroidal_momentum_matrix))
    close(p, aj.center_of_mass.eager(robot, q))
    close(J, aj.center_of_mass_jacobian.eager(robot, q))
    close(A, aj.centroidal_momentum_matrix.eager(robot, q))
    close(A[3:], robot.mass * J)
    close(aj.centroidal_momentum(robot, q, v), A @ v)
    close(aj.momentum(robot, q, v), aj.momentum.eager(robot, q, v))


def test_motions_and_wrenches_of_all_bodies(robot):
    """They are in the frames of the bodies, which are not those of the loops."""
    q, v, a = sample(robot)
    for options in ({}, surroundings(robot)):
        got = aj.dynamics.body_motions_and_wrenches(robot, q, v, a, **options)
        assert isinstance(got, aj.dynamics.MotionsAndWrenches)
        want = aj.dynamics.body_motions_and_wrenches.eager(robot, q, v, a, **options)
        for x, y in zip(got, want, strict=True):
            close(x, y)


@pytest.mark.parametrize("name", ["chain", "flying balls"])
def test_derivatives_in_batches(name):
    """Leading axes broadcast, `out` receives all results, and float32 gives float32."""
    robot = ROBOTS[name]
    rng = np.random.default_rng(0)
    q = aj.random_configuration(robot, (2, 3), rng=rng)
    v, a = rng.normal(size=(2, 2, 1, robot.nv))
    g, F = rng.normal(size=(3, 3)), rng.normal(size=(2, 1, 2, 6))
    options = {"gravity": g, "applied_wrenches": F, "frames": robot.body_names[8:10]}
    one = {"gravity": g[2], "applied_wrenches": F[1, 0], "frames": robot.body_names[8:10]}
    for f in (aj.inverse_dynamics_derivatives, aj.forward_dynamics_derivatives):
        got = f(robot, q, v, a, **options)
        assert all(x.shape == (2, 3, robot.nv, robot.nv) for x in got)
        for x, y in zip(got, f(robot, q[1, 2], v[1, 0], a[1, 0], **one), strict=True):
            close_enough(x[1, 2], y)
        out = tuple(map(np.empty_like, got))
        assert f(robot, q, v, a, **options, out=out) is out
        for x, y in zip(got, out, strict=True):
            np.testing.assert_array_equal(x, y)
        single = f(robot, *(x.astype(np.float32) for x in (q, v, a)))
        assert all(x.dtype == np.float32 for x in single)
        with pytest.raises(ArgumentError, match="out has 1 arrays; 3 are needed"):
            f(robot, q, v, a, **options, out=out[0])
        with pytest.raises(ArgumentError, match=f"{f.__name__}: argument 'v' has shape"):
            f(robot, q, v[..., :-1], a)
    frame = robot.body_names[-1]
    J = aj.jacobian_rate(robot, q, v, frame, "world")
    close(J[1, 2], aj.jacobian_rate.eager(robot, q[1, 2], v[1, 0], frame, "world"))
    assert aj.coriolis_matrix(robot, q, v).shape == (2, 3, robot.nv, robot.nv)


def test_derivatives_of_a_chain_of_400_links():
    """They are compiled as loops: along a direction they are the differences of the torques nearby."""
    robot = robots.chain(400)
    rng = np.random.default_rng(0)
    q, v, a, x = rng.normal(size=(4, 400))
    by, h = aj.inverse_dynamics_derivatives(robot, q, v, a), 1e-4
    tau = aj.inverse_dynamics
    close(by.dq @ x, (tau(robot, q + h * x, v, a) - tau(robot, q - h * x, v, a)) / (2 * h), 1e-4)
    close(by.dv @ x, (tau(robot, q, v + h * x, a) - tau(robot, q, v - h * x, a)) / (2 * h), 1e-10)
    close(by.da @ x, aj.mass_matrix_product(robot, q, x))
    frame = robot.body_names[-1]
    J = aj.jacobian(robot, q, frame, "space")
    T = aj.forward_kinematics(robot, np.stack([q + h * x, q - h * x]), frame)
    dT = (T[0] - T[1]) / (2 * h) @ np.linalg.inv(aj.forward_kinematics(robot, q, frame))
    close(aj.lie.se3.hat(J @ x), dT, 1e-4)


def test_operations_are_those_of_the_loops():
    """n columns of n links: they grow with the square of the number of links, the recursions with the number."""
    per_link = {}
    for n in (60, 120):
        robot = robots.chain(n)
        per_link[n] = sum(aj.inverse_dynamics_derivatives.bind(robot).operations) / n**2
        assert sum(aj.solve_mass_matrix.bind(robot).operations) == 465 * n
    assert per_link[120] == pytest.approx(per_link[60], rel=0.05)


def test_bad_frames_are_named():
    robot = robots.chain(60)
    q = np.zeros(60)
    with pytest.raises(ArgumentError, match="no frame 'nowhere'"):
        aj.jacobian(robot, q, "nowhere")
    with pytest.raises(ArgumentError, match="no frame 'nowhere'"):
        aj.jacobian(robot, q, robot.body_names[3], "body", "nowhere")
    with pytest.raises(ArgumentError, match="expressed is 'local'"):
        aj.frame_twist(robot, q, q, robot.body_names[3], "local")
    with pytest.raises(ArgumentError, match="no frame 'nowhere'"):
        aj.inverse_dynamics_derivatives(robot, q, q, q, applied_wrenches=np.zeros(6), frames="nowhere")
    with pytest.raises(ArgumentError, match="give the applied_wrenches"):
        aj.forward_dynamics_derivatives(robot, q, q, q, frames="nowhere")


def test_algorithms_that_ask_for_more_cannot_run_as_loops():
    """What the stand-in does not have is named, where a new algorithm asks for it."""

    @rolls
    @aj.kernel(robot=aj.static, q="nq")
    def parents(robot, q):
        return robot.parents[0] + q[0]

    with pytest.raises(ArgumentError, match="a robot of many bodies has no 'parents'"):
        parents(robots.chain(60), np.zeros(60))


def test_batches(robot):
    """Leading axes broadcast; one sample of a batch is what it is alone; `out` and threads change nothing."""
    rng = np.random.default_rng(0)
    q = aj.random_configuration(robot, (3, 5), rng=rng)
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
        plan = plan_of(bare)
        assert (plan.slides, plan.rotors, plan.resists) == (slides, False, False)
        assert plan_of(bare.replace(armature=1.0)) == plan._replace(rotors=True)
        assert plan_of(bare.replace(friction=1.0)) == plan._replace(resists=True)


def test_float32_in_float32_out():
    robot, x = robots.chain(60), np.linspace(-1, 1, 60, dtype=np.float32)
    got = aj.solve_mass_matrix(robot, x, x)
    assert got.dtype == np.float32
    close(got, aj.solve_mass_matrix(robot, x.astype(float), x.astype(float)), 1e-7)  # rounded once


def test_few_slots_are_enough():
    """One for a backbone with side chains, whatever the bodies' order; at most log₂ n for any tree."""
    assert ROBOTS["chain"] and rows.visits(np.arange(-1, 9))[1].shape == (10, 0)
    assert plan_of(ROBOTS["comb"]).slots == 1
    rng = np.random.default_rng(0)
    for n in (2, 3, 10, 100, 1000):
        parents = np.array([-1, *(rng.integers(-1, i) for i in range(1, n))])
        _, route = rows.visits(parents)
        assert route.shape[1] // 2 <= np.log2(n)
    balanced = (np.arange(127) - 1) // 2
    balanced[0] = -1
    assert rows.visits(balanced)[1].shape[1] // 2 == 6


def test_rows_are_as_wide_as_the_widest_joint():
    """Only robots that need it have wide rows; a root that carries all others is left out of them."""
    assert plan_of(ROBOTS["flying chain"]).width == 1 and plan_of(ROBOTS["flying chain"]).root == "free"
    plan = plan_of(ROBOTS["flying balls"])
    assert (plan.root, plan.kinds, plan.width_q, plan.width) == ("free", ("spherical",), 4, 3)
    plan = plan_of(ROBOTS["all joints"])
    assert (plan.kinds, plan.width_q, plan.width) == (("free", "planar", "spherical"), 7, 6)


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
    known = len(loops.only_specialisation("test").codes)
    for n in (200, 3000):
        aj.solve_mass_matrix(robots.chain(n), np.zeros(n), np.zeros(n))
        assert in_loops(aj.solve_mass_matrix, {"robot": robots.chain(n)}, ("q", "b")).kernel is loops
    assert len(loops.only_specialisation("test").codes) == known


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


def test_optional_inputs_are_compiled_ahead():
    """`compile` comes before the first call here, so that nothing is remembered yet."""
    robot = aj.robots.random_tree(3, 52, ["revolute"])
    q, tool = np.zeros(robot.nv), robot.frame_names[-1]
    torques = aj.inverse_dynamics.bind(robot).compile("gravity")
    np.testing.assert_allclose(
        torques(q, q, q, gravity=[1.0, 2, 3]), aj.gravity_torque(robot.replace(gravity=(1.0, 2, 3)), q), atol=1e-12
    )
    loaded = aj.inverse_dynamics.bind(robot, frames=tool).compile("applied_wrenches", "base_twist")
    F = np.arange(6.0)
    want = aj.gravity_torque(robot, q) - aj.jacobian(robot, q, tool).T @ F
    np.testing.assert_allclose(loaded(q, q, q, applied_wrenches=F), want, atol=1e-9)


def test_symbols_of_casadi():
    import casadi

    robot = aj.robots.random_tree(3, 50, ["revolute"])
    q = casadi.SX.sym("q", robot.nq)
    com = casadi.Function("com", [q], [aj.center_of_mass(robot, q)])
    at = np.linspace(-1, 1, robot.nq)
    np.testing.assert_allclose(com(at).full().ravel(), aj.center_of_mass(robot, at), atol=1e-12)
