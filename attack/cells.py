"""Attack: random cells with random goals, in which someone moves blocks. Goals are reached, or the reason is named."""

import common
import numpy as np

from adjoint.planning import Meddler, problem_of, random_cell, random_goal, run_cell, sensed_facts
from adjoint.program import DynamicBackend


def attempt(rng: np.random.Generator) -> None:
    scene = random_cell(rng=rng)
    goal, dynamic = random_goal(scene, rng=rng), rng.random() < 0.5
    someone = Meddler({int(k) for k in rng.integers(1, 8, 2)}, rng=rng)
    backend = DynamicBackend(payload_known=False) if dynamic else "kinematic"
    run = run_cell(scene, goal, camera=scene.camera, backend=backend, disturb=someone, rng=rng)
    told = f"{scene}, {goal}, {'dynamic' if dynamic else 'kinematic'}, {someone.done}\n{run.story}"
    assert run.reached or run.reason, told
    assert run.contacts == () and run.dropped == (), f"{run.contacts}, {run.dropped} fell; {told}"
    if run.run is not None and run.reached:
        movable = list(scene.blocks)
        wanted = set(problem_of(run.run.actual, goal, movable=movable).goal.facts)
        assert wanted <= sensed_facts(run.run.actual, movable=movable), f"the goal is not true; {told}"
    if not run.reached:
        print(f"not reached: {run.reason}")


if __name__ == "__main__":
    common.repeat(attempt)
