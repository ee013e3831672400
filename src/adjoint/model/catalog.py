"""The robots of `adjoint.robots`: classical arms with their published numbers, and families to test and measure with.

The arms use the Denavit-Hartenberg frames of K. S. Fu, R. C. Gonzalez & C. S. G. Lee, "Robotics" (1987). Lengths are in
m, masses in kg.
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

__all__ = ["chain", "gantry", "park3r", "planar", "puma560", "random_tree", "scara", "stanford", "two_link"]


def __dir__() -> list[str]:
    return __all__


_BOOK_GRAVITY = 9.8062  # [m/s²], of Fu, Gonzalez & Lee

# --- arms of the literature -------------------------------------------------------------------------------------------


def puma560() -> Robot:
    """Return the Unimation PUMA 560, an arm with six revolute joints.

    Kinematics and limits are those of Fu, Gonzalez & Lee, "Robotics" (1987), Fig. 2.11. Masses, centres of mass and
    moments of inertia about them are those of Armstrong, Khatib & Burdick (1986), "The explicit dynamic model and
    inertial parameters of the PUMA 560 arm", IEEE ICRA. They are given there in modified Denavit-Hartenberg frames on
    the joint axes, and moved here to the frames of the book (the two geometries agree to 1 mm). `armature` is the
    motor's inertia times the gear ratio squared.

    The numbers are those of `mdl_puma560akb` in P. Corke's Robotics Toolbox; they were not checked against the paper.
    There is one change: I_zz of link 3 is 0.086 kg m², not 0.066, which repeats its I_xx. The Toolbox's `Puma560` has
    0.086 too, after Corke & Armstrong-Hélouvry (1994), "A search for consensus among model parameters reported for the
    PUMA 560 robot", IEEE ICRA. No body can have moments 0.086 > 0.066 + 0.0125; the measurement is 10 % too large, and
    `check` says so. `Puma560` also has link 4's centre of mass at +0.019 m instead of -0.019 m, and smaller motors. Of
    link 1 only I_zz = 0.35 is known, and no joint feels its other numbers: here it is a ball of 13 kg.
    """
    table = _rows(
        [0, 0, 0, -90],
        [0, 0.14909, 0.4318, 0],
        [0, 0, -0.02032, 90],
        [0, 0.43307, 0, -90],
        [0, 0, 0, 90],
        [0, 0.05625, 0, 0],
    )
    # The frames of Armstrong et al. on this geometry; link 2 keeps its distance of 0.2435 m from the base axis.
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
    T_classic_modified = [
        se3.inverse.eager(T) @ T_modified
        for T, T_modified in zip(_homes(table), _homes(modified, "modified"), strict=True)
    ]
    robot = from_dh(
        table,
        inertias=moved_inertias(np.array(T_classic_modified), bodies),
        name="puma560",
        lower=np.radians([-160, -225, -45, -110, -100, -266]),
        upper=np.radians([160, 45, 225, 170, 100, 266]),
    )
    motors = np.array([291e-6, 409e-6, 299e-6, 35e-6, 35e-6, 35e-6])  # [kg m²]
    gears = np.array([62.6111, 107.815, 53.7063, 76.0364, 71.923, 76.686])
    return robot.replace(armature=motors * gears**2)


def stanford() -> Robot:
    """Return the Stanford arm of V. Scheinman: two revolute joints, a prismatic one with q_3 = d_3 [m], three revolute.

    Its Denavit-Hartenberg frames are those of Fu, Gonzalez & Lee, "Robotics" (1987), Fig. 2.12. The offsets d_1 =
    0.412, d_2 = 0.154, d_6 = 0.263 and the limits are those of P. Corke's Robotics Toolbox. Masses, centres of mass,
    moments of inertia and effective motor inertias (`armature`) are those of Paul (1981), "Robot manipulators", Tables
    6.5 and 6.6, as the Toolbox quotes them; they were not checked against the book. The centres of mass are read as
    centimetres, and the moments as about the origins of the link frames, or about the wrist's centre for link 6. The
    Toolbox reads them otherwise, which puts the boom's centre of mass 6.4 m away from it. The reading here gives bodies
    that can exist: the boom is like a rod of 1.4 m.
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
    """Return the two uniform rods of Fu, Gonzalez & Lee, "Robotics" (1987), §3.2.6, in the vertical xy plane.

    Both rods have the same `length` [m]; their frames are at their far ends, and gravity g [m/s²] is along -y. Masses
    are in kg.
    """
    rods = [_rod(m, length, _shift(x=-length / 2)) for m in (mass_1, mass_2)]
    return from_dh([[0, 0, length, 0]] * 2, inertias=rods, name="two_link", gravity=(0.0, -g, 0.0))


def park3r(length_1: float = 1.0, length_2: float = 1.0) -> Robot:
    """Return the arm of Park (1994), Example 1: a waist about z, then shoulder and elbow about -y.

    It is stretched along x at home. The paper is "Computational aspects of the product-of-exponentials formula for
    robot kinematics", IEEE Trans. Autom. Control 39(3). It states no masses; here the links are a ball and two rods of
    1 kg each. The tool is at

        p = (c_1 k, s_1 k, L_1 s_2 + L_2 s_23),   k = L_1 c_2 + L_2 c_23,   R = Rz(q_1) Ry(-q_2 - q_3),

    with L_1 = `length_1` and L_2 = `length_2` [m].
    """
    screws = [[0, 0, 1, 0, 0, 0], [0, -1, 0, 0, 0, 0], [0, -1, 0, 0, 0, -length_1]]
    bodies = [
        inertia.sphere.eager(1.0, 0.1),
        _rod(1.0, length_1, _shift(x=length_1 / 2)),
        _rod(1.0, length_2, _shift(x=length_1 + length_2 / 2)),
    ]
    return from_screws(screws, _shift(x=length_1 + length_2), inertias=bodies, name="park3r")


def scara(length_1: float = 0.325, length_2: float = 0.275, height: float = 0.387, stroke: float = 0.21) -> Robot:
    """Return a SCARA arm: two revolute joints, a prismatic and a revolute one, all vertical; its tool points down.

    Its lengths [m] are near those of an Adept Cobra 600; its bodies are uniform rods and cylinders.
    """
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


def gantry(travel: Sequence[float] = (1.016, 0.6096, 0.4572), hand: float = 0.254) -> Robot:
    """Return a Cartesian arm like IBM's RS-1, for which AML was made: slides x, y and z, then roll, pitch and yaw.

    If the hand hangs down (q_4 = q_5 = q_6 = 0), the tool is at (q_1, q_2, q_3), and its z axis points down:

        R = Rz(q_4) Ry(q_5) Rx(q_6) Rx(π),   p = (q_1, q_2, q_3) + h (e_z - Rz(q_4) Ry(q_5) Rx(q_6) e_z),

    where h = `hand` [m] is the distance from the wrist's centre, in which the last three axes meet, to the tool. The
    slides go from 0 to `travel` [m], 40, 24 and 18 inches by default. The order of the joints is that of Taylor,
    Summers & Meyer (1983), "AML: a manufacturing language", Intl. J. Robotics Res. 1(3); all lengths, masses and limits
    are made up, since they state none: a beam, a carriage, a column, and three short cylinders.
    """
    h, (x, _, z) = hand, travel
    slides = [[0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]]
    turns = [[0, 0, 1, 0, 0, 0], [0, 1, 0, -h, 0, 0], [1, 0, 0, 0, h, 0]]
    bodies = [
        _rod(40.0, x, _shift(z=h + z)),
        inertia.transform.eager(_shift(z=h + z), inertia.sphere.eager(15.0, 0.1)),
        inertia.transform.eager(_shift(z=h + z / 2), inertia.cylinder.eager(8.0, 0.04, z)),
        inertia.transform.eager(_shift(z=h), inertia.cylinder.eager(2.0, 0.05, 0.08)),
        inertia.transform.eager(_shift(z=h), inertia.cylinder.eager(1.5, 0.04, 0.08)),
        inertia.transform.eager(_shift(z=h / 2), inertia.cylinder.eager(1.0, 0.03, h)),
    ]
    turn = np.radians([170.0, 100.0, 170.0])
    down = se3.from_rotation_translation.eager(np.diag([1.0, -1.0, -1.0]), np.zeros(3))
    robot = from_screws(
        slides + turns,
        down,
        inertias=bodies,
        name="gantry",
        lower=[0.0, 0.0, 0.0, *-turn],
        upper=[*travel, *turn],
    )
    return robot.replace(velocity_limit=np.array([1.0, 1.0, 1.0, np.pi, np.pi, np.pi]))


def _rows(*rows: list[float]) -> np.ndarray:
    """Return a Denavit-Hartenberg table, given rows with angles in degrees."""
    table = np.array(rows, float)
    table[:, [0, 3]] = np.radians(table[:, [0, 3]])
    return table


def _homes(table: np.ndarray, convention: str = "classic") -> list[np.ndarray]:
    """Return the placements of all Denavit-Hartenberg frames at q = 0."""
    found = [np.eye(4)]
    for row in table:
        found.append(found[-1] @ dh_matrix(*row, convention=convention))
    return found[1:]


def _central(*bodies: Sequence) -> np.ndarray:
    """Return inertias (n, 10), given rows (mass, centre of mass, moments about it)."""
    return np.array([inertia.from_central.eager(m, np.array(c, float), np.diag(moments)) for m, c, moments in bodies])


def _about_origin(*bodies: Sequence) -> np.ndarray:
    """Return inertias (n, 10), given rows (mass, centre of mass, moments about the origin).

    Products of inertia about the centre of mass are 0.
    """
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
    """Return the inertia (10,) of a thin uniform rod along x whose centre is the origin of the frame `center`."""
    along_x = se3.from_rotation_translation.eager(_Z_TO_X, center[:3, 3])
    return inertia.transform.eager(along_x, inertia.rod.eager(mass, length))


# --- families ---------------------------------------------------------------------------------------------------------


def planar(n: int, length: float = 1.0, mass: float = 1.0) -> Robot:
    """Return n equal rods in the vertical xy plane, with joints about z, stretched along x at home.

    `length` is in m and `mass` in kg, of each rod; gravity is along -y.
    """
    return chain(n, length, mass, twist=0.0, gravity=(0.0, GRAVITY[2], 0.0)).replace(name=f"planar{n}")


def chain(
    n: int, length: float = 1.0, mass: float = 1.0, twist: float = np.pi / 2, gravity: Sequence[float] = GRAVITY
) -> Robot:
    """Return a uniform chain of n rods along x, with a revolute joint about z at the start of each.

        long = adjoint.robots.chain(100_000)

    `length` is in m and `mass` in kg, of each rod. `twist` [rad] is the angle, about the rod, between the axes of
    neighbours: M_i = Tx(length) Rx(twist), and M_1 = 1. n may be millions.
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
    """Return a random tree of n joints, with random placements, limits and losses, and inertias that bodies can have.

        robot = adjoint.robots.random_tree(0, 12, ["revolute", "free"])

    `seed` is a seed or a generator; the same seed, n and types give the same tree. `types` are names of joint types:
    those of `JOINTS`, "universal", "fixed", and "mimic", which is a joint of one degree of freedom that follows an
    earlier one. By default all are used. Every type comes once before any comes again.
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
    leaders: list[str] = []  # the joints that a mimic can follow
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
