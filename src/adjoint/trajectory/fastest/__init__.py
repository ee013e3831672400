"""The fastest motion along a given path: `time_optimal`, and its `phase_plane`.

| file | contents |
|---|---|
| `timing` | `time_optimal` and `phase_plane` |
| `problem` | their arguments: the path, and the limits of its speed and acceleration |
| `solution` | the fastest speed along the path, or the reason why there is none |
| `reachability` | the fastest speed by reachable sets, Pham & Pham (2018) |
| `grid` | paths on grids of their parameter, and their pieces in time |
| `torque` | torques along a path, as limits of its speed and acceleration |
| `jerk` | the fastest motion along a path with bounded jerk |
"""
