"""The model doctor: every kind of finding fires on a model that has it, and not on one that only just has not."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from adjoint.errors import ArgumentError
from adjoint.lie import inertia, so3
from adjoint.model import Finding, ModelError, Report, Robot, Where, check, load

FILE = "/models/arm.urdf"


def at(x=0.0, y=0.0, z=0.0, R=None):
    T = np.eye(4)
    T[:3, 3] = x, y, z
    T[:3, :3] = np.eye(3) if R is None else R
    return T


def solid(mass, com, moments):
    return inertia.from_central.eager(mass, np.array(com, float), np.diag(np.array(moments, float)))


ROD = solid(1.0, (0.2, 0, 0), (0.001, 0.02, 0.02))  # 1 kg, about 0.4 m long


def arm(forearm=ROD, *, first=ROD, length=0.4, **options):
    """Two links of 0.4 m, in a file; `options` go to the elbow."""
    elbow = {"axis": (0, 0, 1), "where": Where(FILE, 9)} | options
    return (
        Robot.builder("arm")
        .link("base")
        .link("upper", first, where=Where(FILE, 2))
        .link("forearm", forearm, where=Where(FILE, 5))
        .joint("shoulder", "revolute", "base", "upper", axis=(0, 1, 0), where=Where(FILE, 8))
        .joint("elbow", elbow.pop("type", "revolute"), "upper", "forearm", at(length), **elbow)
        .build()
    )


def found(robot, level=None) -> list[str]:
    return [f.code for f in check(robot) if level in (None, f.level)]


def only(robot) -> Finding:
    (finding,) = check(robot)
    return finding


# --- the report -------------------------------------------------------------------------------------------------------


def test_a_sound_model_has_no_findings():
    report = check(arm(), strict=True)
    assert str(report) == "arm: no findings"
    assert len(report) == 0 and not report and list(report) == []
    assert report.errors == report.warnings == report.notes == []
    assert check(Robot.builder("alone").link("base").build()).findings == ()


def test_the_report_is_sorted_by_level_then_place():
    robot = arm(solid(-1, (0, 0, 0), (1, 1, 1)), lower=1.0, upper=-1.0, velocity=0.0)
    builder_notes = (
        Finding("note", "unknown-tag", "element 'foo'", "is not known", Where(FILE, 3)),
        Finding("error", "missing-mesh", "link 'base'", "does not exist", Where(FILE, 1)),
        Finding("warning", "axis", "joint 'elbow'", "has length 2"),
    )
    report = check(robot.replace(findings=builder_notes))
    assert [(f.level, f.where and f.where.line) for f in report] == [
        ("error", 1), ("error", 5), ("error", 9), ("warning", 9), ("warning", None), ("note", 3)
    ]  # fmt: skip
    assert [len(x) for x in (report.errors, report.warnings, report.notes)] == [3, 2, 1]
    assert report and len(report) == 6 and report[0].code == "missing-mesh"
    assert str(report).splitlines() == [
        "arm: 3 errors, 2 warnings, 1 note in /models/arm.urdf",
        "error: missing-mesh",
        "  arm.urdf:1: link 'base': does not exist",
        "error: negative-mass",
        "  arm.urdf:5: link 'forearm': mass -1 kg; it must be positive, or 0 for a mere frame",
        "error: limits-reversed",
        "  arm.urdf:9: joint 'elbow': lower limit 1 above upper limit -1",
        "warning: zero-velocity-limit",
        "  arm.urdf:9: joint 'elbow': velocity limit 0: it could never move",
        "warning: axis",
        "  joint 'elbow': has length 2",
        "note: unknown-tag",
        "  arm.urdf:3: element 'foo': is not known",
    ]


def test_long_groups_are_cut_in_the_text_only():
    many = tuple(Finding("note", "unknown-tag", f"element '{k}'", "is not known") for k in range(12))
    report = check(arm().replace(findings=many))
    lines = str(report).splitlines()
    assert lines[1] == "note: unknown-tag (12 times)"
    assert lines[-1] == "  ... and 7 more: element '5', element '6', element '7', element '8', ..."
    assert len(lines) == 8 and len(report) == 12


def test_strict_raises_for_errors_and_warnings_but_not_for_notes():
    note = Finding("note", "unknown-tag", "element 'foo'", "is not known")
    assert len(check(arm().replace(findings=(note,)), strict=True)) == 1
    with pytest.raises(ModelError, match=r"(?s)1 warning.*arm\.urdf:9: joint 'elbow': effort limit 0") as error:
        check(arm(effort=0.0).replace(findings=(note,)), strict=True)
    assert "unknown-tag" not in str(error.value)
    with pytest.raises(ModelError, match="1 error"):
        check(arm(lower=1, upper=-1), strict=True)


def test_html_escapes_and_lists_all():
    many = tuple(Finding("note", "tag", f"element '<b{k}>'", "a & b") for k in range(9))
    page = check(arm().replace(findings=many))._repr_html_()
    assert page.count("<tr>") == 9 and "&lt;b8&gt;" in page and "a &amp; b" in page and "<b8>" not in page
    assert check(arm())._repr_html_() == "<p><b>arm: no findings</b></p>"


def test_a_report_is_frozen():
    report = check(arm())
    with pytest.raises(AttributeError):
        report.findings = ()  # type: ignore[misc]
    assert report == Report("arm", ()) and repr(report) == str(report) == "arm: no findings"


def test_only_robots_are_checked():
    with pytest.raises(ArgumentError, match="check needs a Robot, got 'arm'"):
        check("arm")  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [1e155, 1e300])
def test_huge_numbers_are_told_without_warnings(size):
    """Squares and products of them overflow; every rule still comes to an end, and something is found."""
    robot = arm(size * np.array([1, 1, 0, 0, 1, 0, 0, 1, 0, 1]), length=size, upper=size, damping=size, effort=size)
    assert {"placement-far-away", "endless-limits"} <= set(found(robot))


# --- masses and inertias ----------------------------------------------------------------------------------------------


def test_talos_gripper_breaks_the_triangle_inequality():
    """gripper_left_motor_single_link of Talos, github.com/Gepetto/example-robot-data/issues/130 (by 2.5 %)."""
    moments = 1e-6 * np.array([[115, 52, 25], [52, 153, 34], [25, 34, 190.0]])
    finding = only(arm(inertia.from_central.eager(0.14765, np.array([0.02589, -0.01284, -0.0064]), moments)))
    assert (finding.level, finding.code, finding.where) == ("warning", "impossible-inertia", Where(FILE, 5))
    assert "7.8627e-05 + 0.000147497 < 0.000231876 breaks the triangle inequality" in finding.message


@pytest.mark.parametrize(
    "moments, level",
    [
        ((0.01, 0.02, 0.03), None),  # a flat body: the limit
        ((0.01, 0.02, 0.0302), "note"),  # digits cut off
        ((0.01, 0.02, 0.0304), "warning"),
        ((0.0, 0.02, 0.02), None),  # a thin rod
        ((-0.01, 0.02, 0.03), "error"),
        ((-0.01, -0.01, -0.01), "error"),
    ],
)
def test_moments(moments, level):
    report = check(arm(solid(1, (0.2, 0.03, 0), moments)))
    assert [f.level for f in report] == ([level] if level else [])
    assert not report or report[0].element == "link 'forearm'"


def test_every_link_of_a_body_is_looked_at():
    """A bad link hidden by fixed joints: the body is fine, the link is not."""
    bad = solid(0.001, (0, 0, 0), (1e-6, 1e-6, 1e-5))
    b = Robot.builder().link("base").link("upper", ROD).link("camera", bad)
    robot = b.joint("j", "revolute", "base", "upper").joint("f", "fixed", "upper", "camera", at(0.2)).build()
    assert inertia.faults(robot.inertias[0]) == []
    assert only(robot).element == "link 'camera'"
    assert check(robot.replace(inertias=robot.inertias)).findings == ()  # the links are forgotten


def test_mass():
    assert found(arm(solid(-1, (0, 0, 0), (1, 1, 1))), "error") == ["negative-mass"]
    assert "inertia-without-mass" in found(arm([0, 0, 0, 0, 1, 0, 0, 1, 0, 1]), "warning")
    assert "inertia-without-mass" not in found(arm(np.zeros(10)))
    broken = arm()
    broken = broken.replace(links=tuple(l._replace(inertia=np.full(10, np.nan)) for l in broken.links[1:]))
    assert found(broken, "error") == ["not-finite", "not-finite"]


def test_point_masses_are_one_note():
    point = solid(1, (0.2, 0, 0), (0, 0, 0))
    assert only(arm(point, first=point)).message == "links with mass but no rotational inertia: upper, forearm (2)"
    assert found(arm(solid(1, (0.2, 0, 0), (1e-9, 1e-9, 1e-9)))) == []


def test_idle_joints():
    """A joint that moves no inertia makes the mass matrix singular."""
    finding = only(arm(None))
    assert (finding.level, finding.code, finding.where) == ("warning", "idle-joint", Where(FILE, 9))
    assert found(arm(None, armature=0.01)) == []
    on_axis = solid(1, (0, 0, 0.1), (0, 0, 0))
    assert found(arm(on_axis)) == ["idle-joint", "point-masses"]  # a point on the joint's axis
    assert found(arm(on_axis, axis=(0, 1, 0))) == ["point-masses"]
    assert found(arm(solid(1, (0, 0, 0.1), (0.001, 0.001, 1e-9)))) == []
    assert found(arm(solid(1, (0, 0, 0.1), (0.001, 0.001, 1e-14)))) == ["idle-joint"]  # within rounding errors
    assert found(arm(None, type="prismatic")) == ["idle-joint"]
    assert found(arm(solid(1, (0, 0, 0), (0, 0, 0)), type="prismatic")) == ["point-masses"]
    assert found(arm(solid(1, (0, 0.1, 0), (0, 0, 0)), type="spherical")) == ["idle-joint", "point-masses"]


def test_massless_bodies_between_others_are_fine():
    assert found(arm(type="universal", axis2=(0, 1, 0))) == []
    # ... unless both axes are almost the same: the cross turns freely
    assert found(arm(type="universal", axis2=(0, 1e-8, 1))) == ["idle-joint"]


def test_massless_mimics_are_fine():
    b = Robot.builder().link("base").link("a", ROD).link("b")
    b.joint("j", "revolute", "base", "a").joint("k", "revolute", "a", "b", at(0.4), mimic=("j", -1.0, 0.0))
    assert found(b.build()) == []


@pytest.mark.parametrize("finger, armature, fires", [(None, 0, True), (ROD, 0, False), (None, 0.1, False)])
def test_leaders_of_massless_mimics_are_idle(finger, armature, fires):
    b = Robot.builder().link("base").link("a", ROD).link("b").link("c", finger)
    b.joint("j", "revolute", "base", "a").joint("thumb", "revolute", "a", "b", at(0.4), armature=armature)
    b.joint("finger", "revolute", "a", "c", at(0.4), mimic=("thumb", -1.0, 0.0))
    assert [f.element for f in check(b.build())] == (["joint 'thumb'"] if fires else [])


def test_a_robot_without_masses_is_for_kinematics():
    finding = only(arm(None, first=None))
    assert (finding.level, finding.code) == ("note", "no-masses")


# --- sizes and units --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale, guess", [(1, None), (2, None), (1e4, "kg cm²"), (1e6, "kg mm²"), (1e9, "g mm²")])
def test_units_of_inertia(scale, guess):
    m, com, I = inertia.central.eager(ROD)
    findings = check(arm(inertia.from_central.eager(m, com, scale * I))).findings
    assert [f.code for f in findings] == (["inertia-too-large"] if guess else [])
    assert not guess or (guess in findings[0].message and "1 kg" in findings[0].message)


def test_placeholder_inertias_that_do_no_harm_are_silent():
    """A thousandth of a gram with a radius of gyration of 10 m, and of 30 m."""
    assert found(arm(solid(1e-9, (0, 0, 0), (1e-7, 1e-7, 1e-7)))) == []
    assert found(arm(solid(1e-9, (0, 0, 0), (1e-6, 1e-6, 1e-6)))) == ["inertia-too-large"]


def test_com_in_mm():
    finding = only(arm(solid(1, (200, 0, 0), (0.001, 0.02, 0.02))))
    assert finding.code == "com-far-away" and finding.message.endswith("is it in mm?")
    assert only(arm(solid(1, (2.1, 0, 0), (0.001, 0.02, 0.02)))).message.endswith("at most 0.4 m")
    assert found(arm(solid(1, (1.9, 0, 0), (0.001, 0.02, 0.02)))) == []


def test_placements_in_mm():
    finding = only(arm(length=400.0))
    assert (finding.code, finding.element) == ("placement-far-away", "joint 'elbow'")
    assert found(arm(length=40.0)) == []
    far = arm().placements.copy()
    far[1, 0, 3] = 400
    assert found(arm().replace(placements=far)) == ["placement-far-away"]  # the robot's, not its file's
    b = Robot.builder().link("base", ROD).link("tool").joint("weld", "fixed", "base", "tool", at(0, 0, 120))
    assert only(b.build()).element == "joint 'weld'"


def test_masses_in_g():
    m, com, I = inertia.central.eager(ROD)
    heavy = inertia.from_central.eager(1000 * m, com, 1000 * I)
    assert found(arm(heavy, first=heavy)) == ["too-heavy"]
    ten = inertia.from_central.eager(10 * m, com, 10 * I)
    assert found(arm(ten, first=ten)) == []


def test_gravity_in_mm():
    assert found(arm().replace(gravity=(0, 0, -9810))) == ["gravity"]
    assert found(arm().replace(gravity=(0, 0, -24.8))) == []  # Jupiter


# --- limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "lower, upper, kind, level, code",
    [
        (-1, 1, "revolute", None, None),
        (1, -1, "revolute", "error", "limits-reversed"),
        (0, 0, "revolute", "warning", "no-range"),
        (0, 1, "revolute", None, None),
        (0.1, 1, "revolute", "note", "neutral-out-of-limits"),
        (-2, -1, "prismatic", "note", "neutral-out-of-limits"),
        (-180, 180, "revolute", "warning", "limits-in-degrees"),
        (-90, np.inf, "revolute", "warning", "limits-in-degrees"),
        (-4 * np.pi, 4 * np.pi, "revolute", None, None),
        (-1e16, 1e16, "revolute", "note", "endless-limits"),
        (-20, 20, "prismatic", None, None),
        ((-1, -1, 3), (1, 1, 4), "planar", "note", "neutral-out-of-limits"),
    ],
)
def test_position_limits(lower, upper, kind, level, code):
    report = check(arm(lower=lower, upper=upper, type=kind, axis=(0, 0, 1)))
    assert [(f.level, f.code) for f in report] == ([(level, code)] if code else [])
    assert not report or (report[0].element == "joint 'elbow'" and report[0].where == Where(FILE, 9))


@pytest.mark.parametrize("name", ["velocity", "effort", "damping", "friction", "armature"])
def test_rates(name):
    limit = name in ("velocity", "effort")
    assert found(arm(**{name: 1e-3})) == []
    assert found(arm(**{name: 0.0})) == ([f"zero-{name}-limit"] if limit else [])
    assert found(arm(**{name: -1.0}), "error") == [f"negative-{name}-limit" if limit else f"negative-{name}"]


@pytest.mark.parametrize("multiplier, offset, fires", [(1, 0, False), (-0.5, 0, False), (1, 0.5, True), (2, 0, True)])
def test_mimics_stay_in_their_limits(multiplier, offset, fires):
    b = Robot.builder().link("base").link("a", ROD).link("b", ROD)
    b.joint("j", "revolute", "base", "a", lower=-1, upper=1, axis=(0, 1, 0))
    b.joint("k", "revolute", "a", "b", at(0.4), mimic=("j", multiplier, offset), lower=-1.2, upper=1.2)
    assert found(b.build()) == (["mimic-out-of-limits"] if fires else [])


# --- left and right ---------------------------------------------------------------------------------------------------


def pair(left="left_arm", right="right_arm", com=(0.1, -0.05, 0.0), R=None, y=0.0, **options):
    """A trunk with two arms, mirror images across a plane at y; `com` of the right one, `options` for its joint."""
    b = Robot.builder("pair").link("trunk", solid(10, (0, 0, 0), (0.1, 0.1, 0.1)))
    b.link(left, solid(1, (0.1, 0.05, 0), (0.001, 0.01, 0.01)), where=Where("pair.urdf", 7))
    mass, moments = options.pop("mass", 1.0), options.pop("moments", (0.001, 0.01, 0.01))
    b.link(right, inertia.from_central.eager(mass, np.array(com), np.diag(moments)))
    b.joint(f"{left}_joint", "revolute", "trunk", left, at(0, y + 0.2, 0.1), lower=-1, upper=2)
    b.joint(f"{right}_joint", "revolute", "trunk", right, at(0, y - 0.2, 0.1, R), **{"lower": -2, "upper": 1} | options)
    return b.build()


@pytest.mark.parametrize(
    "left, right",
    [
        ("left_arm", "right_arm"), ("l_arm", "r_arm"), ("arm_L", "arm_R"), ("arm_l_1", "arm_r_1"), ("FL_hip", "FR_hip"),
        ("RL_hip", "RR_hip"), ("lf_hip", "rf_hip"), ("LH_HAA", "RH_HAA"), ("LeftHip", "RightHip"), ("LHip", "RHip"),
        ("LARM_LINK", "RARM_LINK"), ("panda_leftfinger", "panda_rightfinger"), ("leg_LEFT", "leg_RIGHT"),
        ("l_gripper_r_finger", "r_gripper_l_finger"),
    ],
)  # fmt: skip
def test_sides_are_found_by_name(left, right):
    assert found(pair(left, right)) == []
    report = check(pair(left, right, mass=1.1))
    assert [f.code for f in report] == ["sides-differ"]
    assert report[0].element == f"link '{left}'" and f"'{right}'" in report[0].message


def test_other_names_are_no_sides():
    for left, right in [("link_1", "link_2"), ("lower", "rower_arm"), ("clamp", "cramp"), ("left_arm", "right_leg")]:
        assert found(pair(left, right, mass=1.1, lower=-0.3)) == []


@pytest.mark.parametrize(
    "change, says",
    [
        ({"mass": 1.01}, None),
        ({"y": 0.7}, None),
        ({"y": 0.7, "com": (0.1, 0.05, 0.0)}, "both have com (0.1 0.05 0) m"),
        ({"mass": 1.1}, "mass 1, 1.1 kg"),
        ({"com": (0.1, 0.05, 0.0)}, "both have com (0.1 0.05 0) m; mirrored, the left one would have (0.1 -0.05 0) m"),
        ({"com": (0.1, -0.051, 0.0)}, None),
        ({"com": (0.1, -0.05, 0.01)}, "com (0.1 0.05 0) m; that of the right one, mirrored, is (0.1 0.05 0.01) m"),
        ({"moments": (0.01, 0.001, 0.01)}, None),  # principal moments, in any order
        ({"moments": (0.001, 0.01, 0.0105)}, "principal moments (0.001 0.01 0.01), (0.001 0.01 0.0105) kg m²"),
        ({"lower": -1, "upper": 2}, None),  # an axis that is not mirrored
        ({"lower": -1.5}, "limits -1 .. 2, -1.5 .. 1"),
        ({"velocity": 2.0}, "velocity limit inf, 2"),
        ({"mass": 1.1, "com": (0.1, 0.05, 0.0)}, "mass 1, 1.1 kg; both have com (0.1 0.05 0) m"),
    ],
)
def test_sides_differ(change, says):
    report = check(pair(**change))
    assert len(report) == (says is not None)
    assert says is None or (report[0].level == "note" and says in report[0].message)


def test_mirrored_frames_may_point_either_way():
    """A right arm whose frame is turned by π about z has its com at (-x, y): still a mirror image."""
    half = so3.exp.eager(np.array([0, 0, np.pi]))
    assert found(pair(R=half, com=(-0.1, 0.05, 0.0))) == []
    assert found(pair(R=half, com=(0.1, -0.05, 0.0))) == ["sides-differ"]
    # frames that are no mirror images: only the distance of the com is compared
    slant = so3.exp.eager(np.array([0.3, 0.2, 0.1]))
    assert found(pair(R=slant, com=(0.1, 0.05, 0.0))) == []
    assert found(pair(R=slant, com=(0.2, 0.05, 0.0))) == ["sides-differ"]


# --- names ------------------------------------------------------------------------------------------------------------


def test_names():
    b = Robot.builder("names").link("base").link("upper arm", ROD).joint("j", "revolute", "base", "upper arm")
    finding = only(b.build())
    assert (finding.level, finding.code) == ("warning", "blanks-in-names") and "'upper arm'" in finding.message
    b = Robot.builder("names").link("base").link("arm", ROD).joint("arm", "revolute", "base", "arm")
    assert only(b.build()).message == "joints with the name of a link: arm (1)"
    assert only(b.build()).level == "note"


# --- large robots -----------------------------------------------------------------------------------------------------


def test_a_long_chain_is_sound():
    b = Robot.builder("chain").link("0")
    for k in range(1, 301):
        b.link(str(k), ROD).joint(f"j{k}", "revolute", str(k - 1), str(k), at(0.4), axis=(0, k % 2, 1))
    assert check(b.build()).findings == ()


# --- real robots ------------------------------------------------------------------------------------------------------

ROBOTS = next(d for p in sys.path if (d := Path(p) / "cmeel.prefix/share/example-robot-data/robots").is_dir())


def real(path: str) -> Report:
    return check(load(ROBOTS / f"{path}.urdf"))


@pytest.mark.parametrize(
    "path", ["g1_description/urdf/g1_29dof_rev_1_0", "ur_description/urdf/ur10_robot", "xarm_description/urdf/xarm7"]
)
def test_sound_robots(path):
    assert real(path).findings == ()


def elements(report: Report, code: str) -> list[str]:
    return [f.element for f in report if f.code == code]


def test_known_mistakes_of_real_robots():
    hand = real("allegro_hand_description/urdf/allegro_left_hand")
    assert elements(hand, "impossible-inertia") == [f"link 'link_{k}.0'" for k in (11, 7, 3, 15)]
    assert hand.warnings[0].where == Where(str(ROBOTS / "allegro_hand_description/urdf/allegro_left_hand.urdf"), 127)
    # 0.188 kg with a radius of gyration of 0.42 m
    assert elements(real("ur_description/urdf/ur5_robot"), "inertia-too-large") == ["link 'wrist_3_link'"]
    # right leg without rotational inertia
    icub = real("icub_description/robots/icub_reduced")
    assert {"link 'l_hip_1'", "link 'l_hip_2'", "link 'l_lower_leg'"} <= set(elements(icub, "sides-differ"))
    # com of the right calf copied to the left one, not mirrored
    assert elements(real("go1_description/urdf/go1"), "sides-differ") == ["link 'FL_calf'", "link 'RL_calf'"]
    pr2 = real("pr2_description/urdf/pr2")
    assert elements(pr2, "impossible-inertia") == ["link 'sensor_mount_link'", "link 'double_stereo_link'"]
    assert elements(pr2, "mimic-out-of-limits") == [f"joint '{s}_gripper_r_parallel_root_joint'" for s in "rl"]


@pytest.mark.parametrize("path", ["ur_description/urdf/ur5_robot", "g1_description/urdf/g1_29dof_rev_1_0"])
def test_unit_slips_in_real_robots(path):
    """A whole model in wrong units: nearly every link, or the robot, is found."""
    robot = load(ROBOTS / f"{path}.urdf")

    def slipped(change) -> Report:
        links = [l for l in robot.links if l.inertia is not None and l.inertia[0] > 0]
        new = [
            l._replace(inertia=inertia.from_central.eager(*change(*inertia.central.eager(l.inertia)))) for l in links
        ]
        return check(robot.replace(links=tuple(new)))

    many = 0.8 * len(robot.bodies)
    assert len(elements(slipped(lambda m, c, I: (m, c, 1e6 * I)), "inertia-too-large")) > many
    assert len(elements(slipped(lambda m, c, I: (m, c, 1e4 * I)), "inertia-too-large")) > many
    assert elements(slipped(lambda m, c, I: (m, 1e3 * c, I)), "com-far-away")  # many are 0
    assert elements(check(robot.replace(inertias=1000 * robot.inertias)), "too-heavy")
    degrees = robot.replace(lower=np.degrees(robot.lower), upper=np.degrees(robot.upper))
    assert len(elements(check(degrees), "limits-in-degrees")) > many


# --- numbers that are no robot's --------------------------------------------------------------------------------------

EXTREMES = [0.0, -1.0, 1e8, 1e30, 1e100, 1e154, 1e200, 1.7e308, -1e300, 1e-160, 1e-300, 5e-324]


@pytest.mark.slow
def test_extreme_numbers_are_findings_and_no_exceptions():
    """Any finite numbers in inertias, placements, limits, armature and gravity: the report is made."""
    for seed in range(150):
        rng = np.random.default_rng(seed)

        def pick(shape=(), rng=rng):
            usual = rng.uniform(0.1, 1, shape)
            return np.where(rng.random(shape) < 0.35, rng.choice(EXTREMES, shape), usual)

        builder = Robot.builder("r").link("base", pick(10)).link("left_arm", pick(10)).link("right_arm", pick(10))
        for name in ("left_arm", "right_arm"):
            kind = str(rng.choice(["revolute", "prismatic", "spherical", "free", "planar"]))
            limits = {"lower": -abs(pick()), "upper": abs(pick()), "armature": abs(pick()), "effort": abs(pick())}
            builder.joint(f"{name}_j", kind, "base", name, at(*pick(3)), **limits if kind[0] in "r" else {})
        robot = builder.build().replace(gravity=pick(3))
        report = check(robot)
        assert str(report) and report._repr_html_()


def test_absurd_inertias():
    for inertia_ in (1e200 * ROD, np.where(np.arange(10) == 4, 1e300, ROD), np.where(np.arange(10) == 0, 1e-200, ROD)):
        finding = next(f for f in check(arm(inertia_)) if f.code == "impossible-inertia")
        assert finding.level == "error" and "no body has such an inertia" in finding.message
    far = np.where(np.arange(10) == 1, 1e300, ROD)
    assert inertia.faults(far) == ["its numbers are too large or too small: moments about the com overflow"]


def test_moments_that_are_absurd_without_neighbours():
    """A body alone has no neighbours to compare with; 50 m are too much for any link."""

    def alone(moment):
        return Robot.builder("r").link("base").link("a", solid(1, (0, 0, 0), (moment,) * 3)).joint(
            "j", "free", "base", "a"
        ).build()  # fmt: skip

    assert found(alone(0.1)) == []
    finding = next(f for f in check(alone(1e4)) if f.code == "inertia-too-large")
    assert "radius of gyration of 100 m: is it in kg mm² or g mm²?" in finding.message


@pytest.mark.parametrize(
    ("length", "mass", "message"),
    [
        (2e4, 1.0, r"it is 2e\+04 m across; robots are between 0.0001 and 1000"),
        (1e-6, 1e-9, "it is 1e-06 m across"),
        (0.4, 1e9, r"its mass is 2e\+09 kg; robots are between 1e-07 and 1e\+07"),
        (0.4, 1e-9, "its mass is 2e-09 kg"),
    ],
)
def test_robots_out_of_human_scale(length, mass, message):
    link = solid(mass, (length / 2, 0, 0), np.array([0.01, 0.1, 0.1]) * mass * length**2)
    findings = [f for f in check(arm(link, first=link, length=length)) if f.code == "out-of-scale"]
    assert any(re.search(message, f.message) for f in findings) and {f.level for f in findings} == {"warning"}


def test_limits_in_millimetres():
    slide = {"type": "prismatic", "axis": (1, 0, 0), "lower": 0.0, "effort": 1, "velocity": 1}
    assert found(arm(**slide, upper=0.5)) == []
    assert only(arm(**slide, upper=500.0)).code == "limits-in-mm"


def test_angles_in_degrees(tmp_path):
    text = """<robot name="r"><link name="a"><visual><origin rpy="0 0 {0}"/><geometry><sphere radius="1"/></geometry>
    </visual></link><link name="b"/><joint name="j" type="continuous"><parent link="a"/><child link="b"/>
    <axis xyz="0 0 1"/><origin xyz="1 0 0" rpy="0 {0} 0"/></joint></robot>"""
    path = tmp_path / "r.urdf"
    path.write_text(text.format(6.2832))
    assert "angles-in-degrees" not in found(load(path))
    path.write_text(text.format(-90))
    findings = [f for f in check(load(path)) if f.code == "angles-in-degrees"]
    assert [(f.level, f.element, f.where.line) for f in findings] == [
        ("warning", "link 'a'", 1), ("warning", "joint 'j'", 3),
    ]  # fmt: skip
    assert findings[1].message == '<origin rpy="0 -90 0"> turns by more than 2π: degrees? They must be in rad'


def test_meshes_outside_the_package_are_findings(tmp_path):
    path = tmp_path / "package" / "r.urdf"
    path.parent.mkdir()
    mesh = '<mesh filename="../../elsewhere/a.stl"/>'
    path.write_text(f'<robot name="r"><link name="a"><visual><geometry>{mesh}</geometry></visual></link></robot>')
    assert any("mesh" in f.code for f in check(load(path)))
