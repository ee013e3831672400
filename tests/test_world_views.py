"""What a world is for others: collision models, motions in time, drawings, surfaces, falls, and images."""

from types import SimpleNamespace

import numpy as np
import pytest
from support.random_parts import L_SHAPE

import adjoint as aj
from adjoint.collision.checking import is_free
from adjoint.collision.collision_solids import ConvexHull
from adjoint.collision.solid_distances import solid_distance
from adjoint.errors import ArgumentError
from adjoint.lie import se3, so3
from adjoint.sensing import Box, Capsule, Cylinder, Mesh, Plane, Sphere, beam_echo, lidar_scan, polaroid_ranger
from adjoint.world.parts import cuboid, cylinder, lamination, mesh_part, sphere
from adjoint.world.state import Gripper, World
from adjoint.world.views import dropped, follow, seen_by, world_props, world_surfaces
from adjoint.world.world_models import world_collision_model

PUMA = aj.robots.puma560()
Q = np.array([0.2, -0.6, 0.4, 0.1, 0.5, 0.0])


def turned(axis, angle, at=(0.0, 0.0, 0.0)) -> np.ndarray:
    T = np.array(se3.exp(np.concatenate([np.eye(3)["xyz".index(axis)] * angle, np.zeros(3)])))
    T[:3, 3] = at
    return T


@pytest.fixture(scope="module")
def cell() -> World:
    """An arm that holds a rod with a flag on it, beside a table."""
    w = World().add("floor", Plane(), at=[0, 0, -0.7]).add("table", cuboid(0.6, 0.8, 0.05), at=[0.8, 0, -0.3])
    w = w.add_robot("arm", PUMA, q=Q, at=turned("z", 0.3), gripper=Gripper(opening=0.08))
    tool = w.pose("arm.tool")
    w = w.add("rod", cylinder(0.01, 0.2), at=tool @ turned("x", 0.4, [0, 0, 0.05])).grasp("arm", "rod", width=0.02)
    return w.add("flag", Box([0.05, 0.002, 0.03]), at=[0, 0, 0.08], parent="rod")


# --- collisions -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_meshes_are_hulls_and_parts_keep_their_hollows():
    """An arm stands in the corner of an L, 1.2 m from both walls: inside of the hull of the mesh, and outside of it."""
    walls = lamination(20 * np.array(L_SHAPE), 4.0)
    mesh = Mesh(walls.mesh)
    for shape, free in ((mesh, False), (mesh_part(walls.mesh), True), (walls, True)):
        world = World().add("walls", shape).add_robot("arm", PUMA, q=Q, at=[3.2, 3.2, 0])
        assert is_free(world_collision_model(world, "arm"), Q) == free


def test_collision_models_have_all_that_is_there(cell):
    model = world_collision_model(cell, "arm")
    assert [solid.name for solid in model.obstacles] == ["floor", "table"]
    assert [solid.name for _, solid in model.carried] == ["palm", "finger", "finger#2", "rod", "flag"]
    assert np.array_equal(model.T_world_base, cell.pose("arm"))
    with pytest.raises(ArgumentError, match="no robot 'amr'; did you mean 'arm'"):
        world_collision_model(cell, "amr")
    with pytest.raises(ArgumentError, match="must be a World"):
        world_collision_model(cell.scene(), "arm")


@pytest.mark.slow
def test_clearance_of_what_is_held():
    """A ball in the hand of a small arm above a plane: the clearance is its height, whatever the arm is like."""
    w = World().add_robot("arm", aj.robots.two_link(), q=[0.3, 0.4], at=turned("x", np.pi / 2, [0, 0, 2.5]))
    w = w.add("ball", sphere(0.3), at=[0.5, 0, 0], parent="arm.link2").add("floor", Plane())
    for q in ([-1.5, -0.2], [-1.2, 0.1], [-1.0, -0.6]):
        at = w.set_configuration("arm", q)
        low = float(aj.collision.clearance(world_collision_model(at, "arm", pairs=[]), q))
        links = float(
            aj.collision.clearance(world_collision_model(at.detach("ball"), "arm", pairs=[], exclude="ball"), q)
        )
        height = at.pose("ball")[2, 3] - 0.3
        assert low == pytest.approx(min(height, links), abs=1e-9)


@pytest.mark.slow
def test_other_robots_are_obstacles(cell):
    two = cell.add_robot("other", PUMA, q=Q, at=[0, 1.2, 0])
    model = world_collision_model(two, "arm")
    names = [solid.name for solid in model.obstacles]
    assert "other.link2" in {name.partition("#")[0] for name in names}
    assert all(isinstance(s, Capsule | Sphere) for s in model.obstacles if s.name.startswith("other."))
    # The capsules have the meshes in them: no vertex is outside.
    capsules = [s for s in model.obstacles if isinstance(s, Capsule | Sphere)]
    points = np.concatenate([
        s.triangles.vertices @ s.T_world_solid[:3, :3].T + s.T_world_solid[:3, 3]
        for s in two.scene().solids if s.name.startswith("other.link")
    ])  # fmt: skip
    depth = np.full(len(points), np.inf)
    for s in capsules:
        local = (points - s.T_world_solid[:3, 3]) @ s.T_world_solid[:3, :3]
        half = s.length / 2 if isinstance(s, Capsule) else 0.0
        local[:, 2] -= np.clip(local[:, 2], -half, half)
        depth = np.minimum(depth, np.linalg.norm(local, axis=1) - s.radius)
    assert depth.max() < 1e-6


# --- motions ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_following_is_the_world_at_each_time(cell):
    way = follow(cell, "arm", aj.trajectory.quintic(Q, Q + 0.5, duration=1.0))
    assert len(way) == 51 and way.t[-1] == 1.0
    for k in (0, 20, 50):
        w = way.world(k)
        for name in ("rod", "flag", "table", "arm", "arm.tool"):
            assert np.allclose(way.poses(name)[k], w.pose(name), atol=1e-13), name
    assert set(way.carried) == {"rod", "flag"} and way.end == way.world(50)
    assert np.allclose(way.poses("rod.top")[20], way.world(20).pose("rod.top"), atol=1e-13)


@pytest.mark.slow
def test_runs_are_followed(cell):
    robot = cell.mounted("arm")
    run = aj.simulate(robot, aj.control.pd(Q, kp=100.0, kd=20.0), q=Q, duration=0.1, dt=1e-3, record=10)
    way = follow(cell, "arm", run)
    assert np.array_equal(way.t, run.t)
    assert np.allclose(way.poses("arm.tool"), aj.forward_kinematics(robot, run.q, "tool"), atol=1e-13)
    some = follow(cell, "arm", run, t=[0.0, 0.05])
    assert np.array_equal(some.q, run.q[[0, 5]])
    batch = aj.simulate(robot, q=np.stack([Q, Q]), duration=0.01, dt=1e-3)
    for bad, message in (
        (lambda: follow(cell, "arm", batch), "take one of it"),
        (lambda: follow(cell, "arm", np.zeros((5, 3))), r"configurations of shape \(5, 6\)"),
        (lambda: follow(cell, "arm", np.zeros((5, 6)), t=[0, 1]), r"shape \(2, 6\)"),
        (lambda: follow(cell, "arm", np.zeros((2, 6)), t=[1, 0]), "do not decrease"),
        (lambda: follow(cell, "arm", "there"), "must be a Run.*got str"),
        (lambda: follow(cell, "arm", None), "must be a Run.*got NoneType"),
        (lambda: follow(cell, "arm", np.zeros((0, 6))), r"configurations of shape \(N, 6\).*got shape \(0, 6\)"),
        (lambda: follow(cell, "arm", np.zeros((2, 6)), t="soon"), "'t' must be finite times"),
        (lambda: follow(cell, "leg", run), "no robot 'leg'"),
    ):
        with pytest.raises(ArgumentError, match=message):
            bad()


def test_props_stand_where_the_world_says(cell):
    props = {prop.name: prop for prop in world_props(cell)}
    assert list(props) == ["table", "rod", "flag", "arm.palm", "arm.finger", "arm.finger#2"]
    assert all(prop.poses.shape == (1, 4, 4) and prop.t is None for prop in props.values())
    assert np.array_equal(props["rod"].poses[0], cell.pose("rod"))
    assert "floor" in [prop.name for prop in world_props(cell, floor=2.0, exclude=["arm"])]
    way = follow(cell, "arm", np.stack([Q, Q + 0.1, Q + 0.2]), t=[0, 1, 2.0])
    timed = {prop.name: prop for prop in world_props(way)}
    assert timed["table"].poses.shape == (1, 4, 4) and timed["arm.palm"].poses.shape == (3, 4, 4)
    assert np.allclose(timed["flag"].poses, way.poses("flag")) and np.array_equal(timed["flag"].t, way.t)
    # Held by an actor: its body carries the prop to the same place.
    for prop in world_props(cell, actors=["arm"]):
        if prop.actor is not None:
            body = cell.pose("arm") @ cell.robots["arm"].bodies[prop.body]
            assert np.allclose(body @ prop.poses[0], props[prop.name].poses[0], atol=1e-14), prop.name
    with pytest.raises(ArgumentError, match="must be a World or a Followed"):
        world_props(None)
    with pytest.raises(ArgumentError, match="no robot 'amr'"):
        world_props(cell, actors=["amr"])


# --- surfaces ---------------------------------------------------------------------------------------------------------

SOLIDS = {
    "plane": Plane(), "box": Box([0.4, 0.3, 0.2]), "ball": Sphere(0.3), "can": Cylinder(0.2, 0.5),
    "pill": Capsule(0.15, 0.4), "hull": ConvexHull(points=[[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]]),
}  # fmt: skip


@pytest.mark.parametrize("name", SOLIDS)
def test_surfaces_are_signed_distances(name):
    """Against the distances of collision checks; the normal is the gradient of the distance."""
    rng = np.random.default_rng(1)
    w = World().add(name, SOLIDS[name], at=se3.random(rng=3))
    surface = world_surfaces(w)[name]
    numbers = SimpleNamespace(**surface.numbers)
    solid = w.scene()[name]
    for x in w.pose(name)[:3, 3] + rng.normal(size=(60, 3)) * 0.3:
        d, n = surface.distance(numbers, x)
        pair = solid_distance(Sphere(1e-9, T_world_solid=x), solid)
        exact = float(pair.distance) + 1e-9
        if name == "hull" and exact > 0:
            assert -1e-9 < d <= exact + 1e-9
            continue
        assert abs(d - exact) < 1e-7
        slope = [
            (surface.distance(numbers, x + h)[0] - surface.distance(numbers, x - h)[0]) / 2e-6 for h in 1e-6 * np.eye(3)
        ]
        assert np.abs(n - slope).max() < 1e-3 and abs(np.linalg.norm(n) - 1) < 1e-9


def test_a_robot_touches_a_part():
    """The tip of a pendulum that is driven onto a block presses on it: at rest, torque = arm × force."""
    bar = aj.lie.inertia.from_central(1.0, [0.25, 0, 0], np.diag([1e-4, 0.02, 0.02]))
    rod = aj.Robot.builder("rod").link("base").link("bar", inertia=bar)
    robot = (
        rod.joint("hinge", "revolute", "base", "bar", axis=(0, 1, 0))
        .frame("tip", "bar", se3.exp([0, 0, 0, 0.5, 0, 0]))
        .build()
    )
    w = World().add_robot("arm", robot, at=[1.0, 0, 0.2]).add("block", cuboid(0.2, 0.2, 0.2), at=[1.5, 0, 0.1 - 0.05])
    ground = world_surfaces(w)["block"]
    touch = aj.simulation.contact("tip", ground, stiffness=1e5, damping=2.0, friction=0.3)
    run = aj.simulate(w.mounted("arm"), q=[0.0], duration=1.0, dt=1e-4, record=100, forces=touch)
    tip = aj.forward_kinematics(w.mounted("arm"), run.q[-1], "tip")
    assert abs(tip[2, 3] - 0.15) < 1e-3 and np.abs(run.v[-1]).max() < 1e-6
    with pytest.raises(ArgumentError, match="must be a World"):
        world_surfaces(w.scene())


# --- falling ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_parts_fall_and_rest():
    w = World().add("floor", Plane()).add("table", cuboid(0.4, 0.4, 0.1), at=[0, 0, 0.05])
    w = w.add("block", cuboid(0.1, 0.1, 0.04), at=turned("x", 0.3, [0.02, 0, 0.4]))
    down = dropped(w, "block")
    # Before it touches, it falls freely: z = z0 - g t²/2, up to the first order of the integrator, g t dt/2.
    free = down.run.t < 0.2
    t = down.run.t[free]
    assert np.allclose(down.run.q[free, 2], 0.4 - 9.81 * t**2 / 2, atol=9.81 * 0.2 * 1e-4)
    assert down.rested and down.onto == "table" and down.world.frames["block"].attachment == "conditional"
    T = down.world.pose("block")
    assert abs(T[2, 3] - 0.12) < 1e-4 and abs(abs(T[2, 2]) - 1) < 1e-6
    assert np.allclose(down.poses[-1], T, atol=1e-12)
    # Beyond the edge, it lands on the floor.
    beside = dropped(w.move("block", turned("x", 0.3, [0, 0.35, 0.4])), "block")
    assert beside.rested and beside.onto == "floor" and beside.world.pose("block")[2, 3] < 0.06
    # The table tilts, and what is on it falls: the story of a conditional attachment.
    tilted = down.world.move("table", turned("x", 0.7, [0, 0, 0.3]))
    assert "block" in tilted.fallen
    again = dropped(tilted, "block")
    assert "block" not in again.world.fallen and again.world.pose("block")[2, 3] < T[2, 3]


@pytest.mark.slow
@pytest.mark.parametrize("part", [sphere(0.05), cylinder(0.03, 0.1)])
def test_round_parts_rest(part):
    w = World().add("floor", Plane()).add("part", part, at=turned("x", 1.2, [0, 0, 0.12]))
    down = dropped(w, "part")
    assert down.rested and down.onto == "floor"
    assert abs(down.world.pose("part")[2, 3] - part.values[0]) < 6e-4


@pytest.mark.slow
def test_a_plate_on_a_peg():
    """No corner of the plate meets the peg: the corners of the peg carry it."""
    w = World().add("floor", Plane()).add("peg", cuboid(0.04, 0.04, 0.1), at=[0, 0, 0.05])
    down = dropped(w.add("plate", cuboid(0.3, 0.3, 0.02), at=[0.005, 0, 0.15]), "plate")
    assert down.onto == "peg" and abs(down.world.pose("plate")[2, 3] - 0.11) < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize(("degrees", "slides"), [(20, False), (35, True)])
def test_slopes(degrees, slides):
    """Friction 0.5 holds up to 26.6°; beyond, the block slides down with g (sin α - μ cos α)."""
    slope = turned("y", np.radians(degrees))
    w = (
        World()
        .add("slope", cuboid(4, 1, 0.1), at=slope)
        .add("block", cuboid(0.2, 0.2, 0.05), at=slope @ turned("x", 0, [-1, 0, 0.075]))
    )
    down = dropped(w, "block", duration=0.5)
    along = (down.poses[:, :3, 3] - down.poses[0, :3, 3]) @ slope[:3, 0]
    if slides:
        a = 9.81 * (np.sin(np.radians(degrees)) - 0.5 * np.cos(np.radians(degrees)))
        assert abs(along[-1] - a * 0.5**2 / 2) < 0.02 * along[-1] + 2e-3
    else:
        assert abs(along[-1]) < 2e-3


def test_what_cannot_fall(cell):
    for name, message in (
        ("rod", "held by 'arm'"),
        ("arm", "is a robot"),
        ("floor", "half-space"),
        ("tabel", "did you mean"),
    ):
        with pytest.raises(ArgumentError, match=message):
            dropped(cell, name)
    with pytest.raises(ArgumentError, match="no weight"):
        dropped(cell.add("mark"), "mark")
    with pytest.raises(ArgumentError, match="'duration' must be above 0"):
        dropped(cell, "table", duration=0)


# --- sensors ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_cameras_see_the_world():
    camera = aj.vision.Camera.pinhole((64, 48), field_of_view=1.0)
    w = (
        World()
        .add("floor", Plane(colour=0.8))
        .add("block", cuboid(0.2, 0.2, 0.1, colour=[0.9, 0.1, 0.1]), at=[0, 0, 0.05])
    )
    w = w.add("stand", at=aj.vision.looking_at([0, 0, 1.0], target=[0, 0, 0])).add_sensor("eye", camera, parent="stand")
    view = seen_by(w, "eye")
    assert view.names == ("floor", "block") and view.depth[24, 32] == pytest.approx(0.9)
    assert view.shows("block")[24, 32] and not view.shows("block")[0, 0]
    red, green, _ = view.colours[24, 32].astype(int)
    assert red > 3 * green
    gone = seen_by(w.move("block", [5, 0, 0.05]), "eye")
    assert not gone.shows("block").any() and gone.depth[24, 32] == pytest.approx(1.0)
    moved = w.move("stand", aj.vision.looking_at([0, 0, 2.0], target=[0, 0, 0]))
    assert seen_by(moved, "eye").depth[24, 32] == pytest.approx(1.9)
    with pytest.raises(ArgumentError, match="no sensor 'eey'; did you mean 'eye'"):
        seen_by(w, "eey")


@pytest.mark.slow
def test_range_sensors_in_the_world(cell):
    w = cell.add_sensor("sonar", polaroid_ranger(), at=turned("x", np.pi, [-1.5, 0, 0.5]))
    placed = w.sensor_at("sonar")
    assert placed.sensor == polaroid_ranger()
    echo = beam_echo(w.scene(), placed.T_world_sensor, beam=placed.sensor.beam_angle)
    assert float(echo.distance) == pytest.approx(1.2, abs=1e-9)  # the floor is at -0.7
    scan = lidar_scan(w.scene(robots=False), turned("z", 0, [0.8, 0, 0.5]), [0.0], [-np.pi / 2])
    assert scan.distance[0, 0] == pytest.approx(0.5 + 0.3 - 0.025)
    with pytest.raises(ArgumentError, match="no Camera"):
        seen_by(w, "sonar")


def test_cameras_on_hands_move_with_them(cell):
    camera = aj.vision.Camera.pinhole((32, 24), field_of_view=1.0)
    w = cell.add_sensor("eye", camera, at=[0, 0, 0.1], parent="arm.tool")
    moved = w.set_configuration("arm", Q + 0.2)
    assert np.allclose(moved.sensor_at("eye").T_world_camera, moved.pose("arm.tool") @ turned("x", 0, [0, 0, 0.1]))
    turn = w.sensor_at("eye").T_world_camera[:3, :3].T @ moved.sensor_at("eye").T_world_camera[:3, :3]
    assert np.linalg.norm(so3.log(turn)) > 0.1
