"""Optimal control by shooting: iterative linear quadratic regulators and differential dynamic programming.

| file | contents |
|---|---|
| `problem` | the motion and the costs of one step, and their derivatives |
| `box` | small quadratic programs in a box |
| `passes` | the kernels of the backward and of the forward pass |
| `search` | the iterations, for many problems at once |
| `alone` | the iterations for one problem, with less work between kernels |
| `solver` | `ilqr`, and the checks of its arguments |
| `solution` | `OptimalMotion`, the result |
"""
