"""Programs that look: a camera finds a part where it is, and the program goes on with that."""

import sys

import numpy as np
import pytest

import adjoint as aj
from adjoint.errors import ArgumentError
from adjoint.lie import se3, so3
from adjoint.program.building import task
from adjoint.program.execution import Session, replay, run
from adjoint.program.instructions import Attach, Locate, MoveHand, Place, Program, Source
from adjoint.program.languages.al import AL_WORDS, al_text, parse_al
from adjoint.program.running import CameraShot, Checkpoint, HandMotion, camera_shot
from adjoint.program.running.driver import DriverBackend
from adjoint.program.running.driver_mocks import mock_robot
from adjoint.program.running.driver_sockets import SocketDriver
from adjoint.program.running.part_symmetries import least_turned, symmetries
from adjoint.program.tasks.task_edits import TakePart
from adjoint.vision.locating.object_models import block_model, cylinder_model, prism_model

Q_ASIDE = np.radians([-60.0, -45.0, 150.0, 10.0, 60.0, 5.0])
TOP = 0.07  # the height of the table [m]
TURN = np.radians(15.0)


def lying(x: float, y: float, turn: float = 0.0, height: float = 0.04) -> np.ndarray:
    """A pose on the table."""
    return se3.from_rotation_translation(so3.rotation_z(turn), [x, y, TOP + height / 2])


def cell(q=Q_ASIDE) -> aj.world.World:
    """A PUMA, a table with a red block and a dark can, and a camera above it."""
    hand = aj.world.Gripper(opening=0.08, T_tool_grip=np.eye(4))
    w = aj.world.World().add_robot("arm", aj.robots.puma560(), q=q, gripper=hand)
    w = w.add("table", aj.world.cuboid(0.5, 0.8, 0.04), at=[0.5, 0.1, 0.05])
    w = w.add("block", aj.world.cuboid(0.06, 0.04, 0.04, colour=(0.9, 0.3, 0.1)), at=lying(0.45, 0.2))
    w = w.add("can", aj.world.cylinder(0.02, 0.05, colour=0.3), at=lying(0.5, 0.05, height=0.05))
    at = aj.vision.looking_at([0.75, 0.5, 0.6], [0.47, 0.15, TOP])
    return w.add_sensor("eye", aj.vision.Camera.pinhole((200, 150), 0.6), at=at)


BELIEVED = cell()
ACTUAL = BELIEVED.move("block", lying(0.462, 0.216, TURN))  # 20 mm and 15 degrees off

LOOK = Program((Locate("block", "eye", "seen"),))

PICK = parse_al(
    Source(
        """
        BEGIN pick
            BOOLEAN seen;
            OPEN bhand TO 70*mm;
            LOCATE block WITH eye INTO seen;
            IF NOT seen THEN ABORT("no block");
            MOVE barm TO block * FRAME(ROT(X, 180*deg), nilvect) WITH APPROACH = -Z;
            CLOSE bhand;
            IF bhand < 5*mm THEN ABORT("missed");
            MOVE barm TO ⊗ + 0.1*Z*m DIRECTLY;
        END pick.
        """,
        "pick.al",
    )
)


def without_looking() -> Program:
    """The same program, blind."""
    kept = tuple(s for s in PICK.statements if not isinstance(s, Locate) and type(s).__name__ not in ("Declare",))
    return Program(tuple(s for s in kept if not (type(s).__name__ == "If" and "seen" in repr(s))), PICK.source)


def off(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """How far apart two poses are [m, rad]."""
    return float(np.linalg.norm(a[:3, 3] - b[:3, 3])), float(np.linalg.norm(so3.log(a[:3, :3].T @ b[:3, :3])))


@pytest.mark.slow
def test_the_world_then_has_the_part_where_it_was_seen():
    found = run(LOOK, BELIEVED, actual=ACTUAL)
    assert found.status == "done" and found.variables["seen"] is True and found.duration == 0
    assert off(BELIEVED.pose("block"), ACTUAL.pose("block")) == pytest.approx((0.02, TURN))
    far, turn = off(found.world.pose("block"), ACTUAL.pose("block"))
    assert far < 3e-4 and turn < 5e-3
    (event,) = [e for e in found.trace if e.kind == "seen"]
    assert event.data["found"] and event.data["others"] == ["can"] and event.data["score"] > 0.8
    assert np.array_equal(event.data["pose"], found.world.pose("block"))
    # What is seen is as good as the covariance says.
    error = se3.log(se3.inverse(event.data["pose"]) @ ACTUAL.pose("block"))[[2, 3, 4]]
    assert (np.abs(error) < 5 * np.sqrt(np.diag(event.data["covariance"]))[[2, 3, 4]] + 1e-5).all()
    assert np.array_equal(found.world.pose("can"), BELIEVED.pose("can"))
    assert found.actual == ACTUAL and found.world != ACTUAL


def test_without_an_actual_world_a_camera_confirms_what_the_program_has():
    found = run(LOOK, BELIEVED)
    assert found.variables["seen"] is True and found.actual is None
    far, turn = off(found.world.pose("block"), BELIEVED.pose("block"))
    assert far < 3e-4 and turn < 5e-3


def test_what_is_on_a_part_goes_with_it():
    w = BELIEVED.add("grip", at=[0, 0, 0.02], parent="block")
    found = run(LOOK, w, actual=ACTUAL)
    expected = ACTUAL.pose("block") @ w.pose("grip", "block")
    assert off(found.world.pose("grip"), expected)[0] < 3e-4


def test_a_part_that_lies_on_another_by_gravity_stays_on_it():
    block = BELIEVED.parts["block"]
    w = BELIEVED.remove("block")
    w = w.add("block", block, at=[-0.05, 0.1, 0.04], parent="table", attachment="conditional")
    w = w.add("pin", aj.world.cylinder(0.005, 0.02), at=[0, 0, 0.03], parent="block", attachment="conditional")
    found = run(LOOK, w, actual=w.move("block", lying(0.462, 0.216, TURN)))
    assert found.variables["seen"] is True and not found.world.fallen
    assert found.world.frames["block"].parent == "table" and np.array_equal(found.world.pose("table"), w.pose("table"))
    assert off(found.world.pose("block"), lying(0.462, 0.216, TURN))[0] < 1e-3
    assert np.allclose(found.world.pose("pin", "block"), w.pose("pin", "block"))


def test_a_task_that_closes_its_hand_on_nothing_fails():
    class Takes(Session):
        refine = staticmethod(lambda *_, **__: (HandMotion("arm", 0.04, False), TakePart("arm", "block", 0.04)))

    place = Program((Place("block", "on", "table"),))
    found = Takes(place, BELIEVED, actual=ACTUAL).go_on()
    assert found.status == "failed" and "closed its hand on nothing: 'block' is not there" in found.message
    assert Takes(place, BELIEVED).go_on().world.holding("arm") == ["block"]


def test_without_opencv_only_looking_fails(monkeypatch):
    monkeypatch.setitem(sys.modules, "cv2", None)
    found = run(Program((MoveHand("arm", True),)), BELIEVED)
    assert found.status == "done"
    assert "pip install 'adjoint[vision]'" in run(LOOK, BELIEVED).message


@pytest.mark.slow
def test_a_program_that_looks_grasps_what_a_blind_one_misses():
    blind = run(without_looking(), BELIEVED, actual=BELIEVED.move("block", lying(0.52, 0.3, TURN)))
    assert (blind.status, blind.message) == ("aborted", "missed")
    looks = run(PICK, BELIEVED, actual=ACTUAL)
    assert looks.status == "done", looks.error
    assert looks.actual is not None and looks.actual.holding("arm") == looks.world.holding("arm") == ["block"]
    assert off(looks.world.pose("block"), looks.actual.pose("block"))[0] < 1e-12
    assert looks.actual.pose("block")[2, 3] == pytest.approx(TOP + 0.02 + 0.1, abs=1e-3)
    assert looks.width["arm"][-1] == pytest.approx(0.04, abs=5e-4)  # it is gripped squarely
    again = replay(looks, PICK, BELIEVED, actual=ACTUAL)
    assert again.equal, again.difference
    assert "seen" in replay(looks, PICK, BELIEVED).difference


@pytest.mark.slow
def test_a_checkpoint_keeps_both_worlds():
    session = Session(PICK, BELIEVED, actual=ACTUAL)
    session.go_on(until=0.5)
    kept = Checkpoint.from_json(session.checkpoint().to_json())
    again = Session.restore(kept)
    assert again.actual == session.actual and again.world == session.world
    a, b = session.go_on(), again.go_on()
    assert a.status == b.status == "done" and a.world == b.world and a.actual == b.actual


@pytest.mark.slow
def test_in_dynamics():
    found = run(PICK, BELIEVED, actual=ACTUAL, backend="dynamic")
    assert found.status == "done", found.error
    assert found.actual is not None and found.actual.holding("arm") == ["block"]


def test_a_part_that_is_not_there():
    gone = BELIEVED.remove("block")
    found = run(LOOK, BELIEVED, actual=gone)
    assert found.variables["seen"] is False and found.world == BELIEVED
    (event,) = [e for e in found.trace if e.kind == "seen"]
    assert not event.data["found"] and "pose" not in event.data
    failed = run(Program((Locate("block", "eye"),)), BELIEVED, actual=gone)
    assert failed.status == "failed"
    assert "'eye' does not see 'block'" in failed.message and "it sees 'can'" in failed.message


def test_what_cannot_be_seen_has_a_reason():
    away = BELIEVED.move("eye", aj.vision.looking_at([0.75, 0.5, 0.6], [1.5, 1.5, 2.0]))
    assert "does not look at the plane" in run(Program((Locate("block", "eye"),)), away).message
    held = Program((Attach("block", "arm", "rigid"), Locate("block", "eye")))
    assert "'arm' holds it" in run(held, BELIEVED).message
    frame = BELIEVED.add("spot", at=[0.4, 0, 0.1])
    assert "'spot' has no shape" in run(Program((Locate("spot", "eye"),)), frame, check=False).message


def test_an_arm_that_hides_the_part():
    hidden = cell(np.radians([15.0, -45.0, 150.0, 10.0, 60.0, 5.0]))
    assert run(LOOK, hidden).variables["seen"] is False


@pytest.mark.slow
def test_a_camera_on_the_arm():
    w = BELIEVED.remove("eye").set_configuration("arm", np.radians([15.0, -45.0, 150.0, 10.0, 60.0, 5.0]))
    q = aj.program.plan_move(w, "arm", _above(0.45, 0.2, 0.4)).q[-1]
    w = w.set_configuration("arm", q)
    camera = aj.vision.Camera.pinhole((320, 240), 0.9)
    w = w.add_sensor("eye", camera, at=[0.08, 0, 0], parent=f"arm.{w.robots['arm'].tool}")
    found = run(LOOK, w, actual=w.move("block", lying(0.462, 0.216, TURN)))
    assert found.variables["seen"] is True
    assert off(found.world.pose("block"), lying(0.462, 0.216, TURN))[0] < 5e-4


def _above(x: float, y: float, z: float) -> np.ndarray:
    return np.array([[1, 0, 0, x], [0, -1, 0, y], [0, 0, -1, z], [0, 0, 0, 1.0]])


@pytest.mark.slow
def test_blocks_that_look_alike_keep_their_names():
    twin = aj.world.cuboid(0.06, 0.04, 0.04, colour=(0.9, 0.3, 0.1))
    w = BELIEVED.add("twin", twin, at=lying(0.45, 0.32))
    actual = w.move("block", lying(0.462, 0.216, TURN)).move("twin", lying(0.44, 0.33, -0.2))
    for name in ("block", "twin"):
        found = run(Program((Locate(name, "eye"),)), w, actual=actual)
        assert found.status == "done" and off(found.world.pose(name), actual.pose(name))[0] < 5e-4


def test_images_of_real_cameras():
    asked = []

    def photo(world):
        asked.append(world)
        return camera_shot(ACTUAL, "eye", noise=0.01, rng=0).image

    found = run(LOOK, BELIEVED, images={"eye": photo})
    assert found.variables["seen"] is True and asked == [BELIEVED]
    assert off(found.world.pose("block"), ACTUAL.pose("block"))[0] < 5e-4
    deep = {"eye": lambda world: CameraShot(None, None, camera_shot(ACTUAL, "eye", depth=True).depth)}
    assert off(run(LOOK, BELIEVED, images=deep).world.pose("block"), ACTUAL.pose("block"))[0] < 2e-3
    wrong = run(LOOK, BELIEVED, images={"eye": lambda world: np.zeros((10, 10))})
    assert wrong.status == "failed" and "shape" in wrong.message
    off_line = run(LOOK, BELIEVED, images={"eye": lambda world: 1 / 0})
    assert "the camera 'eye' gives no image: ZeroDivisionError" in off_line.message


def test_on_hardware():
    program = Program((MoveHand("arm", True), *LOOK.statements), Source(""))
    with mock_robot(BELIEVED) as mock:
        backend = DriverBackend(SocketDriver(mock.host, mock.port))
        shot = camera_shot(ACTUAL, "eye")
        found = run(program, BELIEVED, backend=backend, images={"eye": lambda world: shot})
    assert found.status == "done", found.error
    assert off(found.world.pose("block"), ACTUAL.pose("block"))[0] < 5e-4


@pytest.mark.slow
def test_noise_is_the_same_in_every_run():
    a, b, c = (run(LOOK, BELIEVED, actual=ACTUAL, noise={"eye": 0.02}, rng=rng) for rng in (1, 1, 2))
    assert np.array_equal(a.world.pose("block"), b.world.pose("block"))
    assert not np.array_equal(a.world.pose("block"), c.world.pose("block"))
    assert off(a.world.pose("block"), ACTUAL.pose("block"))[0] < 1e-3


def test_bad_calls():
    with pytest.raises(ArgumentError, match="must be a World"):
        run(LOOK, BELIEVED, actual=1)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="'arm' is in one alone"):
        run(LOOK, BELIEVED, actual=aj.world.World())
    with pytest.raises(ArgumentError, match="no sensor 'eye'"):
        run(LOOK, BELIEVED, actual=BELIEVED.remove("eye"))
    with pytest.raises(ArgumentError, match="must be a function"):
        run(LOOK, BELIEVED, images={"eye": 1})  # type: ignore[dict-item]


def test_symmetries():
    assert len(symmetries(block_model((0.06, 0.05, 0.04)))) == 4
    assert len(symmetries(block_model((0.06, 0.04, 0.04)))) == 8
    assert len(symmetries(block_model((0.04, 0.04, 0.04)))) == 24
    assert len(symmetries(cylinder_model(0.02, 0.05))) == 120
    hook = prism_model([(0, 0), (0.06, 0), (0.06, 0.02), (0.02, 0.02), (0.02, 0.05), (0, 0.05)], 0.01)
    assert len(symmetries(hook)) == 1
    rng = np.random.default_rng(0)
    model, part = block_model((0.06, 0.05, 0.04)), aj.world.cuboid(0.06, 0.05, 0.04)
    before = se3.exp(rng.normal(size=6))
    for S in symmetries(model):
        seen = before @ se3.exp(0.1 * rng.normal(size=6)) @ S
        T, back = least_turned(part, model, seen, before)
        assert off(T, before)[1] < 0.6 and np.allclose(T @ back, seen)
    round_part = aj.world.cylinder(0.02, 0.05)
    turned = before @ se3.from_rotation_translation(so3.rotation_z(0.7123), [0.01, 0, 0])
    T, _ = least_turned(round_part, cylinder_model(0.02, 0.05), turned, before)
    assert off(T, before) == (pytest.approx(0.01), pytest.approx(0, abs=1e-7))


def test_al_can_say_it():
    text = "LOCATE block WITH eye;\nLOCATE block WITH eye INTO seen;\n"
    program = parse_al(Source(text))
    assert program.statements == (Locate("block", "eye"), Locate("block", "eye", "seen"))
    assert al_text(program) == text
    assert "LOCATE" in AL_WORDS and "INTO" in AL_WORDS
    with pytest.raises(aj.program.ProgramError, match="WITH"):
        parse_al(Source("LOCATE block;"))


def test_python_can_say_it():
    look = task("look")
    seen = look.locate("block", "eye", found="seen")
    assert look.program().statements == (Locate("block", "eye", "seen"),) and seen is not None
