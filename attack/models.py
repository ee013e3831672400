"""Attack: mutated models. Every file must give a robot with finite numbers, or one short `AdjointError`."""

import tempfile
import time
from pathlib import Path

import common
import numpy as np

import adjoint as aj
from adjoint.errors import AdjointError

HERE = Path(__file__).parent
MODELS = sorted((HERE.parent / "tests" / "models").rglob("*.xml"))
PIECES = (
    "< > / \" & ' = - nan inf -inf 1e999 1e308 1e-320 0 -1 é \0 ../ /> <!-- ]]> <!DOCTYPE&#32;x> &#0; &lt; link joint "
    "mimic free floating planar ball mesh package:// file:/// xacro: $(find&#32;x) world default class include"
).split()
LONGEST = 20.0  # seconds that reading a small model may take
SHORT = 3000  # characters that a message may have


def urdf_of_a_random_robot(rng: np.random.Generator) -> str:
    """The URDF text of a random robot, from our own writer."""
    robot = aj.robots.random_tree(rng, int(rng.integers(1, 8)), ["revolute", "prismatic", "planar", "free"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "robot.urdf")
        aj.to_urdf(robot.reframed("joint"), path)
        return path.read_text()


def edited(text: str, rng: np.random.Generator) -> str:
    """One random change: characters lost, repeated, replaced or exchanged, or two attribute values exchanged."""
    at, length = int(rng.integers(len(text))), int(rng.integers(1, 60))
    piece = str(rng.choice(PIECES)).replace("&#32;", " ")
    values = text.split('"')
    kinds = ["delete", "repeat", "insert", "replace", "value"] + ["exchange"] * (len(values) > 3)
    kind = rng.choice(kinds)
    if kind == "delete":
        return text[:at] + text[at + length :]
    if kind == "repeat":
        return text[: at + length] + text[at:]
    if kind == "insert":
        return text[:at] + piece + text[at:]
    if kind == "replace":
        return text[:at] + piece + text[at + len(piece) :]
    i, j = (1 + 2 * rng.integers((len(values) - 1) // 2 or 1, size=2)).tolist()
    if kind == "value" or j >= len(values):
        values[i if i < len(values) else 0] = piece
    else:
        values[i], values[j] = values[j], values[i]
    return '"'.join(values)


def use(robot: aj.Robot) -> None:
    """Does what a user would do next with a robot; an error if a number of the robot is not finite."""
    aj.check(robot)
    for field in ("placements", "screws", "inertias", "gravity"):
        if not np.isfinite(getattr(robot, field)).all():
            raise AssertionError(f"{field} has numbers that are not finite")
    str(robot)
    q = aj.neutral(robot)
    aj.forward_kinematics.eager(robot, q, robot.frame_names)
    aj.inverse_dynamics.eager(robot, q, np.zeros(robot.nv), np.zeros(robot.nv))


def attempt(rng: np.random.Generator) -> None:
    as_urdf = rng.random() < 0.5
    text = urdf_of_a_random_robot(rng) if as_urdf else MODELS[rng.integers(len(MODELS))].read_text()
    for _ in range(rng.integers(1, 4)):
        text = edited(text, rng) or " "
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        path = Path(folder, "model.urdf" if as_urdf else "model.xml")
        path.write_text(text, encoding="utf-8")
        start = time.monotonic()
        try:
            robot = aj.load(path, base=str(rng.choice(["fixed", "free"])) if as_urdf else "fixed")
            use(robot)
        except AdjointError as e:
            if len(str(e)) > SHORT:
                raise AssertionError(f"a message of {len(str(e))} characters: {str(e)[:200]}") from e
        if time.monotonic() - start > LONGEST:
            raise AssertionError(f"reading took {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    common.repeat(attempt)
