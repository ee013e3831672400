"""Ready robots, `adjoint.robots`: classical arms with their published numbers, and families to test and measure with.

FGL = Fu, Gonzalez & Lee, "Robotics" (1987), whose Denavit-Hartenberg frames the arms use. Lengths in m, masses in kg.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import ArgumentError
from ..lie import inertia, se3, so3
from ..randomness import Rng, generator
from .builder import AXIAL, TYPES
from .dh import dh_matrix, from_dh
from .input_checks import count
from .joints import JOINTS
from .parts import GRAVITY
from .robot import Builder, Robot
from .screws import from_screws, serial
from .whole_arrays import moved_inertias

__all__ = ["chain", "park3r", "planar", "puma560", "random_tree", "scara", "stanford", "two_link"]


def __dir__() -> list[str]:
    return __all__


_BOOK_GRAVITY = 9.8062  # [m/s²], FGL

# --- arms of the literature -------------------------------------------------------------------------------------------


def puma560() -> Robot:
    """Unimation PUMA 560: kinematics and limits of FGL, Fig. 2.11; masses and inertias of AKB.

    AKB = Armstrong, Khatib & Burdick (1986), "The explicit dynamic model and inertial parameters of the PUMA 560 arm",
    IEEE ICRA: masses, centres of mass and moments of inertia about them, in modified DH frames on the joint axes, moved
    here to the frames of FGL (the two geometries agree to 1 mm); `armature` is motor inertia times gear ratio squared.

    The numbers are those of `mdl_puma560akb` in P. Corke's Robotics Toolbox, not checked against the paper itself, with
    one change: I_zz of link 3 is 0.086 kg m², not 0.066, which repeats its I_xx. So it is in the Toolbox's `Puma560`,
    after Corke & Armstrong-Hélouvry (1994), "A search for consensus among model parameters reported for the PUMA 560
    robot", IEEE ICRA. (No body has 0.086 > 0.066 + 0.0125: a measurement 10 % too large, and `check` says so.) That
    model has link 4's centre of mass at +0.019 m instead of -0.019, and smaller motors. Of link 1 only I_zz = 0.35 is
    known, and no joint feels the rest of it: it is a ball of 13 kg here.
    """
    table = _rows(
        [0, 0, 0, -90],
        [0, 0.14909, 0.4318, 0],
        [0, 0, -0.02032, 90],
        [0, 0.43307, 0, -90],
        [0, 0, 0, 90],
        [0, 0.05625, 0, 0],
    )
    # AKB's frames on this geometry; link 2 keeps its distance of 0.2435 m from the base axis.
    modified = _rows(
        [0, 0, 0, 0],
        [0, 0.2435, 0, -90],
        [0, 0.14909 - 0.2435, 0.4318, 0],
        [0, 0.43307, -0.02032, 90],
        [0, 0, 0, -90],
        [0, 0, 0, 90],
    )
    bodies = _central(
        [13.0, (0, 0, 0), (0.35, 0.35, 0.35)],
        [17.4, (0.068, 0.006, -0.016), (0.130, 0.524, 0.539)],
        [4.8, (0, -0.070, 0.014), (0.066, 0.0125, 0.086)],
        [0.82, (0, 0, -0.019), (1.8e-3, 1.8e-3, 1.3e-3)],
        [0.34, (0, 0, 0), (0.3e-3, 0.3e-3, 0.4e-3)],
        [0.09, (0, 0, 0.032), (0.15e-3, 0.15e-3, 0.04e-3)],
    )
    from_akb = [
        se3.inverse.eager(T) @ T_akb for T, T_akb in zip(_homes(table), _homes(modified, "modified"), strict=True)
    ]
    robot = from_dh(
        table,
        inertias=moved_inertias(np.array(from_akb), bodies),
        name="puma560",
        lower=np.radians([-160, -225, -45, -110, -100, -266]),
        upper=np.radians([160, 45, 225, 170, 100, 266]),
    )
    motors = np.array([291e-6, 409e-6, 299e-6, 35e-6, 35e-6, 35e-6])  # [kg m²]
    gears = np.array([62.6111, 107.815, 53.7063, 76.0364, 71.923, 76.686])
    return robot.replace(armature=motors * gears**2)


def stanford() -> Robot:
    """Stanford arm (Scheinman), 2R-P-3R: DH frames of FGL, Fig. 2.12, with q_3 = d_3 [m].

    Offsets d_1 = 0.412, d_2 = 0.154, d_6 = 0.263 and limits as in P. Corke's Robotics Toolbox; masses, centres of mass,
    moments of inertia and effective motor inertias (`armature`) of Paul (1981), "Robot manipulators", Tables 6.5 and
    6.6, as quoted there. Not checked against the book: its centres of mass are read as centimetres and its moments as
    about the origins of the link frames, of link 6 the wrist's centre. The Toolbox reads otherwise, which puts the
    centre of the boom 6.4 m away from it. This reading gives bodies that can exist: a boom like a rod of 1.4 m.
    """
    table = _rows(
        [0, 0.412, 0, -90],
        [0, 0.154, 0, 90],
        [-90, 0, 0, 0],
        [0, 0, 0, -90],
        [0, 0, 0, 90],
        [0, 0.263, 0, 0],
    )
    bodies = _about_origin(
        [9.29, (0, 0.0175, -0.1105), (0.276, 0.255, 0.071)],
        [5.01, (0, -0.1054, 0), (0.108, 0.018, 0.100)],
        [4.25, (0, 0, -0.6447), (2.51, 2.51, 0.006)],
        [1.08, (0, 0.0092, -0.0054), (0.002, 0.001, 0.001)],
        [0.63, (0, 0, 0.0566), (0.003, 0.003, 0.0004)],
        [0.51, (0, 0, 0.1554), (0.013, 0.013, 0.0003)],
    )
    bodies[5:] = moved_inertias(_shift(z=-0.263)[None], bodies[5:])
    turn = np.radians(170)
    robot = from_dh(
        table,
        joints="RRPRRR",
        inertias=bodies,
        name="stanford",
        lower=[-turn, -turn, 0.3048, -turn, -np.pi / 2, -turn],
        upper=[turn, turn, 1.27, turn, np.pi / 2, turn],
    )
    return robot.replace(armature=np.array([0.953, 2.193, 0.782, 0.106, 0.097, 0.020]))


def two_link(length: float = 1.0, mass_1: float = 1.0, mass_2: float = 1.0, g: float = _BOOK_GRAVITY) -> Robot:
    """The two uniform rods of FGL, §3.2.6, in the vertical xy plane; frames at their far ends, g [m/s²] along -y."""
    rods = [_rod(m, length, _shift(x=-length / 2)) for m in (mass_1, mass_2)]
    return from_dh([[0, 0, length, 0]] * 2, inertias=rods, name="two_link", gravity=(0.0, -g, 0.0))


def park3r(length_1: float = 1.0, length_2: float = 1.0) -> Robot:
    """Example 1 of Park (1994): a waist about z, shoulder and elbow about -y; stretched along x at home.

    Its links are a ball and two rods of 1 kg, which the paper does not say.

    p = (c_1 k, s_1 k, L_1 s_2 + L_2 s_23), k = L_1 c_2 + L_2 c_23; R = Rz(q_1) Ry(-q_2 - q_3).
    """
    screws = [[0, 0, 1, 0, 0, 0], [0, -1, 0, 0, 0, 0], [0, -1, 0, 0, 0, -length_1]]
    bodies = [
        inertia.sphere.eager(1.0, 0.1),
        _rod(1.0, length_1, _shift(x=length_1 / 2)),
        _rod(1.0, length_2, _shift(x=length_1 + length_2 / 2)),
    ]
    return from_screws(screws, _shift(x=length_1 + length_2), inertias=bodies, name="park3r")


def scara(length_1: float = 0.325, length_2: float = 0.275, height: float = 0.387, stroke: float = 0.21) -> Robot:
    """A SCARA arm, R-R-P-R, its tool pointing down; sizes near those of an Adept Cobra 600, uniform rods for bodies."""
    table = _rows([0, height, length_1, 0], [0, 0, length_2, 180], [0, 0, 0, 0], [0, 0, 0, 0])
    bodies = [
        _rod(8.0, length_1, _shift(x=-length_1 / 2)),
        _rod(6.0, length_2, _shift(x=-length_2 / 2)),
        inertia.transform.eager(_shift(z=-stroke / 2), inertia.cylinder.eager(1.5, 0.01, stroke)),
        inertia.cylinder.eager(0.5, 0.03, 0.02),
    ]
    turn = np.radians([105.0, 150.0, 360.0])
    return from_dh(
        table,
        joints="RRPR",
        inertias=bodies,
        name="scara",
        lower=[-turn[0], -turn[1], 0.0, -turn[2]],
        upper=[turn[0], turn[1], stroke, turn[2]],
    )


def _rows(*rows: list[float]) -> np.ndarray:
    """A DH table from rows with angles in degrees."""
    table = np.array(rows, float)
    table[:, [0, 3]] = np.radians(table[:, [0, 3]])
    return table


def _homes(table: np.ndarray, convention: str = "classic") -> list[np.ndarray]:
    """The placements of all DH frames at q = 0."""
    found = [np.eye(4)]
    for row in table:
        found.append(found[-1] @ dh_matrix(*row, convention=convention))
    return found[1:]


def _central(*bodies: Sequence) -> np.ndarray:
    """Inertias (n, 10) of rows (mass, centre of mass, moments about it)."""
    return np.array([inertia.from_central.eager(m, np.array(c, float), np.diag(moments)) for m, c, moments in bodies])


def _about_origin(*bodies: Sequence) -> np.ndarray:
    """Inertias (n, 10) of rows (mass, centre of mass, moments about the origin); no products about the centre."""
    return np.array(
        [
            inertia.from_moments.eager(m, m * np.array(c, float), np.diag(moments) - m * _products(*c))
            for m, c, moments in bodies
        ]
    )


def _products(x: float, y: float, z: float) -> np.ndarray:
    return np.array([[0, x * y, x * z], [x * y, 0, y * z], [x * z, y * z, 0]])


def _shift(x: float = 0.0, z: float = 0.0) -> np.ndarray:
    return se3.from_rotation_translation.eager(np.eye(3), np.array([x, 0.0, z]))


_Z_TO_X = np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])


def _rod(mass: float, length: float, center: np.ndarray) -> np.ndarray:
    """Inertia (10,) of a thin uniform rod along x."""
    along_x = se3.from_rotation_translation.eager(_Z_TO_X, center[:3, 3])
    return inertia.transform.eager(along_x, inertia.rod.eager(mass, length))


# --- families ---------------------------------------------------------------------------------------------------------


def planar(n: int, length: float = 1.0, mass: float = 1.0) -> Robot:
    """n equal rods in the vertical xy plane, joints about z, stretched along x at home; gravity along -y."""
    return chain(n, length, mass, twist=0.0, gravity=(0.0, GRAVITY[2], 0.0)).replace(name=f"planar{n}")


def chain(
    n: int, length: float = 1.0, mass: float = 1.0, twist: float = np.pi / 2, gravity: Sequence[float] = GRAVITY
) -> Robot:
    """A uniform chain of n rods along x, a joint about z at the start of each; n up to millions.

    `twist` [rad] is the angle between the axes of neighbours, about the rod: M_i = Tx(length) Rx(twist), M_1 = 1.
    """
    n = count(n, "chain: n")
    placements = np.tile(dh_matrix(0.0, 0.0, length, twist), (n, 1, 1))
    placements[:1] = np.eye(4)
    return serial(
        f"chain{n}",
        types=("revolute",) * n,
        placements=placements,
        screws=np.tile([0.0, 0, 1, 0, 0, 0], (n, 1)),
        inertias=np.tile(_rod(mass, length, _shift(x=length / 2)), (n, 1)),
        tool=_shift(x=length),
        gravity=gravity,
    )


_KINDS = (*TYPES, "mimic")


def random_tree(seed: Rng, n: int, types: Sequence[str] | None = None) -> Robot:
    """A tree of n joints on random links, with random placements, limits, friction and possible inertias.

    `types`: those of `JOINTS`, "universal", "fixed", and "mimic": a joint of one degree of freedom that follows an
    earlier one. All by default, each in turn before any comes again. The `seed` and n say which tree it is; a generator
    takes the place of a seed.
    """
    n, types = count(n, "random_tree: n"), _KINDS if types is None else types
    if not isinstance(types, Sequence) or not all(isinstance(kind, str) for kind in types):
        raise ArgumentError(f"random_tree: types must be names of joint types, got {types!r}")
    if not types:
        raise ArgumentError(f"random_tree: types is empty; there are {', '.join(_KINDS)}")
    if unknown := set(types) - set(_KINDS):
        raise ArgumentError(f"random_tree: no joint type {', '.join(sorted(unknown))}; there are {', '.join(_KINDS)}")
    rng = generator(seed, "random_tree")
    builder = Robot.builder(f"tree{n}").link("base", _random_inertia(rng))
    leaders: list[str] = []  # joints a mimic can follow
    kinds = list(types)
    rounds = [kinds[k] for _ in range(-(-n // len(kinds))) for k in rng.permutation(len(kinds)).tolist()]
    for i, kind in enumerate(rounds[:n], start=1):
        builder.link(f"link{i}", _random_inertia(rng))
        parent = f"link{rng.integers(1, i)}" if i > 1 and rng.random() < 0.9 else "base"
        _random_joint(builder, rng, f"joint{i}", kind, parent, f"link{i}", leaders)
    return builder.frame("tool", f"link{n}" if n else "base", _random_placement(rng)).build()


def _random_joint(
    builder: Builder, rng: np.random.Generator, name: str, kind: str, parent: str, child: str, leaders: list[str]
) -> None:
    axis, options = rng.standard_normal(3), {}
    if kind == "mimic":
        kind = str(rng.choice([k for k, row in JOINTS.items() if row.nv == 1 and k != "screw"]))
        if leaders:
            options["mimic"] = str(rng.choice(leaders)), rng.uniform(-2, 2), rng.uniform(-0.5, 0.5)
    if kind in JOINTS and JOINTS[kind].nv == 1:
        leaders.append(name)
        if kind != "continuous" and "mimic" not in options:
            options |= {"lower": rng.uniform(-3, -0.5), "upper": rng.uniform(0.5, 3)}
        options |= {key: rng.uniform(0, 1) for key in ("damping", "friction", "armature")}
    if kind in (*AXIAL, "universal"):
        options["axis"] = axis
    if kind == "helical":
        options["pitch"] = rng.uniform(-0.2, 0.2)
    if kind == "screw":
        options["screw"] = rng.standard_normal(6)
    if kind == "universal":
        options["axis2"] = rng.standard_normal(3)
    builder.joint(name, kind, parent, child, _random_placement(rng), **options)


def _random_placement(rng: np.random.Generator) -> np.ndarray:
    R = so3.from_quat_wxyz.eager(rng.standard_normal(4))
    return se3.from_rotation_translation.eager(R, rng.uniform(-0.5, 0.5, 3))


def _random_inertia(rng: np.random.Generator) -> np.ndarray:
    box = inertia.box.eager(rng.uniform(0.5, 5), rng.uniform(0.05, 0.5, 3))
    return inertia.transform.eager(_random_placement(rng), box)
