"""Pages of robots and motions: what they hold, and what they do in a real browser."""

import io
import json
import time
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from support.browser import Browser
from support.pages import configurations_of, data_of
from support.robots import urdf
from support.trees import tree

import adjoint as aj
from adjoint.drawing.actors import Actor, settled
from adjoint.drawing.listings import Listing
from adjoint.drawing.pages import MOST_RUNS, page_text
from adjoint.drawing.props import Prop
from adjoint.drawing.triangles import box
from adjoint.errors import ArgumentError
from adjoint.lie import se3
from adjoint.polymer import polypeptide
from adjoint.simulation import simulate
from adjoint.trajectory import quintic, trapezoidal
from adjoint.viewer import Page, page
from adjoint.viewer.showing import actors_of, named

PUMA = aj.robots.puma560()
START = np.array([0.3, -0.8, 2.0, 0.3, 0.7, 0.0])
GOAL = START + np.array([1.2, 0.6, -0.9, 0.5, 0.2, 0.5])
TURNS = ("spherical", "free")
HOSTILE = '</script><img src=x onerror="window.hacked=1"><b>/*SCRIPT*/&amp;\''


@pytest.fixture(scope="module")
def browser():
    with Browser(1000, 700) as found:
        yield found


@pytest.fixture
def opened(browser, tmp_path):
    """Opens a page from disk; at the end of the test, it has complained about nothing and asked for nothing."""
    browser.complaints.clear()
    browser.resize(1000, 700)
    browser.media(prefers_color_scheme="light")

    def opening(shown: Page) -> Browser:
        browser.open(shown.save(tmp_path / "page.html"))
        browser.run("adjoint.ready")
        return browser

    yield opening
    assert browser.complaints == []
    assert browser.run("performance.getEntriesByType('resource').length") == 0


def picture(browser: Browser) -> np.ndarray:
    """The window (height, width, 3) of whole numbers."""
    return np.asarray(Image.open(io.BytesIO(browser.screenshot())).convert("RGB")).astype(int)


def moved_pixels(before: np.ndarray, after: np.ndarray) -> int:
    """How many pixels of the robot's part of the window differ clearly."""
    return int((np.abs(after - before).sum(axis=-1)[60:600, :700] > 60).sum())


def settle(browser: Browser) -> None:
    """Wait until all that was asked for is drawn."""
    browser.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


# --- what a page holds ------------------------------------------------------------------------------------------------


def test_a_page_needs_nothing_else():
    text = page(PUMA).text
    assert "default-src 'none'" in text  # browsers then refuse all addresses
    assert "://" not in text and "src=" not in text and "@import" not in text and "url(" not in text
    assert len(text) < 200_000


def test_a_robot_stands_where_it_is_told():
    assert np.array_equal(configurations_of(data_of(page(PUMA, q=START).text), 0)[0, 0], START.astype("f4"))
    three = data_of(page(PUMA, q=np.stack([START] * 3)).text)
    assert three["actors"][0]["runs"] == 3 and three["arrange"] == "together"
    limited = aj.robots.puma560().replace(lower=np.full(6, 0.25))  # 0 is outside of its limits
    np.testing.assert_allclose(configurations_of(data_of(page(limited).text), 0), 0.25)


def test_a_run_has_its_curves():
    law = aj.control.computed_torque(PUMA, GOAL, kp=30.0)
    run = simulate(PUMA, law, q=START, duration=0.2, dt=0.001, record=10)
    (actor,) = data_of(page(run, frames_per_second=100).text)["actors"]
    curves = {x["name"]: x["values"].reshape(21, -1) for x in actor["curves"]}
    for name, values in (("positions", run.q), ("velocities", run.v), ("joint forces", run.tau)):
        np.testing.assert_allclose(curves[name], values, atol=1e-5)
    np.testing.assert_allclose(curves["energy"][:, 2], run.energy.total, rtol=1e-6)
    assert data_of(page(run, curves=False).text)["actors"][0]["curves"] == []
    passive = data_of(page(simulate(PUMA, q=START, duration=0.1, dt=0.01)).text)["actors"][0]
    assert [x["name"] for x in passive["curves"]] == ["positions", "velocities", "energy"]  # no forces, no plot


def test_every_run_of_a_batch_has_its_curves():
    run = simulate(PUMA, q=START + 0.1 * np.arange(6).reshape(2, 3, 1), duration=0.1, dt=0.01)
    (actor,) = data_of(page(run).text)["actors"]
    values = {x["name"]: x["values"].reshape(6, actor["frames"], -1) for x in actor["curves"]}
    np.testing.assert_allclose(values["velocities"][4, -1], run.v[1, 1, -1], atol=1e-5)
    np.testing.assert_allclose(values["energy"][:, 0, 2], run.energy.total[..., 0].ravel(), rtol=1e-6)


def test_trajectories_and_motions():
    motion = quintic(START, GOAL, duration=1.01)
    data = data_of(page(motion, robot=PUMA, frames_per_second=20).text)
    times = data["actors"][0]["t"]
    assert len(times) == 22 and times[-1] == 1.01  # the end is there, too
    np.testing.assert_allclose(configurations_of(data, 0)[0], motion(times).q, atol=1e-6)
    planned = aj.spline_motion(PUMA, START, GOAL, 1.0)
    assert data_of(page([planned, motion], robot=PUMA).text)["actors"][1]["name"] == "trajectory (2)"


def test_many_numbers_are_kept_in_16_bits():
    q = aj.random_configuration(PUMA, (700, 60), rng=0)
    motion = simulate(PUMA, q=q[:, 0], duration=0.02, dt=0.001, record=1)
    big = motion.__class__(**{**vars(motion), "t": np.arange(60.0), "q": q, "v": 0 * q})
    data = data_of(page(big, frames_per_second=1, curves=False).text)
    assert data["actors"][0]["q"].dtype == np.uint16
    half_a_step = np.max(data["actors"][0]["step"]) / 2
    np.testing.assert_allclose(configurations_of(data, 0), q, atol=1.01 * half_a_step)
    assert half_a_step < 1e-4


def test_many_robots_have_few_triangles_each():
    def count(text: str) -> int:
        return sum(len(part["faces"]) // 3 for part in data_of(text)["robots"][0]["parts"])

    assert count(page(PUMA, q=np.zeros((1500, 6))).text) <= 1_000_000 / 1500 + 12 * 20 < count(page(PUMA).text)


def test_lost_runs_stay():
    q = np.zeros((3, 4, 2))
    q[0, 2:] = np.nan
    q[1] = np.nan
    q[0, :2] = [[1, 2], [3, 4]]
    drawn, kept = settled(q, "test")
    assert drawn.tolist() == [0, 2] and kept[0].tolist() == [[1, 2], [3, 4], [3, 4], [3, 4]]


def test_names_are_only_names():
    """Nothing in a name ends the script, or takes the place of a part of the page."""
    run = simulate(PUMA, q=START, duration=0.1, dt=0.01)
    shown = page({HOSTILE: run, "/*DATA*//*ARRAYS*/": run}, title=HOSTILE)
    data = data_of(shown.text)
    assert [actor["name"] for actor in data["actors"]] == [HOSTILE, "/*DATA*//*ARRAYS*/"]
    assert shown.text.count("</script>") == page(PUMA).text.count("</script>") == 3
    assert "<img" not in shown.text and "<img" not in shown._repr_html_()


def test_files_and_reprs(tmp_path):
    shown = page(PUMA)
    assert repr(shown) == f"<Page 'puma560', {len(shown.text) / 1e6:.2f} MB>"
    target = shown.save(tmp_path / "new" / "arm.html")
    assert target.read_text(encoding="utf-8") == shown.text and len(list(target.parent.iterdir())) == 1
    for bad in ("arm.png", 3):
        with pytest.raises(ArgumentError, match=r"Page\.save"):
            shown.save(bad)  # type: ignore[arg-type]


def test_bad_input():
    motion = quintic(START, GOAL, duration=1.0)
    run = simulate(PUMA, q=START, duration=0.1, dt=0.01)
    for thing, options, words in (
        (3, {}, "page: got int; give a Robot, Polymer, Run"),
        ({}, {}, "page: nothing to show"),
        ({"a": 3}, {}, "page: 'a' is int; give a Robot"),
        ({3: PUMA}, {}, "page: the name 3 must be a str"),
        (motion, {}, r"page: Trajectory 'trajectory' does not know its robot; give page\(\.\.\., robot=robot\)"),
        (motion, {"robot": aj.robots.two_link()}, "has 6 coordinates, robot 'two_link' 2"),
        (PUMA, {"q": np.zeros(5)}, r"page: q has shape \(5,\); it must be \(6,\) or \(k, 6\)"),
        (PUMA, {"q": np.zeros((0, 6))}, r"page: q has shape \(0, 6\)"),
        (PUMA, {"q": np.full(6, np.nan)}, "page: q contains NaN"),
        (PUMA, {"q": "zero"}, "page: q must be numbers"),
        (PUMA, {"q": np.zeros((MOST_RUNS + 1, 6))}, f"has {MOST_RUNS + 1} runs; a page shows at most {MOST_RUNS}"),
        (run, {"frames_per_second": 0}, "frames_per_second"),
        (motion, {"robot": PUMA, "frames_per_second": 1e9}, "pictures a second are more than"),
        (run, {"arrange": "beside"}, "arrange"),
        (PUMA, {"title": 3}, "page: title must be a str"),
        (PUMA, {"meshes": "no"}, "page: meshes"),
        (PUMA, {"robot": "puma"}, "page: robot must be a Robot or a Polymer, got str"),
        (PUMA, {"robot": PUMA}, "page: robot= is for motions"),
        (run, {"robot": aj.robots.two_link()}, "is a motion of robot 'puma560', and robot= is another one"),
        (run, {"q": START}, "page: q belongs to a robot"),
    ):
        with pytest.raises(ArgumentError, match=words):
            page(thing, **options)


def test_things_of_one_name_are_all_shown():
    names = [PUMA.replace(name=name) for name in ("arm (2)", "arm", "arm", "arm")]
    assert list(named(names, "page")) == ["arm (2)", "arm", "arm (3)", "arm (4)"]


@pytest.mark.filterwarnings("error")
def test_a_run_that_explodes_stays_where_it_was():
    robot = aj.robots.two_link()
    run = simulate(robot, q=[0.1, 0.2], v=[1e30, -1e40], duration=0.1, dt=0.01)
    assert np.abs(run.q[1]).min() > 1e38 and np.isnan(run.q[-1]).all()
    data = data_of(page(run).text)
    assert np.allclose(configurations_of(data, 0), run.q[0])
    assert not any(np.isinf(curve["values"]).any() for curve in data["actors"][0]["curves"])


def test_states_of_a_molecule_are_shown():
    beads = aj.polymer.bead_chain(6)
    states = aj.polymer.langevin(
        beads.robot, np.tile(beads.q, (3, 1)), np.zeros((3, beads.robot.nv)), dt=0.002, steps=20, kT=2.5, friction=0.5,
        rng=0,
    )  # fmt: skip
    data = data_of(page(states, robot=beads, frames_per_second=1000).text)
    assert data["actors"][0]["unit"] == "Å"
    np.testing.assert_allclose(configurations_of(data, 0)[:, -1], states.q[-1], atol=1e-6)
    with pytest.raises(ArgumentError, match="does not know its robot"):
        page(states)
    with pytest.raises(ArgumentError, match="robot 'puma560' 6"):
        page(states, robot=PUMA)


def test_a_robot_without_joints():
    data = data_of(page(aj.load('<robot name="stone"><link name="stone"/></robot>')).text)
    assert data["robots"][0]["nq"] == 0 and data["robots"][0]["parts"]


# --- the page's own kinematics ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ["puma560", "tree 0", "tree 1", "tree 2", "solo12.urdf", "panda.urdf"])
def test_placements_are_those_of_forward_kinematics(name, opened):
    """Every type of joint, mimics, and gravity in any direction: as doubles from outside, and as kept in the page."""
    if name.endswith("urdf"):
        robot = aj.load(urdf(name), base="free" if "solo" in name else "fixed")
    else:
        robot = PUMA if name == "puma560" else tree(int(name[-1]), 14)
    q = aj.random_configuration(robot, 4, rng=1)
    browser = opened(page(robot, q=q, meshes=False))
    for run in range(4):
        T = aj.forward_kinematics(robot, q[run])
        np.testing.assert_allclose(browser.run(f"adjoint.placements(0, {run})"), T, atol=1e-5 * max(1, np.abs(T).max()))
    browser.run(f"adjoint.setQ({q[3].tolist()})")
    T = aj.forward_kinematics(robot, q[3])
    np.testing.assert_allclose(browser.run("adjoint.placements()"), T, atol=1e-12 * max(1, np.abs(T).max()))
    for frame in robot.frame_names[-3:]:
        np.testing.assert_allclose(
            browser.run(f"adjoint.frame({json.dumps(frame)})"), aj.forward_kinematics(robot, q[3], frame), atol=1e-11
        )


@pytest.mark.slow
def test_between_frames_motions_go_on(opened):
    """Joint values are linear between frames, and turns stay turns."""
    floating = tree(0, 14)
    ends = aj.random_configuration(floating, 2, rng=3)
    path = aj.interpolate(floating, ends[0], ends[1], np.linspace(0, 1, 11))
    run = simulate(floating, q=ends[0], duration=1.0, dt=0.1)
    browser = opened(page(run.__class__(**{**vars(run), "q": path}), curves=False, meshes=False))
    browser.run("adjoint.pause()")
    for at in (0.0, 0.3, 1.0):
        browser.run(f"adjoint.seek({at})")
        T = aj.forward_kinematics(floating, path[round(10 * at)])
        np.testing.assert_allclose(browser.run("adjoint.placements()"), T, atol=1e-5 * np.abs(T).max())
    browser.run("adjoint.seek(0.35)")
    T = np.array(browser.run("adjoint.placements()"))
    between = (path[3] + path[4]) / 2
    for k in [floating.layout.q_start[i] + 3 * (x == "free") for i, x in enumerate(floating.joint_types) if x in TURNS]:
        one, other = path[3, k : k + 4], path[4, k : k + 4]
        between[k : k + 4] = one + np.sign(one @ other) * other  # q and -q are the same turn
        between[k : k + 4] /= np.linalg.norm(between[k : k + 4])
    np.testing.assert_allclose(T, aj.forward_kinematics(floating, between), atol=1e-5 * np.abs(T).max())


@pytest.mark.slow
def test_inverse_kinematics_finds_what_can_be_reached(opened):
    browser = opened(page(PUMA, q=START))
    for q in START + 0.3 * np.random.default_rng(0).uniform(-1, 1, (5, 6)):
        goal = aj.forward_kinematics(PUMA, q, "tool")
        browser.run(f"adjoint.reach('tool', {goal.tolist()})")
        browser.run(f"adjoint.reach('tool', {goal.tolist()})")
        np.testing.assert_allclose(browser.run("adjoint.frame('tool')"), goal, atol=1e-5)
    far = np.eye(4)
    far[:3, 3] = [3.0, 1.0, 0.0]  # the arm stretches towards it
    browser.run(f"adjoint.reach('tool', {far.tolist()})")
    q = np.array(browser.run("adjoint.q()"))
    assert np.isfinite(q).all() and (q >= PUMA.lower - 1e-12).all() and (q <= PUMA.upper + 1e-12).all()


# --- what one does with a page ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_slider_moves_the_arm(opened):
    browser = opened(page(PUMA, q=START))
    T, before = np.array(browser.run("adjoint.placements()")), picture(browser)
    x, y = browser.center("#joint-0")
    browser.drag((x, y), (x + 60, y))
    settle(browser)
    q = browser.run("adjoint.q()")
    assert q[0] > START[0] + 0.5 and np.allclose(q[1:], START[1:], atol=1e-6)
    assert np.abs(np.array(browser.run("adjoint.placements()")) - T).max() > 0.1
    assert moved_pixels(before, picture(browser)) > 2000
    assert browser.run("document.querySelector('.joint output').textContent") == f"{np.degrees(q[0]):.1f}°"
    shown = [
        float(x)
        for x in browser.run("[...document.querySelectorAll('.numbers span')].slice(0, 3).map(e => e.textContent)")
    ]
    np.testing.assert_allclose(shown, 1000 * aj.forward_kinematics(PUMA, q, "tool")[:3, 3], atol=0.06)  # [mm]


@pytest.mark.slow
def test_reset_and_random(opened):
    browser = opened(page(PUMA, q=START))
    press = "[...document.querySelectorAll('#panel button')].find((b) => b.textContent === '{}').click()"
    browser.run(press.format("random"))
    browser.wait("tween === null")  # it has arrived
    settle(browser)
    q = np.array(browser.run("adjoint.q()"))
    assert np.abs(q - START).max() > 0.1 and (q >= PUMA.lower).all() and (q <= PUMA.upper).all()
    browser.run(press.format("reset"))
    browser.wait("tween === null")  # it has arrived
    settle(browser)
    np.testing.assert_allclose(browser.run("adjoint.q()"), START, atol=1e-6)


@pytest.mark.slow
def test_a_floating_base_has_sliders_for_its_turns(opened):
    robot = tree(0, 14)
    browser = opened(page(robot, q=aj.random_configuration(robot, rng=0), meshes=False))
    free = list(robot.joint_types).index("free")
    at = robot.layout.q_start[free] + 3
    angles = browser.run(
        f"(() => {{ const s = document.getElementById('joint-{at}'); s.value = 30;"
        "s.dispatchEvent(new Event('input')); return adjoint.q(); })()"
    )
    quat = np.array(angles[at : at + 4])
    R = aj.lie.so3.from_quat_wxyz(quat)
    assert np.linalg.norm(quat) == pytest.approx(1) and np.degrees(np.arctan2(R[2, 1], R[2, 2])) == pytest.approx(30)


@pytest.mark.slow
def test_the_tool_follows_the_mouse(opened):
    browser = opened(page(PUMA, q=START))
    T = np.array(browser.run("adjoint.frame('tool')"))
    x, y = browser.run(f"adjoint.screen({T[:3, 3].tolist()})")
    before = picture(browser)
    browser.drag((x, y), (x - 90, y + 60))
    settle(browser)
    moved = np.array(browser.run("adjoint.frame('tool')"))
    np.testing.assert_allclose(browser.run(f"adjoint.screen({moved[:3, 3].tolist()})"), [x - 90, y + 60], atol=2)
    np.testing.assert_allclose(moved[:3, :3], T[:3, :3], atol=1e-3)  # it keeps its orientation
    assert moved_pixels(before, picture(browser)) > 2000
    q = browser.run("adjoint.q()")
    np.testing.assert_allclose(aj.forward_kinematics(PUMA, q, "tool"), moved, atol=1e-12)


@pytest.mark.slow
def test_the_view_turns_zooms_and_comes_back(opened):
    browser = opened(page(PUMA, q=START))
    home = browser.run("adjoint.camera({})")
    browser.drag((120, 500), (220, 470))
    turned = browser.run("adjoint.camera({})")
    assert turned["turn"] < home["turn"] - 0.3 and turned["tilt"] < home["tilt"]
    wheel = "!view.dispatchEvent(new WheelEvent('wheel', {deltaY: -300, cancelable: true}))"
    assert browser.run(wheel) is True and browser.run("adjoint.camera({})")["zoom"] > 1.4
    browser.run("view.dispatchEvent(new MouseEvent('dblclick', {clientX: 120, clientY: 500}))")
    assert browser.run("adjoint.camera({})") == home


@pytest.mark.slow
def test_playing_pausing_and_scrubbing(opened):
    motion = quintic(START, GOAL, duration=30.0)
    browser = opened(page(motion, robot=PUMA, frames_per_second=10))
    browser.wait("adjoint.time > 0.2")
    assert browser.run("adjoint.playing")
    browser.click(browser.center("#play"))
    assert not browser.run("adjoint.playing")
    at = browser.run("adjoint.time")
    settle(browser)
    assert browser.run("adjoint.time") == at
    before = picture(browser)
    x, y = browser.center("#scrub")
    browser.click((x, y))
    settle(browser)
    half = browser.run("adjoint.time")
    assert half == pytest.approx(15, abs=0.5) and browser.run("time.textContent") == f"{half:.2f} s"
    np.testing.assert_allclose(browser.run("adjoint.q()"), motion(half).q, atol=2e-3)
    assert moved_pixels(before, picture(browser)) > 2000
    drawn = browser.run("adjoint.measured.pictures")
    time.sleep(0.3)
    assert browser.run("adjoint.measured.pictures") == drawn  # nothing is drawn while nothing changes
    plot = browser.run("(b => [b.x, b.y, b.width, b.height])(plot.getBoundingClientRect())")
    browser.click((plot[0] + plot[2] - 10, plot[1] + plot[3] / 2))
    assert browser.run("adjoint.time") > 27
    browser.click((400, 300))
    browser.run("document.dispatchEvent(new KeyboardEvent('keydown', {key: ' '}))")
    assert browser.run("adjoint.playing")


@pytest.mark.slow
def test_two_motions_are_compared(opened):
    motions = {
        "quintic": quintic(START, GOAL, duration=2.0),
        "trapezoidal": trapezoidal(START, GOAL, velocity=2.0, acceleration=3.0),
    }
    browser = opened(page(motions, robot=PUMA))
    browser.run("adjoint.pause(); adjoint.seek(0.8)")
    settle(browser)
    for k, motion in enumerate(motions.values()):
        np.testing.assert_allclose(browser.run(f"adjoint.q({k})"), motion(0.8).q, atol=1e-3)
    both = picture(browser)
    second = "#legend button:nth-child(2)"
    assert browser.run(f"document.querySelector('{second}').dataset.state") == "ghost"
    browser.click(browser.center(second))
    settle(browser)
    assert browser.run(f"document.querySelector('{second}').dataset.state") == "hidden"
    assert moved_pixels(both, picture(browser)) > 300


@pytest.mark.slow
def test_a_thousand_robots(opened):
    q = aj.random_configuration(PUMA, 1000, rng=0)
    run = simulate(PUMA, q=q, duration=0.4, dt=0.002, record=20)
    browser = opened(page(run, frames_per_second=25, curves=False))
    browser.run("adjoint.pause(); adjoint.seek(0.2)")
    settle(browser)
    at = int(np.searchsorted(run.t, 0.2 - 1e-9))
    for number in (0, 500, 999):
        T = aj.forward_kinematics(PUMA, run.q[number, at])
        np.testing.assert_allclose(browser.run(f"adjoint.placements(0, {number})"), T, atol=1e-5)
    assert browser.run("document.getElementById('about').textContent") == "1000 robots"
    seen = picture(browser)[250:400, 200:500]  # the middle of what the panel leaves free
    orange = (seen[..., 0] > seen[..., 2] + 60).mean()
    assert orange > 0.02  # arms are everywhere


@pytest.mark.slow
@pytest.mark.parametrize("count", [9, 60, 200])
def test_no_robot_of_a_batch_is_hidden(count, opened):
    """All bodies of all robots are left of the panel, above the bar and in the window, also after "reset view"."""
    run = simulate(PUMA, q=aj.random_configuration(PUMA, count, rng=0), duration=0.4, dt=0.002, record=20)
    browser = opened(page(run, frames_per_second=25, arrange="side by side"))
    browser.resize(1200, 800)
    browser.run("adjoint.pause(); adjoint.camera({zoom: 3, turn: 1}); resetView()")
    settle(browser)
    points = np.array(browser.run(
        f"Array.from({{length: {count}}}, (_, run) => adjoint.placements(0, run).map((T) =>"
        " onScreen(moved(baseOf(actors[0], run), T.slice(0, 3).map((row) => row[3]))).slice(0, 2)))"
    ))  # fmt: skip
    right, bottom = browser.run("[panel.getBoundingClientRect().left, bar.getBoundingClientRect().top]")
    assert points.min() > 0 and points[..., 0].max() < right and points[..., 1].max() < bottom
    assert np.ptp(points[..., 0]) > 0.6 * right  # and they are not small


@pytest.mark.slow
def test_a_run_of_a_batch_is_chosen_by_a_click_or_by_its_number(opened):
    run = simulate(PUMA, q=aj.random_configuration(PUMA, 60, rng=0), duration=0.4, dt=0.002, record=20)
    browser = opened(page(run, frames_per_second=25))
    browser.run("adjoint.pause(); adjoint.seek(0.2)")
    settle(browser)
    at = browser.run("onScreen(column(baseOf(actors[0], 59), 3)).slice(0, 2)")
    browser.click(at)
    settle(browser)
    assert browser.run("document.getElementById('run').value") == "59"
    assert "run 59, from 0 to 59" in browser.run("panel.innerText")
    browser.run("(f => { f.value = 17; f.onchange(); })(document.getElementById('run'))")
    settle(browser)
    k = int(np.searchsorted(run.t, 0.2 - 1e-9))
    np.testing.assert_allclose(browser.run("adjoint.q()"), run.q[17, k], atol=1e-5)
    numbers = browser.run("[...document.querySelectorAll('.numbers span')].slice(0, 3).map(e => Number(e.textContent))")
    np.testing.assert_allclose(numbers, 1000 * aj.forward_kinematics(PUMA, run.q[17, k], "tool")[:3, 3], atol=0.06)
    curve = browser.run("(c => [...valuesOf(actors[0], c)])(actors[0].curves[1])")
    np.testing.assert_allclose(np.reshape(curve, (-1, 6))[-1], run.v[17, -1], atol=1e-5)
    assert "Pose [mm] of" in browser.run("panel.innerText") and browser.run("tenths(-0.01)") == "0.0"


def test_only_robots_without_meshes_need_a_plinth():
    robot = aj.load(urdf("ur5_robot"))
    needed = [data_of(page(robot, meshes=meshes).text)["robots"][0]["plinth"] for meshes in (True, False)]
    assert needed == [False, True]


@pytest.mark.slow
def test_what_explains_is_shown_and_hidden(opened):
    browser = opened(page(PUMA, q=START))
    plain = picture(browser)
    for what in ("frames", "axes", "mass"):
        browser.run(f"adjoint.show('{what}', true)")
        settle(browser)
        assert moved_pixels(plain, picture(browser)) > 100, what
        browser.run(f"adjoint.show('{what}', false)")
    browser.run("adjoint.show('names', true)")
    settle(browser)
    names = browser.run("[...document.querySelectorAll('#labels span')].map((e) => e.textContent)")
    assert names == [PUMA.base_name, *PUMA.body_names]
    browser.run("adjoint.show('names', false)")
    settle(browser)
    assert moved_pixels(plain, picture(browser)) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nothing", "one free body", "a long chain", "a molecule", "four robots"])
def test_odd_things_are_shown(name, opened):
    chain = aj.robots.chain(120)
    things = {
        "nothing": lambda: page(aj.Robot.builder("nothing").link("base").build()),
        "one free body": lambda: page(aj.robots.random_tree(0, 1, ["free"])),
        "a long chain": lambda: page(chain, q=np.full(120, 0.05)),
        "a molecule": lambda: page(polypeptide("AAA", phi=-1.0, psi=-0.8)),
        "four robots": lambda: page([PUMA, aj.robots.stanford(), aj.robots.scara(), PUMA]),
    }
    browser = opened(things[name]())
    assert browser.run("document.getElementById('sorry')") is None and browser.run("adjoint.measured.pictures") > 0
    handles = browser.run("actors.map((actor) => actor.robot.handles.length)")
    assert handles == {"nothing": [0], "one free body": [0], "four robots": [1, 1, 1, 1]}.get(name, [1])
    if name == "a long chain":
        T = aj.forward_kinematics(chain, np.full(120, 0.05))
        np.testing.assert_allclose(browser.run("adjoint.placements()"), T, atol=1e-5 * np.abs(T).max())
    if name == "four robots":  # the panel shows the joints of the one that is clicked
        browser.click(browser.center("#legend button:nth-child(3)"))
        assert browser.run("adjoint.q().length") == aj.robots.scara().nq


@pytest.mark.slow
def test_in_the_dark(opened):
    browser = opened(page(PUMA))
    light = picture(browser)
    browser.media(prefers_color_scheme="dark")
    browser.wait("document.documentElement.classList.contains('dark')")
    settle(browser)
    dark = picture(browser)
    assert light[600, 100].min() > 200 and dark[600, 100].max() < 80  # the floor
    assert moved_pixels(light, dark) > 10_000


@pytest.mark.slow
def test_on_a_phone(opened, browser):
    browser.resize(390, 844, 2)
    opened(page(PUMA, q=START))
    assert browser.run("panel.classList.contains('closed')")
    for name in ("base", "tool"):
        x, y = browser.run(f"adjoint.screen(adjoint.frame('{name}').slice(0, 3).map((r) => r[3]))")
        assert 0 < x < 390 and 0 < y < 844
    browser.click(browser.center("#toggle"))
    settle(browser)
    top = browser.run("panel.getBoundingClientRect().top")
    for name in ("base", "tool"):
        x, y = browser.run(f"adjoint.screen(adjoint.frame('{name}').slice(0, 3).map((r) => r[3]))")
        assert 0 < x < 390 and 0 < y < top  # the panel hides neither
    assert browser.run("document.documentElement.scrollWidth") <= 390


@pytest.mark.slow
def test_hostile_names_in_the_browser(opened):
    names = tuple(f"{name}{HOSTILE}" for name in PUMA.body_names)
    robot = replace(PUMA, name=HOSTILE, body_names=names)
    browser = opened(page({HOSTILE: robot, "other": PUMA}))
    browser.run("adjoint.show('names', true)")
    settle(browser)
    assert browser.run("window.hacked") is None and browser.run("document.querySelectorAll('img, b').length") == 0
    assert browser.run("document.querySelector('#labels span:nth-child(2)').textContent") == names[0]


@pytest.mark.slow
def test_inside_another_page(browser, tmp_path):
    """As notebooks show it: in a frame, which takes the wheel only when it was clicked, or with Ctrl."""
    browser.complaints.clear()
    outer = tmp_path / "outer.html"
    outer.write_text(f"<!doctype html><title>outer</title>{page(PUMA, title=HOSTILE)._repr_html_()}", encoding="utf-8")
    browser.open(outer)
    inner = "document.querySelector('iframe').contentWindow"
    browser.wait(f"{inner}.adjoint !== undefined")
    browser.run(f"{inner}.adjoint.ready")
    assert browser.run(f"{inner}.document.title") == HOSTILE
    wheel = f"!{inner}.view.dispatchEvent(new WheelEvent('wheel', {{deltaY: -100, cancelable: true, ctrlKey: CTRL}}))"
    assert browser.run(wheel.replace("CTRL", "false")) is False
    assert browser.run(wheel.replace("CTRL", "true")) is True
    x, y = browser.center("iframe")
    browser.click((x - 200, y + 100))
    assert browser.run(wheel.replace("CTRL", "false")) is True
    assert browser.complaints == []


# --- things beside the robots -----------------------------------------------------------------------------------------


def test_props_rest_move_and_are_held(browser, opened):
    """A prop in a hand is where forward kinematics says; one that moves is halfway at half of the time."""
    trajectory = quintic(START, GOAL, 2.0)
    actors = actors_of({"motion": trajectory}, "page", robot=PUMA, q=None, rate=50.0, curves=False)
    rest, held = se3.exp([0, 0, 0.4, 0.6, 0.2, 0.1]), se3.exp([0.3, 0, 0, 0, 0, 0.1])
    ways = np.stack([rest, rest @ se3.exp([0, 0, 1.0, 0, 0, 0.3])])
    mesh = box(0.1, 0.2, 0.05)
    props = [
        Prop("shelf", mesh, (0.6, 0.4, 0.3, 1.0), rest[None]),
        Prop("ball", mesh, (0.2, 0.4, 0.8, 0.5), ways, np.array([0.0, 2.0])),
        Prop(HOSTILE, mesh, (0.9, 0.2, 0.2, 1.0), held[None], None, 0, 5),
    ]
    shown = opened(Page("props", page_text("props", actors, props)))
    shown.run("adjoint.pause()")
    shown.run("adjoint.seek(1.0)")
    where = {prop.name: np.array(shown.run(f"adjoint.prop({json.dumps(prop.name)})")) for prop in props}
    hand = aj.forward_kinematics(PUMA, trajectory(1.0).q)[5]
    single = 4e-7  # poses are float32, and the configurations between frames are linear
    np.testing.assert_allclose(where["shelf"], rest, atol=single)
    np.testing.assert_allclose(where[HOSTILE], hand @ held, atol=20 * single)
    np.testing.assert_allclose(where["ball"], rest @ se3.exp([0, 0, 0.5, 0, 0, 0.15]), atol=4 * single)
    assert shown.run("window.hacked") is None


def test_a_listing_lights_the_line_that_runs(browser, tmp_path):
    """A text beside a motion: its line at every time, a click that goes there, and names that end no script."""
    t = np.linspace(0, 4, 41)
    actor = Actor("puma", aj.robots.puma560(), t, np.zeros((1, 41, 6)))
    text = "first\nsecond </script> {}\n\nfourth\n" + "\n".join(f"line {k}" for k in range(5, 60))
    listing = Listing("moves.al", text, np.array([0.0, 1.0, 2.0, 3.0]), np.array([1, 2, 4, 50]), ("", "a", "b", "c"))
    path = tmp_path / "listing.html"
    path.write_text(page_text("listing", [actor], listing=listing), encoding="utf-8")
    browser.open(path)
    browser.run("adjoint.ready")
    browser.run("adjoint.pause()")
    for moment, line, note in ((0.5, 1, ""), (1.5, 2, "a"), (2.0, 4, "b"), (3.9, 50, "c"), (0.0, 1, "")):
        browser.run(f"adjoint.seek({moment})")
        browser.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert browser.run("adjoint.line") == line
        assert browser.run("document.querySelector('#listing .hint').textContent") == note
        assert browser.run("document.querySelectorAll('#listing li.lit').length") == 1
    browser.run("document.querySelectorAll('#listing li')[3].click()")
    assert abs(browser.run("adjoint.time") - 2.0) < 1e-3
    assert browser.run("document.querySelectorAll('#listing li')[1].textContent") == "second </script> {}"
