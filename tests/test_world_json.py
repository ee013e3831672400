"""Worlds as JSON, their differences, undo and redo; random sequences of edits commute with all of them."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import adjoint as aj
from adjoint.collision.collision_solids import ConvexHull, HeightField
from adjoint.errors import ArgumentError
from adjoint.lie import se3
from adjoint.sensing import Box, Capsule, Cylinder, Mesh, Noise, Plane, Sphere, Textured, polaroid_ranger
from adjoint.world.parts import cuboid, cylinder
from adjoint.world.state import Gripper, History, World, changes

RNG = np.random.default_rng(7)


def full_world() -> World:
    """A world with everything in it."""
    puma = aj.robots.puma560()
    hull = ConvexHull(points=RNG.normal(size=(12, 3)))
    solids = {
        "floor": Plane(colour=0.3), "ball": Sphere(0.1), "can": Cylinder(0.03, 0.1), "pill": Capsule(0.02, 0.1),
        "rock": hull, "hills": HeightField(RNG.uniform(0, 0.1, (3, 4)), (0.1, 0.2)),
        "sign": Textured([0.08, 0.06], RNG.uniform(size=(4, 5))),
        "spike": Mesh((np.vstack([np.zeros(3), np.eye(3)]) / 7, [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])),
    }  # fmt: skip
    w = World(gravity=(0.1, 0, -9.7)).add("table", cuboid(1, 0.6, 0.05) | cylinder(0.03, 0.7, at=[0, 0, -0.35]))
    for name, solid in solids.items():
        w = w.add(name, solid, at=se3.random(rng=RNG), parent="table", attachment="nonrigid")
    w = w.add_robot(
        "arm", puma, q=RNG.normal(size=6), at=se3.random(rng=RNG), gripper=Gripper(opening=0.1), width=1 / 30
    )
    w = w.add_robot("twin", puma, q=RNG.normal(size=6), parent="table", tool="link5")
    camera = aj.vision.Camera.pinhole((64, 48), 1.0, distortion=[-0.1, 0.01, 1e-3, 0])
    w = w.add_sensor("eye", camera, at=se3.random(rng=RNG), parent="arm.tool")
    w = w.add_sensor("sonar", polaroid_ranger(), parent="twin.link3")
    w = w.add("peg", cylinder(0.01, 0.05), at=se3.random(rng=RNG), parent="table.top").grasp("arm", "peg")
    return w.group("lot", ["rock", "can"]).group("more", ["lot", "peg"])


FULL = full_world()


def test_json_is_exact():
    text = FULL.to_json()
    again = World.from_json(text)
    assert again == FULL and hash(again) == hash(FULL) and again.to_json() == text
    assert list(again.frames) == list(FULL.frames) and not changes(FULL, again)
    for name, placed in FULL.frames.items():
        assert placed.T_parent_frame.tobytes() == again.frames[name].T_parent_frame.tobytes()
    assert again.robots["arm"].robot is again.robots["twin"].robot  # one model
    assert again.robots["arm"].robot.visuals == FULL.robots["arm"].robot.visuals
    assert np.array_equal(again.sensor_at("eye").T_world_camera, FULL.sensor_at("eye").T_world_camera)
    assert again.sensors["sonar"] == FULL.sensors["sonar"]
    assert json.loads(text)["adjoint_world"] == 1


def test_robots_by_name(tmp_path):
    text = FULL.to_json(sources={"arm": "puma560", "twin": "puma560"})
    assert len(text) < len(FULL.to_json()) - 2000 and World.from_json(text) == FULL
    urdf = '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="continuous"><parent link="a"/>'
    urdf += '<child link="b"/><axis xyz="0 0 1"/></joint></robot>'
    (tmp_path / "arm.urdf").write_text(urdf)
    robot = aj.load(tmp_path / "arm.urdf")
    w = World().add_robot("arm", robot)
    text = w.to_json(sources={"arm": "arm.urdf"})
    assert World.from_json(text, folder=tmp_path) == w
    with pytest.raises(ArgumentError, match="give the folder"):
        World.from_json(text)
    with pytest.raises(ArgumentError, match="no file in"):
        World.from_json(text.replace("arm.urdf", "../arm.urdf"), folder=tmp_path)
    (tmp_path / "arm.urdf").write_text(urdf.replace("0 0 1", "0 1 0"))
    with pytest.raises(ArgumentError, match="its numbers differ"):
        World.from_json(text, folder=tmp_path)
    with pytest.raises(ArgumentError, match="'sources' must be"):
        w.to_json(sources={"leg": "puma560"})


def test_meshes_of_robots_are_not_opened_elsewhere(tmp_path):
    path = tmp_path / "secret.stl"
    path.write_text("solid x\nendsolid x\n")
    robot = aj.robots.two_link()
    visual = aj.model.Visual(robot.base_name, np.eye(4), "mesh", (1.0, 1.0, 1.0), str(path))
    text = World().add_robot("arm", robot.replace(visuals=(visual,))).to_json()
    assert World.from_json(text).robots["arm"].robot.visuals[0].fault
    assert not World.from_json(text, folder=tmp_path).robots["arm"].robot.visuals[0].fault


# --- hostile text -----------------------------------------------------------------------------------------------------


def edited(change) -> str:
    data = json.loads(FULL.to_json())
    change(data)
    return json.dumps(data)


EYE = np.eye(4).tolist()
BAD = {
    "no JSON": lambda: "{",
    "no object": lambda: "[]",
    "no text": lambda: b"{}",
    "too deep": lambda: "[" * 100_000 + "]" * 100_000,
    "no version": lambda: '{"frames": {}}',
    "another version": lambda: '{"adjoint_world": 2, "frames": {}}',
    "NaN": lambda: '{"adjoint_world": 1, "gravity": [NaN, 0, 0], "frames": {}}',
    "infinite": lambda: '{"adjoint_world": 1, "gravity": [1e999, 0, 0], "frames": {}}',
    "huge": lambda: '{"adjoint_world": 1, "gravity": [' + "9" * 400 + ', 0, 0], "frames": {}}',
    "huger": lambda: '{"adjoint_world": 1, "gravity": [' + "9" * 9999 + ', 0, 0], "frames": {}}',
    "twice": lambda: '{"adjoint_world": 1, "frames": {"a": 1, "a": 2}}',
    "unknown field": lambda: edited(lambda d: d.update(magic=1)),
    "unknown parent": lambda: edited(lambda d: d["frames"]["ball"].update(parent="tabel")),
    "unknown feature": lambda: edited(lambda d: d["frames"]["ball"].update(parent="table.tpo")),
    "unknown link": lambda: edited(lambda d: d["frames"]["eye"].update(parent="arm.link99")),
    "cycle": lambda: edited(lambda d: d["frames"]["table"].update(parent="ball")),
    "own parent": lambda: edited(lambda d: d["frames"]["table"].update(parent="table")),
    "through a robot": lambda: edited(lambda d: d["frames"]["arm"].update(parent="peg")),
    "wrong shape": lambda: edited(lambda d: d["frames"]["ball"].update(T_parent_frame=[[1, 0], [0, 1]])),
    "ragged": lambda: edited(lambda d: d["frames"]["ball"].update(T_parent_frame=[[1, 0], [0]])),
    "no motion": lambda: edited(lambda d: d["frames"]["ball"].update(T_parent_frame=(2 * np.eye(4)).tolist())),
    "words for numbers": lambda: edited(lambda d: d["frames"]["ball"].update(T_parent_frame="I")),
    "truth for numbers": lambda: edited(lambda d: d["frames"]["ball"]["T_parent_frame"][0].__setitem__(0, True)),
    "attachment": lambda: edited(lambda d: d["frames"]["ball"].update(attachment="glue")),
    "negative friction": lambda: edited(lambda d: d["frames"]["ball"].update(friction=-1)),
    "a dot": lambda: edited(lambda d: d["frames"].update({"a.b": {"parent": "world", "T_parent_frame": EYE}})),
    "named world": lambda: edited(lambda d: d["frames"].update({"world": {"parent": "world", "T_parent_frame": EYE}})),
    "part without frame": lambda: edited(lambda d: d["parts"].update(ghost={"solid": "Box", "size": [1, 1, 1]})),
    "unknown solid": lambda: edited(lambda d: d["parts"].update(ball={"solid": "Bxo", "size": [1, 1, 1]})),
    "negative size": lambda: edited(lambda d: d["parts"]["can"].update(radius=-1)),
    "faces": lambda: edited(lambda d: d["parts"]["spike"].update(faces=[[0, 1, 99]])),
    "bad part": lambda: edited(lambda d: d["parts"].update(ball={"part": {"kind": "cube"}})),
    "model number": lambda: edited(lambda d: d["robots"]["arm"].update(model=5)),
    "q": lambda: edited(lambda d: d["robots"]["arm"].update(q=[0, 0])),
    "tool": lambda: edited(lambda d: d["robots"]["arm"].update(tool="hand")),
    "width": lambda: edited(lambda d: d["robots"]["arm"].update(width=7)),
    "robot array": lambda: edited(lambda d: d["models"][0].update(inertias=[[1]])),
    "robot NaN": lambda: edited(lambda d: d["models"][0]["inertias"][0].__setitem__(0, "nan")),
    "robot parents": lambda: edited(lambda d: d["models"][0].update(parents=[5, 4, 3, 2, 1, 0])),
    "robot field": lambda: edited(lambda d: d["models"][0].pop("screws")),
    "sensor": lambda: edited(lambda d: d["sensors"].update(eye={"sensor": "os.system"})),
    "no sensor": lambda: edited(lambda d: d["sensors"].update(eye={"sensor": "Scene"})),
    "group": lambda: edited(lambda d: d["groups"].update(lot=["nothing"])),
    "groups in a circle": lambda: edited(lambda d: d["groups"].update(lot=["more"])),
    "group named as a frame": lambda: edited(lambda d: d["groups"].update(ball=["can"])),
    "fallen": lambda: edited(lambda d: d["fallen"].update(ghost="why")),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_hostile_json_is_refused(case):
    with pytest.raises(ArgumentError, match=r"World\.from_json"):
        World.from_json(BAD[case]())


def test_messages_name_the_place():
    with pytest.raises(
        ArgumentError, match=r"frames.ball.parent: the world has no frame 'tabel'; did you mean 'table'"
    ):
        World.from_json(BAD["unknown parent"]())
    with pytest.raises(ArgumentError, match="in a cycle: 'table' -> 'ball' -> 'table'"):
        World.from_json(BAD["cycle"]())
    with pytest.raises(ArgumentError, match=r"frames.ball.T_parent_frame has shape \(2, 2\)"):
        World.from_json(BAD["wrong shape"]())


@pytest.mark.slow
def test_a_deep_tree():
    """3000 frames in a row: no recursion."""
    frame = {"T_parent_frame": EYE}
    frames = {f"f{k}": frame | {"parent": f"f{k - 1}" if k else "world"} for k in range(3000)}
    w = World.from_json(json.dumps({"adjoint_world": 1, "frames": frames}))
    assert np.array_equal(w.pose("f2999"), np.eye(4)) and len(w.carried_by("f0")) == 2999
    frames["f0"] = frame | {"parent": "f2999"}
    with pytest.raises(ArgumentError, match="cycle"):
        World.from_json(json.dumps({"adjoint_world": 1, "frames": frames}))


# --- random edits -----------------------------------------------------------------------------------------------------

ARM = aj.robots.two_link()
NAMES = ["a", "b", "c", "d", "e"]


def start() -> World:
    w = World().add_robot("arm", ARM, gripper=Gripper(opening=0.1)).add("a").add("b", Box([1, 1, 1]), at=[0, 0, 1])
    return (
        w.add("c", parent="b", at=[1, 2, 3]).add("d", parent="arm.link2", attachment="nonrigid", at=[0, 1, 0]).add("e")
    )


edits = st.lists(
    st.tuples(
        st.sampled_from("move relative attach detach configure grasp grip rename group remove".split()),
        st.sampled_from(NAMES), st.sampled_from([*NAMES, "arm", "arm.link2", "world"]),
        st.sampled_from(["rigid", "nonrigid"]), st.integers(0, 10**6),
    ),
    max_size=12,
)  # fmt: skip


def edit(w: World, step) -> World:
    """The world after a random edit, or the same one if it is refused."""
    kind, name, other, how, seed = step
    T = se3.random(rng=seed)
    doing = {
        "move": lambda: w.move(name, T, other),
        "relative": lambda: w.set_relative(name, T),
        "attach": lambda: w.attach(name, other, how),
        "detach": lambda: w.detach(name),
        "configure": lambda: w.set_configuration("arm", np.random.default_rng(seed).normal(size=2)),
        "grasp": lambda: w.grasp("arm", name),
        "grip": lambda: w.set_gripper("arm", 0.1 * (seed % 100) / 100),
        "rename": lambda: w.rename(name, NAMES[seed % 5]),
        "group": lambda: w.group(f"group{seed}", [name]),
        "remove": lambda: w.remove(name) if seed % 4 == 0 else w.add(name, at=T),
    }
    try:
        return doing[kind]()
    except ArgumentError:
        return w


def places(w: World) -> dict[str, np.ndarray]:
    return {name: w.pose(name) for name in w.frames}


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(edits)
def test_edits_commute_with_json_and_undo(steps):
    w, history = start(), History(start())
    for k, step in enumerate(steps):
        through = edit(World.from_json(w.to_json()), step)
        w = edit(w, step)
        assert through == w and World.from_json(w.to_json()) == w
        history = history.do(w, str(k))
    assert history.labels == [str(k) for k in range(len(steps))]
    back = history
    for _ in steps:
        back = back.undo()
    assert back.world == start() and back.undone == history.labels
    for _ in steps:
        back = back.redo()
    assert back.world == w == history.world


@settings(max_examples=25, deadline=None)
@given(edits, st.sampled_from(NAMES), st.sampled_from([*NAMES, "arm", "arm.link2", "world"]), st.sampled_from(NAMES))
def test_reparenting_and_renaming_keep_poses(steps, child, parent, new):
    w = start()
    for step in steps:
        w = edit(w, step)
    before = places(w)
    size = 1 + max(np.abs(T).max() for T in before.values())
    try:
        moved = w.attach(child, parent)
    except ArgumentError:
        moved = w
    assert all(np.abs(T - before[k]).max() < 1e-13 * size for k, T in places(moved).items())
    found = changes(w, moved)
    assert not found.moved and not found.carried and len(found.reattached) <= 1
    if child in w.frames and new not in w.frames:
        named = w.rename(child, new)
        assert named.rename(new, child) == w
        assert all(np.array_equal(T, before[child if k == new else k]) for k, T in places(named).items())


@settings(max_examples=25, deadline=None)
@given(edits, st.sampled_from(NAMES), st.integers(0, 10**6))
def test_a_move_brings_it_there_and_carries_the_rest(steps, name, seed):
    w = start()
    for step in steps:
        w = edit(w, step)
    T = se3.random(rng=seed)
    try:
        moved = w.move(name, T)
    except ArgumentError:
        return
    size = 1 + max(np.abs(x).max() for x in places(w).values())
    assert np.allclose(moved.pose(name), T, atol=1e-13 * size)
    for frame, placed in w.frames.items():
        seen = [np.linalg.inv(x.pose(placed.parent)) @ x.pose(frame) for x in (w, moved)]
        if placed.attachment == "rigid" and placed.parent != "world":
            assert np.allclose(*seen, atol=1e-12 * size)
    assert bool(changes(w, moved)) == (moved != w)


# --- differences ------------------------------------------------------------------------------------------------------


def test_changes_in_words():
    w = start()
    new = w.move("b", [0, 0, 1.05]).set_configuration("arm", [0.2, -0.1]).attach("a", "b").add("f").remove("e")
    new = new.set_gripper("arm", 0.04)
    assert str(changes(w, new)).splitlines() == [
        "'f' was added",
        "'e' was removed",
        "'a' is attached to 'b' rigidly, no more to 'world'",
        "'arm' has another configuration: joint 'joint1' moved most, by 0.2 rad or m",
        "the gripper of 'arm' went from 100 to 40 mm",
        "'b' moved by 50 mm and 0°",
        "'c' moved by 50 mm and 0°, carried",
        f"{changes(w, new).carried[1]}, carried",
    ]
    assert changes(w, new).carried[1].name == "d"
    turned = se3.exp([0, 0, np.pi / 6, 0, 0, 0])
    assert str(changes(w, w.move("a", turned))) == "'a' moved by 0 mm and 30°"
    assert not changes(w, w) and str(changes(w, w)) == "nothing changed"
    assert changes(w, w.attach("a", "world", friction=0.7)).words == [
        "'a' is attached to 'world' rigidly, with friction 0.7, no more 0.5"
    ]
    with pytest.raises(ArgumentError, match="two Worlds are needed"):
        changes(w, None)


def test_history_refuses_what_it_cannot_do():
    h = History(World())
    for bad, message in ((h.undo, "nothing to undo"), (h.redo, "nothing to redo")):
        with pytest.raises(ArgumentError, match=message):
            bad()
    with pytest.raises(ArgumentError, match="must give a World"):
        h.do(lambda w: None)
    with pytest.raises(ArgumentError, match="must be a World"):
        History(3)
    branch = h.do(lambda w: w.add("a"), "a").undo().do(lambda w: w.add("b"), "b")
    with pytest.raises(ArgumentError, match="nothing to redo"):
        branch.redo()
    assert branch.last_changes.added == ("b",) and len(branch) == 1


def test_noise_goes_with_sensors():
    sensor = aj.sensing.PulsedRange(noise=Noise(sigma=1e-11, step=5e-11))
    w = World().add_sensor("ranger", sensor)
    assert World.from_json(w.to_json()).sensors["ranger"] == sensor
    with pytest.raises(ArgumentError, match="got str"):
        World().add_sensor("x", "camera")
