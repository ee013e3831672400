"""Derivatives of dynamics, regressor, Coriolis matrix and Christoffel symbols beside Pinocchio's functions for them.

Pinocchio has no Christoffel symbols, so both they and our Coriolis matrix stand beside Pinocchio's Coriolis matrix. Its
calls overwrite one result, and do not write the entries that are zero because of the tree. For a fair comparison there
are more columns: "in cache" is our function on small batches that overwrite one result; "packed" computes only the
numbers that are not always zero, each once; "pinocchio kept" is a loop that keeps Pinocchio's results; and "writing" is
the time that it takes to write as many numbers as our results have to memory.

python bench/derivatives.py        one run, one core; writes bench/results/derivatives.json
"""

import time

from common import QUICK, cold, find, in_time, one_core, quick_or_full, race, ratio_target, report, target

one_core()

import numpy as np  # noqa: E402
import pinocchio as pin  # noqa: E402
from dynamics import (  # noqa: E402
    ARMS,
    BATCH,
    ROBOTS,
    SOME,
    forms,
    in_cache,
    keeping,
    looped,
    packed,
    rows_of,
    upper_to_full,
    writing,
)  # fmt: skip
from support.robots import pinocchio_model, pinocchio_q, urdf, velocity_map  # noqa: E402

import adjoint as aj  # noqa: E402

FREE = ("G1 free", "Talos free")
FUNCTIONS = {  # ours: (its inputs, Pinocchio's, arms, humanoids: times its speed wanted, seconds of compiling allowed)
    "inverse_dynamics_derivatives": ("qva", pin.computeRNEADerivatives, (12, 1.0), (8, 6.0)),
    "forward_dynamics_derivatives": ("qva", pin.computeABADerivatives, (12, 1.0), (8, 6.0)),
    "regressor": ("qva", pin.computeJointTorqueRegressor, (10, None), (10, None)),
    "coriolis_matrix": ("qv", pin.computeCoriolisMatrix, (10, None), (10, None)),
    "christoffel": ("q", pin.computeCoriolisMatrix, (10, None), (10, None)),
}


def cases():
    """All pairs (robot, function). Christoffel symbols are for joints with one degree of freedom, not a free base."""
    for robot in quick_or_full(("UR5", "G1 free"), (*ARMS, *FREE, "G1", "Talos")):
        for function in FUNCTIONS:
            some = not QUICK or robot in ARMS or function.endswith("derivatives")
            if some and ((robot in ARMS or robot in FREE) if function != "christoffel" else robot not in FREE):
                yield robot, function


class Case:
    """One robot without damping and friction, which Pinocchio leaves out; samples in our order and in Pinocchio's."""

    def __init__(self, name: str):
        self.name, (file, base) = name, ROBOTS[name]
        robot = aj.load(urdf(file), base=base)
        self.robot = robot.replace(damping=0 * robot.damping, friction=0 * robot.friction)
        rng = np.random.default_rng(0)
        self.ours = {"q": aj.random_configuration(robot, BATCH, rng=rng)}
        self.ours |= dict(zip("va", rng.normal(size=(2, BATCH, robot.nv)), strict=True))
        self.model = pinocchio_model(urdf(file), base)
        self.E = velocity_map(self.model, robot)
        self.theirs = {"q": np.stack([pinocchio_q(self.model, robot, x) for x in self.ours["q"][:SOME]])}
        self.theirs |= {k: self.ours[k][:SOME] @ self.E.T for k in "va"}

    def measure(self, function: str) -> list[dict]:
        """The rows of a function: in a batch, in its other forms, and in single calls."""
        inputs, theirs, *_ = FUNCTIONS[function]
        data, rows = self.model.createData(), [self.theirs[k] for k in inputs]
        rows += [self.theirs["v"]] if function == "christoffel" else []
        kernel, arrays = getattr(aj, function).bind(self.robot), [self.ours[k] for k in inputs]
        _, compiling = cold(lambda: self.compiled(function, arrays), aj.clear_cache, rounds=2)
        out = kernel(*arrays)
        self.compare(function, out, theirs(self.model, data, *(x[0] for x in rows)))
        out = tuple(out) if isinstance(out, tuple) else out
        one, first = [a[0].copy() for a in arrays], [x[0] for x in rows]
        results = out if isinstance(out, tuple) else (out,)
        batch = {
            "adjoint": lambda: kernel(*arrays, out=out),
            "in cache": in_cache(kernel, arrays),
            "packed": packed(kernel, arrays, out),
            "pinocchio": looped(lambda *x: theirs(self.model, data, *x), *rows),
            "pinocchio kept": keeping(lambda *x: theirs(self.model, data, *x), *rows),
            "writing": writing(*results),
        }
        single = {"adjoint": lambda: kernel(*one), "pinocchio": lambda: theirs(self.model, data, *first)}
        return rows_of(self.name, function, kernel, race(batch, rounds=7), race(single, rounds=7), compiling)

    def compiled(self, function: str, arrays: list[np.ndarray]):
        """Compiles the function from nothing, for a robot with a new name, and calls it."""
        robot = self.robot.replace(name=f"{self.robot.name}, compiled anew at {time.perf_counter()}")
        getattr(aj, function).bind(robot)(*(a[:8] for a in arrays))

    def compare(self, function: str, ours, theirs) -> None:
        """Raises an error if our numbers differ from Pinocchio's.

        Only derivatives are compared, as Pinocchio's other functions give other numbers; and forward dynamics only
        without mimics, which it moves differently.
        """
        E = self.E
        mimics = E.shape[0] != E.shape[1]
        if not function.endswith("derivatives") or (mimics and function.startswith("forward")):
            return
        for x, y in zip(ours, (theirs[0], theirs[1], upper_to_full(theirs[2])), strict=True):
            want = E.T @ y @ E
            same = np.allclose(x[0], want, rtol=1e-7, atol=1e-7 * np.abs(want).max())
            assert same, f"{function} of {self.robot.name} differs from Pinocchio's"


def targets(rows: list[dict]) -> list[list]:
    """Rows (target, measured, wanted, verdict)."""
    verdicts = []
    for r in (r for r in rows if r["how"] == "batch"):
        robot, function = r["subject"], r["what"]
        least, most = FUNCTIONS[function][2 if robot in ARMS else 3]
        for form in forms(robot, function):
            verdicts += ratio_target(find(rows, robot, function, form), "pinocchio", least)
        verdicts += ratio_target(find(rows, robot, function, "one call"), "pinocchio", 1)
        if most is not None:
            name = f"{robot}, {function}, compiling, s"
            verdicts.append(target(name, r["extra"]["compile_s"], f"<= {most}"))
    return verdicts


def main() -> None:
    made: dict[str, Case] = {}
    rows = []
    for robot, function in in_time(cases(), ", ".join):
        made = made if robot in made else {robot: Case(robot)}
        rows += made[robot].measure(function)
    report("derivatives", ("numpy", "pin"), rows, targets(rows), batch=BATCH)


if __name__ == "__main__":
    main()
