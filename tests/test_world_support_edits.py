"""What gravity holds is looked at again after every edit that changes its carrier or its load."""

import adjoint.world as aw
from adjoint.sensing import Box
from adjoint.world import World, settle


def beam_on_table(at):
    w = World().add("table", Box([1, 1, 0.1]))
    return w.add("beam", Box([1, 0.1, 0.1]), at=at, parent="table", attachment="conditional")


def test_weight_at_the_tip_tips_the_beam():
    w = beam_on_table([0.45, 0, 0.1])
    heavy = w.add("weight", Box([0.2, 0.2, 0.5]), at=[0.4, 0, 0.3], parent="beam")
    assert "beyond the edge" in heavy.fallen["beam"] and heavy.frames["beam"].parent == "world"
    light = w.add("label", aw.cuboid(0.01, 0.01, 0.01), at=[0.4, 0, 0.055], parent="beam")
    assert not light.fallen and not settle(light).fell


def test_beam_without_its_counterweight_tips():
    w = beam_on_table([0.45, 0, 0.1]).add("counter", Box([0.3, 0.3, 0.3]), at=[-0.3, 0, 0.2], parent="beam")
    w = w.set_relative("beam", [0.6, 0, 0.1])
    assert not w.fallen
    assert set(w.remove("counter").fallen) == set(w.detach("counter").fallen) == {"beam"}
    assert set(w.attach("counter", "beam", "nonrigid").set_relative("counter", [0.3, 0, 0.2]).fallen) == {"beam"}


def test_top_of_a_table_carries():
    w = World().add("table", Box([0.1, 0.1, 1])).add("top", Box([1, 1, 0.1]), at=[0, 0, 0.55], parent="table")
    w = w.add("cup", Box([0.1, 0.1, 0.1]), at=[0.4, 0, 0.65], parent="table", attachment="conditional")
    for edited in (w.remove("top"), w.detach("top").move("top", [5, 0, 0]), w.set_relative("top", [0, 0, 0.3])):
        assert "does not touch" in edited.fallen["cup"]
    assert not w.move("table", [1, 1, 0]).fallen


def test_falling_changes_other_loads():
    # The counterweight slides off when the table tilts a little; the beam that it held down then tips over.
    w = beam_on_table([0.45, 0, 0.1])
    w = w.add("counter", Box([0.3, 0.1, 0.3]), at=[-0.3, 0, 0.2], parent="beam", attachment="conditional", friction=0.1)
    w = w.set_relative("beam", [0.6, 0, 0.1])
    tilt = aw.frame_from_points([0, 0, 0], [1, 0, 0.15], [0, 1, 0])
    assert not w.fallen and set(w.move("table", tilt).fallen) == {"beam", "counter"}


def test_a_move_to_where_it_is_changes_nothing():
    world = World().add("table", aw.cuboid(0.4, 0.4, 0.1), at=[0, 0, 0.05])
    world = world.add("can", aw.cylinder(0.03, 0.1), at=[0, 0, 0.1], parent="table", attachment="conditional")
    assert world.move("table", world.pose("table")) is world
    shifted = world.move("table", [0.1, 0, 0.05])
    assert shifted is not world and shifted.move("table", [0, 0, 0.05]).fingerprint == world.fingerprint
    fallen = world.changed(fallen={"can": "it slid"})
    assert not fallen.move("can", fallen.pose("can")).fallen
