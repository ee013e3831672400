"""The derivatives of one function, and three forms to export it: C source, a CasADi function, and LLVM code.

python examples/03_derivatives_and_export.py
"""

import numpy as np

from adjoint import check_grads, kernel

np.set_printoptions(precision=4, suppress=True)


@kernel(q=2)
def height(q, length=1.0):
    """The height of the tip of an arm with two links of one length."""
    return length * (np.sin(q[0]) + np.sin(q[0] + q[1]))


q = np.array([0.3, 0.5])
print("height", height(q), " gradient", height.jacobian("q")(q), "\nHessian\n", height.hessian("q")(q))

# Derivatives are kernels: they take batches, and can be differentiated again.
many = np.random.default_rng(0).uniform(-3, 3, (1000, 2))
print("\na thousand gradients:", height.jacobian("q")(many).shape, " and Hessians:", height.hessian("q")(many).shape)

# jvp differentiates along one direction, vjp backward from the result; neither computes the full matrix.
print("jvp", height.jvp(q, 1.0, np.array([1.0, 0.0]), 0.0))
print("vjp", height.vjp(q, 1.0, 1.0))

check_grads(height, q, 1.0)
print("check_grads: forward, reverse and second derivatives agree with numerical ones")

print("\noperations of the value   ", height.operations)
print("operations of the Hessian ", height.hessian("q").operations)

print("\nas C99, one self-contained file:\n")
print(height.source("c"))

f = height.symbolic()
print("as a casadi.Function, for optimisers:", f)
print("  which gives", f(q, 1.0))

print(f"\nand the LLVM code behind the calls above has {len(height.source('llvm').splitlines())} lines")
