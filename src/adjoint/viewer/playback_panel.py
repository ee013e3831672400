"""Play motions: time slider, speed, several motions at once in colours, and charts with the time that is shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..lie import so3
from .charts import Chart, legend
from .clips import Clip, poses_of_clip
from .drawn import Drawn
from .looks import Look, Poses
from .sessions import ROOT, Session

__all__ = ["APART", "PlaybackPanel", "grid"]

_SPEEDS = {"0.1 ×": 0.1, "0.25 ×": 0.25, "0.5 ×": 0.5, "1 ×": 1.0, "2 ×": 2.0, "5 ×": 5.0}
_TINTS = ((0.12, 0.47, 0.71), (1.0, 0.5, 0.05), (0.17, 0.63, 0.17), (0.84, 0.15, 0.16), (0.58, 0.4, 0.74),
          (0.09, 0.75, 0.81), (0.74, 0.74, 0.13))  # fmt: skip
_OFTEN = 0.1  # [s] between two updates of the time slider and the charts
_CHOSEN = (1.0, 0.6, 0.1)
APART = 1.1  # reaches between robots that stand side by side
_MANY = 9  # so many robots stand side by side


def grid(count: int, apart: float) -> np.ndarray:
    """Places (count, 3) [m] of robots in rows and columns around the origin."""
    side = int(np.ceil(np.sqrt(count)))
    k = np.arange(count)
    x, y = (k % side) - (side - 1) / 2, (k // side) - (np.ceil(count / side) - 1) / 2
    return np.stack([x * apart, y * apart, 0 * x], axis=1)


def _icon(name: str) -> Any:
    import viser

    return getattr(viser.Icon, name)


class _Track:
    """A clip with its robots in the scene."""

    def __init__(self, session: Session, clip: Clip, look: Look, number: int, alone: bool):
        self.clip, self.look = clip, look
        self.frames, self.poses = poses_of_clip(clip, look)
        self.tint = _TINTS[number % len(_TINTS)]
        self.offsets: np.ndarray | None = None
        self._frame = -1
        self.drawn: Drawn | None = None
        if number > 0 or clip.count > 1:
            opacity = 1.0 if clip.count > 1 and alone else 0.4
            tint = None if alone else self.tint
            scene = session.server.scene
            self.drawn = Drawn(scene, f"/stage/track{number}", look, clip.count, tint=tint, opacity=opacity)

    def spread(self, apart: float | None, shift: np.ndarray) -> None:
        """Let the robots stand side by side, or in one place."""
        count = self.clip.count
        self.offsets = np.broadcast_to(shift, (count, 3)) + (0.0 if apart is None else grid(count, apart))
        self._frame = -1

    def place(self, now: float) -> None:
        """Show the frame at a time."""
        k = int(np.searchsorted(self.frames, self.clip.at(now), side="right") - 1)
        if self.drawn is not None and k != self._frame:
            self._frame = k
            self.drawn.place(Poses(self.poses.wxyz[k], self.poses.xyz[k]), self.offsets)


class PlaybackPanel:
    """The tab that plays clips, and the charts."""

    def __init__(self, session: Session, clips: list[Clip], looks: list[Look], upright: np.ndarray):
        self._session, self._gui, self._clips = session, session.server.gui, clips
        self._duration = max(max(clip.duration for clip in clips), 1e-6)
        self._alone = len(clips) == 1
        self._tracks = [
            _Track(session, c, look, k, self._alone) for k, (c, look) in enumerate(zip(clips, looks, strict=True))
        ]
        self._turn = upright.T  # places are on the floor, which may not be level in the axes of the base
        self._now, self._last, self._told = 0.0, None, 0.0
        self._charts: dict[str, Chart] = {}
        self.playing = False
        self.started: Callable[[], None] | None = None
        self._set: np.ndarray | None = None
        self._build()
        self._spread()
        self._build_charts()
        self.go(0.0)

    @property
    def now(self) -> float:
        """The time [s] that is shown, from the start."""
        return self._now

    def _build(self) -> None:
        gui, session = self._gui, self._session
        self._button = gui.add_button("Play", color="green", icon=_icon("PLAYER_PLAY"))
        session.clicked(self._button, lambda: self.play(not self.playing))
        self._slider = gui.add_slider("Time [s]", 0.0, self._duration, _rounded(self._duration / 1000), 0.0)
        session.listen(self._slider, self._scrub)
        self._speed = gui.add_dropdown("Speed", list(_SPEEDS), initial_value="1 ×")
        self._loop = gui.add_checkbox("Loop", True)
        most = max(clip.count for clip in self._clips)
        self._layout: Any = None
        self._which: Any = None
        if most > 1:
            choices = ["side by side", "in one place"]
            self._layout = gui.add_dropdown("Robots", choices, initial_value=choices[0 if most >= _MANY else 1])
            session.listen(self._layout, lambda _: self._rearrange())
            self._which = gui.add_slider("Run shown", 0, most - 1, 1, 0, hint="Its curves, overlays and sliders")
            session.listen(self._which, lambda _: self._choose())
            session.drawn.show(False)
            self._mark_chosen()
        if not self._alone:
            squares = [
                _square(t.tint if k or t.clip.count > 1 else None, t.clip.name) for k, t in enumerate(self._tracks)
            ]
            gui.add_html('<div style="padding:0 1em .5em 1em;font-size:.875em">' + "<br>".join(squares) + "</div>")

    def _mark_chosen(self) -> None:
        """A disc under the robot whose curves are shown."""
        reach, low = self._session.extent.reach, float(self._session.extent.low[2])
        up = self._turn[:, 2]
        self._session.server.scene.add_cylinder(
            f"{ROOT}/chosen", 0.4 * reach, 0.004 * reach, color=_CHOSEN, opacity=0.6, cast_shadow=False,
            wxyz=so3.to_quat_wxyz(self._turn), position=up * (low + 0.003 * reach),
        )  # fmt: skip

    def _build_charts(self) -> None:
        panel = self._gui.add_panel()
        clip = self._clips[0]
        which = clip.charted()
        with panel.add_tab("Charts"):
            for curves in clip.curves(0, which):
                if curves.name == "joint forces" and not curves.values.any():
                    continue  # a passive run has none
                self._charts[curves.name] = Chart(self._gui, clip.t[which], curves)
                if curves.name in ("positions", "energy"):
                    self._gui.add_html(legend(curves.labels))
        panel.dock_left()
        panel.set_width(360)

    # --- time ---------------------------------------------------------------------------------------------------------

    def play(self, on: bool = True) -> None:
        """Play, or pause."""
        if on and not self._loop.value and self._now >= self._duration:
            self.go(0.0)
        if on and self.started is not None:
            self.started()
        self.playing, self._last = on, None
        self._button.label = "Pause" if on else "Play"
        self._button.icon = _icon("PLAYER_PAUSE" if on else "PLAYER_PLAY")

    def go(self, now: float) -> None:
        """Show a time [s]."""
        self._now = float(np.clip(now, 0.0, self._duration))
        with self._session.server.atomic():
            for track in self._tracks:
                track.place(self._now)
        first = self._clips[0]
        self._session.move(first.q[self._run, first.at(self._now)])

    def _scrub(self, value: float) -> None:
        self.play(False)
        self.go(value)
        self._tell()

    def tick(self, now: float) -> bool:
        """Go on, if it plays."""
        if not self.playing:
            return False
        step = 0.0 if self._last is None else (now - self._last) * _SPEEDS[self._speed.value]
        self._last = now
        then = self._now + step
        if then >= self._duration:
            if self._loop.value:
                then = then % self._duration
            else:
                self.play(False)
        self.go(then)
        if now - self._told >= _OFTEN:
            self._told = now
            self._tell()
        return True

    def _tell(self) -> None:
        """Move the time slider and the lines in the charts."""
        self._slider.value = round(self._now, 3)
        start = float(self._clips[0].t[0])
        for chart in self._charts.values():
            chart.show(start + min(self._now, self._clips[0].duration))

    def moved(self, q: np.ndarray) -> None:
        """The robot has moved; this may be because of the clip, or not."""

    # --- several robots -----------------------------------------------------------------------------------------------

    @property
    def _run(self) -> int:
        return 0 if self._which is None else min(int(self._which.value), self._clips[0].count - 1)

    def _spread(self) -> None:
        """Arrange the robots, and move what belongs to the chosen one to its place."""
        wide = self._layout is not None and self._layout.value == "side by side"
        apart = APART * self._session.extent.reach if wide else None
        for track in self._tracks:
            track.spread(apart, np.zeros(3))
            if track.offsets is not None:
                track.offsets = track.offsets @ self._turn.T
        offsets = self._tracks[0].offsets
        if offsets is not None:
            self._stand(offsets[self._run])

    def _stand(self, place: np.ndarray) -> None:
        """Move all that belongs to the robot itself to a place [m]."""
        node = self._session.server.scene.get_handle_by_name(ROOT)
        if node is not None:
            node.position = place

    def _rearrange(self) -> None:
        self._spread()
        self.go(self._now)

    def _choose(self) -> None:
        """Show the curves of another run."""
        self._spread()
        self.go(self._now)
        clip = self._clips[0]
        which = clip.charted()
        for curves in clip.curves(self._run, which):
            if curves.name in self._charts:
                self._charts[curves.name].replace(clip.t[which], curves.values, float(clip.t[0]) + self._now)


def _square(tint: tuple[float, float, float] | None, name: str) -> str:
    """A line of the legend."""
    import html

    color = "#9aa0a6" if tint is None else "#" + "".join(f"{round(255 * x):02x}" for x in tint)
    note = " (in full)" if tint is None else ""
    return f'<span style="color:{color}">■</span> {html.escape(name)}{note}'


def _rounded(x: float) -> float:
    """A number with one digit that is not 0, near x."""
    return float(f"{x:.0e}")
