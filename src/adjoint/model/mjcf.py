"""Reading MJCF, with MuJoCo's own parser and compiler, which resolve includes, defaults, classes, units and inertias.

A body of MuJoCo with the joints 1 ... k is at P B J_1 ... J_k, where P is the pose of its parent and B its own `pos`
and orientation. Joint j moves the body by J_j = exp(S_j (q_j - r_j)): S_j is a screw through the joint's anchor, in the
body's own frame, and r_j is the joint's `ref`. The robot has one body for each joint, at M_j exp(S_j q_j) in the one
before, with M_1 = B exp(-S_1 r_1) and M_j = exp(-S_j r_j). The last of them is the body of MuJoCo; the others are
massless and named `<body>.<joint>`. Bodies without joints become frames of their parent.

q is MuJoCo's qpos without the joints that mimic others. So the q of a free joint is the body's pose in the world, M is
1, `neutral` puts the body at the world's origin, and a note in `Robot.findings` says where the file puts it. v is
MuJoCo's qvel except for free joints: there qvel = (ẋ, w), with ẋ along the world's axes and w along the body's, while
v = (w, Rᵀẋ) here.
"""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from ..errors import ArgumentError, ModelError
from ..extras import package
from ..lie import inertia as inertias
from ..lie import se3, so3
from . import xml_files
from .joints import standard_screws
from .meshes import Meshes
from .mjcf_files import Checked, checked
from .parts import Finding, Visual, Where
from .robot import Builder, Robot

__all__ = ["read"]


def read(document: xml_files.Document, base: str | None, package_dirs, gravity, limits: float = 1) -> Robot:
    """Return the robot of an MJCF document; its base is "world", and bodies, sites and fixed cameras are frames.

    `base` "free" gives the one body on the world a free joint, and "fixed" takes this joint away and leaves the body
    where the file puts it; None does as the file says. `gravity` (3,) [m/s²] is the file's if it is None. Linear
    couplings of two joints (`equality/joint`) become mimics. `Robot.findings` lists what is no part of a tree of rigid
    bodies. Files that the model names, which MuJoCo opens, must be in its own package or below `package_dirs`. Sensors,
    keyframes, textures and the like are not read. `limits` is multiplied into all limits on the size of the model.
    """
    if base not in (None, "fixed", "free"):
        raise ArgumentError(f"base is {base!r}; it must be 'fixed', 'free', or None for what the file says")
    meshes = Meshes(None if document.is_text else document.file, package_dirs)
    source = _compiled(_mujoco(), document.file, checked(document, meshes, limits))
    builder = Builder(source.name, gravity=source.gravity if gravity is None else gravity, findings=source.findings)
    names = _all_names(source)
    changes = _changes(source, names, base)
    with np.errstate(all="ignore"):  # the builder refuses NaN and infinity
        _add_bodies(source, builder, names, changes)
        _add_frames(source, builder, names)
        builder.visuals = list(_visuals(source, names))
    _find_about_joints(source, names, changes)
    _find_about_the_rest(source, names)
    return builder.build()


# --- MuJoCo -----------------------------------------------------------------------------------------------------------


class _Source(NamedTuple):
    """A compiled model, the places of its elements in the file, and the findings about it."""

    file: str
    name: str
    mujoco: ModuleType
    model: Any  # a mujoco.MjModel, which has the numbers
    places: dict[tuple[str, int], Where]  # {(kind of element, its number): its place}
    meshes: dict[int, Any]  # {number: mujoco.MjsMesh}, which has what the compiled model leaves out about meshes
    findings: list[Finding]

    @property
    def gravity(self) -> np.ndarray:
        """Gravity (3,) [m/s²] of the model, 0 if a flag switches it off."""
        off = self.model.opt.disableflags & self.mujoco.mjtDisableBit.mjDSBL_GRAVITY
        return np.zeros(3) if off else np.array(self.model.opt.gravity)

    def where(self, kind: str, k: int) -> Where:
        """Return file and line of element number k of a kind, or the file alone if the line is not known."""
        return self.places.get((kind, k), Where(self.file))

    def find(self, level: str, code: str, kind: str, k: int, name: str, message: str) -> None:
        """Add a finding about element number k of a kind."""
        self.findings.append(Finding(level, code, f"{kind} '{name}'", message, self.where(kind, k)))


def _mujoco() -> ModuleType:
    return package("mujoco", "mjcf", "reading MJCF files")


_MUJOCO_LOCK = threading.Lock()  # all threads share MuJoCo's handler of warnings, and Python's filters of warnings


def _compiled(mujoco: ModuleType, file: str, given: Checked) -> _Source:
    # Each model is read in a thread of its own: where MuJoCo meets an exception that it does not know, it leaves its
    # handler of warnings in the thread, and the next warning there never ends (seen with 4.0: anchor="").
    with ThreadPoolExecutor(1) as own:
        spec, model, said = own.submit(_compile_here, mujoco, file, given).result()
    name = Path(file).stem if spec.modelname == "MuJoCo Model" else spec.modelname
    findings = [Finding("warning", "mujoco", f"model '{name}'", message, Where(file)) for message in said]
    meshes = {mesh.id: mesh for mesh in spec.meshes}
    return _Source(file, name, mujoco, model, _places(spec, given.places), meshes, [*given.findings, *findings])


def _compile_here(mujoco: ModuleType, file: str, given: Checked) -> tuple:
    """Return MuJoCo's description of the model (MjSpec), the compiled model, and the warnings of MuJoCo."""
    with _MUJOCO_LOCK:
        heard, handler = [], mujoco.get_mju_user_warning()
        mujoco.set_mju_user_warning(heard.append)  # else MuJoCo prints warnings and writes a file MUJOCO_LOG.TXT
        try:
            with warnings.catch_warnings(record=True) as raised:
                warnings.simplefilter("always")
                spec = mujoco.MjSpec.from_string(given.text, include=given.files)
                spec.compiler.fusestatic = False  # bodies without joints keep their names
                spec.memory = 2**25  # [bytes] for simulation, which is not done here; the default grows as nv²
                model = spec.compile()
        except (ValueError, RuntimeError, mujoco.FatalError) as error:
            raise ModelError(_located(file, given.places, str(error))) from None
        finally:
            mujoco.set_mju_user_warning(handler)
    return spec, model, [*heard, *(str(w.message) for w in raised)]


_LINE = re.compile(r"(?:, )?line (?:number=)?(\d+)", re.IGNORECASE)


def _located(file: str, places: dict[int, Where], message: str) -> str:
    """Return MuJoCo's message in the form of ours: file and line first, then the message on one line.

    MuJoCo's own line numbers are those of the text it got, so they are left out.
    """
    line = _LINE.search(message)
    where = places.get(int(line[1])) if line else None
    text = "; ".join(filter(None, (_LINE.sub("", part).strip() for part in message.splitlines())))
    return f"{where or Where(file)}: MuJoCo cannot read this model: {text}"


def _places(spec, places: dict[int, Where]) -> dict[tuple[str, int], Where]:
    """Return {(kind of element, its number): file and line}."""
    kinds = {"body": spec.bodies, "joint": spec.joints, "site": spec.sites, "camera": spec.cameras, "geom": spec.geoms,
             "equality": spec.equalities}  # fmt: skip
    found = {}
    for kind, elements in kinds.items():
        for element in elements:
            line = re.fullmatch(r"line (\d+)", element.info)
            if line and int(line[1]) in places:
                found[kind, element.id] = places[int(line[1])]
    return found


# --- names ------------------------------------------------------------------------------------------------------------


class _Names(NamedTuple):
    """The names of all bodies and joints, by number, and all names of frames, including bodies, that are taken."""

    bodies: list[str]
    joints: list[str]
    frames: set[str]


def _all_names(source: _Source) -> _Names:
    m, frames = source.model, set()
    bodies = _named(source, "body", [f"body_{k}" for k in range(m.nbody)], frames)
    joints = _named(source, "joint", [f"{bodies[b]}_joint{k}" for b, k in _numbered(m.jnt_bodyid)], set())
    return _Names(bodies, joints, frames)


def _numbered(owners) -> Iterator[tuple[int, int]]:
    """Yield, for each element, its owner and its number among the elements of this owner."""
    counts: dict[int, int] = {}
    for owner in owners:
        counts[owner] = counts.get(owner, -1) + 1
        yield int(owner), counts[owner]


def _named(source: _Source, kind: str, invented: list[str], taken: set[str]) -> list[str]:
    """Return the names of all elements of a kind, and add them to `taken`; no name is taken twice.

    The names are those of the file, or those in `invented` where the file has none.
    """
    type = getattr(source.mujoco.mjtObj, f"mjOBJ_{kind.upper()}")
    given = [source.mujoco.mj_id2name(source.model, type, k) for k in range(len(invented))]
    names = [""] * len(given)
    for k in sorted(range(len(given)), key=lambda k: not given[k]):  # names of the file come first
        wanted = given[k] or invented[k]
        names[k] = _unique(wanted if wanted not in taken else f"{wanted}_{kind}", taken)
        if not given[k]:
            source.find("note", "unnamed", kind, k, names[k], f"the {kind} has no name in the file")
        elif names[k] != given[k]:
            source.find("note", "renamed", kind, k, names[k], f"another frame has its name, '{given[k]}'")
    return names


def _unique(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


# --- bodies and joints ------------------------------------------------------------------------------------------------


def _changes(source: _Source, names: _Names, base: str | None) -> dict[int, str]:
    """Return {number of a body: "free" or "fixed"} for the body on the world whose joint `base` changes, if any."""
    m = source.model
    top = [b for b in range(1, m.nbody) if m.body_parentid[b] == 0]
    free = [b for b in top if m.body_jntnum[b] and _kind(source, m.body_jntadr[b]) == "free"]
    if base is None or (base == "fixed" and not free) or (base == "free" and free == top and len(top) == 1):
        return {}
    asked = free if base == "fixed" else top
    if len(asked) != 1:
        found = ", ".join(f"'{names.bodies[b]}'" for b in asked[:6]) or "none"
        what = "with a free joint" if base == "fixed" else "on the world"
        raise ModelError(f"{source.file}: base='{base}' needs one body {what}, there are {len(asked)}: {found}")
    if base == "free" and m.body_jntnum[asked[0]]:
        raise ModelError(
            f"{source.where('body', asked[0])}: base='free': body '{names.bodies[asked[0]]}' has joints to the world; "
            "only a body without joints can be set free"
        )
    return {asked[0]: base}


def _add_bodies(source: _Source, builder: Builder, names: _Names, changes: dict[int, str]) -> None:
    """Add a link for each body of MuJoCo, and massless links between its joints if it has several."""
    m, bodies, joints = source.model, names.bodies, names.joints
    mimics, joint_names = _mimics(source, joints), set(joints)
    builder.link("world", where=Where(source.file))
    for b in range(1, m.nbody):
        name, parent, where = bodies[b], bodies[m.body_parentid[b]], source.where("body", b)
        placement = _pose(m.body_pos[b], m.body_quat[b])
        own = [] if b in changes else range(m.body_jntadr[b], m.body_jntadr[b] + m.body_jntnum[b])
        for j in own:
            child = name if j == own[-1] else _unique(f"{name}.{joints[j]}", names.frames)
            if child != name:
                builder.link(child, where=where)
            screws = _screws(source, j)
            builder.joint(
                joints[j], _kind(source, j), parent, child, _home(source, j, screws, placement), screw=screws,
                mimic=mimics.get(j), where=source.where("joint", j), **_limits(source, j),
            )  # fmt: skip
            parent, placement = child, np.eye(4)
        builder.link(name, _inertia(m, b), where=where)
        if changes.get(b) == "free":  # no placement: the q of a free joint is the pose in the world
            builder.joint(_unique("root_joint", joint_names), "free", parent, name, where=where)
        elif not own:
            builder.joint(_unique(f"{name}.fixed", joint_names), "fixed", parent, name, placement, where=where)


def _pose(position, quat) -> np.ndarray:
    return se3.from_xyz_quat_wxyz.eager(np.concatenate([position, quat]))


def _inertia(m, b: int) -> np.ndarray | None:
    """Return the inertia (10,) in the body's frame, from MuJoCo's principal moments; None for a body without mass."""
    if m.body_mass[b] == 0 and not np.any(m.body_inertia[b]):
        return None
    R = so3.from_quat_wxyz.eager(m.body_iquat[b])
    return inertias.from_central.eager(m.body_mass[b], m.body_ipos[b], R @ np.diag(m.body_inertia[b]) @ R.T)


def _kind(source: _Source, j: int) -> str:
    """Return the type of joint j, as `JOINTS` names it."""
    m, types = source.model, source.mujoco.mjtJoint
    turns = "revolute" if m.jnt_limited[j] else "continuous"
    kinds = {types.mjJNT_FREE: "free", types.mjJNT_BALL: "spherical", types.mjJNT_SLIDE: "prismatic",
             types.mjJNT_HINGE: turns}  # fmt: skip
    return kinds[types(m.jnt_type[j])]


def _screws(source: _Source, j: int) -> np.ndarray:
    """Return S (nv, 6) of a joint through its anchor p: rows (axis, p × axis), or (0, axis) if it slides."""
    m, kind = source.model, _kind(source, j)
    if kind in ("free", "prismatic"):
        return standard_screws(kind, m.jnt_axis[j])
    axes = np.eye(3) if kind == "spherical" else m.jnt_axis[j][None]
    return np.concatenate([axes, np.cross(m.jnt_pos[j], axes)], axis=1)


def _home(source: _Source, j: int, screws: np.ndarray, placement: np.ndarray) -> np.ndarray:
    """Return M = placement · exp(-S qpos0) of a body that is at `placement` when its joint is at MuJoCo's qpos0."""
    kind = _kind(source, j)
    if kind == "free":
        return np.eye(4)
    start = source.model.qpos0[source.model.jnt_qposadr[j]]
    return placement if kind == "spherical" else placement @ se3.exp.eager(-start * screws[0])


def _limits(source: _Source, j: int) -> dict[str, float]:
    """Return the limits and losses of a `JointSpec`; MuJoCo has one number for all directions of a joint."""
    m, dof = source.model, source.model.jnt_dofadr[j]
    found = {"damping": m.dof_damping[dof], "friction": m.dof_frictionloss[dof], "armature": m.dof_armature[dof]}
    if m.jnt_limited[j] and _kind(source, j) != "spherical":
        found |= {"lower": m.jnt_range[j, 0], "upper": m.jnt_range[j, 1]}
    if m.jnt_actfrclimited[j]:
        found["effort"] = np.abs(m.jnt_actfrcrange[j]).max()
    return {key: float(value) for key, value in found.items()}


def _mimics(source: _Source, joints: list[str]) -> dict[int, tuple[str, float, float]]:
    """Return {joint: (leader, multiplier, offset)} for the couplings y - y_0 = a_0 + a_1 (x - x_0) of two joints.

    x_0 and y_0 are their qpos0. Other constraints become findings.
    """
    m = source.model
    leaders: dict[int, int] = {}
    found = {}
    for e in range(m.neq):
        y, x = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
        problem = _no_mimic(source, e, leaders)
        if problem is None:
            y_0, x_0 = m.qpos0[m.jnt_qposadr[[y, x]]]
            a_0, a_1 = m.eq_data[e, :2]
            leaders[y] = x
            found[y] = joints[x], float(a_1), float(y_0 + a_0 - a_1 * x_0)
        else:
            name = source.mujoco.mj_id2name(m, source.mujoco.mjtObj.mjOBJ_EQUALITY, e) or str(e)
            source.find("warning", "constraint", "equality", e, name, f"{problem}; it is not part of the robot")
    return found


def _no_mimic(source: _Source, e: int, leaders: dict[int, int]) -> str | None:
    """Return why equality constraint e cannot be a mimic beside those in `leaders`, or None if it can."""
    m, kind = source.model, source.mujoco.mjtEq(source.model.eq_type[e])
    y, x = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
    if kind != source.mujoco.mjtEq.mjEQ_JOINT:
        return f"constraints of type {kind.name.removeprefix('mjEQ_').lower()} close loops"
    if not m.eq_active0[e]:
        return "it is not active"
    if x < 0:
        return "it holds one joint still"
    if np.any(m.eq_data[e, 2:5]):
        return "its polynomial is not linear"
    if y in leaders:
        return "its first joint follows another already"
    while x != y and x in leaders:
        x = leaders[x]
    return "its joints follow each other" if x == y else None


# --- what is fixed to the bodies --------------------------------------------------------------------------------------


def _add_frames(source: _Source, builder: Builder, names: _Names) -> None:
    """Add a frame for each site and each fixed camera."""
    m, bodies = source.model, names.bodies
    fixed = source.mujoco.mjtCamLight.mjCAMLIGHT_FIXED
    for kind, owner, pos, quat in (
        ("site", m.site_bodyid, m.site_pos, m.site_quat), ("camera", m.cam_bodyid, m.cam_pos, m.cam_quat),
    ):  # fmt: skip
        own = _named(source, kind, [f"{bodies[b]}_{kind}{k}" for b, k in _numbered(owner)], names.frames)
        for k, name in enumerate(own):
            if kind == "camera" and m.cam_mode[k] != fixed:
                source.find("note", "camera", kind, k, name, "it tracks a body: it is no frame of the robot")
            else:
                builder.frame(name, bodies[owner[k]], _pose(pos[k], quat[k]))


_DRAWN_GROUPS = 3  # MuJoCo's viewer shows geoms of groups 0, 1 and 2
_NO_COLOR = (0.5, 0.5, 0.5, 1.0)  # MuJoCo's default, which a material overrides


def _visuals(source: _Source, names: _Names) -> Iterator[Visual]:
    """Yield the shapes of geoms: to draw if their group is visible, and to collide with if they can touch."""
    m = source.model
    for g in range(m.ngeom):
        shape = _shape(source, g)
        if shape is None:
            kind = source.mujoco.mjtGeom(m.geom_type[g]).name.removeprefix("mjGEOM_").lower()
            name = source.mujoco.mj_id2name(m, source.mujoco.mjtObj.mjOBJ_GEOM, g) or str(g)
            source.find("note", "visual", "geom", g, name, f"its shape, {kind}, cannot be shown and is not kept")
            continue
        colour = m.geom_rgba[g]
        if m.geom_matid[g] >= 0 and np.allclose(colour, _NO_COLOR):
            colour = m.mat_rgba[m.geom_matid[g]]
        visual = shape._replace(frame=names.bodies[m.geom_bodyid[g]], color=tuple(float(c) for c in colour))
        if m.geom_group[g] < _DRAWN_GROUPS:
            yield visual
        if m.geom_contype[g] or m.geom_conaffinity[g]:
            yield visual._replace(collision=True)


def _shape(source: _Source, g: int) -> Visual | None:
    """Return the shape of a geom without frame and colour, or None; MuJoCo's sizes are radii and half lengths."""
    m, types = source.model, source.mujoco.mjtGeom
    T, kind, (a, b, c) = _pose(m.geom_pos[g], m.geom_quat[g]), types(m.geom_type[g]), m.geom_size[g].tolist()
    shapes = {
        types.mjGEOM_BOX: ("box", (2 * a, 2 * b, 2 * c)), types.mjGEOM_SPHERE: ("sphere", (a,)),
        types.mjGEOM_CYLINDER: ("cylinder", (a, 2 * b)), types.mjGEOM_CAPSULE: ("capsule", (a, 2 * b)),
    }  # fmt: skip
    if kind == types.mjGEOM_MESH:
        return _mesh(source, T, int(m.geom_dataid[g]))
    return Visual("", T, *shapes[kind]) if kind in shapes else None


def _mesh(source: _Source, T: np.ndarray, k: int) -> Visual | None:
    """Return mesh k of a geom at T as a shape, or None for a mesh that has no file, or that its scale shears.

    MuJoCo moves vertices x of the file to y = scale · Rᵀ (x - p), R and p being the mesh's `refquat` and `refpos`, then
    y to the principal axes of the mesh, at `mesh_pos` and `mesh_quat`.
    """
    m, start = source.model, int(source.model.mesh_pathadr[k])
    scale, p = m.mesh_scale[k], np.array(source.meshes[k].refpos)
    R = so3.from_quat_wxyz.eager(source.meshes[k].refquat / np.linalg.norm(source.meshes[k].refquat))
    if start < 0 or not (np.all(scale == scale[0]) or np.array_equal(R, np.eye(3))):
        return None
    y_x = se3.from_rotation_translation.eager(R.T, -scale * (R.T @ p))
    placement = T @ se3.inverse.eager(_pose(m.mesh_pos[k], m.mesh_quat[k])) @ y_x
    file = m.paths[start : m.paths.index(b"\0", start)].decode()
    return Visual("", placement, "mesh", tuple(scale.tolist()), file)


# --- what is not kept -------------------------------------------------------------------------------------------------


def _find_about_joints(source: _Source, names: _Names, changes: dict[int, str]) -> None:
    """Add findings about what of the joints is not kept, and about the start of free joints."""
    m = source.model
    for j, name in enumerate(names.joints):
        kind, (low, high) = _kind(source, j), m.jnt_range[j]
        if kind == "free" and m.jnt_bodyid[j] not in changes:
            pose = " ".join(f"{x:g}" for x in m.qpos0[m.jnt_qposadr[j] :][:7])
            source.find("note", "home", "joint", j, name, f"its q is a pose in the world; the file starts at {pose}")
        if kind == "spherical" and m.jnt_limited[j]:
            source.find("warning", "ignored", "joint", j, name, f"its limit of {high:g} rad is not kept")
        if not m.jnt_limited[j] and low > high:
            source.find("warning", "limits-reversed", "joint", j, name, f"{low:g} to {high:g} limits nothing")
        if m.jnt_stiffness[j] or _any(m, "jnt_stiffnesspoly", j):
            source.find("warning", "ignored", "joint", j, name, f"its stiffness {m.jnt_stiffness[j]:g} is not kept")
        if _any(m, "dof_dampingpoly", m.jnt_dofadr[j]):
            source.find("warning", "ignored", "joint", j, name, "only the linear part of its damping is kept")


def _any(m, field: str, k: int) -> bool:
    """Return whether row k of a field is not zero; some versions of MuJoCo do not have the field."""
    return hasattr(m, field) and bool(np.any(getattr(m, field)[k]))


def _find_about_the_rest(source: _Source, names: _Names) -> None:
    """Add findings about gravity compensation, mocap bodies, tendons, flexible bodies and actuators."""
    m = source.model
    for b, name in enumerate(names.bodies):
        if m.body_gravcomp[b]:
            source.find("warning", "ignored", "body", b, name, f"its gravcomp {m.body_gravcomp[b]:g} is not kept")
        if m.body_mocapid[b] >= 0:
            source.find("note", "ignored", "body", b, name, "a mocap body: it stays where the file puts it")
    for level, count, what in (
        ("warning", m.ntendon, "tendons"), ("warning", m.nflex, "flexible bodies"), ("note", m.nu, "actuators"),
    ):  # fmt: skip
        if count:
            message = f"{what} are not part of a robot; the file has {count}"
            source.findings.append(Finding(level, "ignored", f"model '{source.name}'", message, Where(source.file)))
