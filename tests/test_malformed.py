"""Models that are no robots: each gets one clear error with file, line and element, in bounded time and memory.

What is odd but still a robot is told as a finding. `test_fuzz.py` has models that are damaged at random.
"""

import os
import re
import subprocess
import sys

import pytest

from adjoint.errors import AdjointError
from adjoint.model import ModelError, check, load, xml_files
from adjoint.model.meshes import mesh_file

LINKS = '<link name="a"/><link name="b"/>'
ENDS = '<parent link="a"/><child link="b"/>'
AXIS = '<axis xyz="0 0 1"/>'


def robot(inside: str) -> str:
    return f'<robot name="r">\n{inside}\n</robot>'


def joint(inside: str = "", kind: str = "continuous", ends: str = ENDS, links: str = LINKS) -> str:
    """Two links on line 2, and a joint j between them on line 3."""
    return robot(f'{links}\n<joint name="j" type="{kind}">{ends}{inside}</joint>')


def link(inside: str) -> str:
    return robot(f'<link name="a">\n{inside}\n</link>')


def inertial(mass='<mass value="1"/>', tensor='ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"', origin="") -> str:
    return link(f"<inertial>{origin}{mass}<inertia {tensor}/></inertial>")


def shape(geometry: str, more: str = "") -> str:
    return link(f"<visual>{more}<geometry>{geometry}</geometry></visual>")


def mimic(source: str, inside: str = "") -> str:
    """Joints j and k in a row; j mimics `source`."""
    return robot(
        f'{LINKS}<link name="c"/>\n<joint name="j" type="continuous">{ENDS}{AXIS}<mimic joint="{source}"/></joint>'
        f'\n<joint name="k" type="continuous"><parent link="b"/><child link="c"/>{AXIS}{inside}</joint>'
    )


LAUGHS = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
BILLION = f'<!DOCTYPE robot [<!ENTITY l0 "{"ha" * 50}">{LAUGHS}]>'
NO_CHILD = '<parent link="a"/>'

# name -> (text, what the message must say)
MALFORMED = {
    # not XML
    "text": ("this is no XML", r"1: is not well-formed XML"),
    "unclosed": ('<robot name="r"><link name="a">', r"is not well-formed XML"),
    "crossed tags": ('<robot name="r"><link name="a"></robot></link>', r":1: is not well-formed XML.*link"),
    "second root": ('<robot name="r"/><robot name="s"/>', r"not well-formed"),
    "attribute twice": ('<robot name="r" name="s"/>', r"not well-formed.*name"),
    "no quotes": ("<robot name=r/>", r"not well-formed"),
    "bare ampersand": (robot('<link name="a & b"/>'), r":2: is not well-formed"),
    "unknown entity": (robot('<link name="&nothing;"/>'), r":2: is not well-formed.*nothing"),
    "undeclared prefix, and more": (robot('<x:link/><link name="a" name="b"/>'), r":2: is not well-formed"),
    "undeclared prefix of all links": (robot("<x:link/>"), r":1: robot 'r' has no links"),
    "unknown encoding": (
        '<?xml version="1.0" encoding="klingon"?><robot name="r"/>',
        r"not well-formed|cannot be read as XML",
    ),
    "only a comment": ("<!-- nothing -->", r"not well-formed"),
    "deep nesting": (
        "<robot name='r'>" + "<link>" * 100_000 + "</link>" * 100_000 + "</robot>",
        r"nested more than 256 deep",
    ),
    # entities and DTDs
    "billion laughs in text": (f"{BILLION}<robot name='r'>&l9;</robot>", r"DOCTYPE|not well-formed"),
    "billion laughs in an attribute": (f"{BILLION}<robot name='&l9;'/>", r"DOCTYPE|not well-formed"),
    "billion laughs and a prefix": (f"{BILLION}<robot name='r'><x:y/>&l9;</robot>", r"DOCTYPE|not well-formed.*ampl"),
    "an entity and a prefix": (
        '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="r"><x:y/>&x;</robot>',
        r"DOCTYPE",
    ),
    "quadratic blowup": (
        f'<!DOCTYPE r [<!ENTITY a "{"a" * 50_000}">]><robot name="{"&a;" * 5_000}"/>',
        r"DOCTYPE|not well-formed",
    ),
    "external entity": (
        '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="r">&x;</robot>',
        r"DOCTYPE",
    ),
    "external DTD": ('<!DOCTYPE robot SYSTEM "http://127.0.0.1:9/x.dtd"><robot name="r"/>', r"DOCTYPE"),
    "parameter entity": ('<!DOCTYPE r [<!ENTITY % p SYSTEM "file:///etc/passwd">%p;]><robot name="r"/>', r"DOCTYPE"),
    "harmless DTD": ("<!DOCTYPE robot><robot name='r'><link name='a'/></robot>", r"DOCTYPE.*refused"),
    # another kind of file
    "wrong root": ("<sdf/>", r":1: <sdf> is no robot model; there are URDF"),
    "xacro inside": (
        '<robot name="r" xmlns:xacro="http://x">\n<xacro:macro name="m"/></robot>',
        r":2: .*xacro must be expanded first: xacro ",
    ),
    "xacro undeclared": (robot('<xacro:include filename="x"/>'), r"expanded first"),
    "xacro expression": (joint('<origin xyz="${x} 0 0"/>'), r":3: joint 'j': <origin xyz=.*xacro must be expanded"),
    "xacro substitution": (joint('<origin xyz="$(arg x) 0 0"/>'), r":3: joint 'j': <origin .*xacro must be expanded"),
    "xacro that makes links": (
        joint(links='<link name="a"/><xacro:b/>'),
        r"'b' does not exist; .*:2: <xacro:b> is left",
    ),
    # links
    "no links": (robot(""), r":1: robot 'r' has no links"),
    "link without a name": (robot("<link/>"), r":2: <link> has no name"),
    "link with an empty name": (robot('<link name=""/>'), r":2: <link> has no name"),
    "two links of one name": (robot('<link name="a"/>\n<link name="a"/>'), r":3: link 'a': a second link"),
    "two roots": (robot(LINKS), r":2: robot 'r' has 2 roots: a, b"),
    # joints
    "joint without a name": (robot(f'{LINKS}\n<joint type="fixed">{ENDS}</joint>'), r":3: <joint> has no name"),
    "joint without a type": (
        robot(f'{LINKS}\n<joint name="j">{ENDS}</joint>'),
        r":3: joint 'j': its type is ''; there are rev",
    ),
    "unknown type": (joint(kind="elastic"), r":3: joint 'j': its type is 'elastic'; there are revolute"),
    "no parent": (joint(ends='<child link="b"/>'), r":3: joint 'j': it has no <parent link"),
    "no child": (joint(ends=NO_CHILD), r":3: joint 'j': it has no <child link"),
    "parent without a link": (joint(ends='<parent/><child link="b"/>'), r":3: joint 'j': it has no <parent link"),
    "child with an empty link": (
        joint(ends='<parent link="a"/><child link=""/>'),
        r":3: joint 'j': it has no <child link",
    ),
    "missing parent": (
        joint(ends='<parent link="x"/><child link="b"/>'),
        r":3: joint 'j': its parent link 'x' does not exist",
    ),
    "missing child": (
        joint(ends='<parent link="a"/><child link="x"/>'),
        r":3: joint 'j': its child link 'x' does not exist",
    ),
    "its own parent": (
        joint(AXIS, ends='<parent link="b"/><child link="b"/>'),
        r":3: joint 'j' joins link 'b' to itself",
    ),
    "two joints of one name": (
        robot(
            f'{LINKS}<link name="c"/>\n<joint name="j" type="fixed">{ENDS}</joint>\n<joint name="j" type="fixed">'
            '<parent link="b"/><child link="c"/></joint>'
        ),
        r":4: joint 'j': a second joint",
    ),
    "two parents": (
        robot(
            f'{LINKS}<link name="c"/>\n<joint name="j" type="fixed">{ENDS}</joint>\n<joint name="k" type="fixed">'
            '<parent link="c"/><child link="b"/></joint>'
        ),
        r":4: joint 'k': link 'b' is already the child of joint 'j'",
    ),
    "cycle": (
        robot(
            f'{LINKS}\n<joint name="j" type="fixed">{ENDS}</joint>\n<joint name="k" type="fixed">'
            '<parent link="b"/><child link="a"/></joint>'
        ),
        r"robot 'r' has no root: its joints form a cycle",
    ),
    "cycle beside the root": (
        robot(
            f'<link name="z"/>{LINKS}\n<joint name="j" type="fixed">{ENDS}</joint>\n<joint name="k" type="fixed">'
            '<parent link="b"/><child link="a"/></joint>'
        ),
        r"links a, b form a cycle apart from the root",
    ),
    "zero axis": (joint('<axis xyz="0 0 0"/>'), r":3: joint 'j': <axis> has length 0; it must be a direction"),
    "infinite axis": (joint('<axis xyz="1.7e308 1.7e308 1.7e308"/>'), r":3: joint 'j': <axis> has length inf"),
    "mimic without a joint": (mimic(""), r":3: joint 'j': <mimic> has no joint"),
    "mimic of itself": (mimic("j"), r":3: joint 'j' mimics itself"),
    "mimics in a cycle": (mimic("k", '<mimic joint="j"/>'), r"mimics itself, through j, k"),
    "mimic of a fixed joint": (
        robot(
            f'{LINKS}<link name="c"/>\n<joint name="j" type="continuous">{ENDS}{AXIS}<mimic joint="k"/></joint>'
            '<joint name="k" type="fixed"><parent link="b"/><child link="c"/></joint>'
        ),
        r":3: .*joint 'k', which is fixed",
    ),
    "mimic of a floating joint": (
        robot(
            f'{LINKS}<link name="c"/>\n<joint name="j" type="continuous">{ENDS}{AXIS}<mimic joint="k"/></joint>'
            '<joint name="k" type="floating"><parent link="b"/><child link="c"/></joint>'
        ),
        r"joint 'k' is free; only joints with one",
    ),
    "mimics that overflow": (
        mimic("k", '<mimic joint="nowhere"/>').replace('joint="k"/>', 'joint="k" multiplier="1e999"/>'),
        r"joint 'j': <mimic multiplier",
    ),
    # numbers
    "NaN": (joint('<origin xyz="0 nan 0"/>'), r":3: joint 'j': <origin xyz=\"0 nan 0\">: it needs 3 finite numbers"),
    "infinity": (joint('<origin rpy="0 inf 0"/>'), r":3: joint 'j': <origin rpy=\"0 inf 0\">: it needs 3 finite"),
    "too large": (joint('<origin xyz="0 1e999 0"/>'), r":3: joint 'j': <origin xyz"),
    "two of three": (joint('<origin xyz="0 0"/>'), r":3: joint 'j': <origin xyz=\"0 0\">: it needs 3"),
    "four of three": (joint('<origin xyz="0 0 0 0"/>'), r":3: joint 'j': <origin xyz=\"0 0 0 0\">: it needs 3"),
    "four, then two": (
        link(
            '<visual><origin xyz="1 2 3 4"/><geometry><box size="1 1 1"/></geometry></visual>\n'
            '<visual><origin xyz="5 6"/><geometry><box size="1 1 1"/></geometry></visual>'
        ),
        r":3: link 'a': <origin xyz=\"1 2 3 4\">",
    ),
    "empty numbers": (joint('<origin xyz=""/>'), r":3: joint 'j': <origin xyz=\"\">"),
    "words": (joint('<origin xyz="a b c"/>'), r":3: joint 'j': <origin xyz=\"a b c\">"),
    "commas": (joint('<origin xyz="1, 2, 3"/>'), r":3: joint 'j': <origin xyz=\"1, 2, 3\">"),
    "commas apart": (joint('<origin xyz="1 2 3 , 1 2 3"/>'), r":3: joint 'j': <origin xyz"),
    "decimal comma": (joint('<origin xyz="0,5 0 0"/>'), r":3: joint 'j': <origin xyz=\"0,5 0 0\">"),
    "underscores": (joint('<origin xyz="1_0 0 0"/>'), r":3: joint 'j': <origin xyz=\"1_0 0 0\">"),
    "foreign digits": (joint('<origin xyz="١ 0 0"/>'), r":3: joint 'j': <origin xyz"),
    "hexadecimal": (joint('<origin xyz="0x10 0 0"/>'), r":3: joint 'j': <origin xyz"),
    "axis of two": (joint('<axis xyz="0 1"/>'), r":3: joint 'j': <axis xyz=\"0 1\">: it needs 3"),
    "limit of words": (
        joint('<limit lower="low" upper="1" effort="1" velocity="1"/>'),
        r"joint 'j': <limit lower=\"low\">: it needs one",
    ),
    "limit of two": (joint('<limit lower="0 1"/>'), r"joint 'j': <limit lower=\"0 1\">: it needs one finite number"),
    "damping NaN": (joint('<dynamics damping="NaN"/>'), r"joint 'j': <dynamics damping=\"NaN\">"),
    "mass NaN": (inertial('<mass value="nan"/>'), r":3: link 'a': <mass value=\"nan\">"),
    "mass without a value": (inertial("<mass/>"), r":3: link 'a': <mass> has no value: it needs one finite number"),
    "five moments": (inertial(tensor='ixx="1" ixy="0" ixz="0" iyy="1" iyz="0"'), r":3: link 'a': <inertia> has no izz"),
    "inertia that overflows": (
        inertial('<mass value="1e200"/>', origin='<origin xyz="1e200 0 0"/>'),
        r"link 'a': its inertia .* overflows",
    ),
    "placements that overflow": (
        robot(
            f'{LINKS}<link name="c"/>\n<joint name="j" type="fixed">{ENDS}<origin xyz="1.5e308 0 0"/></joint>'
            f'<joint name="k" type="continuous">{AXIS}<origin xyz="1.5e308 0 0"/><parent link="b"/><child link="c"/>'
            "</joint>"
        ),
        r"body 'c': its placement .* overflows",
    ),
    "colour of three": (
        shape('<box size="1 1 1"/>', '<material name="m"><color rgba="1 1 1"/></material>'),
        r"<color rgba=\"1 1 1\">: it needs 4",
    ),
    "box without a size": (shape("<box/>"), r":3: link 'a': <box> has no size: it needs 3"),
    "box of one": (shape('<box size="1"/>'), r":3: link 'a': <box size=\"1\">: it needs 3"),
    "sphere of two": (shape('<sphere radius="1 2"/>'), r":3: link 'a': <sphere radius"),
    "cylinder without a length": (shape('<cylinder radius="1"/>'), r":3: link 'a': <cylinder> has no length"),
    "long number": (joint(f'<origin xyz="{"1" * 100_000}x 0 0"/>'), r":3: joint 'j': <origin xyz=\"1{50,60}\.\.\.\">"),
    # meshes
    "mesh without a name": (shape("<mesh/>"), r":3: link 'a': <mesh> has no filename"),
}


@pytest.fixture
def folder(tmp_path):
    """A folder that is a package; models are in its folder `urdf`."""
    (tmp_path / "x" / "pkg" / "urdf").mkdir(parents=True)
    return tmp_path / "x" / "pkg" / "urdf"


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed(name, folder):
    text, message = MALFORMED[name]
    path = folder / "model.urdf"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ModelError, match=message) as caught:
        load(path)
    assert len(str(caught.value)) < 1000
    if not message.startswith(("robot", "link", "body", "r")):
        assert "model.urdf" in str(caught.value)


def test_there_are_enough():
    assert len(MALFORMED) >= 60


# --- files ------------------------------------------------------------------------------------------------------------


def test_files_that_are_none(tmp_path):
    (tmp_path / "empty.urdf").write_bytes(b"")
    (tmp_path / "blank.urdf").write_bytes(b" \n\t ")
    (tmp_path / "binary.urdf").write_bytes(bytes(range(256)) * 100)
    (tmp_path / "folder.urdf").mkdir()
    os.mkfifo(tmp_path / "pipe.urdf")
    with open(tmp_path / "huge.urdf", "wb") as stream:
        stream.truncate(100 * 2**20)
    cases = {
        "empty": "is empty", "blank": "is empty", "binary": "not well-formed", "folder": "is a folder",
        "pipe": "is not a regular file", "huge": f"104857600 bytes; at most {xml_files.SIZE_LIMIT} are read",
        "missing": "cannot be read: No such file", "nul\0": "is no path", "n" * 5000: "cannot be read",
    }  # fmt: skip
    for name, message in cases.items():
        with pytest.raises(ModelError, match=message) as caught:
            load(tmp_path / f"{name}.urdf")
        assert str(caught.value).count("urdf") == 1  # the file is named once


# --- bounded time and memory ------------------------------------------------------------------------------------------

# Loads the files whose names it reads; every load has 20 s and 1 GB beyond what the modules take. A bomb kills it.
CHILD = """
import resource, signal, sys
import mujoco
from adjoint.model import ModelError, load
for file in sys.argv[1:]:
    load(file)  # so that everything is imported
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**30,) * 2)
for line in sys.stdin:
    signal.alarm(20)
    try:
        load(line.strip())
        print("a robot", flush=True)
    except ModelError as error:
        print(error, flush=True)
"""
BODY = '<body><joint name="j"/><geom size="0.1"/></body>'
MANY = "is most|at most"


def mujoco_model(inside: str, body: str = BODY) -> str:
    return f"<mujoco>{inside}<worldbody>{body}</worldbody></mujoco>"


def many_joints(count: int) -> str:
    ends = '<link name="{0}"/><joint name="j{0}" type="fixed"><parent link="{1}"/><child link="{0}"/></joint>'
    return robot('<link name="0"/>' + "".join(ends.format(i, i - 1) for i in range(1, count)))


# name -> (text, what the answer must say)
BOMBS = {
    "deep.urdf": MALFORMED["deep nesting"],
    "text.urdf": MALFORMED["billion laughs in text"],
    "attribute.urdf": MALFORMED["billion laughs in an attribute"],
    "quadratic.urdf": MALFORMED["quadratic blowup"],
    "number.urdf": (inertial(f'<mass value="{"1" * 7_000_000}e-6999999"/>'), "a robot"),
    "name.urdf": (f'<robot name="{"n" * (7 * 2**20)}"><link name="a"/></robot>', "a robot"),
    "tags.urdf": (robot("<a/>" * (2**21 - 100)), MANY),
    "visuals.urdf": (link("<visual/>" * 900_000), MANY),
    "some visuals.urdf": (link("<visual/>" * 190_000), "a robot"),
    "joints.urdf": (many_joints(80_000), MANY),
    "some joints.urdf": (many_joints(40_000), "a robot"),
    "meshes outside.urdf": (
        link("<visual><geometry><mesh filename='/../x{}/m.stl'/></geometry></visual>" * 40_000).format(*range(40_000)),
        "a robot",
    ),
    "prefixes.urdf": (robot('<link name="a"/>' + "<p{}:x/>" * 40_000).format(*range(40_000)), "a robot"),
    "attributes.urdf": (
        joint("<origin {}/>".format(" ".join(f'x{k}=""' for k in range(60_000)))),
        "a robot",
    ),
    "files.xml": (
        mujoco_model("<asset><mesh {}/></asset>".format(" ".join(f'file{k}="m.obj"' for k in range(300_000)))),
        ":1: <mesh> has file0=..., which is not MJCF",
    ),
    "size.xml": (mujoco_model('<size nkey="100000000" nuser_body="1000000000" memory="900G"/>'), "a robot"),
    "texture.xml": (
        mujoco_model(
            '<asset><texture name="t" builtin="flat" width="40000" height="20000"/><material name="m" texture="t"/>'
            '<texture type="skybox" builtin="gradient" width="20000" height="20000"/></asset>'
        ),
        "a robot",
    ),
    "terrain.xml": (
        mujoco_model('<asset><hfield name="h" nrow="20000" ncol="20000" size="1 1 1 1"/></asset>'),
        "a robot",
    ),
    "numeric.xml": (mujoco_model('<custom><numeric name="n" size="2000000000" data="1"/></custom>'), "a robot"),
    "sensor.xml": (mujoco_model('<sensor><user name="u" dim="2000000000"/></sensor>'), "a robot"),
    "user.xml": (mujoco_model(f'<default><geom user="{"1 " * 10**6}"/></default>', "<body/>" * 3000), "a robot"),
    "state.xml": (
        mujoco_model('<actuator><general joint="j" dyntype="user" actdim="1000000000"/></actuator>'),
        ":1: <general> has actdim above 100",
    ),
    "ball.xml": (
        mujoco_model('<asset><mesh name="m" builtin="supersphere" params="5000 1 1"/></asset>'),
        ":1: <mesh> has params above 100",
    ),
    "replicate.xml": (mujoco_model("", f'<replicate count="20000">{BODY}</replicate>'), MANY),
    "nested.xml": (mujoco_model("", '<replicate count="30">' * 4 + BODY + "</replicate>" * 4), MANY),
    "less.xml": (mujoco_model("", f'<replicate count="-1e5">{BODY}</replicate>{"<body/>" * 20_000}'), MANY),
    "cloth.xml": (mujoco_model("", '<flexcomp name="f" count="200 200 50" spacing="1 1 1"/>'), MANY),
    "points.xml": (mujoco_model("", f'<flexcomp name="f" type="direct" point="{"0 " * 10**6}"/>'), MANY),
    "cable.xml": (mujoco_model("", '<composite type="cable" count="100000 1 1"><geom size="1"/></composite>'), MANY),
    "bodies.xml": (mujoco_model("", '<body><freejoint/><geom size="1"/></body>' * 60_000), MANY),
}  # fmt: skip


@pytest.fixture(scope="module")
def child(tmp_path_factory):
    if sys.platform != "linux":
        pytest.skip("memory is limited by Linux")
    place = tmp_path_factory.mktemp("warm")
    (place / "a.urdf").write_text(robot('<link name="a"/>'))
    (place / "a.xml").write_text(mujoco_model(""))
    command = [sys.executable, "-c", CHILD, str(place / "a.urdf"), str(place / "a.xml")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def answer(child, file) -> str:
    child.stdin.write(f"{file}\n")
    child.stdin.flush()
    return child.stdout.readline()


@pytest.mark.parametrize("name", BOMBS)
def test_time_and_memory_are_bounded(name, folder, child):
    text, says = BOMBS[name]
    (folder / name).write_text(text)
    found = answer(child, folder / name)
    assert re.search(says, found), found or "the load was stopped"
    assert len(found) < 1000


def test_models_that_attach_each_other_are_bounded(folder, child):
    """Twenty models, each attaching the next one twice; then one that attaches itself."""
    attach = "<asset><model name='m' file='{}.xml'/></asset><worldbody><body name='b'>{}</body></worldbody>"
    twice = "".join(f"<frame><attach model='m' body='b' prefix='{p}'/></frame>" for p in "pq")
    for k in range(20):
        (folder / f"{k}.xml").write_text(f"<mujoco>{attach.format(k + 1, twice)}</mujoco>")
    (folder / "20.xml").write_text("<mujoco><worldbody><body name='b'><geom size='1'/></body></worldbody></mujoco>")
    assert re.search(MANY, answer(child, folder / "0.xml"))
    assert "a robot" in answer(child, folder / "17.xml")
    (folder / "20.xml").write_text((folder / "0.xml").read_text())
    assert "<attach> of a model that contains this one" in answer(child, folder / "0.xml")


def test_meshes_of_bounded_size(folder, child):
    with open(folder / "m.obj", "wb") as stream:
        stream.truncate(300 * 2**20)
    (folder / "m.xml").write_text(mujoco_model('<asset><mesh file="m.obj"/></asset>'))
    assert re.search("meshes have 3.15e.08 bytes.*is most", answer(child, folder / "m.xml"))


def test_unreadable(tmp_path, monkeypatch):
    """Root may read everything, so the refusal is played."""

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    path = tmp_path / "secret.urdf"
    path.write_text(robot(LINKS))
    monkeypatch.setattr(xml_files, "open", refuse, raising=False)
    with pytest.raises(ModelError, match="cannot be read: Permission denied"):
        load(path)


def test_devices_are_not_read():
    with pytest.raises(ModelError, match="is not a regular file"):
        load("/dev/zero")


def test_xacro_files_say_what_to_run(tmp_path):
    for name in ("arm.urdf.xacro", "arm.xacro"):
        with pytest.raises(ModelError, match=rf"xacro .*{name} > arm\.urdf$"):
            load(tmp_path / name)


@pytest.mark.slow
def test_many_elements(folder):
    path = folder / "model.urdf"
    path.write_text(robot('<link name="a"/>' + "<x/>" * 190_000))
    found = load(path).findings
    assert len(found) == 1 and "189999 more" in found[0].message


def test_wrong_options(folder):
    path = folder / "model.urdf"
    path.write_text(robot('<link name="a"/>'))
    for options, message in (
        ({"base": "floating"}, "base is 'floating'; it must be 'fixed' or 'free'"),
        ({"gravity": (0, 0)}, "gravity must have shape"),
        ({"gravity": (0, 0, float("nan"))}, "gravity contains NaN"),
        ({"gravity": "down"}, "gravity must be numbers"),
        ({"package_dirs": 3}, "package_dirs must be a list of paths"),
    ):
        with pytest.raises(AdjointError, match=message):
            load(path, **options)


# --- odd, but robots: the documented findings -------------------------------------------------------------------------

ODD = {
    "XInclude is not followed": (
        robot('<link name="a"/><xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="/etc/passwd"/>'),
        "unknown-tag",
    ),
    "unknown tag": (robot('<link name="a"><inertail/></link>'), "unknown-tag"),
    "axis without numbers": (joint("<axis/>"), "default-axis"),
    "misspelt attribute": (
        link('<inertial><origin xyz="0 0 0" rpz="0 1 0"/><mass value="0"/></inertial>'),
        ["no-inertia", "unknown-attribute"],
    ),
    "further attribute": (
        joint(f'{AXIS}<dynamics damping="1" friction="0" armature="0" spring="1"/>'),
        "unknown-attribute",
    ),
    "axis of length 2": (joint('<axis xyz="0 0 2"/>'), "axis-not-unit"),
    "no axis": (joint(), "default-axis"),
    "no limit": (joint(AXIS, kind="revolute"), "no-limits"),
    "half a limit": (joint(f'{AXIS}<limit effort="1" velocity="1"/>', kind="revolute"), "default-limit"),
    "mimic of a missing joint": (joint(f'{AXIS}<mimic joint="x"/>'), "missing-mimic"),
    "mimic of a joint that is fixed": (joint('<mimic joint="x"/>', kind="fixed"), "fixed-mimic"),
    "no mass": (inertial(""), "no-mass"),
    "no inertia": (link('<inertial><mass value="1"/></inertial>'), "no-inertia"),
    "visual without geometry": (link("<visual/>"), "no-geometry"),
    "empty geometry": (shape(""), "no-geometry"),
    "unknown shape": (shape("<torus/>"), "unknown-shape"),
    "two inertials": (
        link(
            '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
            "<inertial/>"
        ),
        "repeated-tag",
    ),
    "negative box": (shape('<box size="1 -1 1"/>'), "negative-size"),
    "negative radius": (shape('<cylinder radius="-1" length="1"/>'), "negative-size"),
    "texture": (
        robot('<material name="m"><texture filename="/etc/passwd"/></material><link name="a"/>'),
        "texture",
    ),
    "two colours": (
        robot(
            '<material name="m"><color rgba="1 0 0 1"/></material><material name="m"><color rgba="0 1 0 1"/></material>'
            '<link name="a"/>'
        ),
        "repeated-material",
    ),
    "unknown material": (shape('<box size="1 1 1"/>', '<material name="m"/>'), "unknown-material"),
    "missing mesh": (shape('<mesh filename="m.stl"/>'), "mesh-missing"),
    "mesh of a foreign machine": (shape('<mesh filename="/home/of/nobody/m.stl"/>'), "mesh-missing"),
    "remote mesh": (shape('<mesh filename="https://x.org/m.stl"/>'), "mesh-missing"),
    "mesh of two scales": (shape('<mesh filename="https://x.org/m.stl" scale="1 1"/>'), ["mesh-missing", "mesh-scale"]),
    "mesh above the package": (shape('<mesh filename="package://pkg/../../../etc/passwd"/>'), "mesh-outside"),
    "mesh above the folder": (shape('<mesh filename="../../../../etc/passwd"/>'), "mesh-outside"),
    "mesh elsewhere": (shape('<mesh filename="/etc/passwd"/>'), "mesh-outside"),
    "mesh elsewhere by URL": (shape('<mesh filename="file:///etc/passwd"/>'), "mesh-outside"),
    "mesh above the folder, of no file": (shape('<mesh filename="../../x.stl"/>'), "mesh-outside"),
    "mesh of no package": (shape('<mesh filename="package://../etc/passwd"/>'), "mesh-missing"),
    "mesh that xacro finds": (shape('<mesh filename="$(find pkg)/m.stl"/>'), "mesh-missing"),
    "version of XML": ('<?xml version="0.0"?>' + robot('<link name="a"/>'), "xml-declaration"),
    "blanks before the declaration": ('\n <?xml version="1.0"?>' + robot('<link name="a"/>'), "xml-declaration"),
    "undeclared prefix": (robot('<link name="a"><x:y/></link>'), ["xml-namespace", "unknown-tag"]),
    "undeclared prefix of an attribute": (robot('<link name="a" x:y="1"/>'), "xml-namespace"),
    "xacro is left": (robot('<link name="a"/><xacro:m xmlns:xacro="http://x"/>'), "xacro"),
    "xacro is left in a name": (robot('<link name="${a}"/>'), "xacro"),
    "contact of PyBullet": (robot('<link name="a"><contact><friction_anchor/></contact></link>'), []),
    "loop of Drake": (robot('<link name="a"/><loop_joint name="l" type="revolute"/>'), "loop-joint"),
    "frame of no link": (robot('<link name="a"/><frame name="f" link="b"/>'), "frame"),
    "frame without a name": (robot('<link name="a"/><frame link="a"/>'), "frame"),
    "frame of a taken name": (robot('<link name="a"/><frame name="a" link="a"/>'), "frame"),
    "world of Drake": (joint(AXIS, ends='<parent link="world"/><child link="a"/>', links='<link name="a"/>'), "world"),
    "ball": (joint(kind="ball"), "joint-type"),
    "spherical": (joint(kind="spherical"), "joint-type"),
    "no name": ('<robot><link name="a"/></robot>', "no-name"),
}


@pytest.mark.parametrize("name", ODD)
def test_odd(name, folder):
    text, code = ODD[name]
    (folder / "model.urdf").write_text(text)
    odd = load(folder / "model.urdf")
    assert [f.code for f in odd.findings] == ([code] if isinstance(code, str) else code)
    assert all(re.search(r"model\.urdf:\d+: ", str(found)) for found in odd.findings)
    for visual in odd.visuals:
        if visual.mesh is not None:
            with pytest.raises(ModelError, match="frame 'a': mesh "):
                mesh_file(visual)


@pytest.mark.parametrize(
    "limit", ['lower="1" upper="-1" effort="1" velocity="1"', 'lower="0" upper="1" effort="-1" velocity="1"']
)
def test_limits_that_make_no_sense_are_the_doctors(limit, folder):
    (folder / "model.urdf").write_text(joint(f"{AXIS}<limit {limit}/>", kind="revolute"))
    arm = load(folder / "model.urdf")
    assert not arm.findings
    assert any(f.level == "error" and "'j'" in f.element for f in check(arm))
