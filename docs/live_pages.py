"""A hook of mkdocs that writes the pages with robots that readers can move, which other pages embed: `pages/*.html`."""

from pathlib import Path

import numpy as np

import adjoint as aj
from adjoint import viewer


def puma() -> viewer.Page:
    """A PUMA 560 to move."""
    return viewer.page(aj.robots.puma560(), q=[0.5, -0.8, 2.2, 0.0, 0.6, 0.0])


def arms() -> viewer.Page:
    """A hundred arms that differ, under one law."""
    robot = aj.robots.puma560()
    start = np.array([0.0, -0.8, 2.0, 0.0, 0.6, 0.0])
    motion = aj.trajectory.quintic(start, [1.2, -0.2, 2.6, 0.5, 0.9, 0.4], duration=1.5, robot=robot)
    law = aj.control.pd(motion, kp=400.0, kd=40.0)
    lifted = aj.simulation.randomised(robot, 100, mass=0.3, rng=0)
    settings = {"duration": 2.0, "dt": 0.001, "record": 20, "lift": lifted}
    return viewer.page(aj.simulate(robot, law, q=np.tile(start, (100, 1)), **settings), title="a hundred PUMAs")


def insertion() -> viewer.Page:
    """The textbook's AL program, which puts a bolt into a beam, with its text."""
    text = (Path(__file__).parent.parent / "examples" / "programs" / "insertion.al").read_text(encoding="utf-8")
    program = aj.program.parse(text, "al", name="insertion.al")
    run = aj.program.run(program, aj.program.insertion_world(), backend="dynamic")
    return viewer.page(run, title="A bolt goes into a beam")


def on_post_build(config) -> None:
    folder = Path(config.site_dir) / "pages"
    folder.mkdir(exist_ok=True)
    for make in (puma, arms, insertion):
        make().save(folder / f"{make.__name__}.html")
