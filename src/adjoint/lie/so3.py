"""SO(3): rotation matrices R (3, 3), R_ab maps b-coordinates to a, and so(3), written as rotation vectors w (3,) [rad].

[w] is the skew matrix of w, t = |w|. Conventions are stated in `adjoint.lie`. References: Park (1994) = "Computational
aspects of the product-of-exponentials formula", IEEE TAC 39(3); FGL = Fu, Gonzalez & Lee, "Robotics" (1987); LWC =
Lee, Wang & Chirikjian (2007), "O(n) mass matrix inversion for serial manipulators ...", Robotica 25(6).
"""

from typing import NamedTuple

import numpy as np

from adjoint.compile import kernel

from . import series

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


_TINY = 1e-30  # square of a few rounding errors: below it an Euler triple counts as degenerate


class AxisAngle(NamedTuple):
    """Unit `axis` (3,) and `angle` in [0, π] rad."""

    axis: np.ndarray
    angle: np.ndarray


# --- build ------------------------------------------------------------------------------------------------------------


def identity() -> np.ndarray:
    """The identity rotation, (3, 3)."""
    return np.eye(3)


def random(rng: np.random.Generator, shape: int | tuple[int, ...] = ()) -> np.ndarray:
    """Rotations of the given batch shape, uniform in the Haar measure: (*shape, 3, 3)."""
    shape = (shape,) if isinstance(shape, int) else shape
    return from_quat_wxyz(rng.standard_normal((*shape, 4)))


@kernel
def rotation_x(angle) -> np.ndarray:
    """Rotation about x by `angle` [rad], FGL (2.2-11): (3, 3)."""
    s, c = np.sin(angle), np.cos(angle)
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])


@kernel
def rotation_y(angle) -> np.ndarray:
    """Rotation about y by `angle` [rad], FGL (2.2-12): (3, 3)."""
    s, c = np.sin(angle), np.cos(angle)
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


@kernel
def rotation_z(angle) -> np.ndarray:
    """Rotation about z by `angle` [rad], FGL (2.2-13): (3, 3)."""
    s, c = np.sin(angle), np.cos(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


@kernel(q=4)
def from_quat_wxyz(q) -> np.ndarray:
    """Rotation of the quaternion q = (w, x, y, z), scalar first, of any length but zero, which gives NaN: (3, 3).

    In float32, lengths are between 1e-19 and 1e19.
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
    """Rotation by `angle` [rad] about `axis` (3,), of any length but zero; FGL (2.2-16): (3, 3)."""
    u = series.unit(axis)
    s = np.sin(0.5 * angle)
    return _span(u, np.cos(angle), np.sin(angle), 2 * s * s)


@kernel(angles=3)
def from_euler_zxz(angles) -> np.ndarray:
    """R = Rz(φ) Rx(θ) Rz(ψ) of (φ, θ, ψ) [rad]: FGL's Euler I, (2.2-17): (3, 3)."""
    phi, theta, psi = angles
    return rotation_z(phi) @ rotation_x(theta) @ rotation_z(psi)


@kernel(angles=3)
def from_euler_zyz(angles) -> np.ndarray:
    """R = Rz(φ) Ry(θ) Rz(ψ) of (φ, θ, ψ) [rad]: FGL's Euler II, (2.2-18), and every spherical wrist: (3, 3)."""
    phi, theta, psi = angles
    return rotation_z(phi) @ rotation_y(theta) @ rotation_z(psi)


@kernel(rpy=3)
def from_rpy(rpy) -> np.ndarray:
    """R = Rz(yaw) Ry(pitch) Rx(roll) of (roll, pitch, yaw) [rad], as in URDF and aerospace: (3, 3).

    FGL (2.2-19) has the same matrix with the names exchanged: its "roll" φ turns about z and its "yaw" ψ about x, so
    the book's (φ, θ, ψ) is from_rpy((ψ, θ, φ)).
    """
    roll, pitch, yaw = rpy
    return rotation_z(yaw) @ rotation_y(pitch) @ rotation_x(roll)


@kernel(angles=3)
def from_oat(angles) -> np.ndarray:
    """R = Rz(O) B Ry(A) Rz(T) of PUMA's orientation, altitude and tool angles [rad]; FGL (2.3-22): (3, 3)."""
    orientation, altitude, tool = angles
    B = np.array([[0, 1, 0], [0, 0, -1], [-1, 0, 0]])
    return rotation_z(orientation) @ B @ rotation_y(altitude) @ rotation_z(tool)


@kernel(M=(3, 3))
def project(M) -> np.ndarray:
    """Rotation nearest to M (3, 3) in the Frobenius norm: the orthogonal factor of its polar decomposition.

    Nine steps of Newton's iteration X ← (γX + X⁻ᵀ/γ)/2 with Frobenius scaling (Higham 2008, "Functions of Matrices",
    §8.6): enough for condition numbers up to 1e10. R Rᵀ = 1 to rounding; R itself is good to 1e-15 σ₁/(σ₂ + σ₃), the
    conditioning of the problem. For det M <= 0 the factor is no rotation, and the result is NaN.
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


def _quat(R):
    """(w, v, v·v): a quaternion of R of length 2 to 4, w of either sign: a row of 4 q qᵀ with a large pivot."""
    x, y, z = R[0, 0], R[1, 1], R[2, 2]
    wx, wy, wz = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    xy, xz, yz = R[0, 1] + R[1, 0], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1]
    trace, x_first, y_first = x + y + z, (x >= y) & (x >= z), y >= z
    w, *v = np.where(
        trace > 0,
        np.array([1 + trace, wx, wy, wz]),
        np.where(
            x_first,
            np.array([wx, 1 + x - y - z, xy, xz]),
            np.where(y_first, np.array([wy, xy, 1 + y - x - z, yz]), np.array([wz, xz, yz, 1 + z - x - y])),
        ),
    )
    v = np.array(v)
    return w, v, np.dot(v, v)


@kernel(R=(3, 3))
def to_quat_wxyz(R) -> np.ndarray:
    """Unit quaternion (w, x, y, z), scalar first, w >= 0, of R: (4,). At angle π the largest entry is positive."""
    w, v, n2 = _quat(R)
    scale = np.where(w < 0, -1.0, 1.0) / np.sqrt(w * w + n2)
    return np.concatenate([np.array([w * scale]), v * scale])


@kernel(R=(3, 3))
def to_axis_angle(R) -> AxisAngle:
    """Unit axis (3,) and angle in [0, π] of R; the axis of the identity is (1, 0, 0) by decree."""
    w, v, n2 = _quat(R)
    still = n2 == 0
    sign = np.where(w < 0, -1.0, 1.0)
    n = np.sqrt(np.where(still, 1.0, n2))
    axis = np.where(still, np.array([1.0, 0.0, 0.0]), v * (sign / n))
    return AxisAngle(axis, np.where(still, 0.0, 2 * np.arctan2(n, sign * w)))


def _angle(y, x):
    """atan2 in (-π, π]: y = -0.0 must not turn π into -π."""
    angle = np.arctan2(y, x)
    return np.where(angle <= -np.pi, angle + 2 * np.pi, angle)


def _last_angle(y, x):
    """(angle, sin, cos, h) of (y, x) = h (sin, cos); angle 0 where h = 0, whatever the signs of the zeros."""
    h2 = x * x + y * y
    degenerate = h2 <= _TINY
    h = np.sqrt(np.where(degenerate, 1.0, h2))
    y, x = np.where(degenerate, 0.0, y), np.where(degenerate, 1.0, x)
    return _angle(y, x), y / h, x / h, np.where(degenerate, 0.0, h)


@kernel(R=(3, 3))
def to_euler_zxz(R) -> np.ndarray:
    """(φ, θ, ψ) of R = Rz(φ) Rx(θ) Rz(ψ), θ in [0, π]; FGL (2.3-15)-(2.3-21): (3,). At sin θ = 0, ψ = 0.

    The other triple is (φ + π, -θ, ψ + π).
    """
    psi, s, c, h = _last_angle(R[2, 0], R[2, 1])
    n = R[:, 0] * c - R[:, 1] * s  # first column of R Rz(-ψ) = Rz(φ) Rx(θ)
    return np.array([_angle(n[1], n[0]), _angle(h, R[2, 2]), psi])


@kernel(angles=3)
def euler_zxz_jacobian(angles) -> np.ndarray:
    """J (3, 3) with w = J (φ̇, θ̇, ψ̇), the body angular velocity of R = Rz(φ) Rx(θ) Rz(ψ); LWC (12).

    Its columns are (Rᵀ ∂R/∂angle)^vee, LWC (11). det J = -sin θ: at θ = 0 and π two of the angles turn about one axis.

        w = so3.euler_zxz_jacobian(angles) @ rates                          # [rad/s], along the body's axes
    """
    _, theta, psi = angles
    st, ct, sp, cp = np.sin(theta), np.cos(theta), np.sin(psi), np.cos(psi)
    return np.array([[st * sp, cp, 0], [st * cp, -sp, 0], [ct, 0, 1]])


@kernel(angles=3)
def euler_zxz_jacobian_inv(angles) -> np.ndarray:
    """Inverse (3, 3) of `euler_zxz_jacobian`, LWC §3.3; infinite or NaN where sin θ = 0.

    Lie derivatives follow from derivatives by the angles, LWC (17): `body_derivative` of f is ∂f/∂angles @ J⁻¹.
    """
    _, theta, psi = angles
    st, ct, sp, cp = np.sin(theta), np.cos(theta), np.sin(psi), np.cos(psi)
    s, c = sp / st, cp / st
    return np.array([[s, c, 0], [cp, -sp, 0], [-ct * s, -ct * c, 1]])


@kernel(R=(3, 3))
def to_euler_zyz(R) -> np.ndarray:
    """(φ, θ, ψ) of R = Rz(φ) Ry(θ) Rz(ψ), θ in [0, π]: (3,). At sin θ = 0, ψ = 0.

    The other triple is (φ + π, -θ, ψ + π).
    """
    psi, s, c, h = _last_angle(R[2, 1], -R[2, 0])
    m = R[:, 0] * s + R[:, 1] * c  # second column of R Rz(-ψ) = Rz(φ) Ry(θ)
    return np.array([_angle(-m[0], m[1]), _angle(h, R[2, 2]), psi])


@kernel(R=(3, 3))
def to_rpy(R) -> np.ndarray:
    """(roll, pitch, yaw) of R = Rz(yaw) Ry(pitch) Rx(roll), |pitch| <= π/2: (3,). At pitch = ±π/2, roll = 0.

    The other triple is (roll + π, π - pitch, yaw + π). For the book's names see `from_rpy`.
    """
    roll, s, c, h = _last_angle(R[2, 1], R[2, 2])
    m = R[:, 1] * c - R[:, 2] * s  # second column of R Rx(-roll) = Rz(yaw) Ry(pitch)
    return np.array([roll, _angle(-R[2, 0], h), _angle(-m[0], m[1])])


@kernel(R=(3, 3))
def to_oat(R) -> np.ndarray:
    """(O, A, T) of `from_oat`, |A| <= π/2; FGL (2.3-22)-(2.3-29): (3,). At A = ±π/2, T = 0."""
    tool, s, c, h = _last_angle(R[2, 1], -R[2, 0])
    m = R[:, 0] * s + R[:, 1] * c  # second column of R Rz(-T) = Rz(O) B Ry(A)
    return np.array([_angle(m[1], m[0]), _angle(-R[2, 2], h), tool])


# --- algebra ----------------------------------------------------------------------------------------------------------


@kernel(w=3)
def hat(w) -> np.ndarray:
    """The skew matrix [w] (3, 3): [w] x = w × x."""
    x, y, z = w
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


@kernel(W=(3, 3))
def vee(W) -> np.ndarray:
    """The vector (3,) of a skew matrix W (3, 3); of any other matrix, that of its skew part."""
    return 0.5 * np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]])


@kernel(w=3, u=3)
def bracket(w, u) -> np.ndarray:
    """[w, u] = ad(w) u = w × u: (3,)."""
    return np.cross(w, u)


ad = hat  # ad(w) = [w]
ad_action = bracket


@kernel(w=3)
def coad(w) -> np.ndarray:
    """ad(w)ᵀ = -[w]: (3, 3)."""
    return hat(-w)


@kernel(w=3, m=3)
def coad_action(w, m) -> np.ndarray:
    """ad(w)ᵀ m = m × w: (3,)."""
    return np.cross(m, w)


# --- exp and log ------------------------------------------------------------------------------------------------------


def _span(w, a, b, c):
    """a 1 + b [w] + c w wᵀ: exp, its derivatives and their inverses all have this form, since [w]² = w wᵀ - t² 1."""
    x, y, z = w
    bx, by, bz = b * x, b * y, b * z
    cx, cy = c * x, c * y
    xy, xz, yz = cx * y, cx * z, cy * z
    return np.array([[a + cx * x, xy - bz, xz + by], [xy + bz, a + cy * y, yz - bx], [xz - by, yz + bx, a + c * z * z]])


@kernel(w=3)
def exp(w) -> np.ndarray:
    """Rotation by |w| [rad] about w, for any w (3,): (3, 3)."""
    c0, c1, c2 = series.stumpff(np.dot(w, w), 2)
    # Park (1994), Lemma 1: R = 1 + sin t/t [w] + (1 - cos t)/t² [w]²
    return _span(w, c0, c1, c2)


@kernel(R=(3, 3))
def log(R) -> np.ndarray:
    """Rotation vector w (3,) of R, |w| <= π: the inverse of `exp`, accurate at every angle.

    At angle π, of w and -w, the one whose largest entry is positive.
    """
    # Park (1994), Lemma 3 and Remark 1, by way of the quaternion: Lemma 3 as printed is 0/0 at trace 3 and -1.
    w, v, n2 = _quat(R)
    return series.log_scale(w, n2) * v


@kernel(R=(3, 3))
def log_branch(R, turns) -> np.ndarray:
    """The rotation vector (3,) of R that has `turns` whole turns more than `log`: (t + 2π turns) u, with u = w/t.

    These are all logarithms of R: exp(log_branch(R, k)) = R for every whole number k, negative ones included; k = 0 is
    `log`. A half turn, t = π, has two of length π: k = 0 and k = -1, opposite to each other. The identity has any axis;
    here it is x. Park (1994), Lemma 3 and Remarks 1 and 2.

        so3.log_branch(R, np.arange(-2, 3))                                 # (5, 3)
    """
    u, t = to_axis_angle(R)
    return (t + (2 * np.pi) * turns) * u


# --- group ------------------------------------------------------------------------------------------------------------


@kernel(R=(3, 3))
def inverse(R) -> np.ndarray:
    """R⁻¹ = Rᵀ: (3, 3)."""
    return R.T


@kernel(R_ab=(3, 3), R_bc=(3, 3))
def compose(R_ab, R_bc) -> np.ndarray:
    """R_ac = R_ab R_bc: (3, 3)."""
    return R_ab @ R_bc


@kernel(R=(3, 3), x=3)
def act(R, x) -> np.ndarray:
    """The rotated vector R x: (3,)."""
    return R @ x


@kernel(R=(3, 3))
def Ad(R) -> np.ndarray:
    """Ad(R) w = vee(R [w] Rᵀ) = R w, so Ad(R) = R: (3, 3)."""
    return R


Ad_action = act


@kernel(R=(3, 3))
def coAd(R) -> np.ndarray:
    """Ad(R)ᵀ = Rᵀ: (3, 3)."""
    return R.T


@kernel(R=(3, 3), m=3)
def coAd_action(R, m) -> np.ndarray:
    """Ad(R)ᵀ m = Rᵀ m, also Ad(R⁻¹) m: (3,)."""
    return R.T @ m


# --- velocities, and derivatives of functions -------------------------------------------------------------------------


@kernel(R=(3, 3), R_dot=(3, 3))
def body_velocity(R, R_dot) -> np.ndarray:
    """(Rᵀ Ṙ)^vee (3,) [rad/s], the angular velocity along the body's axes; LWC (10).

    Of a rotation A(q), the columns (Aᵀ ∂A/∂q_i)^vee of its body Jacobian, LWC (11), are body_velocity(A, ∂A/∂q_i).
    """
    return vee(R.T @ R_dot)


@kernel(R=(3, 3), R_dot=(3, 3))
def space_velocity(R, R_dot) -> np.ndarray:
    """(Ṙ Rᵀ)^vee (3,) [rad/s], the angular velocity along the axes of space."""
    return vee(R_dot @ R.T)


@kernel(R=(3, 3), slope=(3, 3))
def body_derivative(R, slope) -> np.ndarray:
    """Lie derivatives (3,) of a function f at R: d/dt f(R exp(t e_i)) at t = 0 for i = 1, 2, 3; LWC (13).

    `slope` (3, 3) is ∂f/∂R by the entries of the matrix, `f.jacobian("R")(R)`. What f is off the group does not matter.
    These are the derivatives along left-invariant fields: f moves with f' · w when R moves with body velocity w.

        @kernel(R=(3, 3))
        def height(R): return R[2, 0]                                       # of the tip of the x axis

        so3.body_derivative(R, height.jacobian("R")(R))                     # (0, -R[2, 2], R[2, 1])

    A function with values (k,) has slopes (k, 3, 3): give R[None], or call it for each inside a kernel.
    """
    # Σ_jk slope_jk (R [w])_jk = Σ_j slope_j · (r_j × w), with the rows r_j of R
    return sum(np.cross(slope[j], R[j]) for j in range(3))


@kernel(R=(3, 3), slope=(3, 3))
def space_derivative(R, slope) -> np.ndarray:
    """Lie derivatives (3,) of a function f at R, from the other side: d/dt f(exp(t e_i) R) at t = 0.

    Those along right-invariant fields: f moves with f' · w when R moves with space velocity w. `slope` is as for
    `body_derivative`, and the result is R times that one.
    """
    return sum(np.cross(R[:, j], slope[:, j]) for j in range(3))


# --- derivatives of exp -----------------------------------------------------------------------------------------------


@kernel(w=3)
def left_jacobian(w) -> np.ndarray:
    """J with Ṙ Rᵀ = [J ẇ] for R = exp(w), the spatial angular velocity: (3, 3)."""
    _, c1, c2, c3 = series.stumpff(np.dot(w, w), 3)
    # Park (1994), Lemma 5: ∫₀¹ exp(s[w]) ds = 1 + (1 - cos t)/t² [w] + (t - sin t)/t³ [w]²
    return _span(w, c1, c2, c3)


@kernel(w=3)
def left_jacobian_inv(w) -> np.ndarray:
    """Inverse of `left_jacobian`, for |w| < 2π: (3, 3)."""
    t2 = np.dot(w, w)
    k = series.cot_half(t2)
    # Park (1994), Lemma 4: 1 - [w]/2 + k [w]²
    return _span(w, 1 - t2 * k, -0.5, k)


@kernel(w=3)
def right_jacobian(w) -> np.ndarray:
    """J with Rᵀ Ṙ = [J ẇ] for R = exp(w), the body angular velocity; = left_jacobian(-w): (3, 3)."""
    return left_jacobian(-w)


@kernel(w=3)
def right_jacobian_inv(w) -> np.ndarray:
    """Inverse of `right_jacobian`, for |w| < 2π: (3, 3)."""
    return left_jacobian_inv(-w)


# As in the literature on Lie group integrators (Iserles et al. 2000): d/dt exp(w) = [dexp(w) ẇ] exp(w).
dexp = left_jacobian
dexp_inv = left_jacobian_inv


# --- interpolation and distance ---------------------------------------------------------------------------------------


@kernel(R_0=(3, 3), R_1=(3, 3))
def slerp(R_0, R_1, s) -> np.ndarray:
    """Point s of the geodesic from R_0 (s = 0) to R_1 (s = 1), constant velocity: R_0 exp(s log(R_0ᵀ R_1)), (3, 3)."""
    return R_0 @ exp(s * log(R_0.T @ R_1))


@kernel(R_0=(3, 3), R_1=(3, 3))
def distance(R_0, R_1) -> np.ndarray:
    """Angle in [0, π] of the rotation from R_0 to R_1 [rad]; bi-invariant. Slope 0 where R_0 = R_1 (a kink)."""
    return series.norm(log(R_0.T @ R_1))
