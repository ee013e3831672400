"""SE(3): rigid motions T = [R p; 0 1] (4, 4), and se(3), whose elements are twists V = (w, v) (6,).

T_ab maps b-coordinates to a-coordinates. A wrench F = (m, f) (6,) is dual to a twist. Ad and ad act on twists, their
plain transposes coAd and coad on wrenches; `Ad` is the 6x6 matrix and `Ad_action` applies it without forming it, and so
on. Lengths are in m, angles in rad, t = |w|. All conventions are in `adjoint.lie`. References:

- Park (1994), FGL and LWC are as in `so3`.
- PBP: Park, Bobrow & Ploen (1995), "A Lie group formulation of robot dynamics", IJRR 14(6).
"""

from typing import NamedTuple

import numpy as np

from ..compile import kernel
from ..randomness import Rng, batch_shape, generator, rng_by_keyword
from . import series, so3
from .rotation_forms import spanned, unscaled_quat

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


def __dir__() -> list[str]:
    return __all__


class Screw(NamedTuple):
    """The screw of a twist: V = magnitude · screw(direction, point, pitch).

    `direction` (3,) is the unit vector along the axis and `point` (3,) [m] a point of the axis; `pitch` [m/rad] is
    infinite for a translation; `magnitude` is in rad, for a translation in m.
    """

    direction: np.ndarray
    point: np.ndarray
    pitch: np.ndarray
    magnitude: np.ndarray


# --- build ------------------------------------------------------------------------------------------------------------


def identity() -> np.ndarray:
    """Return the identity motion, a matrix (4, 4)."""
    return np.eye(4)


@rng_by_keyword
def random(shape: int | tuple[int, ...] = (), *, rng: Rng = None, scale: float = 1.0) -> np.ndarray:
    """Return random motions (*shape, 4, 4).

    Rotations are uniform, translations are normally distributed with the standard deviation `scale` [m]. `rng` is a
    generator, a seed, or None.
    """
    shape, rng = batch_shape(shape, "se3.random"), generator(rng, "se3.random")
    return from_rotation_translation(so3.random(shape, rng=rng), scale * rng.standard_normal((*shape, 3)))


@kernel(R=(3, 3), p=3)
def from_rotation_translation(R, p) -> np.ndarray:
    """Return T = [R p; 0 1] (4, 4) of a rotation R (3, 3) and a translation p (3,) [m]."""
    return np.block([[R, p[:, None]], [np.array([[0.0, 0.0, 0.0, 1.0]])]])


@kernel(pose=7)
def from_xyz_quat_wxyz(pose) -> np.ndarray:
    """Return T (4, 4) of pose = (x, y, z, qw, qx, qy, qz) (7,): position [m], then quaternion, scalar first.

    The quaternion may have any length but zero.
    """
    return from_rotation_translation(so3.from_quat_wxyz(pose[3:]), pose[:3])


@kernel(direction=3, point=3)
def screw(direction, point, pitch) -> np.ndarray:
    """Return the unit twist (6,) of the screw along `direction` (3,) through `point` (3,) [m] with `pitch` [m/rad].

    With the unit vector u along the direction it is (u, -u × point + pitch u), or (0, u) for an infinite pitch. The
    direction may have any length but zero. Pitch 0 is a revolute joint, pitch inf a prismatic one.

        >>> se3.screw([0, 0, 2], [1, 0, 0], 0.0)  # a revolute joint along z through x = 1
        array([ 0.,  0.,  1.,  0., -1.,  0.])
    """
    u = series.unit(direction)
    turns = np.abs(pitch) < np.inf
    moment = np.cross(point, u) + np.where(turns, pitch, 0.0) * u  # v = -u × point + h u
    return np.concatenate([np.where(turns, u, 0.0), np.where(turns, moment, u)])


@kernel(direction=3)
def prismatic(direction) -> np.ndarray:
    """Return the unit twist (0, u) (6,) of a translation along `direction` (3,), which may have any length but zero."""
    return np.concatenate([np.zeros(3), series.unit(direction)])


@kernel(M=(4, 4))
def project(M) -> np.ndarray:
    """Return the motion (4, 4) nearest to M (4, 4).

    Its rotation is `so3.project` of the 3x3 part, its translation is that of M, and its last row is (0, 0, 0, 1).
    """
    return from_rotation_translation(so3.project(M[:3, :3]), M[:3, 3])


# --- read -------------------------------------------------------------------------------------------------------------


@kernel(T=(4, 4))
def rotation(T) -> np.ndarray:
    """Return the rotation R (3, 3) of T (4, 4)."""
    return T[:3, :3]


@kernel(T=(4, 4))
def translation(T) -> np.ndarray:
    """Return the translation p (3,) [m] of T (4, 4)."""
    return T[:3, 3]


@kernel(T=(4, 4))
def to_xyz_quat_wxyz(T) -> np.ndarray:
    """Return the pose (x, y, z, qw, qx, qy, qz) (7,) of T (4, 4).

    It is the position [m] and then the unit quaternion, scalar first, with qw >= 0.
    """
    return np.concatenate([T[:3, 3], so3.to_quat_wxyz(T[:3, :3])])


@kernel(V=6)
def screw_parameters(V) -> Screw:
    """Return the `Screw` of a twist V (6,): V = magnitude · screw(direction, point, pitch).

    The point is that of the axis nearest to the origin. The magnitude is |w| [rad]. For a translation, w = 0, the
    magnitude is |v| [m], the pitch infinite and the point 0; V = 0 counts as a translation along x.
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
    """Return the 4x4 matrix [[w] v; 0 0] of a twist V = (w, v) (6,)."""
    return np.block([[so3.hat(V[:3]), V[3:, None]], [np.zeros((1, 4))]])


@kernel(X=(4, 4))
def vee(X) -> np.ndarray:
    """Return the twist (w, v) (6,) of a 4x4 matrix [[w] v; 0 0]."""
    return np.concatenate([so3.vee(X[:3, :3]), X[:3, 3]])


@kernel(V=6, W=6)
def bracket(V, W) -> np.ndarray:
    """Return [V, W] = ad(V) W = (w₁ × w₂, w₁ × v₂ - w₂ × v₁) (6,). `ad_action` is another name of this function.

    Park, Bobrow & Ploen (1995), (1) and (5).
    """
    # PBP (1), (5): (w₁ × w₂, w₁ × v₂ - w₂ × v₁)
    return np.concatenate([np.cross(V[:3], W[:3]), np.cross(V[:3], W[3:]) + np.cross(V[3:], W[:3])])


ad_action = bracket


@kernel(V=6)
def ad(V) -> np.ndarray:
    """Return ad(V) = [[w] 0; [v] [w]] (6, 6); Park, Bobrow & Ploen (1995), (6)."""
    return _lower(so3.hat(V[:3]), so3.hat(V[3:]))


@kernel(V=6)
def coad(V) -> np.ndarray:
    """Return ad(V)ᵀ = [-[w] -[v]; 0 -[w]] (6, 6); Park, Bobrow & Ploen (1995), (7)."""
    return ad(V).T


@kernel(V=6, F=6)
def coad_action(V, F) -> np.ndarray:
    """Return ad(V)ᵀ F = (m × w + f × v, f × w) (6,) of a twist V = (w, v) and a wrench F = (m, f)."""
    w, v, m, f = V[:3], V[3:], F[:3], F[3:]
    return np.concatenate([np.cross(m, w) + np.cross(f, v), np.cross(f, w)])


# --- exp and log ------------------------------------------------------------------------------------------------------


@kernel(V=6)
def exp(V) -> np.ndarray:
    """Return the motion exp(hat(V)) (4, 4) along the screw of a twist V (6,) for unit time; translations are included.

        >>> se3.exp([0, 0, 0, 1, 2, 3])
        array([[1., 0., 0., 1.],
               [0., 1., 0., 2.],
               [0., 0., 1., 3.],
               [0., 0., 0., 1.]])

    Park (1994), Lemma 2.
    """
    w, v = V[:3], V[3:]
    c0, c1, c2, c3 = series.stumpff(np.dot(w, w), 3)
    # Park (1994), Lemma 2: p = (1 + c₂ [w] + c₃ [w]²) v, where [w]² = w wᵀ - t² 1 and 1 - t² c₃ = c₁
    p = c1 * v + np.cross(c2 * w, v) + (c3 * np.dot(w, v)) * w
    return from_rotation_translation(spanned(w, c0, c1, c2), p)


@kernel(T=(4, 4))
def log(T) -> np.ndarray:
    """Return the twist V (6,) with exp(V) = T and |w| <= π: the inverse of `exp`, accurate at every angle, π included.

    Park (1994), Lemma 4.
    """
    p = T[:3, 3]
    q0, q, n2 = unscaled_quat(T[:3, :3])
    r, k = series.log_scales(q0, n2)
    w = r * q
    # Park (1994), Lemma 4: v = (1 - [w]/2 + k [w]²) p, with k as in `series.cot_half`
    wp = np.cross(w, p)
    return np.concatenate([w, p - 0.5 * wp + np.cross(k * w, wp)])


@kernel(T=(4, 4))
def log_branch(T, turns) -> np.ndarray:
    """Return the twist V (6,) with exp(V) = T that turns `turns` whole turns more than log(T): |w| = |t + 2π turns|.

    exp(log_branch(T, k)) = T for every whole number k, negative ones included. If T turns at all, these are all of its
    logarithms; k = 0 is `log`. A half turn, t = π, has two logarithms with |w| = π: k = 0 and k = -1.

    A pure translation could turn about any axis along its direction; the axis through the origin is taken, and x for
    the identity. Close to a pure translation the branches other than 0 are ill-conditioned: |v| grows with 1/t, because
    the axis must lie far away.

        se3.log_branch(T, np.arange(-2, 3))                                 # (5, 6): five logarithms of one motion

    Park (1994), Lemma 4 and Remarks 1 and 2.
    """
    p = T[:3, 3]
    q0, q, n2 = unscaled_quat(T[:3, :3])
    still = n2 == 0
    n, sign = np.sqrt(np.where(still, 1.0, n2)), np.where(q0 < 0, -1.0, 1.0)
    way = series.norm(p)
    along = np.where(way == 0, np.array([1.0, 0.0, 0.0]), p / np.where(way == 0, 1.0, way))
    u = np.where(still, along, q * (sign / n))
    half = np.where(still, 0.0, np.arctan2(n, sign * q0)) + np.pi * turns
    # v = (1 - [w]/2 + k [w]²) p with w = 2 half u and cot(half) = cot(t/2); the part of p along u stays as it is.
    stays = np.dot(u, p) * u
    turned = np.where(still, 0.0, half * (sign * q0 / n)) * (p - stays)
    return np.concatenate([2 * half * u, stays + turned - np.cross(half * u, p)])


# --- group ------------------------------------------------------------------------------------------------------------


@kernel(T=(4, 4))
def inverse(T) -> np.ndarray:
    """Return T⁻¹ = [Rᵀ -Rᵀp; 0 1] (4, 4); Fu, Gonzalez & Lee (1987), (2.2-27)."""
    Rt = T[:3, :3].T
    return from_rotation_translation(Rt, -(Rt @ T[:3, 3]))


@kernel(T_ab=(4, 4), T_bc=(4, 4))
def compose(T_ab, T_bc) -> np.ndarray:
    """Return T_ac = T_ab T_bc (4, 4). The last rows are taken to be (0, 0, 0, 1) and are not read."""
    R = T_ab[:3, :3]
    return from_rotation_translation(R @ T_bc[:3, :3], R @ T_bc[:3, 3] + T_ab[:3, 3])


@kernel(T=(4, 4), x=3)
def act(T, x) -> np.ndarray:
    """Return the moved point R x + p (3,) [m] of x (3,) [m]."""
    return T[:3, :3] @ x + T[:3, 3]


def _lower(A, B):
    """Return the matrix [A 0; B A] (6, 6)."""
    return np.block([[A, np.zeros((3, 3))], [B, A]])


@kernel(T=(4, 4))
def Ad(T) -> np.ndarray:
    """Return Ad(T) = [R 0; [p]R R] (6, 6). Ad(T_ab) takes twists in b to twists in a.

    Park, Bobrow & Ploen (1995), (3).
    """
    R = T[:3, :3]
    return _lower(R, so3.hat(T[:3, 3]) @ R)


@kernel(T=(4, 4), V=6)
def Ad_action(T, V) -> np.ndarray:
    """Return Ad(T) V = (R w, R v + p × R w) (6,), in 24 multiplications and 18 additions.

    Park, Bobrow & Ploen (1995), (2); Park (1994), (3).
    """
    # PBP (2), Park (1994), (3): 24 multiplications, 18 additions
    R = T[:3, :3]
    w = R @ V[:3]
    return np.concatenate([w, R @ V[3:] + np.cross(T[:3, 3], w)])


@kernel(T=(4, 4), V=6)
def Ad_inv_action(T, V) -> np.ndarray:
    """Return Ad(T⁻¹) V = (Rᵀ w, Rᵀ (v - p × w)) (6,), without forming T⁻¹."""
    Rt, w = T[:3, :3].T, V[:3]
    return np.concatenate([Rt @ w, Rt @ (V[3:] - np.cross(T[:3, 3], w))])


@kernel(T=(4, 4))
def coAd(T) -> np.ndarray:
    """Return Ad(T)ᵀ (6, 6). coAd(T_ab) takes wrenches in a to wrenches in b.

    Park, Bobrow & Ploen (1995), (4).
    """
    return Ad(T).T


@kernel(T=(4, 4), F=6)
def coAd_action(T, F) -> np.ndarray:
    """Return Ad(T)ᵀ F = (Rᵀ (m - p × f), Rᵀ f) (6,) of a wrench F = (m, f); Park, Bobrow & Ploen (1995), (8)-(11)."""
    Rt, f = T[:3, :3].T, F[3:]
    return np.concatenate([Rt @ (F[:3] - np.cross(T[:3, 3], f)), Rt @ f])


@kernel(T=(4, 4), F=6)
def coAd_inv_action(T, F) -> np.ndarray:
    """Return Ad(T⁻¹)ᵀ F = (R m + p × R f, R f) (6,), without forming T⁻¹.

    For T_ab it takes wrenches in b to wrenches in a.
    """
    R = T[:3, :3]
    f = R @ F[3:]
    return np.concatenate([R @ F[:3] + np.cross(T[:3, 3], f), f])


# --- velocities, and derivatives of functions -------------------------------------------------------------------------


@kernel(T=(4, 4), T_dot=(4, 4))
def body_velocity(T, T_dot) -> np.ndarray:
    """Return the body twist vee(T⁻¹ Ṫ) (6,) of a moving T.

    For a motion T(q), body_velocity(T, ∂T/∂q_i) is column i of its body Jacobian; Lee, Wang & Chirikjian (2007), (15).
    """
    Rt = T[:3, :3].T
    return np.concatenate([so3.vee(Rt @ T_dot[:3, :3]), Rt @ T_dot[:3, 3]])


@kernel(T=(4, 4), T_dot=(4, 4))
def space_velocity(T, T_dot) -> np.ndarray:
    """Return the spatial twist vee(Ṫ T⁻¹) (6,) of a moving T."""
    w = so3.vee(T_dot[:3, :3] @ T[:3, :3].T)
    return np.concatenate([w, T_dot[:3, 3] - np.cross(w, T[:3, 3])])


@kernel(T=(4, 4), slope=(4, 4))
def body_derivative(T, slope) -> np.ndarray:
    """Return the Lie derivatives d/dt f(T exp(t E_i)) at t = 0, i = 1 ... 6, of a function f at T: an array (6,).

    The first three are for turns about the axes of the body, the others for translations along them. If T moves with
    the body twist V, then f changes at the rate body_derivative · V. `slope` (4, 4) is ∂f/∂T by the entries of the
    matrix, which `f.jacobian("T")(T)` computes; its last row is not read. `so3.body_derivative` has an example. Lee,
    Wang & Chirikjian (2007), (16).
    """
    R, D = T[:3, :3], slope[:3]
    return np.concatenate([so3.body_derivative(R, D[:, :3]), R.T @ D[:, 3]])


@kernel(T=(4, 4), slope=(4, 4))
def space_derivative(T, slope) -> np.ndarray:
    """Return the Lie derivatives d/dt f(exp(t E_i) T) at t = 0, i = 1 ... 6, of a function f at T: an array (6,).

    If T moves with the spatial twist V, then f changes at the rate space_derivative · V. `slope` (4, 4) is ∂f/∂T as for
    `body_derivative`.
    """
    R, D = T[:3, :3], slope[:3]
    return np.concatenate([so3.space_derivative(R, D[:, :3]) + np.cross(T[:3, 3], D[:, 3]), D[:, 3]])


# --- derivatives of exp -----------------------------------------------------------------------------------------------


def _dual_span(w, v, a, b, c, da, db, dc):
    """Return [A 0; B A], where A = a 1 + b [w] + c w wᵀ, and B is the derivative of A when w moves along v.

    The coefficients change by (w·v) da, (w·v) db and (w·v) dc then. SE(3) is SO(3) over the dual numbers w + εv, so
    differentiating a formula of SO(3) once gives the one of SE(3).
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
    return _lower(spanned(w, a, b, c), B)


@kernel(V=6)
def left_jacobian(V) -> np.ndarray:
    """Return J (6, 6) such that the spatial twist of T = exp(V) is J V̇: vee(Ṫ T⁻¹) = J V̇.

    This function is also called `dexp`. J = ∫₀¹ Ad(exp(s V)) ds; Park (1994), Lemma 5.
    """
    w = V[:3]
    _, c1, c2, c3, c4, c5 = series.stumpff(np.dot(w, w), 5)
    # Park (1994), Lemma 5: ∫₀¹ Ad(exp(sV)) ds, integrated; cₙ' = (w·v)(n cₙ₊₂ - cₙ₊₁)
    return _dual_span(w, V[3:], c1, c2, c3, c3 - c2, 2 * c4 - c3, 3 * c5 - c4)


@kernel(V=6)
def left_jacobian_inv(V) -> np.ndarray:
    """Return the inverse (6, 6) of `left_jacobian`, for |w| < 2π; Park (1994), Lemma 4.

    This function is also called `dexp_inv`.
    """
    w = V[:3]
    t2 = np.dot(w, w)
    k, dk = series.cot_half_and_slope(t2)
    # Park (1994), Lemma 4 and its derivative along v: A = (1 - t² k) 1 - [w]/2 + k w wᵀ
    return _dual_span(w, V[3:], 1 - t2 * k, -0.5, k, -2 * k - t2 * dk, 0.0, dk)


@kernel(V=6)
def right_jacobian(V) -> np.ndarray:
    """Return J (6, 6) such that the body twist of T = exp(V) is J V̇: vee(T⁻¹ Ṫ) = J V̇. J = left_jacobian(-V)."""
    return left_jacobian(-V)


@kernel(V=6)
def right_jacobian_inv(V) -> np.ndarray:
    """Return the inverse (6, 6) of `right_jacobian`, for |w| < 2π."""
    return left_jacobian_inv(-V)


# As in the literature on Lie group integrators (Iserles et al. 2000), d/dt exp(V) = hat(dexp(V) V̇) exp(V).
dexp = left_jacobian
dexp_inv = left_jacobian_inv


# --- interpolation and distance ---------------------------------------------------------------------------------------


@kernel(T_0=(4, 4), T_1=(4, 4))
def interpolate(T_0, T_1, s) -> np.ndarray:
    """Return T_0 exp(s log(T_0⁻¹ T_1)) (4, 4): the point s of the screw motion from T_0 (s = 0) to T_1 (s = 1).

    The body twist is constant along the motion. s may lie outside [0, 1].
    """
    return compose(T_0, exp(s * log(compose(inverse(T_0), T_1))))


@kernel(T_0=(4, 4), T_1=(4, 4))
def distance(T_0, T_1, length=1.0) -> np.ndarray:
    """Return √(length² angle² + |p_1 - p_0|²) [m], the distance between two motions.

    It is the geodesic distance of the left-invariant metric length² |w|² + |v|². `length` [m] says how many metres one
    radian counts for: no metric on SE(3) is bi-invariant (Park 1995, "Distance metrics on the rigid-body motions", J.
    Mech. Des. 117). At T_0 = T_1, where the distance has a kink, its derivative is defined to be 0.
    """
    w = so3.log(T_0[:3, :3].T @ T_1[:3, :3])
    return series.norm(np.concatenate([length * w, T_1[:3, 3] - T_0[:3, 3]]))
