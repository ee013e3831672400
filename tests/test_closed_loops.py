"""Closed loops: laws on random trees of every joint, a four-bar linkage and a delta robot in closed form, and peers."""

# pyright: reportAttributeAccessIssue=false
# (mujoco's compiled module has no types)

import functools

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from support.robots import pinocchio_q, velocity_map
from support.trees import close, frictionless, on_free_base, sample, tree

import adjoint as aj
from adjoint import kernel, static
from adjoint.dynamics.closed_loops import (
    KINDS,
    Loop,
    close_loops,
    consistent_velocity,
    constrained_forward_dynamics,
    constrained_inverse_dynamics,
    loop_bias,
    loop_error,
    loop_jacobian,
)
from adjoint.dynamics.composite import mass_matrix
from adjoint.dynamics.energy import kinetic_energy, momentum, potential_energy
from adjoint.dynamics.forward import forward_dynamics
from adjoint.dynamics.newton_euler import bias_force, inverse_dynamics
from adjoint.errors import ArgumentError
from adjoint.lie import inertia, se3, so3
from adjoint.model import Frame, Robot

AXIS = (0.3, -0.5, 0.8)


def shift(x=0.0, y=0.0, z=0.0) -> np.ndarray:
    return se3.from_rotation_translation.eager(np.eye(3), [x, y, z])


# --- every kind of loop on every kind of joint ------------------------------------------------------------------------


@functools.cache
def looped(seed: int) -> Robot:
    """A random tree with every joint type, with frames "a" and "b" on two of its bodies far from each other."""
    robot, rng = tree(seed), np.random.default_rng(seed)
    paths = sorted((robot.path(i) for i in range(len(robot.body_names))), key=len)
    far = max(paths, key=lambda path: len(set(path) ^ set(paths[-1])))
    spots = (("a", paths[-1]), ("b", far))
    return robot.replace(frames=tuple(Frame(name, path[-1], se3.random(rng=rng)) for name, path in spots))


def closed_at(robot: Robot, q, loop: Loop) -> Robot:
    """The robot with frame b where the loop is closed at q, moved in the ways that the kind leaves free."""
    z = np.array(loop.axis)
    turn = {"point": np.array([1.0, -2.0, 0.4]), "weld": 0 * z, "slider": 0 * z}.get(loop.kind, 2.5 * z)
    along = {"slider": 0.7 * z, "cylinder": 0.7 * z, "plane": 0.7 * np.cross(z, [1, 0, 0])}.get(loop.kind, 0 * z)
    T_ab = se3.from_rotation_translation.eager(so3.exp.eager(turn), along)
    a, b = robot.frame(loop.frame_a), robot.frame(loop.frame_b)
    body = aj.forward_kinematics.eager(robot, q, robot.body_names[b.body])
    T_0a = aj.forward_kinematics.eager(robot, q, loop.frame_a)
    return robot.replace(frames=(a, Frame("b", b.body, se3.inverse.eager(body) @ T_0a @ T_ab)))


@kernel(robot=static, loops=static, q="nq", v="nv", a="nv")
def moved_error(robot, loops, q, v, a, t):
    """The error after moving with v + a t/2 for the time t: its derivatives are ė and ë."""
    return loop_error(robot, loops, aj.integrate(robot, q, v + a * (t / 2), t))


@pytest.mark.parametrize("kind", KINDS)
def test_error_jacobian_and_bias_are_derivatives_of_each_other(kind):
    """ė = J_c v and ë = J_c a + J̇_c v, where the loop is wide open; derivatives are the compiler's."""
    robot, loops = looped(len(kind) % 3), (Loop("a", "b", kind, AXIS),)
    q, v, a = sample(robot)
    e, J, bias = (f.eager(robot, loops, q, *rest) for f, *rest in ((loop_error,), (loop_jacobian,), (loop_bias, v)))
    assert np.abs(e).max() > 0.1
    along = moved_error.bind(robot, loops)
    close(along.jacobian("t").eager(q, v, a, 0.0), J @ v)
    close(along.hessian("t").eager(q, v, a, 0.0), J @ a + bias, 1e-10)
    assert len(e) == sum(map(len, KINDS[kind]))


@pytest.mark.parametrize("kind", KINDS)
def test_closed_means_closed(kind):
    """The error is 0 where the kind's free motions lead, and not where any other does, half turns included."""
    robot, loop = looped(1), Loop("a", "b", kind, AXIS)
    q, *_ = sample(robot)
    robot = closed_at(robot, q, loop)
    close(1 + loop_error.eager(robot, (loop,), q), 1.0, 1e-13)
    turns, shifts = loop.directions
    b = robot.frame("b")
    for wrong in (*(np.concatenate([np.pi * u, 0 * u]) for u in turns), *(np.concatenate([0 * u, u]) for u in shifts)):
        off = robot.replace(frames=(robot.frame("a"), b._replace(placement=b.placement @ se3.exp.eager(wrong))))
        assert np.linalg.norm(loop_error.eager(off, (loop,), q)) > 0.9


@pytest.mark.parametrize("kind", KINDS)
def test_laws_of_constrained_motion(kind):
    """M a + h = τ + J_cᵀ λ; ë = 0; the loop does no work; a is nearest to the free acceleration, and inverse dynamics
    finds the torques again."""
    seed = len(kind) % 3
    loop = Loop("a", "b", kind, AXIS)
    q, v, tau = sample(looped(seed))
    robot = closed_at(looped(seed), q, loop)
    J, M = loop_jacobian.eager(robot, (loop,), q), mass_matrix.eager(robot, q)
    v = consistent_velocity.eager(robot, (loop,), q, v)
    close(J @ v + 1, np.ones(len(J)), 1e-9)
    a, multipliers, wrenches = constrained_forward_dynamics.eager(robot, (loop,), q, v, tau)
    pull = J.T @ multipliers
    assert np.abs(pull).max() > 0.1
    close(inverse_dynamics.eager(robot, q, v, a), tau + pull, 1e-9)
    scale = np.abs(J).max() * np.abs(a).max()
    np.testing.assert_allclose(J @ a + loop_bias.eager(robot, (loop,), q, v), 0, atol=1e-9 * scale)
    assert abs(pull @ v) < 1e-9 * np.abs(pull).max() * np.abs(v).max()
    close(pull, aj.static_torque.eager(robot, q, wrenches[0], "b", "body", "a"))  # what the wrench on b does
    free = forward_dynamics.eager(robot, q, v, tau)
    null = consistent_velocity.eager(robot, (loop,), q, np.random.default_rng(0).normal(size=robot.nv))
    close(1 + (a - free) @ M @ null / np.abs(M).max(), 1.0, 1e-8)  # Gauss: orthogonal to what remains possible
    names = robot.joint_names
    torque, *_ = constrained_inverse_dynamics.eager(robot, (loop,), q, v, a, names)
    moved = constrained_forward_dynamics.eager(robot, (loop,), q, v, torque).a
    close(moved, a, 1e-7)
    assert np.linalg.norm(torque) <= np.linalg.norm(tau) * (1 + 1e-9)  # the smallest torque of all that do it


def test_stabilisation_is_critically_damped():
    """Off the constraint, ë = -2 s ė - s² e with the acceleration found."""
    robot, loops = looped(0), (Loop("a", "b", "point"),)
    q, v, tau = sample(robot)
    e, J = loop_error.eager(robot, loops, q), loop_jacobian.eager(robot, loops, q)
    for s in (0.0, 7.0):
        a = constrained_forward_dynamics.eager(robot, loops, q, v, tau, stabilisation=s).a
        close(J @ a + loop_bias.eager(robot, loops, q, v) + 2 * s * J @ v + s * s * e + 1, np.ones(3), 1e-8)


def test_no_loops_and_surroundings():
    """Without loops it is forward dynamics; gravity, loads and a moving base come in as they do there."""
    robot = looped(2)
    q, v, tau = sample(robot)
    rng = np.random.default_rng(0)
    outside = {"gravity": rng.normal(size=3), "applied_wrenches": rng.normal(size=(1, 6)), "frames": ("a",)}
    outside |= {"base_twist": rng.normal(size=6), "base_acceleration": rng.normal(size=6)}
    close(constrained_forward_dynamics.eager(robot, (), q, v, tau, **outside).a,
          forward_dynamics.eager(robot, q, v, tau, **outside))  # fmt: skip
    loops = (Loop("a", "b", "point"),)
    a, multipliers, _ = constrained_forward_dynamics.eager(robot, loops, q, v, tau, stabilisation=0.0, **outside)
    pull = loop_jacobian.eager(robot, loops, q).T @ multipliers
    close(inverse_dynamics.eager(robot, q, v, a, **outside), tau + pull, 1e-9)
    got = constrained_inverse_dynamics.eager(robot, loops, q, v, a, robot.joint_names, **outside)
    close(constrained_forward_dynamics.eager(robot, loops, q, v, got.tau, stabilisation=0.0, **outside).a, a, 1e-7)


# --- four-bar linkage -------------------------------------------------------------------------------------------------

GROUND, CRANK, COUPLER, ROCKER = 1.0, 0.35, 0.9, 0.7  # Grashof: the crank turns all the way round
FOUR_BAR_LOOPS = {kind: (Loop("coupler end", "rocker end", kind),) for kind in ("hinge", "point")}


def bar(mass: float, length: float) -> np.ndarray:
    return inertia.transform.eager(shift(length / 2), inertia.box.eager(mass, [length, 0.02, 0.02]))


@functools.cache
def four_bar(base: str = "fixed") -> Robot:
    builder = Robot.builder("four-bar", base=base, gravity=(0.0, -9.81, 0.0)).link("ground", bar(1.0, GROUND))
    for name, mass, length in (("crank", 1.0, CRANK), ("coupler", 2.0, COUPLER), ("rocker", 1.5, ROCKER)):
        builder.link(name, bar(mass, length))
    builder.joint("crank", "revolute", "ground", "crank").joint("coupler", "revolute", "crank", "coupler", shift(CRANK))
    builder.joint("rocker", "revolute", "ground", "rocker", shift(GROUND))
    return builder.frame("coupler end", "coupler", shift(COUPLER)).frame("rocker end", "rocker", shift(ROCKER)).build()


@kernel
def four_bar_angles(crank):
    """(crank, coupler, rocker) of the open linkage: the rocker's end is on two circles (Freudenstein's relation)."""
    x, y = CRANK * np.cos(crank) - GROUND, CRANK * np.sin(crank)  # the crank's end, seen from the rocker's pivot
    reach = np.sqrt(x * x + y * y)
    rocker = np.arctan2(y, x) - np.arccos((ROCKER**2 + reach**2 - COUPLER**2) / (2 * ROCKER * reach))
    coupler = np.arctan2(ROCKER * np.sin(rocker) - y, ROCKER * np.cos(rocker) - x)
    return np.stack([crank, coupler - crank, rocker])


@pytest.mark.slow
@pytest.mark.parametrize("kind", FOUR_BAR_LOOPS)
def test_four_bar_closes_as_the_formula_says(kind):
    """A whole turn of the crank, as one batch; a hinge in space states three constraints twice."""
    turn = np.linspace(0, 2 * np.pi, 200)
    want = four_bar_angles(turn)
    start = want + np.outer(np.sin(7 * turn), [0.0, 0.3, -0.3])
    got = close_loops(four_bar(), FOUR_BAR_LOOPS[kind], start, held=["crank"])
    np.testing.assert_array_equal(got[:, 0], turn)
    np.testing.assert_allclose(np.exp(1j * got), np.exp(1j * want), atol=1e-11)
    rate = four_bar_angles.jacobian("crank")(1.0)
    v = consistent_velocity.eager(four_bar(), FOUR_BAR_LOOPS[kind], four_bar_angles(1.0), 2 * np.eye(3)[0], ("crank",))
    np.testing.assert_allclose(v, 2 * rate, atol=1e-12)


@pytest.mark.parametrize("kind", FOUR_BAR_LOOPS)
def test_four_bar_equals_its_reduced_model(kind):
    """One coordinate: q = f(θ), Z = f', (Zᵀ M Z) θ̈ = Zᵀ (τ - h - M f'' θ̇²); torque at the crank alone by statics."""
    robot, loops = four_bar(), FOUR_BAR_LOOPS[kind]
    for angle, speed in ((0.3, 1.0), (2.2, -3.0), (4.0, 0.0)):
        q, Z = four_bar_angles(angle), four_bar_angles.jacobian("crank")(angle)
        curve = four_bar_angles.hessian("crank")(angle)
        v, tau = Z * speed, np.array([0.4, -0.3, 0.2])
        M, h = mass_matrix.eager(robot, q), bias_force.eager(robot, q, v)
        turn = Z @ (tau - h - M @ curve * speed**2) / (Z @ M @ Z)
        want = Z * turn + curve * speed**2
        close(constrained_forward_dynamics.eager(robot, loops, q, v, tau).a, want, 1e-10)
        load = Z @ (M @ want + h)  # virtual work
        close(constrained_inverse_dynamics.eager(robot, loops, q, v, want, ("crank",)).tau, [load], 1e-9)
        # Two motors: of all pairs with Z_1 τ_1 + Z_3 τ_3 = load the smallest.
        pair = Z[[0, 2]]
        both = constrained_inverse_dynamics.eager(robot, loops, q, v, want, ("crank", "rocker")).tau
        close(both, pair * load / (pair @ pair), 1e-6)


@kernel(robot=static, loops=static, q="nq", v="nv")
def runge_kutta(robot, loops, q, v, dt):
    """One classical step: (q, v) together, (nq + nv,)."""

    def rates(dq, dv):
        u = v + dv
        return u, constrained_forward_dynamics(robot, loops, aj.integrate(robot, q, dq), u, np.zeros(robot.nv)).a

    v1, a1 = rates(0 * v, 0 * v)
    v2, a2 = rates(dt / 2 * v1, dt / 2 * a1)
    v3, a3 = rates(dt / 2 * v2, dt / 2 * a2)
    v4, a4 = rates(dt * v3, dt * a3)
    moved = aj.integrate(robot, q, (v1 + 2 * v2 + 2 * v3 + v4) / 6, dt)
    return np.concatenate([moved, v + (a1 + 2 * a2 + 2 * a3 + a4) * (dt / 6)])


def simulated(robot: Robot, loops, q, v, dt: float, steps: int) -> tuple[np.ndarray, np.ndarray]:
    state, found = np.concatenate([q, v]), []
    step = runge_kutta.bind(robot, loops)
    for _ in range(steps):
        state = step(state[: robot.nq], state[robot.nq :], dt)
        found.append(state)
    return np.array(found)[:, : robot.nq], np.array(found)[:, robot.nq :]


def test_four_bar_swings_without_losing_energy():
    """Three seconds of free swing: fourth order in dt, so 16 times less drift at half the step; loops stay closed."""
    robot, loops = four_bar(), FOUR_BAR_LOOPS["hinge"]
    q, v = four_bar_angles(0.3), four_bar_angles.jacobian("crank")(0.3)
    drifts = []
    for dt in (4e-3, 2e-3):
        path, rates = simulated(robot, loops, q, v, dt, round(3 / dt))
        energy = kinetic_energy(robot, path, rates) + potential_energy(robot, path)
        drifts.append(np.ptp(energy))
        assert np.abs(loop_error(robot, loops, path)).max() < 1e-7
        assert np.ptp(kinetic_energy(robot, path, rates)) > 5  # it moves [J]
    assert drifts[1] < 1e-6 and 8 < drifts[0] / drifts[1] < 32


# --- delta robot ------------------------------------------------------------------------------------------------------

BASE, ARM, ROD, PLATE, HALF = 0.2, 0.3, 0.8, 0.08, 0.05  # radii and lengths [m]; rods are 2 HALF apart
MOTORS = ("motor0", "motor1", "motor2")


@functools.cache
def delta() -> tuple[Robot, tuple[Loop, ...]]:
    """Clavel's robot: three arms turn about horizontal axes; six rods, on universal joints, end in balls on the plate.

    21 degrees of freedom and 18 constraints leave three, and the plate never turns.
    """
    builder, loops = Robot.builder("delta").link("base").link("plate", inertia.cylinder.eager(0.5, PLATE, 0.02)), []
    builder.joint("plate", "free", "base", "plate")
    for k in range(3):
        turn = se3.from_rotation_translation.eager(so3.rotation_z.eager(2 * np.pi * k / 3), np.zeros(3))
        builder.link(f"arm{k}", bar(0.8, ARM))
        builder.joint(MOTORS[k], "revolute", "base", f"arm{k}", turn @ shift(BASE), axis=(0, 1, 0))
        for side, y in (("l", HALF), ("r", -HALF)):
            name = f"rod{k}{side}"
            builder.link(name, bar(0.1, ROD))
            builder.joint(name, "universal", f"arm{k}", name, shift(ARM, y), axis=(0, 1, 0), axis2=(0, 0, 1))
            builder.frame(f"{name} end", name, shift(ROD)).frame(f"{name} ball", "plate", turn @ shift(PLATE, y))
            loops.append(Loop(f"{name} end", f"{name} ball", "point"))
    return builder.build(), tuple(loops)


def delta_position(angles: np.ndarray) -> np.ndarray:
    """The plate's centre: the lower point common to three spheres of radius ROD about the elbows, moved in by PLATE."""
    turn = 2 * np.pi * np.arange(3) / 3
    out, z = BASE - PLATE + ARM * np.cos(angles), -ARM * np.sin(angles)
    c = np.stack([out * np.cos(turn), out * np.sin(turn), z], axis=-1)
    # Spheres 1 and 2 minus sphere 0: two planes; p = point + s direction on both.
    A, b = 2 * (c[1:] - c[0]), np.sum(c[1:] ** 2, axis=1) - np.sum(c[0] ** 2)
    direction = np.cross(A[0], A[1]) / np.linalg.norm(np.cross(A[0], A[1]))
    point = np.linalg.lstsq(A, b, rcond=None)[0] - c[0]
    along = point @ direction
    root = np.sqrt(along**2 - point @ point + ROD**2)
    return min((c[0] + point + (s * root - along) * direction for s in (1, -1)), key=lambda p: p[2])


def delta_start(angles) -> np.ndarray:
    """A rough guess: the plate below, rods hanging."""
    robot, _ = delta()
    q = aj.neutral(robot)
    q[:3] = 0, 0, -0.7
    for k in range(3):
        q[robot.joint(MOTORS[k]).q] = angles[k]
        for side in "lr":
            q[robot.joint(f"rod{k}{side}.1").q] = np.pi / 2 + 0.3 - angles[k]
    return q


@pytest.mark.slow
def test_delta_robot_is_where_three_spheres_meet():
    robot, loops = delta()
    angles = np.array([[0.2, 0.2, 0.2], [0.5, 0.1, -0.2], [0.7, 0.9, 0.3]])
    q = close_loops(robot, loops, np.array([delta_start(x) for x in angles]), held=MOTORS)
    T = aj.forward_kinematics(robot, q, "plate")
    np.testing.assert_allclose(T[:, :3, 3], [delta_position(x) for x in angles], atol=1e-11)
    np.testing.assert_allclose(T[:, :3, :3], np.broadcast_to(np.eye(3), (3, 3, 3)), atol=1e-11)


@pytest.mark.slow
def test_delta_robot_moves_as_its_closed_form_does():
    """With motors' rates held: the plate's velocity is the derivative of the closed form; torques balance by work."""
    robot, loops = delta()
    angles, rates, h = np.array([0.5, 0.1, -0.2]), np.array([0.3, -1.0, 0.7]), 1e-5
    q = close_loops(robot, loops, delta_start(angles), held=MOTORS)
    start = np.zeros(robot.nv)
    places = [robot.joint(name).v.start for name in MOTORS]
    start[places] = rates
    v = consistent_velocity.eager(robot, loops, q, start, MOTORS)
    np.testing.assert_allclose(v[places], rates, atol=1e-10)
    slope = np.array([(delta_position(angles + h * e) - delta_position(angles - h * e)) / (2 * h) for e in np.eye(3)]).T
    np.testing.assert_allclose(v[robot.joint("plate").v], [0, 0, 0, *(slope @ rates)], atol=1e-8)
    hold = constrained_inverse_dynamics.eager(robot, loops, q, 0 * v, 0 * v, MOTORS)
    power = v @ inverse_dynamics.eager(robot, q, 0 * v, 0 * v)  # against gravity
    close(hold.tau @ rates, power, 1e-8)
    tau = np.zeros(robot.nv)
    tau[places] = hold.tau
    still = constrained_forward_dynamics.eager(robot, loops, q, 0 * v, tau)
    np.testing.assert_allclose(still.a, 0 * v, atol=1e-6)


# --- peers ------------------------------------------------------------------------------------------------------------


def pinocchio_motion(robot: Robot, loops, q, v, tau):
    """Accelerations, and the forces on frames b along the axes of frames a, by pin.constraintDynamics."""
    model = pin.buildModelFromXML(aj.to_urdf(robot))
    model.gravity.linear = robot.gravity
    E, kinds = velocity_map(model, robot), {"weld": pin.ContactType.CONTACT_6D, "point": pin.ContactType.CONTACT_3D}
    found = pin.StdVec_RigidConstraintModel()
    for loop in loops:
        ends = []
        for name in (loop.frame_a, loop.frame_b):
            spot = robot.frame(name)
            joint = model.getJointId(robot.body_joint_names[spot.body]) if spot.body >= 0 else 0
            ends += [joint, pin.SE3(spot.placement)]
        found.append(pin.RigidConstraintModel(kinds[loop.kind], model, *ends, pin.LOCAL))
    data, more = model.createData(), pin.StdVec_RigidConstraintData()
    for one in found:
        more.append(one.createData())
    pin.initConstraintDynamics(model, data, found, more)
    settings = pin.ProximalSettings(1e-14, 1e-10, 50)
    a = pin.constraintDynamics(
        model, data, pinocchio_q(model, robot, q), E @ v, np.linalg.pinv(E.T) @ tau, found, more, settings
    )
    return np.linalg.pinv(E) @ a, -np.array([one.contact_force.linear for one in more])


def along_a(robot: Robot, loops, q, wrenches) -> np.ndarray:
    return np.array([
        aj.forward_kinematics.eager(robot, q, loop.frame_b, loop.frame_a)[:3, :3] @ F[3:]
        for loop, F in zip(loops, wrenches, strict=True)
    ])  # fmt: skip


@pytest.mark.parametrize("kind", ["weld", "point"])
@pytest.mark.parametrize("seed", range(2))
def test_pinocchio(seed, kind):
    """Random trees of the joints that both know, closed at a random configuration."""
    types = ("revolute", "prismatic", "continuous", "free", "revolute")
    robot, rng = frictionless(tree(seed + 20, 10, types)), np.random.default_rng(seed)
    spots = tuple(Frame(name, body, se3.random(rng=rng)) for name, body in (("a", 9), ("b", 6)))
    robot = robot.replace(armature=0 * robot.armature, frames=spots)
    q, v, tau = sample(robot, seed)
    loop = Loop("a", "b", kind)
    robot = closed_at(robot, q, loop)
    v = consistent_velocity.eager(robot, (loop,), q, v)
    motion = constrained_forward_dynamics.eager(robot, (loop,), q, v, tau)
    a, forces = pinocchio_motion(robot, (loop,), q, v, tau)
    close(motion.a, a, 1e-8)
    close(along_a(robot, (loop,), q, motion.wrenches), forces, 1e-8)


def test_pinocchio_delta():
    robot, loops = delta()
    q = close_loops(robot, loops, delta_start([0.5, 0.1, -0.2]), held=MOTORS)
    _, v, tau = sample(robot)
    v = consistent_velocity.eager(robot, loops, q, v)
    motion = constrained_forward_dynamics.eager(robot, loops, q, v, tau)
    a, forces = pinocchio_motion(robot, loops, q, v, tau)
    close(motion.a, a, 1e-8)
    close(along_a(robot, loops, q, motion.wrenches), forces, 1e-8)


def test_mujoco():
    """The four-bar linkage with MuJoCo's connect; its constraints are soft by 1e-4 of their inertia at the hardest."""
    pieces = {"crank": (1.0, CRANK), "coupler": (2.0, COUPLER), "rocker": (1.5, ROCKER)}
    geom = {
        name: f'<joint axis="0 0 1"/><geom type="box" size="{l / 2} 0.01 0.01" pos="{l / 2} 0 0" mass="{mass}"/>'
        for name, (mass, l) in pieces.items()
    }
    xml = f"""<mujoco><option gravity="0 -9.81 0" solver="Newton" tolerance="1e-14" iterations="200"/>
      <default><geom contype="0" conaffinity="0"/></default>
      <worldbody><body name="crank">{geom["crank"]}
        <body name="coupler" pos="{CRANK} 0 0">{geom["coupler"]}<site name="c" pos="{COUPLER} 0 0"/></body></body>
        <body name="rocker" pos="{GROUND} 0 0">{geom["rocker"]}<site name="r" pos="{ROCKER} 0 0"/></body></worldbody>
      <equality><connect site1="c" site2="r" solimp="0.9999 0.9999 0.001" solref="0.02 1"/></equality></mujoco>"""
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    for angle, speed in ((0.3, 1.0), (2.2, -3.0)):
        data.qpos, data.qvel = four_bar_angles(angle), four_bar_angles.jacobian("crank")(angle) * speed
        data.qfrc_applied = tau = np.array([0.4, -0.3, 0.2])
        mujoco.mj_forward(model, data)
        a = constrained_forward_dynamics.eager(four_bar(), FOUR_BAR_LOOPS["point"], data.qpos, data.qvel, tau).a
        close(data.qacc, a, 1e-3)


# --- calls ------------------------------------------------------------------------------------------------------------


def test_compiled_batch_equals_eager():
    robot, loops = four_bar(), FOUR_BAR_LOOPS["hinge"]
    angles = np.array([0.1, 1.0, 2.0])
    q, v = four_bar_angles(angles), four_bar_angles.jacobian("crank")(angles)
    a = np.array([1.0, -0.5, 0.2])
    for f, args in ((constrained_forward_dynamics, (a,)), (constrained_inverse_dynamics, (a, ("crank",)))):
        batch = f(robot, loops, q, v, *args)
        for k in range(3):
            for got, want in zip(batch, f.eager(robot, loops, q[k], v[k], *args), strict=True):
                np.testing.assert_allclose(got[k], want, atol=1e-9 * np.abs(want).max())


def test_loops_that_nothing_can_open():
    """A planar linkage in its plane: every constraint is stated for nothing, and nothing changes."""
    robot, loops = four_bar(), (Loop("coupler end", "rocker end", "plane"),)
    q, v, tau = np.array([0.3, 0.5, 1.0]), np.ones(3), np.ones(3)
    close(constrained_forward_dynamics.eager(robot, loops, q, v, tau).a, forward_dynamics.eager(robot, q, v, tau))


def test_single_precision():
    """float32 with a coarser regularisation: a linkage whose hinge states three constraints twice."""
    robot, loops = four_bar(), FOUR_BAR_LOOPS["hinge"]
    q, v = four_bar_angles(1.0), four_bar_angles.jacobian("crank")(1.0)
    want = constrained_forward_dynamics.eager(robot, loops, q, v, 0 * v).a
    q, v, coarse = (np.asarray(x, np.float32) for x in (q, v, 1e-4))
    got = constrained_forward_dynamics(robot, loops, q, v, 0 * v, regularisation=coarse, stabilisation=np.float32(0)).a
    assert got.dtype == np.float32
    close(got, want, 1e-4)


def test_loops_are_values():
    same = Loop("a", "b", "hinge", (0, 0, 2)), Loop("a", "b", "hinge")
    assert same[0] == same[1] and hash(same[0]) == hash(same[1]) and same[0].fingerprint == same[1].fingerprint
    assert Loop("a", "b").fingerprint != Loop("a", "b", "point").fingerprint
    robot = four_bar()
    q = four_bar_angles(1.0)
    listed = loop_error(robot, [Loop("coupler end", "rocker end", "point")], q)
    np.testing.assert_array_equal(listed, loop_error(robot, FOUR_BAR_LOOPS["point"], q))


def test_wrong_arguments():
    robot, loops = four_bar(), FOUR_BAR_LOOPS["point"]
    q = four_bar_angles(1.0)
    with pytest.raises(ArgumentError, match="kind is 'glue'; it must be one of 'weld', 'point', 'hinge'"):
        Loop("a", "b", "glue")
    for axis in ((0, 0, 0), (1, 0), (np.nan, 0, 1)):
        with pytest.raises(ArgumentError, match=r"axis is .* it must be a direction"):
            Loop("a", "b", "hinge", axis)
    with pytest.raises(ArgumentError, match=r"'coupler' - 'coupler end' .*: both frames are fixed to the same body"):
        loop_error(robot, (Loop("coupler", "coupler end"),), q)
    with pytest.raises(ArgumentError, match="has no frame 'tip'"):
        loop_error(robot, (Loop("tip", "coupler end"),), q)
    with pytest.raises(ArgumentError, match="has no joint 'motor'"):
        constrained_inverse_dynamics(robot, loops, q, q, q, ("motor",))
    with pytest.raises(ArgumentError, match="named twice"):
        consistent_velocity(robot, loops, q, q, ("crank", "crank"))
    follower = looped(0)
    i, mimic = next(iter(follower.mimics.items()))
    with pytest.raises(ArgumentError, match=f"is a mimic; name '{follower.body_joint_names[mimic.source]}'"):
        consistent_velocity.eager(follower, (), *sample(follower)[:2], (follower.body_joint_names[i],))


def test_one_loop_needs_no_tuple():
    robot, loops = four_bar(), FOUR_BAR_LOOPS["point"]
    q = close_loops(robot, loops[0], [1.0, -0.5, 1.5])
    assert np.array_equal(q, close_loops(robot, loops, [1.0, -0.5, 1.5]))
    assert np.array_equal(loop_error(robot, loops[0], q), loop_error(robot, loops, q))
    with pytest.raises(ArgumentError, match="loops must be a Loop, or a tuple of them; got str"):
        close_loops(robot, ("coupler end",), q)
    with pytest.raises(ArgumentError, match="loops must be a Loop, or a tuple of them; got int"):
        close_loops(robot, 3, q)


def test_open_loops_are_reported():
    """Crank and rocker held 2.05 m apart, and the coupler is 0.9 m long: the sample says by how much it falls short."""
    robot, loops = four_bar(), FOUR_BAR_LOOPS["point"]
    q = np.array([four_bar_angles(1.0), [np.pi, np.pi - 0.2, 0.0]])
    with pytest.raises(
        ArgumentError, match=r"'coupler end' - 'rocker end' \(point\) is open by 1.15 at sample 1 after"
    ):
        close_loops(robot, loops, q, held=["crank", "rocker"])


@kernel(robot=static, q="nq", v="nv", a="nv")
def moved_momentum(robot, q, v, a, t):
    return momentum(robot, aj.integrate(robot, q, v, t), v + a * t)


def test_loops_keep_momentum():
    """A robot adrift without gravity: loops pull at both of their ends, so all six components stay as they are."""
    robot, loops = on_free_base(looped(0)).replace(gravity=np.zeros(3)), (Loop("a", "b", "weld"),)
    q, v, tau = sample(robot)
    tau[:6] = 0
    a, multipliers, _ = constrained_forward_dynamics.eager(robot, loops, q, v, tau)
    assert np.abs(loop_jacobian.eager(robot, loops, q).T @ multipliers).max() > 1
    rate = moved_momentum.bind(robot).jacobian("t").eager(q, v, a, 0.0)
    fall = moved_momentum.bind(robot).jacobian("t").eager(q, v, 0 * a, 0.0)  # what the accelerations must make up for
    np.testing.assert_allclose(rate, 0 * rate, atol=1e-9 * np.abs(fall).max())
