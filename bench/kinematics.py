"""Kinematics beside Pinocchio, MuJoCo and the Robotics Toolbox: placements and Jacobians, batches and single calls.

python bench/kinematics.py         one run, one core; writes bench/results/kinematics.json
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

from common import find, in_time, one_core, quick_or_full, race, ratio_target, report, row

one_core()
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import mujoco  # noqa: E402
import numpy as np  # noqa: E402
import pinocchio as pin  # noqa: E402
from peers import in_order_of, with_boxes, without_meshes  # noqa: E402
from support.robots import urdf  # noqa: E402

import adjoint as aj  # noqa: E402

BATCH = 4096
ROBOTS = {  # URDF in example-robot-data, and the frame that is followed
    "UR5": ("ur5_robot", "tool0"),
    "Panda": ("panda", "panda_hand"),
    "G1": ("g1_29dof_rev_1_0", "left_rubber_hand"),
}
LEAST = {"UR5": 20, "Panda": 20, "G1": 10}  # how many times faster than Pinocchio a batch should be


class Case:
    """One robot in every system; q (BATCH, nq) is in our order, and mapped to each peer's by joint names."""

    def __init__(self, name: str):
        self.name, (file, self.frame) = name, ROBOTS[name]
        self.urdf = urdf(file)
        self.robot = aj.load(self.urdf)
        self.q = aj.random_configuration(self.robot, BATCH, rng=0)
        self.calls: dict[str, dict[str, dict]] = {}  # what -> "batch" or "one call" -> system -> call

    def add(self, what: str, system: str, reference, one, rows, result) -> None:
        """Adds the calls of a peer: `one(x)` for a row x, and a loop over all rows.

        `result` turns what `one` returns into an array, which must equal `reference` for the first row.
        """
        error = np.abs(result(one(rows[0])) - reference).max()
        assert error < 1e-9, f"{what} of {system} is off by {error}"

        def loop():
            for x in rows:
                one(x)

        x = rows[0]
        self.calls.setdefault(what, {"batch": {}, "one call": {}})
        self.calls[what]["batch"][system] = loop
        self.calls[what]["one call"][system] = lambda: one(x)

    def add_adjoint(self, what: str, fn) -> np.ndarray:
        fn = fn.bind(self.robot, **({} if what == "all bodies" else {"frame": self.frame}))
        x = self.q[0].copy()
        self.calls[what] = {"batch": {"adjoint": lambda: fn(self.q)}, "one call": {"adjoint": lambda: fn(x)}}
        return fn(self.q)[0]

    def add_pinocchio(self, T, J, all_T) -> None:
        model = pin.buildModelFromUrdf(str(self.urdf))
        data, frame = model.createData(), model.getFrameId(self.frame)
        names = [n for n in model.names if n != "universe"]
        rows = in_order_of(self.robot, names, self.q, True)
        order = [names.index(n) for n in self.robot.joint_names]
        bodies = [model.getJointId(n) for n in self.robot.body_joint_names]

        def placement(x):
            pin.forwardKinematics(model, data, x)
            return pin.updateFramePlacement(model, data, frame)

        self.add("placement", "pinocchio", T, placement, rows, lambda r: r.homogeneous)
        self.add(
            "Jacobian", "pinocchio", J, lambda x: pin.computeFrameJacobian(model, data, x, frame), rows,
            lambda r: np.roll(r, 3, axis=0)[:, order],
        )  # fmt: skip
        self.add(
            "all bodies", "pinocchio", all_T, lambda x: pin.forwardKinematics(model, data, x), rows,
            lambda r: np.stack([data.oMi[k].homogeneous for k in bodies]),
        )  # fmt: skip

    def add_mujoco(self, T) -> None:
        mj: Any = mujoco  # an extension module without stubs
        model = mj.MjModel.from_xml_string(without_meshes(self.urdf))
        data = mj.MjData(model)
        rows = in_order_of(self.robot, [model.joint(k).name for k in range(model.njnt)], self.q, True)
        body = model.body(self.frame).id
        jacp, jacr = np.empty((3, model.nv)), np.empty((3, model.nv))

        def placement(x):
            data.qpos[:] = x
            mj.mj_kinematics(model, data)
            return data

        def jacobian(x):
            placement(x)
            mj.mj_comPos(model, data)
            mj.mj_jacBody(model, data, jacp, jacr, body)
            return jacp

        self.add("placement", "mujoco", T[:3, 3], placement, rows, lambda d: d.xpos[body])
        self.calls["all bodies"]["batch"]["mujoco"] = self.calls["placement"]["batch"]["mujoco"]
        self.calls["all bodies"]["one call"]["mujoco"] = self.calls["placement"]["one call"]["mujoco"]
        world = aj.jacobian(self.robot, self.q[0], self.frame, "world")[3:]
        order = [model.joint(n).dofadr[0] for n in self.robot.joint_names]
        self.add("Jacobian", "mujoco", world, jacobian, rows, lambda r: r[:, order])

    def add_toolbox(self, T, J) -> None:
        import roboticstoolbox as rtb

        with tempfile.NamedTemporaryFile("w", suffix=".urdf") as file:
            file.write(without_meshes(self.urdf))
            file.flush()
            chain = rtb.Robot.URDF(file.name).ets(end=self.frame)
        names = [n for n in self.robot.joint_names if np.any(J[:, self.robot.joint_names.index(n)])]
        rows, columns = in_order_of(self.robot, names, self.q, True), [self.robot.joint_names.index(n) for n in names]
        self.add("placement", "roboticstoolbox", T, chain.eval, rows, lambda r: r)
        self.add("Jacobian", "roboticstoolbox", J[:, columns], chain.jacobe, rows, lambda r: np.roll(r, 3, axis=0))

    def measure(self) -> list[dict]:
        """The rows of this robot."""
        T = self.add_adjoint("placement", aj.forward_kinematics)
        J = self.add_adjoint("Jacobian", aj.jacobian)
        all_T = self.add_adjoint("all bodies", aj.forward_kinematics)
        self.add_pinocchio(T, J, all_T)
        self.add_mujoco(T)
        self.add_toolbox(T, J)
        return [
            row(self.name, what, how, race(calls, rounds=7), samples=BATCH if how == "batch" else 1)
            for what, both in self.calls.items()
            for how, calls in both.items()
        ]


def reading() -> dict:
    """The time to read G1 from its URDF, with boxes for meshes, which Pinocchio would open and we would not."""
    path = Path(tempfile.mkdtemp(prefix="adjoint-bench-")) / "g1.urdf"
    path.write_text(with_boxes(urdf(ROBOTS["G1"][0])))
    file = str(path)

    def with_shapes():
        model = pin.buildModelFromUrdf(file)
        return [pin.buildGeomFromUrdf(model, file, kind) for kind in (pin.VISUAL, pin.COLLISION)]

    ours = [sum(shape.collision is kind for shape in aj.load(path).visuals) for kind in (False, True)]
    assert [shapes.ngeoms for shapes in with_shapes()] == ours
    calls = {
        "adjoint": lambda: aj.load(path),
        "pinocchio": with_shapes,
        "pinocchio without shapes": lambda: pin.buildModelFromUrdf(file),
    }
    return row("G1", "reading its URDF", "one call", race(calls))


def targets(rows: list[dict]) -> list[list]:
    """Rows (target, measured, wanted, verdict)."""
    read = find(rows, "G1", "reading its URDF", "one call")
    found = ratio_target(read, "pinocchio", 1) + ratio_target(read, "pinocchio without shapes", 1)
    for robot in ROBOTS:
        for what in ("placement", "Jacobian"):
            found += ratio_target(find(rows, robot, what, "batch"), "pinocchio", LEAST[robot])
            found += ratio_target(find(rows, robot, what, "one call"), "pinocchio", 1)
    return found


def main() -> None:
    rows = [r for robot in in_time(quick_or_full(["UR5", "G1"], ROBOTS)) for r in Case(robot).measure()]
    rows.append(reading())
    packages = ("numpy", "pin", "mujoco", "roboticstoolbox-python")
    report("kinematics", packages, rows, targets(rows), batch=BATCH)


if __name__ == "__main__":
    main()
