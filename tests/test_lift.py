"""`lift=`: a robot's numbers as inputs of its kernels: the same results, other numbers, batches, derivatives."""

import functools
import gc
import pickle

import numpy as np
import pytest
import scipy.linalg
from support.trees import close, frictionless, sample, tree

import adjoint as aj
from adjoint import cache_info, check_grads, kernel, robots, static
from adjoint.dynamics import body_motions_and_wrenches, lagrangian, ploen_park, textbook
from adjoint.errors import ArgumentError
from adjoint.kinematics import poe
from adjoint.lie import inertia, se3
from adjoint.model.robot import LiftedRobot

TREES = [
    r.with_frame("camera", r.body_names[1], se3.random(rng=0))
    for r in (tree(8, 7), tree(1, 7))  # the first with mimics
]
NAMES = tuple(robots.two_link().liftable)
ALL = tuple(name for name in NAMES if name != "placements")  # they say the same as lengths


def arguments(fn, robot, seed=0) -> dict:
    """Arguments for the parameters of a kernel: a configuration, the last frame, normally distributed vectors."""
    rng = np.random.default_rng(seed)
    q, v, a = sample(robot, seed)
    known = {
        "q": q,
        "v": v,
        "a": a,
        "tau": a,
        "b": a,
        "x": a,
        "frame": robot.frame_names[-1],
        "exerted_wrench": rng.normal(size=6),
    }
    return {p.name: known[p.name] for p in fn.parameters if p.name in known}


def flat(results) -> np.ndarray:
    return np.concatenate([np.ravel(x) for x in (results if isinstance(results, tuple) else (results,))])


KINEMATICS = [
    aj.forward_kinematics, aj.jacobian, aj.jacobian_rate, aj.frame_acceleration, aj.static_torque,
    aj.center_of_mass, aj.center_of_mass_jacobian, aj.manipulability, poe.space_form, poe.body_jacobian_direct,
]  # fmt: skip
DYNAMICS = [
    aj.inverse_dynamics, aj.forward_dynamics, aj.mass_matrix, aj.solve_mass_matrix, aj.mass_matrix_factors,
    aj.gravity_torque, aj.kinetic_energy, aj.potential_energy,
    aj.centroidal_momentum, ploen_park.inverse_dynamics_recursive, body_motions_and_wrenches,
    lagrangian.lagrangian_mass_matrix, lagrangian.pullback_metric, lagrangian.lagrangian_gravity_torque,
]  # fmt: skip
every_function = pytest.mark.parametrize("fn", KINEMATICS + DYNAMICS, ids=lambda fn: fn.__name__)


# --- the same mathematics ---------------------------------------------------------------------------------------------


@every_function
def test_own_numbers_change_nothing(fn):
    for robot in TREES:
        given = arguments(fn, robot)
        want = flat(fn.eager(robot, **given))
        for name in NAMES:
            close(flat(fn.bind(robot, lift=(name,)).eager(**given)), want, 1e-10)


@functools.cache
def other_numbers(robot) -> dict:
    """{name: (other numbers, the robot that has them)}."""
    rng, n, nv = np.random.default_rng(1), len(robot.body_names), robot.nv
    Q = se3.random(n, rng=rng)
    found = {
        "inertias": rng.uniform(1, 2, (n, 1)) * robot.inertias[::-1],
        "screws": robot.reframed(Q).screws,
        "placements": Q,
        "gravity": rng.normal(size=3),
        **{name: rng.uniform(0.1, 1, nv) for name in ("armature", "damping", "friction")},
    }
    changed = {name: (x, robot.replace(**{name: x})) for name, x in found.items()}
    offsets, lengths = rng.normal(size=(n, 6)), rng.uniform(0.1, 1, n)
    x = rng.normal(size=(len(robot.frames), 6))
    frames = [f._replace(placement=f.placement @ se3.exp.eager(y)) for f, y in zip(robot.frames, x, strict=True)]
    return changed | {
        "offsets": (offsets, robot.replace(placements=moved(robot.placements, offsets))),
        "lengths": (lengths, robot.replace(placements=stretched(robot.placements, lengths))),
        "frame_offsets": (x, robot.replace(frames=tuple(frames))),
    }


def moved(M, offsets) -> np.ndarray:
    return np.array([T @ se3.exp.eager(x) for T, x in zip(M, offsets, strict=True)])


def stretched(M, lengths) -> np.ndarray:
    """A placement at its parent's origin, as that of a massless cross, has no direction and stays."""
    M, size = M.copy(), np.linalg.norm(M[:, :3, 3], axis=1)
    M[:, :3, 3] *= (lengths / np.where(size > 0, size, 1))[:, None]
    return M


@every_function
def test_other_numbers_are_another_robot(fn):
    for robot in TREES:
        given = arguments(fn, robot)
        changed = other_numbers(robot)
        assert set(changed) == set(NAMES)
        for name, (numbers, other) in changed.items():
            lifted = fn.bind(robot, lift=name)
            close(flat(lifted.eager(**given, **{name: numbers})), flat(fn.eager(other, **given)), 1e-10)


LAGRANGIAN = [
    lagrangian.lagrangian_factors, lagrangian.lagrangian_christoffel, lagrangian.lagrangian_inverse_dynamics,
    lagrangian.lagrangian_mass_matrix, lagrangian.pullback_metric,
]  # fmt: skip


@pytest.mark.parametrize("fn", LAGRANGIAN, ids=lambda fn: fn.__name__)
def test_the_lagrangian_formulation(fn):
    """Joints with one degree of freedom, mimics among them; every name by itself, then all together, compiled."""
    robot = tree(4, 4, ("revolute", "prismatic", "helical", "mimic"))
    given, changed = arguments(fn, robot), other_numbers(robot)
    for name, (numbers, other) in changed.items():
        close(flat(fn.bind(robot, lift=name).eager(**given, **{name: numbers})), flat(fn.eager(other, **given)), 1e-10)
    together = ("inertias", "screws", "placements", "armature", "damping", "friction", "gravity")
    numbers = {name: changed[name][0] for name in together}
    lifted = fn.bind(robot, lift=together)
    close(flat(lifted(**given, **numbers)), flat(fn.eager(robot.replace(**numbers), **given)), 1e-10)


def test_the_lagrangian_mass_matrix_by_the_parameters():
    """PBP's aim: exact derivatives by inertias, in which M is linear, and by what places and turns the bodies."""
    robot = robots.two_link()
    q = np.array([0.3, -0.8])
    by = lagrangian.lagrangian_mass_matrix.bind(robot, lift="inertias").jacobian("inertias")(q)
    close(np.einsum("ijkp,kp->ij", by, robot.inertias) + np.diag(robot.armature), aj.mass_matrix.eager(robot, q))
    for name in ("screws", "offsets"):
        slope, want = (
            fn.bind(robot, lift=name).jacobian(name).eager(q)
            for fn in (lagrangian.lagrangian_mass_matrix, aj.mass_matrix)
        )
        close(slope, want)


def test_Ad_along_a_path_by_the_screws():
    robot = tree(4, 4, ("revolute", "prismatic", "helical"))
    q, B = sample(robot)[0], np.arange(6.0)
    (numbers, other) = other_numbers(robot)["screws"]
    path = robot.path(len(robot.body_names) - 1)
    ends = {"i": path[0], "j": path[-1]}
    lifted = lagrangian.Ad_along_path.bind(robot, **ends, lift="screws")
    close(lifted.eager(q, B, screws=numbers), lagrangian.Ad_along_path.eager(other, q, B, **ends), 1e-10)


def test_all_at_once_compiled():
    """Compiled, with every name lifted together, frames included."""
    robot = TREES[1]
    changed = other_numbers(robot)
    numbers = {name: changed[name][0] for name in ALL}
    M = moved(stretched(robot.placements, numbers["lengths"]), numbers["offsets"])
    fields = ("inertias", "screws", "armature", "damping", "friction", "gravity")
    frames = changed["frame_offsets"][1].frames
    other = robot.replace(placements=M, frames=frames, **{name: numbers[name] for name in fields})
    q, v, a = sample(robot)
    push = {"applied_wrenches": np.arange(6.0)[None], "frames": (robot.frames[0].name,)}
    lifted = aj.inverse_dynamics.bind(robot, lift=ALL)
    close(lifted(q, v, a, **push, **numbers), aj.inverse_dynamics.eager(other, q, v, a, **push), 1e-10)


@pytest.mark.parametrize("robot", [robots.puma560(), robots.random_tree(3, 5, ["screw", "helical", "prismatic"])])
def test_any_screw_is_exponentiated(robot):
    """Screws of any length, and pitch: raw numbers, as `exp(S q)` has them."""
    rng = np.random.default_rng(4)
    S, q = rng.normal(size=robot.screws.shape), rng.normal(size=robot.nq)
    T = aj.forward_kinematics.bind(robot, lift="screws").eager(q, screws=S)
    for i, parent in enumerate(robot.parents):
        E = scipy.linalg.expm(se3.hat.eager(S[i] * q[i]))
        close(T[i], (T[parent] if parent >= 0 else np.eye(4)) @ robot.placements[i] @ E, 1e-13)


# --- derivatives ------------------------------------------------------------------------------------------------------

SMALL = [
    robots.random_tree(5, 3, ["helical", "screw", "prismatic"]),
    robots.random_tree(8, 2, ["planar", "spherical"]),
    tree(14, 3, ("revolute", "free", "mimic")),
]
STENCIL = {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12}  # error h⁴/30 of the fifth derivative


def differences(fn, given: dict, numbers: dict, moves: dict, h=5e-4) -> dict:
    """{name: change of fn when the numbers of that name move along `moves`}, all disturbed robots in one batch."""
    disturbed = {
        name: np.stack([numbers[name] + (name == one) * k * h * moves[name] for one in moves for k in STENCIL])
        for name in moves
    }
    found = fn(**given, **disturbed)
    weights = np.array(list(STENCIL.values())) / h
    return dict(
        zip(moves, np.einsum("k,nk...->n...", weights, found.reshape(-1, len(STENCIL), *found.shape[1:])), strict=True)
    )


@pytest.mark.slow
@pytest.mark.parametrize("robot", SMALL, ids=lambda r: "-".join(r.joint_types))
@pytest.mark.parametrize(
    "fn",
    [
        aj.forward_kinematics,
        aj.jacobian,
        aj.kinetic_energy,
        aj.potential_energy,
        aj.inverse_dynamics,
        aj.forward_dynamics,
    ],
    ids=lambda fn: fn.__name__,
)
def test_derivatives_by_every_name(fn, robot):
    """Along random directions, among them such as no robot can take: raw numbers of screws and of matrices."""
    robot = robot.replace(armature=0.5 + 0 * robot.armature).with_frame("tip", robot.body_names[-1], np.eye(4))
    given, rng = arguments(fn, robot), np.random.default_rng(0)
    statics = {"frame": given.pop("frame")} if "frame" in given else {}
    for lift in (ALL, ("placements",)) if fn is aj.forward_kinematics else (ALL,):
        lifted = fn.bind(robot, **statics, lift=lift)
        moves = {name: rng.normal(size=robot.liftable[name].shape) for name in lift}
        wanted = differences(lifted, given, robot.liftable, moves)
        still = {f"{k}_dot": 0 * x for k, x in (given | moves).items()}
        for name in lift:
            exact = lifted.jvp.eager(**given, **still | {f"{name}_dot": moves[name]})[1]
            np.testing.assert_allclose(exact, wanted[name], rtol=0, atol=1e-8 * (1 + np.abs(exact).max()))


@pytest.mark.slow
def test_derivatives_to_fifty_digits():
    """Every derivative rule on the way, second derivatives included: a screw that slides has w = 0 there."""
    arm = robots.random_tree(6, 1, ["prismatic"])
    q, v, a = sample(arm)
    tip = aj.forward_kinematics.bind(arm, frame=arm.frame_names[-1], lift="screws")
    assert check_grads(tip, q) < 1e-12
    assert check_grads(aj.inverse_dynamics.bind(arm, lift=("offsets", "inertias")), q, v, a, order=1) < 1e-12


def test_directional_derivatives_agree():
    robot = robots.two_link()
    q, v, a = sample(robot)
    fn = aj.forward_dynamics.bind(robot, lift=("inertias", "lengths"))
    J = fn.jacobian("q", "inertias", "lengths")(q, v, a)
    rng = np.random.default_rng(0)
    dq, dI, dl, weight = (rng.normal(size=np.shape(x)) for x in (q, robot.inertias, robot.liftable["lengths"], a))
    value, change = fn.jvp(q, v, a, dq, 0 * v, 0 * a, inertias_dot=dI, lengths_dot=dl)
    close(value, aj.forward_dynamics.eager(robot, q, v, a))
    close(change, J.q @ dq + np.einsum("kij,ij->k", J.inertias, dI) + J.lengths @ dl)
    pulled = fn.vjp(q, v, a, weight)
    close(pulled.q, weight @ J.q)
    close(pulled.inertias, np.einsum("k,kij->ij", weight, J.inertias))
    close(pulled.lengths, weight @ J.lengths)


def test_torque_is_linear_in_inertias():
    robot = tree(1, 8)
    robot = frictionless(robot).replace(armature=0 * robot.armature)
    q, v, a = sample(robot)
    fn = aj.inverse_dynamics.bind(robot, lift="inertias")
    Y = fn.jacobian("inertias").eager(q, v, a)
    close(np.einsum("kij,ij->k", Y, robot.inertias), aj.inverse_dynamics.eager(robot, q, v, a))
    other = np.random.default_rng(0).normal(size=robot.inertias.shape)  # of no body that can exist
    close(np.einsum("kij,ij->k", Y, other), fn.eager(q, v, a, inertias=other))


# --- batches ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_thousand_robots_at_once():
    robot = robots.puma560()
    rng = np.random.default_rng(0)
    q = aj.random_configuration(robot, 1000, rng=rng)
    v, tau = rng.normal(size=(2, 1000, 6))
    masses = rng.uniform(0.8, 1.2, (1000, 6, 1)) * robot.inertias
    offsets = 0.01 * rng.normal(size=(1000, 6, 6))
    fn = aj.forward_dynamics.bind(robot, lift=("inertias", "offsets"))
    a = fn(q, v, tau, inertias=masses, offsets=offsets)
    for k in (0, 123, 999):
        one = robot.replace(inertias=masses[k], placements=moved(robot.placements, offsets[k]))
        close(a[k], aj.forward_dynamics.eager(one, q[k], v[k], tau[k]), 1e-9)
    close(fn(q[0], v[0], tau[0], inertias=masses)[123], fn(q[0], v[0], tau[0], inertias=masses[123]))  # robots only
    close(fn(q, v, tau)[123], aj.forward_dynamics.eager(robot, q[123], v[123], tau[123]), 1e-9)  # motions only
    grid = fn(q[:5], v[:5], tau[:5], inertias=masses[:4, None])
    assert grid.shape == (4, 5, 6)
    assert fn(*(x.astype(np.float32) for x in (q, v, tau))).dtype == np.float32
    out = np.empty_like(a)
    assert fn(q, v, tau, inertias=masses, offsets=offsets, out=out) is out
    assert np.array_equal(out, a)


# --- what it costs ----------------------------------------------------------------------------------------------------


def test_only_what_is_lifted_costs():
    """Armature, damping and friction add nv products and sums each; what is not lifted folds away as ever."""
    puma = robots.puma560().replace(armature=np.zeros(6), damping=np.zeros(6), friction=np.zeros(6))
    plain = aj.inverse_dynamics.bind(puma).operations
    for name in ("armature", "damping", "friction"):
        lifted = aj.inverse_dynamics.bind(puma, lift=name).operations
        assert (lifted.adds - plain.adds, lifted.muls - plain.muls) == (6, 6)
    assert aj.inverse_dynamics.bind(puma, lift="frame_offsets").operations == plain
    assert aj.forward_kinematics.bind(puma, lift="inertias").operations == aj.forward_kinematics.bind(puma).operations


def test_robots_that_differ_in_lifted_numbers_share_machine_code(tmp_path, monkeypatch):
    monkeypatch.setenv("ADJOINT_CACHE", str(tmp_path / "cache"))
    arm = robots.two_link().replace(name="of this test")
    q, v, a = sample(arm)

    def entries(robot, *lift):
        aj.inverse_dynamics.bind(robot, lift=lift)(q, v, a)
        return cache_info().entries

    count = entries(arm, "inertias", "damping")
    assert entries(arm.replace(inertias=2 * arm.inertias, damping=[1, 2]), "inertias", "damping") == count
    assert entries(arm.replace(armature=[1, 2]), "inertias", "damping") == count + 1
    assert entries(arm, "inertias") == count + 2
    heavy = arm.replace(inertias=2 * arm.inertias)
    close(aj.inverse_dynamics.bind(heavy, lift="inertias")(q, v, a), aj.inverse_dynamics.eager(heavy, q, v, a))
    assert cache_info().entries == count + 2


@pytest.mark.slow
def test_nothing_is_kept():
    """Robots that stand for others live as long as the trace, not in the caches of the kernels called meanwhile."""
    robot = robots.random_tree(9, 3)
    for fn in (aj.bias_force, aj.dynamics.mass_matrix_logdet_gradient, aj.forward_dynamics):
        fn.bind(robot, lift=("inertias", "screws")).eager(**arguments(fn, robot))
        assert fn.bind(robot, lift=("inertias", "screws")).operations
    gc.collect()
    assert not [x for x in gc.get_objects() if isinstance(x, LiftedRobot)]


# --- kernels of kernels -----------------------------------------------------------------------------------------------


@kernel(robot=static, q="nq", v="nv")
def everything(robot, q, v):
    """Kernels inside a kernel, called, bound, and differentiated; a changed robot; plain functions of a robot."""
    frame = robot.frame_names[-1]
    T, dT = aj.forward_kinematics.bind(robot, frame=frame).jvp(q, v)
    slope = aj.potential_energy.jacobian("q")(robot, q)
    pulled = aj.potential_energy.bind(robot).vjp(q, 2.0)
    weightless = aj.inverse_dynamics(robot.replace(gravity=np.zeros(3)), q, v, 0 * v)
    home = aj.manipulability(robot, aj.neutral(robot), frame)
    return np.concatenate([np.ravel(T), np.ravel(dT), slope, pulled, weightless, np.stack([home, robot.mass])])


@pytest.mark.slow
@pytest.mark.parametrize("lift", [("inertias",), ("screws", "frame_offsets"), ("offsets", "gravity", "inertias")])
def test_kernels_inside_kernels(lift):
    robot = robots.random_tree(11, 5, ["revolute", "prismatic", "helical"])
    robot = robot.with_frame("tip", robot.body_names[-1], se3.random(rng=0))
    q, v, _ = sample(robot)
    fn = everything.bind(robot, lift=lift)
    want = everything.eager(robot, q, v)
    close(fn.eager(q, v), want)
    close(fn(q, v), want)
    changed = {"inertias": 2 * robot.inertias, "gravity": np.ones(3)}
    changed = {name: x for name, x in changed.items() if name in lift}
    close(fn(q, v, **changed), everything.eager(robot.replace(**changed), q, v))


def test_one_kernel_however_it_is_asked_for():
    robot, lift = robots.two_link(), ("inertias", "lengths")
    q, v, a = sample(robot)
    fn = aj.inverse_dynamics.bind(robot, lift=lift)
    assert fn is aj.inverse_dynamics.bind(robot, lift=lift) is aj.inverse_dynamics.bind(robot).bind(lift=lift)
    assert fn is aj.inverse_dynamics.bind(robot, lift="inertias").bind(lift="lengths")
    assert fn.jacobian("q") is aj.inverse_dynamics.jacobian("q").bind(robot, lift=lift)
    assert pickle.loads(pickle.dumps(fn)) is fn
    assert pickle.loads(pickle.dumps(fn.jacobian("lengths"))) is fn.jacobian("lengths")
    assert aj.inverse_dynamics.bind(robot, lift=()) is aj.inverse_dynamics.bind(robot)
    tip = aj.forward_kinematics.bind(robot, lift="lengths")
    close(
        tip(q, "tool", lengths=2 * robot.liftable["lengths"]),
        tip.bind(frame="tool")(q, lengths=2 * robot.liftable["lengths"]),
    )
    close(fn(q, v, a, inertias=None), aj.inverse_dynamics(robot, q, v, a))
    assert fn.symbolic().name_in() == ["q", "v", "a", "inertias", "lengths"]


def test_names_that_a_function_has_already():
    """An option that replaces the robot's number is lifted as itself; another argument of that name stays."""
    robot = robots.puma560()
    q, v, a = sample(robot)
    moon, push = np.array([0, 0, -1.62]), np.ones(6)
    fn = aj.inverse_dynamics.bind(robot, lift="gravity")
    close(fn(q, v, a, gravity=moon), aj.inverse_dynamics(robot.replace(gravity=moon), q, v, a))
    assert fn.jacobian("gravity").eager(q, v, a).shape == (6, 3)
    none = aj.mass_matrix_product.bind(robot, lift="gravity")  # calls inverse dynamics with another gravity, none
    close(none.eager(q, push), aj.mass_matrix_product.eager(robot, q, push))
    space = aj.operational_space.bind(robot, frame="tool", lift="damping")
    want = aj.operational_space.eager(robot.replace(damping=push), q, v, "tool", damping=0.1)
    close(space.eager(q, v, damping=0.1, damping_=push).bias, want.bias, 1e-9)


class Polynomial:
    """Nothing of a robot: a static value with numbers, as the compiler wants them (`compile.parameters.Liftable`)."""

    __hash__ = object.__hash__

    def __init__(self, coefficients, stands_for=None):
        self.coefficients, self.stands_for = coefficients, stands_for

    @property
    def liftable(self):
        return {"coefficients": self.coefficients}

    def lifted(self, arrays):
        return Polynomial(arrays["coefficients"], (self, arrays))

    def fingerprint_without(self, names):
        return "polynomial" if names else repr(self.coefficients.tolist())


@kernel(p=static)
def value(p, x):
    return sum(c * x**k for k, c in enumerate(p.coefficients))


@kernel(p=static)
def value_and_slope(p, x):
    return np.stack([value(p, x), value.bind(p).jacobian("x")(x)])


def test_the_compiler_knows_no_robots():
    fn = value_and_slope.bind(Polynomial(np.array([1.0, 2, 3])), lift="coefficients")
    assert fn(2.0).tolist() == fn.eager(2.0).tolist() == [17, 14]
    c = np.random.default_rng(0).normal(size=(5, 3))
    close(fn(2.0, coefficients=c), np.stack([c @ [1, 2, 4], c @ [0, 1, 4]], axis=-1))
    close(fn.jacobian("coefficients")(2.0), [[1, 2, 4], [0, 1, 4]])


# --- mistakes ---------------------------------------------------------------------------------------------------------


def test_mistakes_are_explained():
    robot = robots.two_link()
    q, v, a = sample(robot)
    with pytest.raises(
        ArgumentError, match=r"no 'masses' to lift; robot has inertias, screws, .*lengths, frame_offsets"
    ):
        aj.inverse_dynamics.bind(robot, lift=("inertias", "masses"))
    with pytest.raises(ArgumentError, match=r"bind the static argument that has them as well"):
        aj.inverse_dynamics.bind(lift="inertias")
    with pytest.raises(ArgumentError, match="lift either placements or lengths"):
        aj.mass_matrix.bind(robot, lift=("placements", "lengths")).eager(q)
    fn = aj.inverse_dynamics.bind(robot, lift="inertias")
    with pytest.raises(ArgumentError, match="'inertias'"):
        fn(q, v, a, inertias=np.ones((3, 10)))
    with pytest.raises(ArgumentError, match="'inertias'"):
        fn.eager(q, v, a, inertias=np.ones(10))
    with pytest.raises(ArgumentError, match="no argument 'screws'"):
        fn(q, v, a, screws=robot.screws)
    with pytest.raises(ArgumentError, match="static parameter 'lift'"):
        kernel(lambda x, lift="no": x)
    with pytest.raises(ArgumentError, match="inertias are inputs"):
        textbook.lagrange_euler.bind(robot, lift="inertias").eager(**arguments(textbook.lagrange_euler, robot))
    with pytest.raises(ArgumentError, match="one and other both have inertias"):
        kernel(lambda one, other, x: x, one=static, other=static).bind(robot, robot, lift="inertias")


def test_massless_robots():
    """Inertias that are inputs may be anything; inertias that are not must be enough to solve for accelerations."""
    rods = robots.two_link()
    bare = rods.replace(inertias=0 * rods.inertias)
    q, v, a = sample(bare)
    lifted = aj.forward_dynamics.bind(bare, lift="inertias")
    close(lifted.eager(q, v, a, inertias=rods.inertias), aj.forward_dynamics.eager(rods, q, v, a))
    close(
        aj.center_of_mass.bind(bare, lift="inertias").eager(q, inertias=rods.inertias), aj.center_of_mass.eager(rods, q)
    )
    with pytest.raises(ArgumentError, match="have no inertia"):
        aj.forward_dynamics.bind(bare, lift="lengths").eager(q, v, a)
    with pytest.raises(ArgumentError, match="no centre of mass"):
        aj.center_of_mass.bind(bare, lift="lengths").eager(q)
    assert aj.potential_energy.eager(bare, q) == 0
    mass = inertia.momentum  # a kernel without static arguments has nothing to lift
    with pytest.raises(ArgumentError, match="to lift"):
        mass.bind(lift="inertias")
    fixed = robots.planar(1).locked({"joint1": 0.0})
    assert aj.mass_matrix.bind(fixed, lift=ALL).eager(np.zeros(0)).shape == (0, 0)
