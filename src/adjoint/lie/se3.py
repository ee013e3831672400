"""SE(3): rigid motions T = [R p; 0 1] (4, 4), T_ab maps b-coordinates to a, and se(3) as twists V = (w, v) (6,).

A wrench F = (m, f) (6,) is dual to a twist; Ad and ad act on twists, their plain transposes coAd and coad on wrenches.
`Ad` is the 6x6 matrix, `Ad_action` its cheap application, and so on. Conventions are stated in `adjoint.lie`; lengths
in m, angles in rad, t = |w|. References: Park (1994), FGL and LWC as in `so3`; PBP = Park, Bobrow & Ploen (1995), "A
Lie group formulation of robot dynamics", IJRR 14(6).
"""

from typing import NamedTuple

import numpy as np

from adjoint.compile import kernel

from . import series, so3

__all__ = [
    "Ad",
    "Ad_action",
    "Ad_inv_action",
    "Screw",
    "act",
    "ad",
    "ad_action",
    "body_derivative",
    "body_velocity",
    "bracket",
    "coAd",
    "coAd_action",
    "coAd_inv_action",
    "coad",
    "coad_action",
    "compose",
    "dexp",
    "dexp_inv",
    "distance",
    "exp",
    "from_rotation_translation",
    "from_xyz_quat_wxyz",
    "hat",
    "identity",
    "interpolate",
    "inverse",
    "left_jacobian",
    "left_jacobian_inv",
    "log",
    "log_branch",
    "prismatic",
    "project",
    "random",
    "right_jacobian",
    "right_jacobian_inv",
    "rotation",
    "screw",
    "screw_parameters",
    "space_derivative",
    "space_velocity",
    "to_xyz_quat_wxyz",
    "translation",
    "vee",
]


class Screw(NamedTuple):
    """Unit `direction` (3,), a `point` (3,) [m] of the axis, `pitch` [m/rad] (inf: translation), `magnitude`."""

    direction: np.ndarray
    point: np.ndarray
    pitch: np.ndarray
    magnitude: np.ndarray


# --- build ------------------------------------------------------------------------------------------------------------


def identity() -> np.ndarray:
    """The identity motion, (4, 4)."""
    return np.eye(4)


def random(rng: np.random.Generator, shape: int | tuple[int, ...] = (), scale: float = 1.0) -> np.ndarray:
    """Motions (*shape, 4, 4): uniform rotation, normally distributed translation of standard deviation `scale` [m]."""
    shape = (shape,) if isinstance(shape, int) else shape
    return from_rotation_translation(so3.random(rng, shape), scale * rng.standard_normal((*shape, 3)))


@kernel(R=(3, 3), p=3)
def from_rotation_translation(R, p) -> np.ndarray:
    """T = [R p; 0 1] (4, 4) of a rotation R (3, 3) and a translation p (3,) [m]."""
    return np.block([[R, p[:, None]], [np.array([[0.0, 0.0, 0.0, 1.0]])]])


@kernel(pose=7)
def from_xyz_quat_wxyz(pose) -> np.ndarray:
    """T (4, 4) of pose = (x, y, z, qw, qx, qy, qz): position [m], then quaternion, scalar first."""
    return from_rotation_translation(so3.from_quat_wxyz(pose[3:]), pose[:3])


@kernel(direction=3, point=3)
def screw(direction, point, pitch) -> np.ndarray:
    """Unit twist (6,) about the axis along `direction` (3,) through `point` (3,) [m], with `pitch` [m/rad].

    The direction may have any length but zero. Pitch 0 is a revolute joint, pitch inf a prismatic one.
    """
    u = series.unit(direction)
    turns = np.abs(pitch) < np.inf
    moment = np.cross(point, u) + np.where(turns, pitch, 0.0) * u  # v = -u × point + h u
    return np.concatenate([np.where(turns, u, 0.0), np.where(turns, moment, u)])


@kernel(direction=3)
def prismatic(direction) -> np.ndarray:
    """Unit twist (6,) of a translation along `direction` (3,), not zero, normalised here."""
    return np.concatenate([np.zeros(3), series.unit(direction)])


@kernel(M=(4, 4))
def project(M) -> np.ndarray:
    """Nearest motion to M (4, 4): its 3x3 part projected as in `so3.project`, translation kept, last row reset."""
    return from_rotation_translation(so3.project(M[:3, :3]), M[:3, 3])


# --- read -------------------------------------------------------------------------------------------------------------


@kernel(T=(4, 4))
def rotation(T) -> np.ndarray:
    """The rotation R (3, 3) of T."""
    return T[:3, :3]


@kernel(T=(4, 4))
def translation(T) -> np.ndarray:
    """The translation p (3,) [m] of T."""
    return T[:3, 3]


@kernel(T=(4, 4))
def to_xyz_quat_wxyz(T) -> np.ndarray:
    """(x, y, z, qw, qx, qy, qz) (7,) of T: position [m], then unit quaternion, scalar first, qw >= 0."""
    return np.concatenate([T[:3, 3], so3.to_quat_wxyz(T[:3, :3])])


@kernel(V=6)
def screw_parameters(V) -> Screw:
    """`Screw` of a twist V (6,): V = magnitude · screw(direction, point, pitch), with the point nearest to the origin.

    Magnitude is |w| [rad], or |v| [m] for a translation (w = 0: pitch inf, point 0). V = 0 is a translation along x.
    """
    w, v = V[:3], V[3:]
    w2 = np.dot(w, w)
    turns = w2 > 0
    w2 = np.where(turns, w2, 1.0)
    main = np.where(turns, w, v)
    size = series.norm(main)
    still = size == 0
    direction = np.where(still, np.array([1.0, 0.0, 0.0]), main / np.where(still, 1.0, size))
    pitch = np.where(turns, np.dot(w, v) / w2, np.inf)
    return Screw(direction, np.where(turns, np.cross(w, v) / w2, 0.0), pitch, size)


# --- algebra ----------------------------------------------------------------------------------------------------------


@kernel(V=6)
def hat(V) -> np.ndarray:
    """The 4x4 matrix [[w] v; 0 0] of a twist V."""
    return np.block([[so3.hat(V[:3]), V[3:, None]], [np.zeros((1, 4))]])


@kernel(X=(4, 4))
def vee(X) -> np.ndarray:
    """The twist (6,) of a 4x4 matrix [[w] v; 0 0]."""
    return np.concatenate([so3.vee(X[:3, :3]), X[:3, 3]])


@kernel(V=6, W=6)
def bracket(V, W) -> np.ndarray:
    """[V, W] = ad(V) W: (6,)."""
    # PBP (1), (5): (w₁ × w₂, w₁ × v₂ - w₂ × v₁)
    return np.concatenate([np.cross(V[:3], W[:3]), np.cross(V[:3], W[3:]) + np.cross(V[3:], W[:3])])


ad_action = bracket


@kernel(V=6)
def ad(V) -> np.ndarray:
    """ad(V) = [[w] 0; [v] [w]], PBP (6): (6, 6)."""
    return _lower(so3.hat(V[:3]), so3.hat(V[3:]))


@kernel(V=6)
def coad(V) -> np.ndarray:
    """ad(V)ᵀ = [-[w] -[v]; 0 -[w]], PBP (7): (6, 6)."""
    return ad(V).T


@kernel(V=6, F=6)
def coad_action(V, F) -> np.ndarray:
    """ad(V)ᵀ F = (m × w + f × v, f × w): (6,)."""
    w, v, m, f = V[:3], V[3:], F[:3], F[3:]
    return np.concatenate([np.cross(m, w) + np.cross(f, v), np.cross(f, w)])


# --- exp and log ------------------------------------------------------------------------------------------------------


@kernel(V=6)
def exp(V) -> np.ndarray:
    """Motion along the screw V for unit time, for any twist V (6,), translations included: (4, 4)."""
    w, v = V[:3], V[3:]
    c0, c1, c2, c3 = series.stumpff(np.dot(w, w), 3)
    # Park (1994), Lemma 2: p = (1 + c₂ [w] + c₃ [w]²) v, where [w]² = w wᵀ - t² 1 and 1 - t² c₃ = c₁
    p = c1 * v + np.cross(c2 * w, v) + (c3 * np.dot(w, v)) * w
    return from_rotation_translation(so3._span(w, c0, c1, c2), p)


@kernel(T=(4, 4))
def log(T) -> np.ndarray:
    """Twist V (6,) with exp(V) = T and |w| <= π: the inverse of `exp`, accurate at every angle, π included."""
    p = T[:3, 3]
    q0, q, n2 = so3._quat(T[:3, :3])
    r, k = series.log_scales(q0, n2)
    w = r * q
    # Park (1994), Lemma 4: v = (1 - [w]/2 + k [w]²) p, k in the cot form
    wp = np.cross(w, p)
    return np.concatenate([w, p - 0.5 * wp + np.cross(k * w, wp)])


@kernel(T=(4, 4))
def log_branch(T, turns) -> np.ndarray:
    """The twist V (6,) with exp(V) = T that turns `turns` whole turns more than `log`: |w| is |t + 2π turns|.

    exp(log_branch(T, k)) = T for every whole number k, negative ones included, and if T turns at all there are no other
    logarithms. k = 0 is `log`; a half turn, t = π, has two with |w| = π, k = 0 and k = -1. A translation has k whole
    turns about its own direction here, the identity about x. Near it, other branches than 0 are ill-conditioned: |v|
    grows with 1/t, for the axis must lie far away. Park (1994), Lemma 4 and Remarks 1 and 2.

        se3.log_branch(T, np.arange(-2, 3))                                 # (5, 6)
    """
    p = T[:3, 3]
    q0, q, n2 = so3._quat(T[:3, :3])
    still = n2 == 0
    n, sign = np.sqrt(np.where(still, 1.0, n2)), np.where(q0 < 0, -1.0, 1.0)
    way = series.norm(p)
    along = np.where(way == 0, np.array([1.0, 0.0, 0.0]), p / np.where(way == 0, 1.0, way))
    u = np.where(still, along, q * (sign / n))
    half = np.where(still, 0.0, np.arctan2(n, sign * q0)) + np.pi * turns
    # v = (1 - [w]/2 + k [w]²) p with w = 2 half u and cot(half) = cot(t/2): of p, what is along u stays as it is
    stays = np.dot(u, p) * u
    turned = np.where(still, 0.0, half * (sign * q0 / n)) * (p - stays)
    return np.concatenate([2 * half * u, stays + turned - np.cross(half * u, p)])


# --- group ------------------------------------------------------------------------------------------------------------


@kernel(T=(4, 4))
def inverse(T) -> np.ndarray:
    """T⁻¹ = [Rᵀ -Rᵀp; 0 1], FGL (2.2-27): (4, 4)."""
    Rt = T[:3, :3].T
    return from_rotation_translation(Rt, -(Rt @ T[:3, 3]))


@kernel(T_ab=(4, 4), T_bc=(4, 4))
def compose(T_ab, T_bc) -> np.ndarray:
    """T_ac = T_ab T_bc, last row (0, 0, 0, 1) taken for granted: (4, 4)."""
    R = T_ab[:3, :3]
    return from_rotation_translation(R @ T_bc[:3, :3], R @ T_bc[:3, 3] + T_ab[:3, 3])


@kernel(T=(4, 4), x=3)
def act(T, x) -> np.ndarray:
    """The moved point R x + p (3,) [m]."""
    return T[:3, :3] @ x + T[:3, 3]


def _lower(A, B):
    """[A 0; B A]."""
    return np.block([[A, np.zeros((3, 3))], [B, A]])


@kernel(T=(4, 4))
def Ad(T) -> np.ndarray:
    """Ad(T) = [R 0; [p]R R], PBP (3): (6, 6). Ad(T_ab) takes twists in b to a."""
    R = T[:3, :3]
    return _lower(R, so3.hat(T[:3, 3]) @ R)


@kernel(T=(4, 4), V=6)
def Ad_action(T, V) -> np.ndarray:
    """Ad(T) V = (R w, R v + p × R w): (6,)."""
    # PBP (2), Park (1994), (3): 24 multiplications, 18 additions
    R = T[:3, :3]
    w = R @ V[:3]
    return np.concatenate([w, R @ V[3:] + np.cross(T[:3, 3], w)])


@kernel(T=(4, 4), V=6)
def Ad_inv_action(T, V) -> np.ndarray:
    """Ad(T⁻¹) V = (Rᵀ w, Rᵀ (v - p × w)), without forming T⁻¹: (6,)."""
    Rt, w = T[:3, :3].T, V[:3]
    return np.concatenate([Rt @ w, Rt @ (V[3:] - np.cross(T[:3, 3], w))])


@kernel(T=(4, 4))
def coAd(T) -> np.ndarray:
    """Ad(T)ᵀ, PBP (4): (6, 6). coAd(T_ab) takes wrenches in a to b."""
    return Ad(T).T


@kernel(T=(4, 4), F=6)
def coAd_action(T, F) -> np.ndarray:
    """Ad(T)ᵀ F = (Rᵀ (m - p × f), Rᵀ f), PBP (8)-(11): (6,)."""
    Rt, f = T[:3, :3].T, F[3:]
    return np.concatenate([Rt @ (F[:3] - np.cross(T[:3, 3], f)), Rt @ f])


@kernel(T=(4, 4), F=6)
def coAd_inv_action(T, F) -> np.ndarray:
    """Ad(T⁻¹)ᵀ F = (R m + p × R f, R f), without forming T⁻¹: (6,). Takes wrenches in b to a for T_ab."""
    R = T[:3, :3]
    f = R @ F[3:]
    return np.concatenate([R @ F[:3] + np.cross(T[:3, 3], f), f])


# --- velocities, and derivatives of functions -------------------------------------------------------------------------


@kernel(T=(4, 4), T_dot=(4, 4))
def body_velocity(T, T_dot) -> np.ndarray:
    """(T⁻¹ Ṫ)^vee (6,), the body twist; of T(q) the columns of its body Jacobian, LWC (15), with T_dot = ∂T/∂q_i."""
    Rt = T[:3, :3].T
    return np.concatenate([so3.vee(Rt @ T_dot[:3, :3]), Rt @ T_dot[:3, 3]])


@kernel(T=(4, 4), T_dot=(4, 4))
def space_velocity(T, T_dot) -> np.ndarray:
    """(Ṫ T⁻¹)^vee (6,), the spatial twist."""
    w = so3.vee(T_dot[:3, :3] @ T[:3, :3].T)
    return np.concatenate([w, T_dot[:3, 3] - np.cross(w, T[:3, 3])])


@kernel(T=(4, 4), slope=(4, 4))
def body_derivative(T, slope) -> np.ndarray:
    """Lie derivatives (6,) of a function f at T: d/dt f(T exp(t E_i)) at t = 0 for i = 1 ... 6; LWC (16).

    `slope` (4, 4) is ∂f/∂T by the entries of the matrix, `f.jacobian("T")(T)`; its last row does not count. The first
    three are about the axes of the body, the others along them; f moves with f' · V when T moves with the body twist V.
    See `so3.body_derivative`.
    """
    R, D = T[:3, :3], slope[:3]
    return np.concatenate([so3.body_derivative(R, D[:, :3]), R.T @ D[:, 3]])


@kernel(T=(4, 4), slope=(4, 4))
def space_derivative(T, slope) -> np.ndarray:
    """Lie derivatives (6,) of a function f at T, from the other side: d/dt f(exp(t E_i) T) at t = 0.

    f moves with f' · V when T moves with the spatial twist V. `slope` is as for `body_derivative`.
    """
    R, D = T[:3, :3], slope[:3]
    return np.concatenate([so3.space_derivative(R, D[:, :3]) + np.cross(T[:3, 3], D[:, 3]), D[:, 3]])


# --- derivatives of exp -----------------------------------------------------------------------------------------------


def _dual_span(w, v, a, b, c, da, db, dc):
    """[A 0; B A]: A = a 1 + b [w] + c w wᵀ, B its derivative along v, where a changes by (w·v) da, b by (w·v) db, ...

    SE(3) is SO(3) over the dual numbers w + εv: differentiating a formula on SO(3) once gives the one on SE(3).
    """
    d = np.dot(w, v)
    x, y, z = (db * d) * w + b * v
    u = (0.5 * dc * d) * w + c * v
    diagonal = da * d + 2 * u * w
    uw = np.stack([u[0] * w[1] + u[1] * w[0], u[0] * w[2] + u[2] * w[0], u[1] * w[2] + u[2] * w[1]])
    B = np.array(
        [
            [diagonal[0], uw[0] - z, uw[1] + y],
            [uw[0] + z, diagonal[1], uw[2] - x],
            [uw[1] - y, uw[2] + x, diagonal[2]],
        ]
    )
    return _lower(so3._span(w, a, b, c), B)


@kernel(V=6)
def left_jacobian(V) -> np.ndarray:
    """J with (Ṫ T⁻¹)^vee = J V̇ for T = exp(V), the spatial twist: (6, 6)."""
    w = V[:3]
    _, c1, c2, c3, c4, c5 = series.stumpff(np.dot(w, w), 5)
    # Park (1994), Lemma 5: ∫₀¹ Ad(exp(sV)) ds, integrated; cₙ' = (w·v)(n cₙ₊₂ - cₙ₊₁)
    return _dual_span(w, V[3:], c1, c2, c3, c3 - c2, 2 * c4 - c3, 3 * c5 - c4)


@kernel(V=6)
def left_jacobian_inv(V) -> np.ndarray:
    """Inverse of `left_jacobian`, for |w| < 2π: (6, 6)."""
    w = V[:3]
    t2 = np.dot(w, w)
    k, dk = series.cot_half_and_slope(t2)
    # Park (1994), Lemma 4 and its derivative along v: A = (1 - t² k) 1 - [w]/2 + k w wᵀ
    return _dual_span(w, V[3:], 1 - t2 * k, -0.5, k, -2 * k - t2 * dk, 0.0, dk)


@kernel(V=6)
def right_jacobian(V) -> np.ndarray:
    """J with (T⁻¹ Ṫ)^vee = J V̇ for T = exp(V), the body twist; = left_jacobian(-V): (6, 6)."""
    return left_jacobian(-V)


@kernel(V=6)
def right_jacobian_inv(V) -> np.ndarray:
    """Inverse of `right_jacobian`, for |w| < 2π: (6, 6)."""
    return left_jacobian_inv(-V)


# As in the literature on Lie group integrators (Iserles et al. 2000), d/dt exp(V) = hat(dexp(V) V̇) exp(V).
dexp = left_jacobian
dexp_inv = left_jacobian_inv


# --- interpolation and distance ---------------------------------------------------------------------------------------


@kernel(T_0=(4, 4), T_1=(4, 4))
def interpolate(T_0, T_1, s) -> np.ndarray:
    """Point s of the screw motion from T_0 (s = 0) to T_1 (s = 1): T_0 exp(s log(T_0⁻¹ T_1)), (4, 4)."""
    return compose(T_0, exp(s * log(compose(inverse(T_0), T_1))))


@kernel(T_0=(4, 4), T_1=(4, 4))
def distance(T_0, T_1, length=1.0) -> np.ndarray:
    """√(length² angle² + |p_1 - p_0|²) [m]: geodesic distance of the left-invariant metric length² |w|² + |v|².

    `length` [m] says how many metres one radian counts; no metric on SE(3) is bi-invariant (Park 1995, "Distance
    metrics on the rigid-body motions", J. Mech. Des. 117). Slope 0 where T_0 = T_1 (a kink).
    """
    w = so3.log(T_0[:3, :3].T @ T_1[:3, :3])
    return series.norm(np.concatenate([length * w, T_1[:3, 3] - T_0[:3, 3]]))
