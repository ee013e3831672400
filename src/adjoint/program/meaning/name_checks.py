"""What only the whole program tells: labels, procedures, events, and names of the world."""

from __future__ import annotations

from ...errors import nearest
from ...world.state import World
from ..instructions.sources import Source, Span
from ..instructions.statements import CallProcedure
from ..instructions.value_types import FRAME
from .arm_names import robot_named
from .expression_types import ExpressionChecker

__all__: list[str] = []


class NameChecker(ExpressionChecker):
    """Gathers names while statements are walked over, and looks them up at the end."""

    def __init__(self, source: Source | None, world: World | None, arms: dict[str, str]):
        super().__init__(source)
        self.world, self.given_arms = world, arms
        self.first: dict[str, Span] = {}  # where variables got their types
        self.attached: set[str] = set()
        self.movers: list[tuple[str, Span]] = []
        self.calls: list[CallProcedure] = []
        self.waited: dict[str, Span] = {}
        self.signalled: set[str] = set()
        self.watches: set[str] = set()
        self.unwatched: list[tuple[str, Span]] = []
        self.frames: list[tuple[str, Span, str]] = []
        self.labels: set[str] = set()
        self.jumps: list[tuple[str, Span]] = []

    def finish(self) -> None:
        """Look up the names that the walk has gathered."""
        self.check_jumps()
        for s in self.calls:
            if s.name in self.procedures:
                self.arguments(self.procedures[s.name], s.arguments, s.at)
            else:
                hint = nearest(s.name, list(self.procedures)) if self.procedures else ""
                self.report(f"there is no procedure '{s.name}'", s.at, hint, "name")
        for event, at in self.waited.items():
            if event not in self.signalled:
                text = f"nothing signals the event '{event}', so that this waits for ever"
                self.report(text, at, code="flow", severity="warning")
        for name, at in self.unwatched:
            if name not in self.watches:
                hint = nearest(name, list(self.watches)) if self.watches else ""
                self.report(f"there is no monitor '{name}'", at, hint, "name", "warning")
        self._check_names()
        if self.world is not None:
            self._check_world(self.world)

    def check_jumps(self) -> None:
        """Look up the labels of the jumps so far."""
        for label, at in self.jumps:
            if label not in self.labels:
                hint = nearest(label, sorted(self.labels)) if self.labels else ""
                self.report(f"there is no label '{label}'", at, hint, "name")

    def _check_names(self) -> None:
        """Names that nothing has given a value: wrong if a world is there, else doubtful if they look like others."""
        known = [*self.variables, *(self.world.frames if self.world is not None else ())]
        seen: set[str] = set()
        for name, at in self.unknown:
            if name in self.variables:
                if at.start < self.first.get(name, at).start and not self.labels and name not in seen:
                    seen.add(name)
                    self.report(f"'{name}' has no value yet here", at, code="name", severity="warning")
                continue
            if name in seen:
                continue
            seen.add(name)
            hint = nearest(name, known) if known else ""
            if self.world is not None:
                self.report(f"there is no variable and no frame '{name}'", at, hint, "name")
            elif hint.startswith("did"):
                text = f"'{name}' has no value in this program; it must be a frame of the world"
                self.report(text, at, hint, "name", "warning")

    def _check_world(self, world: World) -> None:
        robots, seen = list(world.robots), set()
        for name, at, what in self.arms:
            if name not in seen and robot_named(world, name, self.given_arms) is None:
                seen.add(name)
                self._no_arm(name, at, what, robots)
        for name, at in self.movers:
            if name in self.attached or name in world.frames or name in seen:
                continue
            if robot_named(world, name, self.given_arms) is None:
                seen.add(name)
                if self.variables.get(name) is FRAME:
                    self.report(f"no arm carries '{name}'", at, f"AFFIX {name} TO an arm before it moves", "name")
                else:
                    self._no_arm(name, at, "arm", robots)
        for name, at, what in self.frames:
            if name not in seen and not self._placed(world, name, what):
                seen.add(name)
                self.report(f"there is no {what} '{name}'", at, nearest(name, [*world.frames, *robots]), "name")
        for name, at in self.sensors:
            if name not in world.sensors and name not in seen:
                seen.add(name)
                hint = nearest(name, list(world.sensors)) if world.sensors else ""
                self.report(f"the world has no sensor '{name}'", at, hint, "name", "warning")

    def _no_arm(self, name: str, at: Span, what: str, robots: list[str]) -> None:
        shown = ", ".join(robots) or "none"
        text = f"there is no {what} '{name}'" if name else f"which {what}? The world has {len(robots)} robots"
        hint = f'say arms={{"{name}": "{robots[0]}"}}' if robots else "add_robot puts one into the world"
        hint = f"name the {what}, or {hint}" if robots and not name else hint
        self.report(f"{text}; robots of the world: {shown}", at, hint, "name")

    def _placed(self, world: World, name: str, what: str) -> bool:
        if name in world.frames or name in world.parts or name in self.variables or name in self.first:
            return True
        if what == "place":  # a part, or a feature of one: Table, block-face3, block.face3, bolt_tip, bin(2)
            small = name.lower()
            known = [f.lower() for f in (*world.frames, *world.parts)]
            return any(small == f or small.startswith(tuple(f + mark for mark in "-.:_(")) for f in known)
        return "arm" in what and robot_named(world, name, self.given_arms) is not None
