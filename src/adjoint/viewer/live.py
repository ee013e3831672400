"""`view`: a robot, a run or a trajectory in the browser, to look at and to play with."""

from __future__ import annotations

import atexit
import contextlib
import errno
import html
import io
import os
import socket
import sys
import time
import webbrowser
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..drawing.actors import configurations
from ..drawing.axes import upright
from ..errors import ArgumentError
from ..extras import package
from ..lie import so3
from ..model.input_checks import count, truth, vectors
from ..model.robot import Robot
from ..polymer.atoms import Polymer
from ..program.teaching.lessons import Lesson
from .beside import Beside
from .clips import Clip, clip_of_actor, clips_of
from .drawn import Drawn
from .joint_panel import JointPanel
from .looks import Look, extent_of, look_of, poses_of
from .overlay_panel import OverlayPanel
from .physics_panel import PhysicsPanel
from .playback_panel import APART, PlaybackPanel, grid
from .reach_panel import ReachPanel
from .sessions import ROOT, Session
from .teach_panel import TeachPanel
from .worlds_shown import Shown, shown_world

if TYPE_CHECKING:
    import viser

__all__ = ["Viewer", "view"]

_FIRST_PORT, _PORTS = 8080, 65535
_RATE = 100.0  # [1/s] frames of a plan
_FIELD = 0.75  # [rad] the height of what the camera sees
_LIGHT, _DARK = (255, 255, 255), (18, 20, 24)


class Viewer:
    """A page in the browser that shows a robot; `view` makes one.

        with view(robot) as viewer:
            print(viewer.url)
            viewer.q = np.zeros(6)                      # move it, also while it is looked at
            viewer.wait()                               # until Ctrl-C

    `q` is the configuration (nq,) that is shown: it changes with what people do in the page, and can be set at any
    time. In a notebook, a viewer as the last expression of a cell shows the page there.
    """

    def __init__(self, session: Session, panels: Mapping[str, Any]):
        self._session, self._panels = session, dict(panels)
        self._closed = False

    @property
    def url(self) -> str:
        """The address of the page."""
        host = self._session.server.get_host()
        name = "localhost" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
        return f"http://{name}:{self._session.server.get_port()}"

    @property
    def robot(self) -> Robot:
        """The robot that is shown."""
        return self._session.robot

    @property
    def q(self) -> np.ndarray:
        """The configuration (nq,) that is shown; setting it moves the robot."""
        return self._session.q.copy()

    @q.setter
    def q(self, value) -> None:
        self._need_open()
        q = vectors(value, self.robot.nq, "q", "Viewer")
        if q.ndim != 1 or not np.isfinite(q).all():
            raise ArgumentError(f"Viewer: q must be finite numbers ({self.robot.nq},); got shape {q.shape}, {q!s:.60}")
        self._session.put(q)

    @property
    def lesson(self) -> Lesson:
        """What was recorded in the tab "Teach": `viewer.lesson.program()` is a robot program; setting it shows it."""
        return self._teach().lesson

    @lesson.setter
    def lesson(self, value: Lesson) -> None:
        self._need_open()
        if not isinstance(value, Lesson) or any(len(point.q) != self.robot.nq for point in value.points):
            raise ArgumentError(f"Viewer: lesson must be a Lesson with {self.robot.nq} coordinates a point")
        self._teach().show(value)

    def _teach(self) -> TeachPanel:
        if "teach" not in self._panels:
            raise ArgumentError("Viewer: this robot cannot be taught here; its joints must each have one coordinate")
        return self._panels["teach"]

    def wait(self) -> None:
        """Keep the page alive until Ctrl-C is pressed or the viewer is closed, and close it then."""
        print(f"{self.robot.name} is at {self.url}; press Ctrl-C to end", flush=True)
        try:
            while not self._closed:
                time.sleep(0.1)
        except KeyboardInterrupt:
            pass
        finally:
            self.close()

    def close(self) -> None:
        """End the page and free its port; a viewer that is closed stays closed."""
        if not self._closed:
            self._closed = True
            atexit.unregister(self.close)
            self._session.stop()
            _stop(self._session.server)

    def _need_open(self) -> None:
        if self._closed:
            raise ArgumentError("Viewer: it is closed; view(...) opens another one")

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Viewer of '{self.robot.name}', {'closed' if self._closed else self.url}>"

    def _repr_html_(self) -> str:
        if self._closed:
            return f"<code>{html.escape(repr(self))}</code>"
        style = "width:100%;height:560px;border:1px solid #ccc;border-radius:6px"
        return f'<iframe src="{html.escape(self.url)}" style="{style}"></iframe>'


def view(
    thing: Any, *, robot: Robot | Polymer | None = None, q=None, host: str = "127.0.0.1", port: int | None = None,
    open_browser: bool | None = None, meshes: bool = True,
) -> Viewer:  # fmt: skip
    """Show a robot, a run or a trajectory in the browser, and return a `Viewer`, which has the address as `url`.

        viewer = aj.view(robot)                         # sliders, inverse kinematics, overlays, physics
        viewer = aj.view(run)                           # play it, with charts; a batch stands side by side
        viewer = aj.view({"PD": first, "LQR": second})  # compare: the first in full, the others as ghosts
        viewer = aj.view(world)                         # its robots and parts; a MotionPlan plays among its obstacles
        viewer.wait()                                   # until Ctrl-C

    Parameters
    ----------
    thing
        A `Robot`, a `Polymer`, a `Run` or a batch of runs, a `Trajectory`, a `Motion`, states of a molecule, or several
        motions in a list or a dict by their names; or a `World`, a world that `aj.world.follow` follows, a `MotionPlan`
        or a `Scene`.
    robot
        The robot that follows a trajectory which was made without one; the `Polymer` whose states are shown.
    q
        Where a robot stands at first, (nq,); by default its joints are at 0, or as near as their limits allow.
    host, port
        Where the page is served. By default only this computer can open it; host="0.0.0.0" lets others do so, who can
        then move all that you can move. The port is the first free one from 8080 on, or the one that you give.
    open_browser
        Whether the system's browser opens the page. By default it does where there is a screen, but not in notebooks
        and tests.
    meshes
        Whether shapes of the model file are drawn; if not, or if there are none, a robot is drawn from its kinematics.

    This needs viser: pip install 'adjoint[view]'.
    """
    who = "view"
    stage = shown_world(thing, _RATE, True, who)
    if stage is not None and (robot is not None or q is not None):
        raise ArgumentError(f"{who}: a {type(thing).__name__} knows where its robots are; leave out robot and q")
    shown, clips = _subject(thing, robot, who) if stage is None else _lead(stage)
    if stage is not None and not clips:
        q = stage.actors[0].q[0, 0]
    meshes = truth(meshes, f"{who}: meshes")
    opens = _wants_browser(open_browser, who)
    package("viser", "view", who)
    body = shown.robot if isinstance(shown, Polymer) else shown
    start = _start(shown, clips, q, who)
    look = look_of(body, meshes)
    looks = [look if c.robot == body else look_of(c.robot, meshes) for c in clips]
    extent = extent_of(body, look, start)
    server = _served(host, port, body.name, who)
    try:
        session = Session(server, body, look, extent, start)
        panels = _panels(session, clips, looks)
        if stage is not None:
            _set_beside(session, panels, stage, meshes)
        viewer = Viewer(session, panels)
    except BaseException:
        _stop(server)
        raise
    atexit.register(viewer.close)  # before the server ends by itself, which would print that
    session.start()
    if opens:
        webbrowser.open(viewer.url)
    return viewer


def _subject(thing, robot, who: str) -> tuple[Robot | Polymer, list[Clip]]:
    """The robot or molecule that is shown, and the motions that are played."""
    if robot is not None and not isinstance(robot, Robot | Polymer):
        raise ArgumentError(f"{who}: robot must be a Robot or a Polymer; got {type(robot).__name__}")
    if isinstance(thing, Robot | Polymer):
        if robot is not None:
            raise ArgumentError(
                f"{who}: robot= is for trajectories; {type(thing).__name__} '{_name(thing)}' is shown itself"
            )
        return thing, []
    clips = clips_of(thing, robot, who)
    owner = robot if isinstance(robot, Polymer) else clips[0].robot
    return owner, clips


def _lead(stage: Shown) -> tuple[Robot, list[Clip]]:
    """The robot of a world that moves, or its first, and its motion; it becomes the first actor."""
    stage.actors.sort(key=lambda actor: len(actor.t) == 1)
    first = stage.actors[0]
    return first.robot, [] if len(first.t) == 1 else [clip_of_actor(first)]


def _set_beside(session: Session, panels: dict[str, Any], stage: Shown, meshes: bool) -> None:
    """Draw the parts of a world, and its other robots, which stand still."""
    playback = panels.get("playback")
    beside = Beside(session, stage.props, lambda: 0.0 if playback is None else playback.now)
    session.panels.append(beside)
    for k, actor in enumerate(stage.actors[1:]):
        look = look_of(actor.robot, meshes)
        drawn = Drawn(session.server.scene, f"{ROOT}/robot{k}", look)
        drawn.place(poses_of(actor.robot, look, actor.q[:1, 0]))


def _name(thing: Robot | Polymer) -> str:
    return thing.robot.name if isinstance(thing, Polymer) else thing.name


def _start(shown: Robot | Polymer, clips: list[Clip], q, who: str) -> np.ndarray:
    """The configuration (nq,) that is shown at first."""
    if clips and q is not None:
        raise ArgumentError(f"{who}: q belongs to a robot, and nothing but motions is shown")
    if clips:
        return clips[0].q[0, 0]
    if isinstance(shown, Polymer):
        shown, q = shown.robot, shown.q if q is None else q
    found = configurations(shown, q, who)
    if len(found) > 1:
        raise ArgumentError(f"{who}: q has shape {found.shape}; it must be ({shown.nq},): one robot is shown")
    return found[0]


# --- the server -------------------------------------------------------------------------------------------------------


def _served(host: str, port: int | None, name: str, who: str) -> viser.ViserServer:
    """A server on the port that is asked for, or on the first free one.

    The host becomes an address here, and the port is tried: viser would wait forever for one that it cannot have.
    """
    viser = package("viser", "view", who)
    if not isinstance(host, str) or not host:
        raise ArgumentError(f"{who}: host must be a name or an address, such as '127.0.0.1'; got {host!r:.40}")
    if port is not None and not 0 < count(port, f"{who}: port") <= _PORTS:
        raise ArgumentError(f"{who}: port must be from 1 to {_PORTS}; got {port}")
    address, free = _free(host, [port] if port else range(_FIRST_PORT, _PORTS + 1), who)
    with contextlib.redirect_stdout(io.StringIO()):  # it prints a table with the address
        server = viser.ViserServer(host=address, port=free, label=name, verbose=False)
    if port is not None and server.get_port() != port:
        _stop(server)  # another program was faster
        raise ArgumentError(_in_use(port, who))
    return server


def _free(host: str, ports: Sequence[int], who: str) -> tuple[str, int]:
    """The address of a host, of IPv4 if it has one, and the first of these ports that is free there."""
    for port in ports:
        try:
            known = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            family, kind, protocol, _, address = min(known, key=lambda info: info[0] != socket.AF_INET)
            with socket.socket(family, kind, protocol) as tried:
                if os.name == "posix":  # ports of connections that have just ended are free, as they are for the server
                    tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                tried.bind(address)
            return str(address[0]), port
        except (OSError, UnicodeError) as error:
            if getattr(error, "errno", None) != errno.EADDRINUSE:
                raise ArgumentError(f"{who}: the page cannot be served at {host}:{port}: {error}") from None
    raise ArgumentError(_in_use(ports[0], who))


def _in_use(port: int, who: str) -> str:
    return f"{who}: port {port} is in use; without port=, the first free one is taken"


def _stop(server: viser.ViserServer) -> None:
    with contextlib.redirect_stdout(io.StringIO()):  # it prints that it has stopped
        server.stop()


def _wants_browser(given: bool | None, who: str) -> bool:
    """Whether to open the browser: if nothing is said, where there is a screen, and no notebook or test."""
    if given is not None:
        return truth(given, f"{who}: open_browser")
    screen = sys.platform in ("darwin", "win32") or any(os.environ.get(k) for k in ("DISPLAY", "WAYLAND_DISPLAY"))
    return screen and "PYTEST_CURRENT_TEST" not in os.environ and "ipykernel" not in sys.modules


# --- the page ---------------------------------------------------------------------------------------------------------


def _panels(session: Session, clips: list[Clip], looks: list[Look]) -> dict[str, Any]:
    """Set the stage, and fill the page with tabs."""
    gui, robot, R = session.server.gui, session.robot, upright(session.robot)
    many = max((clip.count for clip in clips), default=1)
    _stage(session, R, many)
    _dress(session, False)
    found: dict[str, Any] = {}
    tabs = gui.add_tab_group()
    if clips:
        with tabs.add_tab("Play"):
            found["playback"] = PlaybackPanel(session, clips, looks, R)
    moves = robot.nv > 0 and many == 1  # by hand; of a batch, only what happened is shown
    if moves:
        with tabs.add_tab("Joints"):
            found["joints"] = JointPanel(session)
        with tabs.add_tab("Reach"):
            found["reach"] = ReachPanel(session, _frames(robot))
        if robot.nq == robot.nv:
            with tabs.add_tab("Teach"):
                found["teach"] = TeachPanel(session)
    with tabs.add_tab("Show"):
        tool = (lambda: found["reach"].frame) if moves else (lambda: _frames(robot)[-1])
        found["overlays"] = overlays = OverlayPanel(session, tool)
        session.listen(overlays.dark, lambda on: _dress(session, on))
    if moves:
        with tabs.add_tab("Physics"):
            found["physics"] = physics = PhysicsPanel(session, found["joints"], 1.0, lambda: (R, np.zeros(3)))
        if clips:
            _take_turns(found["playback"], physics)
    session.panels += found.values()
    return found


def _take_turns(playback: PlaybackPanel, physics: PhysicsPanel) -> None:
    """Either a clip is played, or physics moves the robot."""
    physics.started = lambda: playback.play(False)
    playback.started = lambda: physics.switch(False) if physics.moving is not None else None


def _frames(robot: Robot) -> list[str]:
    """The frames that can be dragged, the last of which is the tool if there is one; of long chains, some."""
    names = [name for name in robot.frame_names if robot.frame(name).body >= 0]
    if len(names) > 200:
        names = [*names[:: len(names) // 100], names[-1]]
    best = next((n for n in names if n in ("tool", "tool0", "ee_link", "tcp", "tool_link")), None)
    return [*(n for n in names if n != best), best] if best else names or [robot.base_name]


def _stage(session: Session, R: np.ndarray, many: int) -> None:
    """The floor, the camera, and the node to which all of the robot belongs."""
    scene, extent = session.server.scene, session.extent
    scene.add_frame("/stage", wxyz=so3.to_quat_wxyz(R), show_axes=False)
    scene.add_frame(ROOT, show_axes=False)
    low, high = extent.low, extent.high
    middle = (low + high) / 2
    size = max(float(np.linalg.norm(high - low)), 0.6 * extent.reach)
    if many > 9:
        far = np.abs(grid(many, APART * extent.reach)).max()
        middle, size = np.array([0.0, 0.0, middle[2]]), 1.9 * far + size
    if session.robot.gravity.any():
        floor = 0.0 if low[2] > -0.02 * size else float(low[2])
        cell = 10.0 ** np.round(np.log10(size)) / 4
        scene.add_grid(
            "/floor", infinite_grid=True, cell_size=cell, section_size=4 * cell, fade_distance=7 * size,
            shadow_opacity=0.3, position=(0.0, 0.0, floor),
        )  # fmt: skip
    # The client's own sun is so bright that colors become pale, and it stands right above, where shadows are small.
    scene.configure_default_lights(False)
    scene.configure_environment_map(environment_intensity=0.6)
    sun = {"color": (255, 250, 244), "intensity": 1.6, "position": (1.5, -2.0, 4.0)}
    scene.add_light_directional("/sun", cast_shadow=True, **sun)
    camera = session.server.initial_camera
    if many <= 9:  # the panel covers the right of the page; of a batch, that is the sky
        middle = middle + 0.1 * size * np.array([0.75, 0.67, 0.0])
    camera.look_at = tuple(middle)
    camera.position = tuple(middle + 1.35 * size * np.array([0.85, -0.95, 0.4]))
    camera.fov = _FIELD
    camera.near, camera.far = 0.005 * size, 100 * size
    scene.world_axes.visible = False


def _dress(session: Session, dark: bool) -> None:
    """Light or dark."""
    session.server.gui.configure_theme(
        dark_mode=dark, show_logo=False, show_share_button=False, brand_color=(38, 98, 185)
    )
    scene = session.server.scene
    scene.set_background_image(np.full((2, 2, 3), _DARK if dark else _LIGHT, np.uint8))
    floor: Any = scene.get_handle_by_name("/floor")
    if floor is not None:
        floor.cell_color = (44, 47, 53) if dark else (222, 224, 228)
        floor.section_color = (64, 68, 76) if dark else (190, 194, 200)
