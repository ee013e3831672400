"""A short tour of rotations and rigid motions: one or a batch of them, their derivatives, and the angles 0 and π.

Twists are (ω, v), with the angular part first; T_ab maps b-coordinates to a. This file prints what it finds:

    python examples/02_lie_groups.py
"""

import numpy as np

from adjoint.lie import inertia, se3, so3

np.set_printoptions(precision=4, suppress=True)
rng = np.random.default_rng(0)

# This screw turns about the z axis through (1, 0, 0) and rises by 0.1 m per radian.
S = se3.screw(np.array([0.0, 0, 1]), np.array([1.0, 0, 0]), 0.1)
T = se3.exp(S * np.pi / 2)
print("a quarter turn of the screw", S, "is the motion\n", T)
print("which takes the origin to", se3.act(T, np.zeros(3)), "and has the logarithm", se3.log(T))

# The same functions take batches; leading axes broadcast.
V = rng.normal(size=(1000, 6))
Ts = se3.exp(V)
print("\nexp of", V.shape, "is", Ts.shape, "; one motion times a thousand is", se3.compose(T, Ts).shape)

# The laws of the group hold for the batch: log inverts exp, Ad is a homomorphism, and coAd is its dual.
A, B, F = Ts[:500], Ts[500:], rng.normal(size=(500, 6))


def report(law, x, y):
    print(f"  {law:<42} {np.abs(x - y).max():.1e}")


print("largest errors:")
report("exp(log T) = T", se3.exp(se3.log(Ts)), Ts)
report("Ad(AB) = Ad(A) Ad(B)", se3.Ad(se3.compose(A, B)), se3.Ad(A) @ se3.Ad(B))
power = np.sum(se3.coAd_action(A, F) * V[:500], -1)
report("<coAd F, V> = <F, Ad V>", power, np.sum(F * se3.Ad_action(A, V[:500]), -1))
report("exp(Ad(A) V) = A exp(V) A⁻¹", se3.exp(se3.Ad_action(A, V[:500])), A @ se3.exp(V[:500]) @ se3.inverse(A))

# The logarithm is exact at the angles 0 and π too, where formulas usually break.
axis = np.array([1.0, 2.0, 2.0]) / 3
print("\nangle in, angle error of log(exp) out:")
for angle in (0.0, 1e-12, 1e-8, 1e-4, 1.0, np.pi - 1e-8, np.pi):
    print(f"  {angle:<22} {abs(np.linalg.norm(so3.log(so3.exp(angle * axis))) - angle):.1e}")

# Derivatives are kernels. Those of exp at w = 0 are the generators of the group; at any w they give the left Jacobian.
D = so3.exp.jacobian("w")
print("\nd exp / dw at 0, along x:\n", D(np.zeros(3))[..., 0])
w = rng.normal(size=(1000, 3))
spatial = so3.vee(np.einsum("bijk,blj->bkil", D(w), so3.exp(w)))  # (∂R/∂w_k Rᵀ)^vee, one row per k
report("columns of (dR Rᵀ)^vee = left Jacobian", np.swapaxes(spatial, -1, -2), so3.left_jacobian(w))

# The inertia of a rigid body is ten numbers, which the same adjoint maps move.
brick = inertia.box(2.0, np.array([0.1, 0.2, 0.3]))
moved = inertia.transform(T, brick)
print("\na brick seen from another frame: mass, com, inertia about it", *inertia.central(moved), sep="\n")
print("and one that cannot exist:", inertia.faults(np.array([1.0, 0, 0, 0, 1, 0, 0, 1, 0, 3])))
