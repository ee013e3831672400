"""What programs need from outside: the world, names of arms, and values of input lines and sensors."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError
from .robots import find_robot
from .values import configurations, parsed_number, read_text

if TYPE_CHECKING:
    from ..world import World

__all__ = ["Situation", "input_values", "pairs_of"]


class Situation:
    """The `world` that a user means, and `arms` {name in the program: robot}."""

    def __init__(
        self, world: Path | None, robot: str | None, gripper: float, start: str | None, arms: Mapping[str, str]
    ):
        if world is not None and robot is not None:
            raise ArgumentError("give either --world or --robot")
        if start is not None and robot is None:
            raise ArgumentError("--start is for --robot; a world says where its robots stand")
        self.world = _of_file(world) if world is not None else _of_robot(str(robot), gripper, start)
        self.arms = dict(arms)
        for name, meant in self.arms.items():
            if meant not in self.world.robots:
                raise ArgumentError(
                    f"--arm {name}={meant}: the world has no such robot; {', '.join(self.world.robots)}"
                )


def _of_file(path: Path) -> "World":
    from ..world import World

    try:
        return World.from_json(read_text(path), folder=path.parent)
    except ArgumentError as error:
        raise ArgumentError(f"--world {path}: {error}") from None


def _of_robot(name: str, gripper: float, start: str | None) -> "World":
    from ..world import Gripper, World
    from .robots import frame_or_default

    robot = find_robot(name)
    q = configurations(robot, start, "--start")
    if q.ndim != 1:
        raise ArgumentError("--start: one configuration is needed")
    if not 0 < gripper < float("inf"):
        raise ArgumentError(f"--gripper: {gripper:g} m must be above 0")
    hand = Gripper(opening=gripper)
    return World().add_robot("arm", robot, q=q, tool=frame_or_default(robot, None), gripper=hand)


def pairs_of(words: Sequence[str] | None, option: str) -> dict[str, str]:
    """{name: text} of words NAME=TEXT."""
    found = {}
    for word in words or ():
        name, equals, text = word.partition("=")
        if not name.strip() or not equals or not text.strip():
            raise ArgumentError(f"{option}: {word!r:.60} must be NAME=VALUE")
        found[name.strip()] = text.strip()
    return found


def input_values(words: Sequence[str] | None) -> dict[str, Any]:
    """{name: number, or function of the time} of words such as "signal 3=1" and "signal 3=0,1.5:1"."""
    return {name: _value(name, text) for name, text in pairs_of(words, "--input").items()}


def _value(name: str, text: str) -> Any:
    import numpy as np

    steps = []
    for k, word in enumerate(text.split(",")):
        when, colon, what = word.rpartition(":")
        t, value = parsed_number(when) if colon else 0.0 if k == 0 else None, parsed_number(what)
        if t is None or value is None or (steps and t <= steps[-1][0]):
            raise ArgumentError(
                f"--input: {name}={text!r:.60} must be a number, or numbers with the times from which on they hold, "
                "such as 0,1.5:1,2:0"
            )
        steps.append((t, value))
    times, values = np.array(steps).T
    if len(values) == 1 and times[0] <= 0:
        return float(values[0])
    return lambda t: np.where(
        np.asarray(t) < times[0] - 1e-9, 0.0, values[np.maximum(np.searchsorted(times, t + 1e-9, side="right") - 1, 0)]
    )
