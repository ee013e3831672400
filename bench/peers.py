"""The benchmarked functions, as a careful user of each peer would write them.

Lie-group functions take twists (ω, v) and return 4x4 matrices. The versions for NumPy have a safe branch near zero, as
ours have; those for heyoka have none, which favours heyoka. jaxlie stores twists as (v, ω), and motions as quaternion
and translation; it is timed both with these and with matrices.
"""

from typing import Any

import numpy as np
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] - an extension module without stubs

# --- NumPy, vectorised over the batch -------------------------------------------------------------


def _hat(w):
    W = np.zeros((*w.shape[:-1], 3, 3))
    W[..., 0, 1], W[..., 0, 2], W[..., 1, 2] = -w[..., 2], w[..., 1], -w[..., 0]
    W[..., 1, 0], W[..., 2, 0], W[..., 2, 1] = w[..., 2], -w[..., 1], w[..., 0]
    return W


def numpy_exp(V):
    w, v = V[..., :3], V[..., 3:]
    t2 = np.einsum("...i,...i", w, w)
    small = t2 < 1e-4
    s2 = np.where(small, 1.0, t2)
    t = np.sqrt(s2)
    A = np.where(small, 1 - t2 / 6 * (1 - t2 / 20), np.sin(t) / t)
    B = np.where(small, 0.5 - t2 / 24 * (1 - t2 / 30), (1 - np.cos(t)) / s2)
    C = np.where(small, 1 / 6 - t2 / 120 * (1 - t2 / 42), (1 - A) / s2)
    wv = np.cross(w, v)
    T = np.zeros((*V.shape[:-1], 4, 4))
    W = _hat(w)
    T[..., :3, :3] = A[..., None, None] * W + B[..., None, None] * (w[..., :, None] * w[..., None, :])
    T[..., [0, 1, 2], [0, 1, 2]] += (1 - B * t2)[..., None]
    T[..., :3, 3] = v + B[..., None] * wv + C[..., None] * np.cross(w, wv)
    T[..., 3, 3] = 1
    return T


def numpy_log(T):
    """The logarithm by the quaternion with the largest pivot (Shepperd), which is valid at every angle, as ours is."""
    R, p = T[..., :3, :3], T[..., :3, 3]
    x, y, z = R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]
    a, b, c = R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]
    d, e, f = R[..., 1, 0] + R[..., 0, 1], R[..., 0, 2] + R[..., 2, 0], R[..., 2, 1] + R[..., 1, 2]
    rows = (1 + x + y + z, a, b, c), (a, 1 + x - y - z, d, e), (b, d, 1 - x + y - z, f), (c, e, f, 1 - x - y + z)
    pivot = np.argmax(np.stack([rows[k][k] for k in range(4)]), 0)
    q = np.stack([np.choose(pivot, [row[k] for row in rows]) for k in range(4)], -1)
    q *= np.copysign(1, q[..., :1]) / np.sqrt(np.einsum("...i,...i", q, q))[..., None]
    h, v = q[..., 0], q[..., 1:]
    n = np.sqrt(np.einsum("...i,...i", v, v))
    small = n < 1e-3
    n2 = n * n
    r = np.where(small, 2 + n2 / 3, 2 * np.arctan2(n, h) / np.where(small, 1.0, n))
    t2 = r * r * n2
    k = np.where(small, 1 / 12 + t2 / 720, (1 - 0.5 * r * h) / np.where(small, 1.0, t2))
    w = r[..., None] * v
    wp = np.cross(w, p)
    return np.concatenate([w, p - 0.5 * wp + k[..., None] * np.cross(w, wp)], -1)


def numpy_compose(A, B):
    return A @ B


# --- jaxlie ---------------------------------------------------------------------------------------


def jaxlie_functions() -> dict:
    """{name: function of one sample}; names with `_own` use jaxlie's own storage, the others 4x4 matrices."""
    import jax
    import jaxlie
    from jaxlie import SE3

    jax.config.update("jax_enable_x64", True)
    return {
        "exp_own": lambda V: SE3.exp(V).wxyz_xyz,
        "log_own": lambda x: SE3(x).log(),
        "compose_own": lambda x, y: (SE3(x) @ SE3(y)).wxyz_xyz,
        "exp": lambda V: SE3.exp(V).as_matrix(),
        "log": lambda T: SE3.from_matrix(T).log(),
        "compose": lambda A, B: (SE3.from_matrix(A) @ SE3.from_matrix(B)).as_matrix(),
        "SE3": jaxlie.SE3,
    }


# --- heyoka ---------------------------------------------------------------------------------------


def _cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def heyoka_exp(hy, V):
    w, v = V[:3], V[3:]
    t2 = w[0] * w[0] + w[1] * w[1] + w[2] * w[2]
    t = hy.sqrt(t2)
    A, B = hy.sin(t) / t, (1.0 - hy.cos(t)) / t2
    C = (1.0 - A) / t2
    wv = _cross(w, v)
    wwv = _cross(w, wv)
    W = [[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]]
    rows = [
        [(1.0 - B * t2 if i == j else A * W[i][j]) + B * (w[i] * w[j]) for j in range(3)]
        + [v[i] + B * wv[i] + C * wwv[i]] for i in range(3)
    ]  # fmt: skip
    return [x for row in rows for x in row]  # 12 numbers, without the constant row


def heyoka_log(hy, T):
    R, p = [T[:3], T[4:7], T[8:11]], [T[3], T[7], T[11]]
    u = [0.5 * (R[2][1] - R[1][2]), 0.5 * (R[0][2] - R[2][0]), 0.5 * (R[1][0] - R[0][1])]
    s = hy.sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2])
    c = 0.5 * (R[0][0] + R[1][1] + R[2][2] - 1.0)
    t = hy.atan2(s, c)
    w = [t / s * x for x in u]
    k = (1.0 - 0.5 * t * s / (1.0 - c)) / (t * t)
    wp = _cross(w, p)
    wwp = _cross(w, wp)
    return w + [p[i] - 0.5 * wp[i] + k * wwp[i] for i in range(3)]


def heyoka_compose(hy, AB):
    A, B = [AB[4 * i : 4 * i + 4] for i in range(3)], [AB[12 + 4 * i : 16 + 4 * i] for i in range(3)]
    return [
        A[i][0] * B[0][j] + A[i][1] * B[1][j] + A[i][2] * B[2][j] + (A[i][3] if j == 3 else 0.0)
        for i in range(3) for j in range(4)
    ]  # fmt: skip


# --- the synthetic functions: a random program on registers ----------------------------------------


def program(operations: int, registers: int, seed: int = 0) -> list[tuple]:
    """Instructions (name, i, j, c), after which x[i] is name(x[i], x[j]). Every value is used and stays in [-1, 1]."""
    rng = np.random.default_rng(seed)
    cost = {"mix": 3, "halve": 2, "mul": 1, "sin": 1, "cos": 1, "sqrt": 4, "div": 3}
    names, odds = list(cost), [0.3, 0.2, 0.3, 0.05, 0.05, 0.05, 0.05]
    code, total = [], 0
    while total < operations:
        name = str(rng.choice(names, p=odds))
        i, j = (int(k) for k in rng.choice(registers, 2, replace=False))
        code.append((name, i, j, round(float(rng.uniform(0.1, 0.9)), 3)))
        total += cost[name]
    return code


def run(code, x, m):
    """Runs a program on the registers `x`, of any array or symbol type, with sin, cos and sqrt of the module `m`."""
    x = list(x)
    for name, i, j, c in code:
        a, b = x[i], x[j]
        if name == "mix":
            x[i] = c * a + (1.0 - c) * b
        elif name == "halve":
            x[i] = 0.5 * (a - b)
        elif name == "mul":
            x[i] = a * b
        elif name == "sin":
            x[i] = m.sin(a)
        elif name == "cos":
            x[i] = m.cos(a)
        elif name == "sqrt":
            x[i] = m.sqrt(c + (1.0 - c) * (a * a))
        else:
            x[i] = a / (1.0 + b * b)
    return x


# --- Pinocchio ------------------------------------------------------------------------------------


def pinocchio_tree(robot):
    """Pinocchio's model of a tree of revolute joints, with our names, placements and inertias."""
    import pinocchio as pin

    from adjoint.lie import inertia

    model, numbers = pin.Model(), {-1: 0}
    model.gravity.linear = robot.gravity
    for i, name in enumerate(robot.body_joint_names):
        assert robot.joint_types[i] == "revolute"
        joint, placement = pin.JointModelRevoluteUnaligned(robot.screw(i)[0, :3]), pin.SE3(robot.placements[i])
        numbers[i] = model.addJoint(numbers[robot.parents[i]], joint, placement, name)
        m, com, I = inertia.central.eager(robot.inertias[i])
        model.appendBodyToJoint(numbers[i], pin.Inertia(m, com, I), pin.SE3.Identity())
    return model


# --- MuJoCo ---------------------------------------------------------------------------------------


def without_meshes(urdf) -> str:
    """The text of a URDF for MuJoCo: without meshes, which it would load, and with all links, which it would merge.

    Inertias that MuJoCo refuses are mended by MuJoCo itself (`balanceinertia`).
    """
    root = etree.parse(urdf).getroot()
    for element in root.xpath("//visual | //collision | //transmission | //gazebo"):
        element.getparent().remove(element)
    etree.SubElement(etree.SubElement(root, "mujoco"), "compiler", fusestatic="false", balanceinertia="true")
    return etree.tostring(root, encoding="unicode")


def with_boxes(urdf) -> str:
    """The text of a URDF with boxes in place of meshes, which Pinocchio would open; we keep only their names."""
    root = etree.parse(urdf).getroot()
    for mesh in root.xpath("//geometry/mesh"):
        mesh.getparent().replace(mesh, etree.Element("box", size="0.1 0.1 0.1"))
    return etree.tostring(root, encoding="unicode")


def in_order_of(robot, names, values, is_q: bool):
    """The columns of q or v in the order of a peer's joints, where joints that mimic others have columns, too."""
    joints = [robot.joint(n) for n in names]
    follow = [(j.mimic.multiplier, j.mimic.offset * is_q) if j.mimic else (1.0, 0.0) for j in joints]
    places = [j.q if is_q else j.v for j in joints]
    return np.concatenate([k * values[:, at] + c for at, (k, c) in zip(places, follow, strict=True)], axis=1)


def mujoco_dynamics() -> dict:
    """{name: function (model, data, q, v, a or tau)} of MuJoCo's smooth dynamics, called as its own pipeline does."""
    import mujoco

    mj: Any = mujoco  # an extension module without stubs

    def position(m, d, q):
        d.qpos[:] = q
        mj.mj_kinematics(m, d)
        mj.mj_comPos(m, d)

    def inverse(m, d, q, v, a):
        d.qvel[:], d.qacc[:] = v, a
        position(m, d, q)
        mj.mj_comVel(m, d)
        mj.mj_rne(m, d, 1, d.qfrc_inverse)
        return d.qfrc_inverse

    def mass(m, d, q, v, a):
        position(m, d, q)
        mj.mj_crb(m, d)
        return d.M

    def forward(m, d, q, v, tau):
        d.qvel[:] = v
        mass(m, d, q, v, tau)
        mj.mj_factorM(m, d)
        mj.mj_comVel(m, d)
        mj.mj_rne(m, d, 0, d.qfrc_bias)
        mj.mj_solveM(m, d, d.qacc[None], (tau - d.qfrc_bias)[None])
        return d.qacc

    return {"inverse_dynamics": inverse, "forward_dynamics": forward, "mass_matrix": mass}


def mujoco_model(
    urdf, robot, *, dt: float, integrator: str = "semi_implicit", gains: tuple[float, float] | None = None
):
    """MuJoCo's model of a URDF with the joints of our robot, for `mj_step`: without contacts, limits and damping.

    Links without joints are merged into others, which makes it faster. With `gains` (kp, kd) every joint but the free
    one has a motor with τ = kp (ctrl - q) - kd v; with gains (0, 0), one with τ = ctrl.
    """
    import mujoco

    mj: Any = mujoco  # an extension module without stubs
    spec = mj.MjSpec.from_string(without_meshes(urdf))
    if robot.joint_types[0] == "free":
        spec.worldbody.first_body().add_freejoint().name = robot.joint_names[0]
    for equality in list(spec.equalities):
        spec.delete(equality)
    for joint in [j for j in spec.joints if j.name not in robot.joint_names]:
        spec.delete(joint)
    for joint in spec.joints:
        if joint.type != mj.mjtJoint.mjJNT_FREE:
            joint.damping, joint.frictionloss = 0 * np.array(joint.damping), 0.0
            joint.actfrclimited = mj.mjtLimited.mjLIMITED_FALSE
            joint.armature = robot.armature[robot.joint(joint.name).v][0]
            if gains is not None:
                kp, kd = gains
                gain, bias = ([kp] if kp else [1.0]) + [0.0] * 9, [0.0, -kp, -kd] + [0.0] * 7
                motor = spec.add_actuator(target=joint.name, trntype=mj.mjtTrn.mjTRN_JOINT)
                motor.gainprm, motor.biasprm, motor.biastype = gain, bias, mj.mjtBias.mjBIAS_AFFINE
    off = mj.mjtDisableBit
    spec.option.disableflags = off.mjDSBL_CONTACT | off.mjDSBL_LIMIT | off.mjDSBL_EULERDAMP | off.mjDSBL_FRICTIONLOSS
    spec.option.timestep, spec.compiler.fusestatic = dt, True
    steps = {"semi_implicit": mj.mjtIntegrator.mjINT_EULER, "rk4": mj.mjtIntegrator.mjINT_RK4}
    spec.option.integrator = steps[integrator]
    return spec.compile()
