"""The operation counts of Park (1994), counted on our graphs, and what the compiler makes of the same Jacobian.

    python examples/05_operation_counts.py

The table has the multiplications / additions of the body Jacobian of an arm with n revolute joints and general
(modified) Denavit-Hartenberg geometry. The paper's methods take the exponentials, or the link transforms, as given; the
last two columns start from q and include them. The compiler saves operations because joint and link matrices are never
multiplied out (a turn about z or x changes two columns), exact zeros and ones vanish, equal terms are computed once,
and columns that nobody reads are not computed.
"""

import numpy as np

import adjoint as aj
from adjoint import sweep
from adjoint.lie import se3

rng = np.random.default_rng(0)
E3 = np.eye(6)[2]  # the screw of a turn about z


def walk(steps, screws):
    """The columns Ad(X) S_i from the tip to the base, and the product X itself, in the way that the paper counts."""
    n = len(screws)
    X, found = steps[n - 1], [screws[n - 1]]
    for i in reversed(range(n - 1)):
        found.append(se3.Ad_action(X, screws[i]))
        X = se3.compose(X, steps[i]) if i else X
    return np.concatenate([*found, np.ravel(X)])


def link_transforms(q, robot):
    """The inverse f_i⁻¹ of every link transform f_i = M_i exp(S_i q_i)."""
    f = sweep.joint_placements(robot, q)
    return [se3.inverse(f[i]) for i in range(robot.nv)]


def arm(n: int) -> aj.Robot:
    """An arm with n revolute joints, and random lengths and twists of its links."""
    table = rng.uniform(0.2, 1.2, (n, 4))
    table[:, 0] = 0  # theta is the joint's own angle
    return aj.from_dh(table, "modified").reframed("minimal")


def count(kernel) -> str:
    """The multiplications / additions of a kernel."""
    o = kernel.operations
    return f"{o.muls:>4} /{o.adds:>4}"


print(f"{'n':>2}  {'direct':^22}  {'recursive':^22}  {'the same,':^10}  {'adjoint,':^10}")
print(f"{'':2}  {'paper':^10}  {'counted':^10}  {'paper':^10}  {'counted':^10}  {'from q':^10}  {'from q':^10}")
for n in (2, 3, 6, 7, 12):
    robot = arm(n)
    B = rng.normal(size=(n, 6))
    direct = aj.kernel(lambda steps, B=B: walk(steps, B), steps=(n, 4, 4))
    recursive = aj.kernel(lambda steps, n=n: walk(steps, [E3] * n), steps=(n, 4, 4))
    whole = aj.kernel(lambda q, robot=robot, n=n: walk(link_transforms(q, robot), [E3] * n), q=n)
    ours = aj.jacobian.bind(robot, frame=robot.body_names[-1])
    print(
        f"{n:>2}  {60 * n - 96:>4} /{45 * n - 72:>4}  {count(direct)}  "
        f"{42 * n - 78:>4} /{30 * n - 57:>4}  {count(recursive)}  {count(whole)}  {count(ours)}"
    )
print("DH recursive, as the paper cites it for comparison: 42 n / 30 n")
