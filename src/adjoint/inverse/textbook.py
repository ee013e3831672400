"""The PUMA's inverse kinematics by geometry: K. S. Fu, R. C. Gonzalez & C. S. G. Lee, "Robotics" (1987), §2.3.2.

The formulas stand beside `inverse_kinematics`, which solves the same arm by its screws: a second way, for teaching and
for tests. Two misprints are corrected: in (2.3-59) cos β is -a_3/L, which the book writes |a_3|/L and which differs for
a_3 > 0; and (2.3-71) is undefined where z_3 is along the approach vector: θ_4 is 0 there.
"""

from __future__ import annotations

import numpy as np

from ..compile import kernel

__all__ = ["PUMA_LENGTHS", "puma_solution", "sign"]

PUMA_LENGTHS = (0.4318, -0.02032, 0.14909, 0.43307, 0.05625)
"""a_2, a_3, d_2, d_4, d_6 [m] of the PUMA 560 (Fig. 2.11)."""


def sign(x):
    """The sign of x, which is +1 for 0, unlike NumPy's: (2.3-70)."""
    return np.where(x >= 0, 1.0, -1.0)


@kernel(T=(4, 4), lengths=5)
def puma_solution(T, arm=1.0, elbow=1.0, wrist=1.0, flip=-1.0, lengths=PUMA_LENGTHS) -> np.ndarray:
    """The joint angles q (6,) [rad] of a PUMA whose hand is at T = [n s a p] (4, 4), for one configuration of the arm.

    `arm` is +1 for RIGHT and -1 for LEFT, `elbow` +1 for ABOVE and -1 for BELOW, `wrist` +1 for DOWN and -1 for UP;
    `flip` = +1 turns the wrist over. `lengths` are a_2, a_3, d_2, d_4, d_6 [m]. Lengths that a pose would need to be
    negative are taken as 0. Fu, Gonzalez & Lee (1987), eqs. (2.3-35) to (2.3-75).

        >>> q = puma_solution(T, arm=-1.0, elbow=1.0, wrist=1.0)
    """
    a2, a3, d2, d4, d6 = lengths
    n, s, a = T[:3, 0], T[:3, 1], T[:3, 2]
    px, py, pz = p = T[:3, 3] - d6 * a  # (2.3-35)
    # (2.3-45) to (2.3-47): the first joint
    r = np.sqrt(np.maximum(px * px + py * py - d2 * d2, 0.0))
    theta1 = np.arctan2(-arm * py * r - px * d2, -arm * px * r + py * d2)
    # (2.3-49) to (2.3-56): the second
    K, R = arm * elbow, np.sqrt(np.maximum(p @ p - d2 * d2, 1e-300))
    sin_alpha, cos_alpha = -pz / R, -arm * r / R
    cos_beta = (a2 * a2 + R * R - (d4 * d4 + a3 * a3)) / (2 * a2 * R)
    sin_beta = np.sqrt(np.maximum(1 - cos_beta * cos_beta, 0.0))
    theta2 = np.arctan2(
        sin_alpha * cos_beta + K * cos_alpha * sin_beta, cos_alpha * cos_beta - K * sin_alpha * sin_beta
    )
    # (2.3-57) to (2.3-63): the third
    L = np.sqrt(d4 * d4 + a3 * a3)
    cos_phi = (a2 * a2 + L * L - R * R) / (2 * a2 * L)
    sin_phi = K * np.sqrt(np.maximum(1 - cos_phi * cos_phi, 0.0))
    sin_b, cos_b = d4 / L, -a3 / L
    theta3 = np.arctan2(sin_phi * cos_b - cos_phi * sin_b, cos_phi * cos_b + sin_phi * sin_b)
    # (2.3-64) to (2.3-71): the fourth
    C1, S1, C23, S23 = np.cos(theta1), np.sin(theta1), np.cos(theta2 + theta3), np.sin(theta2 + theta3)
    normal = np.cross(np.stack([C1 * S23, S1 * S23, C23]), a)
    omega = np.where(np.abs(s @ normal) > 1e-12, s @ normal, n @ normal)
    M = wrist * sign(omega)
    theta4 = np.arctan2(M * (C1 * a[1] - S1 * a[0]), M * (C1 * C23 * a[0] + S1 * C23 * a[1] - S23 * a[2]))
    C4, S4 = np.cos(theta4), np.sin(theta4)
    # (2.3-73): the fifth
    x4 = np.stack([C1 * C23 * C4 - S1 * S4, S1 * C23 * C4 + C1 * S4, -C4 * S23])
    theta5 = np.arctan2(a @ x4, C1 * S23 * a[0] + S1 * S23 * a[1] + C23 * a[2])
    # (2.3-75): the sixth
    y5 = np.stack([-S1 * C4 - C1 * C23 * S4, C1 * C4 - S1 * C23 * S4, S4 * S23])
    theta6 = np.arctan2(n @ y5, s @ y5)
    over = flip > 0
    return np.stack(
        [
            *(theta1, theta2, theta3),
            np.where(over, theta4 + np.pi, theta4),
            np.where(over, -theta5, theta5),
            np.where(over, theta6 + np.pi, theta6),
        ]
    )
