"""Motions of least cost, and what a robot adds to a trajectory: torques, costs and limits.

- `motion`: `Motion`, its costs and limits, and `spline_motion`.
- `search`: `optimal_motion`. `arguments`: checks of what both are asked for.
- `splines`: quintic B-splines.
- `problem`: the nonlinear program behind an optimal motion, with its derivatives; `kinetic` and `path` are parts of it.
- `solver`, `solution`: the program's solution by IPOPT.
- `reaching`: goals that are placements of frames.
- `explain`: why no motion was found.
"""
