"""`adjoint demo cell`: the whole story of a cell, from photos of a chessboard to torques, in one command."""

import time
from pathlib import Path

from ..errors import SolveError
from .output import print_line

__all__ = ["show_cell"]

_MEDDLED = {3, 6}  # steps before which someone moves a block


def show_cell(place: Path, goal: str, seed: int, began: float) -> Path:
    """Run a random cell, tell what happens, and write its page; without a goal, blocks become a random tower."""
    from ..extras import package
    from ..planning import Meddler, random_cell, random_goal, run_cell
    from ..program.running import DynamicBackend
    from ..viewer import page

    package("matplotlib", "plot", "the page of the cell")
    scene = random_cell(rng=seed)
    goal = goal or random_goal(scene, rng=seed)
    print_line(f"1  cell: {', '.join(scene.blocks)}; the goal is {goal}")
    someone = Meddler(_MEDDLED, rng=seed)
    run = run_cell(scene, goal, backend=DynamicBackend(payload_known=False), disturb=someone, rng=seed)
    print_line(f"2  camera: {repr(run.calibration)[18:-1]}")
    print_line(f"3  look: {repr(run.looks[0].seen)[12:-1]}")
    if run.plan is not None and run.plan.solved:
        words = ", ".join(map(str, run.plan.actions)) or "nothing is to be done"
        print_line(f"4  plan: {words}; {run.seconds['plan']:.1f} s for search, grasps and motions")
    if run.run is not None:
        print_line("5  run:")
        for event in run.run.events:
            if event.step in someone.done:
                print_line(f"           {someone.done.pop(event.step)}")
            print_line(f"   {event}")
    file = page(run).save(place / "cell.html")
    print_line(f"6  page: {file.absolute()}", "bold")
    print_line(f"took {time.perf_counter() - began:.1f} s, with the compilation of what was not on disk yet")
    if not run.reached:
        raise SolveError(f"the goal was not reached: {run.reason}")
    return file
