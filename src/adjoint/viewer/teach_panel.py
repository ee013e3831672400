"""Teach the robot by its sliders: record points, edit them, and play them at any speed."""

from __future__ import annotations

import html

import numpy as np

from ..program.teaching.lessons import Lesson, lesson_trajectory
from ..trajectory import Trajectory
from .sessions import Session

__all__ = ["TeachPanel"]

_SHOWN = 12  # points of the list


class TeachPanel:
    """The tab that records where the robot is, and plays it back. `lesson` is what was recorded."""

    def __init__(self, session: Session):
        self._session, gui = session, session.server.gui
        self.lesson = Lesson(session.robot.name)
        self._motion: Trajectory | None = None
        self._began: float | None = None
        record = gui.add_button("Record", hint="Keep where the robot is, after the chosen point")
        self._chosen = gui.add_slider("Point", 0, 1, 1, 0, hint="The point to go to, to replace or to delete")
        go, put = gui.add_button("Go there"), gui.add_button("Replace", hint="The point becomes where the robot is")
        delete = gui.add_button("Delete")
        self._speed = gui.add_slider("Speed", 0.05, 1.0, 0.05, 0.5, hint="A part of the full speed")
        self._play = gui.add_button("Play")
        self._list = gui.add_html("")
        session.clicked(record, self.record)
        session.clicked(go, self._go)
        session.clicked(put, self._replace)
        session.clicked(delete, self._delete)
        session.clicked(self._play, self.play)
        self._fill()

    @property
    def _index(self) -> int:
        """The chosen point, counted from 0; -1 if there is none."""
        return min(int(self._chosen.value), len(self.lesson.points)) - 1

    def show(self, lesson: Lesson) -> None:
        """Go on with another lesson, from any thread."""
        self.lesson = lesson
        self._session.post(self, lambda: self._fill(len(lesson.points)))

    def record(self) -> None:
        """Keep where the robot is, after the chosen point."""
        self.lesson = self.lesson.insert(self._index + 1, self._session.q)
        self._fill(self._index + 2)

    def play(self) -> None:
        """Move through all points without a stop, or stop moving."""
        if self._began is not None:
            self._stop()
        elif len({point.q for point in self.lesson.points}) > 1:
            self._motion = lesson_trajectory(self.lesson, self._session.robot, speed=float(self._speed.value))
            self._began, self._play.label = np.nan, "Stop"  # the clock begins with the next tick

    def tick(self, now: float) -> bool:
        """Go on with the motion that is played."""
        if self._began is None or self._motion is None:
            return False
        if np.isnan(self._began):
            self._began = now
        passed = now - self._began
        self._session.ask(np.asarray(self._motion(min(passed, self._motion.duration)).q))
        if passed >= self._motion.duration:
            self._stop()
        return self._began is not None

    def moved(self, q: np.ndarray) -> None:
        """Nothing here shows where the robot is."""

    def _stop(self) -> None:
        self._began, self._play.label = None, "Play"

    def _go(self) -> None:
        if self._index >= 0:
            self._session.ask(np.array(self.lesson.points[self._index].q))

    def _replace(self) -> None:
        if self._index >= 0:
            self.lesson = self.lesson.replace_point(self._index, q=self._session.q)
            self._fill(self._index + 1)

    def _delete(self) -> None:
        if self._index >= 0:
            self.lesson = self.lesson.delete(self._index)
            self._fill(self._index + 1)

    def _fill(self, chosen: int = 0) -> None:
        """Show the points; the chosen one is counted from 1."""
        count = len(self.lesson.points)
        self._chosen.max, self._chosen.value = max(count, 1), min(chosen, max(count, 1)) if count else 0
        rows = [", ".join(f"{x:.2f}" for x in point.q[:7]) for point in self.lesson.points]
        first = max(0, len(rows) - _SHOWN)
        text = "<br>".join(f"{k + 1}: {html.escape(row)}" for k, row in enumerate(rows) if k >= first)
        self._list.content = f"<small>{text or 'Move the robot, and press Record.'}</small>"
