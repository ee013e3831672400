"""SO(3): rotation matrices R (3, 3), and so(3), whose elements are rotation vectors w (3,) [rad].

R_ab maps b-coordinates to a-coordinates. [w] is the skew matrix of w, t = |w| is the angle. All conventions are in
`adjoint.lie`. References:

- Park (1994), "Computational aspects of the product-of-exponentials formula for robot kinematics", IEEE TAC 39(3).
- FGL: Fu, Gonzalez & Lee (1987), "Robotics: Control, Sensing, Vision, and Intelligence", McGraw-Hill.
- LWC: Lee, Wang & Chirikjian (2007), "O(n) mass matrix inversion for serial manipulators and polypeptide chains using
  Lie derivatives", Robotica 25(6).
"""

from typing import NamedTuple

import numpy as np

from ..compile import kernel
from ..randomness import Rng, batch_shape, generator, rng_by_keyword
from . import series
from .rotation_forms import spanned, unscaled_quat

__all__ = [
    "Ad",
    "Ad_action",
    "AxisAngle",
    "act",
    "ad",
    "ad_action",
    "body_derivative",
    "body_velocity",
    "bracket",
    "coAd",
    "coAd_action",
    "coad",
    "coad_action",
    "compose",
    "dexp",
    "dexp_inv",
    "distance",
    "euler_zxz_jacobian",
    "euler_zxz_jacobian_inv",
    "exp",
    "from_axis_angle",
    "from_euler_zxz",
    "from_euler_zyz",
    "from_oat",
    "from_quat_wxyz",
    "from_rpy",
    "hat",
    "identity",
    "inverse",
    "left_jacobian",
    "left_jacobian_inv",
    "log",
    "log_branch",
    "project",
    "random",
    "right_jacobian",
    "right_jacobian_inv",
    "rotation_x",
    "rotation_y",
    "rotation_z",
    "slerp",
    "space_derivative",
    "space_velocity",
    "to_axis_angle",
    "to_euler_zxz",
    "to_euler_zyz",
    "to_oat",
    "to_quat_wxyz",
    "to_rpy",
    "vee",
]


def __dir__() -> list[str]:
    return __all__


_TINY = 1e-30  # square of a few rounding errors: below it an Euler triple counts as degenerate


class AxisAngle(NamedTuple):
    """A rotation by `angle` in [0, π] [rad] about the unit vector `axis` (3,)."""

    axis: np.ndarray
    angle: np.ndarray


# --- build ------------------------------------------------------------------------------------------------------------


def identity() -> np.ndarray:
    """Return the identity rotation, a matrix (3, 3)."""
    return np.eye(3)


@rng_by_keyword
def random(shape: int | tuple[int, ...] = (), *, rng: Rng = None) -> np.ndarray:
    """Return random rotations (*shape, 3, 3), uniform in the Haar measure; `rng` is a generator, a seed, or None.

    >>> so3.random(5, rng=0).shape
    (5, 3, 3)
    """
    shape = batch_shape(shape, "so3.random")
    return from_quat_wxyz(generator(rng, "so3.random").standard_normal((*shape, 4)))


@kernel
def rotation_x(angle) -> np.ndarray:
    """Return the rotation (3, 3) about the x axis by `angle` [rad]; Fu, Gonzalez & Lee (1987), (2.2-12)."""
    s, c = np.sin(angle), np.cos(angle)
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])


@kernel
def rotation_y(angle) -> np.ndarray:
    """Return the rotation (3, 3) about the y axis by `angle` [rad]; Fu, Gonzalez & Lee (1987), (2.2-13)."""
    s, c = np.sin(angle), np.cos(angle)
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


@kernel
def rotation_z(angle) -> np.ndarray:
    """Return the rotation (3, 3) about the z axis by `angle` [rad]; Fu, Gonzalez & Lee (1987), (2.2-13)."""
    s, c = np.sin(angle), np.cos(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


@kernel(q=4)
def from_quat_wxyz(q) -> np.ndarray:
    """Return the rotation (3, 3) of the quaternion q = (w, x, y, z), scalar first.

    The quaternion may have any length but zero, which gives NaN. In float32 its length must be between 1e-19 and 1e19.

        >>> so3.from_quat_wxyz([1, 0, 0, 1])  # a quarter turn about z
        array([[ 0., -1.,  0.],
               [ 1.,  0.,  0.],
               [ 0.,  0.,  1.]])
    """
    q = series.moderate(q)
    w, x, y, z = q
    s = 2 / np.dot(q, q)
    sx, sy, sz = s * x, s * y, s * z
    wx, wy, wz = sx * w, sy * w, sz * w
    xx, xy, xz, yy, yz, zz = sx * x, sx * y, sx * z, sy * y, sy * z, sz * z
    return np.array([[1 - yy - zz, xy - wz, xz + wy], [xy + wz, 1 - xx - zz, yz - wx], [xz - wy, yz + wx, 1 - xx - yy]])


@kernel(axis=3)
def from_axis_angle(axis, angle) -> np.ndarray:
    """Return the rotation (3, 3) by `angle` [rad] about `axis` (3,), which may have any length but zero.

    Fu, Gonzalez & Lee (1987), (2.2-16).
    """
    u = series.unit(axis)
    s = np.sin(0.5 * angle)
    return spanned(u, np.cos(angle), np.sin(angle), 2 * s * s)


@kernel(angles=3)
def from_euler_zxz(angles) -> np.ndarray:
    """Return R = Rz(φ) Rx(θ) Rz(ψ) (3, 3) of `angles` = (φ, θ, ψ) (3,) [rad].

    These are the Euler angles I of Fu, Gonzalez & Lee (1987), (2.2-17).
    """
    phi, theta, psi = angles
    return rotation_z(phi) @ rotation_x(theta) @ rotation_z(psi)


@kernel(angles=3)
def from_euler_zyz(angles) -> np.ndarray:
    """Return R = Rz(φ) Ry(θ) Rz(ψ) (3, 3) of `angles` = (φ, θ, ψ) (3,) [rad].

    These are the Euler angles II of Fu, Gonzalez & Lee (1987), (2.2-18), and the joint angles of a spherical wrist.
    """
    phi, theta, psi = angles
    return rotation_z(phi) @ rotation_y(theta) @ rotation_z(psi)


@kernel(rpy=3)
def from_rpy(rpy) -> np.ndarray:
    """Return R = Rz(yaw) Ry(pitch) Rx(roll) (3, 3) of `rpy` = (roll, pitch, yaw) (3,) [rad], as in URDF and aerospace.

    Fu, Gonzalez & Lee (1987), (2.2-19), have the same matrix with two names exchanged: their "roll" φ turns about z and
    their "yaw" ψ about x. The book's (φ, θ, ψ) is from_rpy((ψ, θ, φ)).
    """
    roll, pitch, yaw = rpy
    return rotation_z(yaw) @ rotation_y(pitch) @ rotation_x(roll)


@kernel(angles=3)
def from_oat(angles) -> np.ndarray:
    """Return R = Rz(O) B Ry(A) Rz(T) (3, 3) of `angles` = (O, A, T) (3,) [rad], with the constant matrix B of the book.

    O, A and T are the orientation, altitude and tool angles of the PUMA robot; Fu, Gonzalez & Lee (1987), (2.3-22).
    """
    orientation, altitude, tool = angles
    B = np.array([[0, 1, 0], [0, 0, -1], [-1, 0, 0]])
    return rotation_z(orientation) @ B @ rotation_y(altitude) @ rotation_z(tool)


@kernel(M=(3, 3))
def project(M) -> np.ndarray:
    """Return the rotation (3, 3) nearest to M (3, 3) in the Frobenius norm.

    It is the orthogonal factor of the polar decomposition of M. If det M <= 0, this factor is not a rotation and the
    result is NaN. R Rᵀ = 1 holds to rounding; the error of R itself is about 1e-15 σ₁/(σ₂ + σ₃), with the singular
    values σ of M, which is the conditioning of the problem.

    The method is nine steps of Newton's iteration X ← (γX + X⁻ᵀ/γ)/2 with Frobenius scaling γ, which are enough for
    condition numbers up to 1e10 (Higham 2008, "Functions of Matrices", §8.6).
    """
    X = M
    for _ in range(9):
        a, b, c = X.T
        bc = np.cross(b, c)
        Y = np.stack([bc, np.cross(c, a), np.cross(a, b)]).T  # X⁻ᵀ det X
        det = np.dot(a, bc)
        gamma2 = np.sqrt(np.sum(Y * Y) / np.sum(X * X)) / np.abs(det)
        gamma = np.sqrt(gamma2)
        X = (0.5 * gamma) * X + (0.5 / (gamma * det)) * Y
    return np.where(np.dot(X[:, 0], np.cross(X[:, 1], X[:, 2])) > 0, X, np.nan)


# --- read -------------------------------------------------------------------------------------------------------------


@kernel(R=(3, 3))
def to_quat_wxyz(R) -> np.ndarray:
    """Return the unit quaternion (w, x, y, z) (4,) of R (3, 3), scalar first, with w >= 0.

    At the angle π, where w = 0, the entry of largest magnitude is positive.
    """
    w, v, n2 = unscaled_quat(R)
    scale = np.where(w < 0, -1.0, 1.0) / np.sqrt(w * w + n2)
    return np.concatenate([np.array([w * scale]), v * scale])


@kernel(R=(3, 3))
def to_axis_angle(R) -> AxisAngle:
    """Return the `AxisAngle` of R (3, 3): its unit axis (3,) and its angle in [0, π] [rad].

    The identity has no axis; (1, 0, 0) is returned for it.
    """
    w, v, n2 = unscaled_quat(R)
    still = n2 == 0
    sign = np.where(w < 0, -1.0, 1.0)
    n = np.sqrt(np.where(still, 1.0, n2))
    axis = np.where(still, np.array([1.0, 0.0, 0.0]), v * (sign / n))
    return AxisAngle(axis, np.where(still, 0.0, 2 * np.arctan2(n, sign * w)))


def _angle(y, x):
    """Return atan2(y, x) in (-π, π]; y = -0.0 gives π like y = 0.0, not -π."""
    angle = np.arctan2(y, x)
    return np.where(angle <= -np.pi, angle + 2 * np.pi, angle)


def _last_angle(y, x):
    """Return (angle, sin, cos, h) with (y, x) = h (sin, cos); the angle is 0 where h = 0, for zeros of any sign."""
    h2 = x * x + y * y
    degenerate = h2 <= _TINY
    h = np.sqrt(np.where(degenerate, 1.0, h2))
    y, x = np.where(degenerate, 0.0, y), np.where(degenerate, 1.0, x)
    return _angle(y, x), y / h, x / h, np.where(degenerate, 0.0, h)


@kernel(R=(3, 3))
def to_euler_zxz(R) -> np.ndarray:
    """Return (φ, θ, ψ) (3,) [rad] with R = Rz(φ) Rx(θ) Rz(ψ) and θ in [0, π].

    Where sin θ = 0 only φ + ψ or φ - ψ is determined, and ψ = 0 is returned. The other triple of the same rotation is
    (φ + π, -θ, ψ + π). Fu, Gonzalez & Lee (1987), (2.3-15)-(2.3-21).
    """
    psi, s, c, h = _last_angle(R[2, 0], R[2, 1])
    n = R[:, 0] * c - R[:, 1] * s  # first column of R Rz(-ψ) = Rz(φ) Rx(θ)
    return np.array([_angle(n[1], n[0]), _angle(h, R[2, 2]), psi])


@kernel(angles=3)
def euler_zxz_jacobian(angles) -> np.ndarray:
    """Return J (3, 3) with w = J (φ̇, θ̇, ψ̇), the body angular velocity [rad/s] of R = Rz(φ) Rx(θ) Rz(ψ).

    The columns of J are vee(Rᵀ ∂R/∂angle). det J = -sin θ: at θ = 0 and θ = π, two of the angles turn about the same
    axis.

        w = so3.euler_zxz_jacobian(angles) @ rates

    Lee, Wang & Chirikjian (2007), (11) and (12).
    """
    _, theta, psi = angles
    st, ct, sp, cp = np.sin(theta), np.cos(theta), np.sin(psi), np.cos(psi)
    return np.array([[st * sp, cp, 0], [st * cp, -sp, 0], [ct, 0, 1]])


@kernel(angles=3)
def euler_zxz_jacobian_inv(angles) -> np.ndarray:
    """Return the inverse (3, 3) of `euler_zxz_jacobian`; its entries are infinite or NaN where sin θ = 0.

    It turns derivatives by the angles into Lie derivatives: the `body_derivative` of f is ∂f/∂angles @ J⁻¹. Lee, Wang &
    Chirikjian (2007), §3.3 and (17).
    """
    _, theta, psi = angles
    st, ct, sp, cp = np.sin(theta), np.cos(theta), np.sin(psi), np.cos(psi)
    s, c = sp / st, cp / st
    return np.array([[s, c, 0], [cp, -sp, 0], [-ct * s, -ct * c, 1]])


@kernel(R=(3, 3))
def to_euler_zyz(R) -> np.ndarray:
    """Return (φ, θ, ψ) (3,) [rad] with R = Rz(φ) Ry(θ) Rz(ψ) and θ in [0, π].

    Where sin θ = 0 only φ + ψ or φ - ψ is determined, and ψ = 0 is returned. The other triple of the same rotation is
    (φ + π, -θ, ψ + π).
    """
    psi, s, c, h = _last_angle(R[2, 1], -R[2, 0])
    m = R[:, 0] * s + R[:, 1] * c  # second column of R Rz(-ψ) = Rz(φ) Ry(θ)
    return np.array([_angle(-m[0], m[1]), _angle(h, R[2, 2]), psi])


@kernel(R=(3, 3))
def to_rpy(R) -> np.ndarray:
    """Return (roll, pitch, yaw) (3,) [rad] with R = Rz(yaw) Ry(pitch) Rx(roll) and |pitch| <= π/2.

    At pitch = ±π/2 only a sum or difference of roll and yaw is determined, and roll = 0 is returned. The other triple
    of the same rotation is (roll + π, π - pitch, yaw + π). `from_rpy` tells which names Fu, Gonzalez & Lee use.
    """
    roll, s, c, h = _last_angle(R[2, 1], R[2, 2])
    m = R[:, 1] * c - R[:, 2] * s  # second column of R Rx(-roll) = Rz(yaw) Ry(pitch)
    return np.array([roll, _angle(-R[2, 0], h), _angle(-m[0], m[1])])


@kernel(R=(3, 3))
def to_oat(R) -> np.ndarray:
    """Return PUMA's angles (O, A, T) (3,) [rad] of R (3, 3) with |A| <= π/2: the inverse of `from_oat`.

    At A = ±π/2, T = 0 is returned. Fu, Gonzalez & Lee (1987), (2.3-22)-(2.3-29).
    """
    tool, s, c, h = _last_angle(R[2, 1], -R[2, 0])
    m = R[:, 0] * s + R[:, 1] * c  # second column of R Rz(-T) = Rz(O) B Ry(A)
    return np.array([_angle(m[1], m[0]), _angle(-R[2, 2], h), tool])


# --- algebra ----------------------------------------------------------------------------------------------------------


@kernel(w=3)
def hat(w) -> np.ndarray:
    """Return the skew matrix [w] (3, 3) of w (3,), with [w] x = w × x. It is also `ad(w)`."""
    x, y, z = w
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


@kernel(W=(3, 3))
def vee(W) -> np.ndarray:
    """Return the vector w (3,) of a skew matrix [w] (3, 3); of any other matrix, the vector of its skew part."""
    return 0.5 * np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]])


@kernel(w=3, u=3)
def bracket(w, u) -> np.ndarray:
    """Return [w, u] = ad(w) u = w × u (3,). `ad_action` is another name of this function."""
    return np.cross(w, u)


ad = hat  # ad(w) = [w]
ad_action = bracket


@kernel(w=3)
def coad(w) -> np.ndarray:
    """Return ad(w)ᵀ = -[w] (3, 3)."""
    return hat(-w)


@kernel(w=3, m=3)
def coad_action(w, m) -> np.ndarray:
    """Return ad(w)ᵀ m = m × w (3,)."""
    return np.cross(m, w)


# --- exp and log ------------------------------------------------------------------------------------------------------


@kernel(w=3)
def exp(w) -> np.ndarray:
    """Return the rotation exp([w]) (3, 3) by the angle |w| [rad] about w, for any rotation vector w (3,).

        >>> so3.exp([0, 0, np.pi / 2]).round(12) + 0.0
        array([[ 0., -1.,  0.],
               [ 1.,  0.,  0.],
               [ 0.,  0.,  1.]])

    Park (1994), Lemma 1.
    """
    c0, c1, c2 = series.stumpff(np.dot(w, w), 2)
    # Park (1994), Lemma 1: R = 1 + sin t/t [w] + (1 - cos t)/t² [w]²
    return spanned(w, c0, c1, c2)


@kernel(R=(3, 3))
def log(R) -> np.ndarray:
    """Return the rotation vector w (3,) [rad] of R (3, 3) with |w| <= π: the inverse of `exp`, accurate at every angle.

    At the angle π both w and -w are logarithms; the one whose entry of largest magnitude is positive is returned. Park
    (1994), Lemma 3 and Remark 1.
    """
    # Park (1994), Lemma 3 and Remark 1, by way of the quaternion: Lemma 3 as printed is 0/0 at trace 3 and -1.
    w, v, n2 = unscaled_quat(R)
    return series.log_scale(w, n2) * v


@kernel(R=(3, 3))
def log_branch(R, turns) -> np.ndarray:
    """Return the rotation vector (t + 2π turns) u (3,) of R, which has `turns` whole turns more than log(R) = t u.

    exp(log_branch(R, k)) = R for every whole number k, negative ones included, and these are all logarithms of R; k = 0
    is `log`. A half turn, t = π, has two logarithms of length π, which are opposite: k = 0 and k = -1. The axis u of
    the identity could be any; here it is x.

        so3.log_branch(R, np.arange(-2, 3))                                 # (5, 3): five logarithms of one rotation

    Park (1994), Lemma 3 and Remarks 1 and 2.
    """
    u, t = to_axis_angle(R)
    return (t + (2 * np.pi) * turns) * u


# --- group ------------------------------------------------------------------------------------------------------------


@kernel(R=(3, 3))
def inverse(R) -> np.ndarray:
    """Return R⁻¹ = Rᵀ (3, 3)."""
    return R.T


@kernel(R_ab=(3, 3), R_bc=(3, 3))
def compose(R_ab, R_bc) -> np.ndarray:
    """Return R_ac = R_ab R_bc (3, 3)."""
    return R_ab @ R_bc


@kernel(R=(3, 3), x=3)
def act(R, x) -> np.ndarray:
    """Return the rotated vector R x (3,). `Ad_action` is another name of this function."""
    return R @ x


@kernel(R=(3, 3))
def Ad(R) -> np.ndarray:
    """Return Ad(R) (3, 3), which is R itself: Ad(R) w = vee(R [w] Rᵀ) = R w."""
    return R


Ad_action = act


@kernel(R=(3, 3))
def coAd(R) -> np.ndarray:
    """Return Ad(R)ᵀ = Rᵀ (3, 3)."""
    return R.T


@kernel(R=(3, 3), m=3)
def coAd_action(R, m) -> np.ndarray:
    """Return Ad(R)ᵀ m = Rᵀ m (3,), which is also Ad(R⁻¹) m."""
    return R.T @ m


# --- velocities, and derivatives of functions -------------------------------------------------------------------------


@kernel(R=(3, 3), R_dot=(3, 3))
def body_velocity(R, R_dot) -> np.ndarray:
    """Return vee(Rᵀ Ṙ) (3,) [rad/s], the angular velocity along the axes of the body.

    For a rotation A(q), body_velocity(A, ∂A/∂q_i) is column i of its body Jacobian. Lee, Wang & Chirikjian (2007), (10)
    and (11).
    """
    return vee(R.T @ R_dot)


@kernel(R=(3, 3), R_dot=(3, 3))
def space_velocity(R, R_dot) -> np.ndarray:
    """Return vee(Ṙ Rᵀ) (3,) [rad/s], the angular velocity along the axes of space."""
    return vee(R_dot @ R.T)


@kernel(R=(3, 3), slope=(3, 3))
def body_derivative(R, slope) -> np.ndarray:
    """Return the Lie derivatives d/dt f(R exp(t e_i)) at t = 0, i = 1, 2, 3, of a function f at R: an array (3,).

    `slope` (3, 3) is ∂f/∂R by the entries of the matrix, which `f.jacobian("R")(R)` computes; the values of f off the
    group do not matter. If R moves with the body velocity w, then f changes at the rate body_derivative · w.

        @kernel(R=(3, 3))
        def height(R): return R[2, 0]                                       # of the tip of the x axis

        so3.body_derivative(R, height.jacobian("R")(R))                     # (0, -R[2, 2], R[2, 1])

    For a function with k values the slopes are (k, 3, 3): give R[None], or call this for each value inside a kernel.
    These are derivatives along left-invariant vector fields; Lee, Wang & Chirikjian (2007), (13).
    """
    # Σ_jk slope_jk (R [w])_jk = Σ_j slope_j · (r_j × w), with the rows r_j of R
    return np.sum(np.cross(slope, R), axis=0)


@kernel(R=(3, 3), slope=(3, 3))
def space_derivative(R, slope) -> np.ndarray:
    """Return the Lie derivatives d/dt f(exp(t e_i) R) at t = 0, i = 1, 2, 3, of a function f at R: an array (3,).

    If R moves with the space velocity w, then f changes at the rate space_derivative · w. `slope` (3, 3) is ∂f/∂R as
    for `body_derivative`, and the result is R times the result of that function. These are derivatives along
    right-invariant vector fields.
    """
    return np.sum(np.cross(R.T, slope.T), axis=0)


# --- derivatives of exp -----------------------------------------------------------------------------------------------


@kernel(w=3)
def left_jacobian(w) -> np.ndarray:
    """Return J (3, 3) such that the spatial angular velocity of R = exp(w) is J ẇ: Ṙ Rᵀ = [J ẇ].

    This function is also called `dexp`. J = 1 + (1 - cos t)/t² [w] + (t - sin t)/t³ [w]²; Park (1994), Lemma 5.
    """
    _, c1, c2, c3 = series.stumpff(np.dot(w, w), 3)
    # Park (1994), Lemma 5: ∫₀¹ exp(s[w]) ds = 1 + (1 - cos t)/t² [w] + (t - sin t)/t³ [w]²
    return spanned(w, c1, c2, c3)


@kernel(w=3)
def left_jacobian_inv(w) -> np.ndarray:
    """Return the inverse (3, 3) of `left_jacobian`, for |w| < 2π. It is also called `dexp_inv`.

    J⁻¹ = 1 - [w]/2 + k [w]² with k = (1 - (t/2) cot(t/2))/t²; Park (1994), Lemma 4.
    """
    t2 = np.dot(w, w)
    k = series.cot_half(t2)
    # Park (1994), Lemma 4: 1 - [w]/2 + k [w]²
    return spanned(w, 1 - t2 * k, -0.5, k)


@kernel(w=3)
def right_jacobian(w) -> np.ndarray:
    """Return J (3, 3) such that the body angular velocity of R = exp(w) is J ẇ: Rᵀ Ṙ = [J ẇ]. J = left_jacobian(-w)."""
    return left_jacobian(-w)


@kernel(w=3)
def right_jacobian_inv(w) -> np.ndarray:
    """Return the inverse (3, 3) of `right_jacobian`, for |w| < 2π."""
    return left_jacobian_inv(-w)


# As in the literature on Lie group integrators (Iserles et al. 2000): d/dt exp(w) = [dexp(w) ẇ] exp(w).
dexp = left_jacobian
dexp_inv = left_jacobian_inv


# --- interpolation and distance ---------------------------------------------------------------------------------------


@kernel(R_0=(3, 3), R_1=(3, 3))
def slerp(R_0, R_1, s) -> np.ndarray:
    """Return R_0 exp(s log(R_0ᵀ R_1)) (3, 3): the point s of the geodesic from R_0 (s = 0) to R_1 (s = 1).

    The angular velocity is constant along the geodesic. s may lie outside [0, 1].
    """
    return R_0 @ exp(s * log(R_0.T @ R_1))


@kernel(R_0=(3, 3), R_1=(3, 3))
def distance(R_0, R_1) -> np.ndarray:
    """Return the angle in [0, π] [rad] of the rotation from R_0 to R_1: the bi-invariant distance on SO(3).

    At R_0 = R_1, where the distance has a kink, its derivative is defined to be 0.
    """
    return series.norm(log(R_0.T @ R_1))
