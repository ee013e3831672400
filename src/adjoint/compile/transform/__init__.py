"""From graphs to graphs: derivatives, and results without zeros and repetitions.

- `autodiff`: derivatives of graphs, forward (`pushforward`), in reverse (`pullback`), and whole Jacobians.
- `derivative_kernels`: the kernels behind `Kernel.jacobian`, `hessian`, `jvp` and `vjp`.
- `packed_results`: the kernels behind `Kernel.packed` and `unpack`.
- `derived_kernels`: what these two share, kernels whose programs are made from those of another kernel.
- `gradient_check`: `check_grads`, which compares all derivatives of a kernel with differences in 50-digit arithmetic.
"""
