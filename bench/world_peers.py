"""coal, Pinocchio and OMPL on the solids, capsules and pairs of our collision models, called as users call them.

Pinocchio loops over pairs of coal's shapes in C++. OMPL searches in C++, and asks a function of Python whether a state
is valid, which asks Pinocchio in turn.
"""

import time
from pathlib import Path
from typing import Any, NamedTuple

import coal
import numpy as np
import pinocchio as pin
from ompl import base, geometric, util
from support.collisions import coal_pose, coal_poses

from adjoint.collision import CollisionModel
from adjoint.sensing.scene import Box, Capsule, Cylinder, Plane, Solid, Sphere

util.setLogLevel(util.LOG_ERROR)
SIMPLIFY = 1.0  # [s] that OMPL may take to make a path shorter; it ends by itself before


def coal_shape(solid: Solid):
    """A solid as coal's shape, about its own frame."""
    if isinstance(solid, Plane):
        return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
    if isinstance(solid, Sphere):
        return coal.Sphere(solid.radius)
    if isinstance(solid, Box):
        return coal.Box(*solid.size)
    if isinstance(solid, Cylinder):
        return coal.Cylinder(solid.radius, solid.length)
    if isinstance(solid, Capsule):
        return coal.Capsule(solid.radius, solid.length)
    raise TypeError(type(solid).__name__)


def se3(pose) -> pin.SE3:
    """A pose of coal as one of Pinocchio."""
    return pin.SE3(pose.getRotation(), pose.getTranslation())


# --- pairs ------------------------------------------------------------------------------------------------------------


class Pairs:
    """Pairs of a capsule with a capsule or a box, for coal one by one, and for Pinocchio all in one call."""

    def __init__(self, kind: str, capsules: tuple, others: tuple):
        self.shapes = [coal.Capsule(r, np.linalg.norm(b - a)) for a, b, r in zip(*capsules, strict=True)]
        self.poses = coal_poses(*capsules[:2])
        if kind == "capsule":
            self.others = [coal.Capsule(r, np.linalg.norm(b - a)) for a, b, r in zip(*others, strict=True)]
            self.other_poses = coal_poses(*others[:2])
        else:
            self.others = [coal.Box(*(2 * half)) for half in others[1]]
            self.other_poses = [coal_pose(T[:3, :3], T[:3, 3]) for T in others[0]]
        self.request, self.result = coal.DistanceRequest(), coal.DistanceResult()
        self.geometry = pin.GeometryModel()
        rows = zip(self.shapes, self.poses, self.others, self.other_poses, strict=True)
        for k, (a, T_a, b, T_b) in enumerate(rows):
            self.geometry.addGeometryObject(pin.GeometryObject(f"a{k}", 0, se3(T_a), a))
            self.geometry.addGeometryObject(pin.GeometryObject(f"b{k}", 0, se3(T_b), b))
            self.geometry.addCollisionPair(pin.CollisionPair(2 * k, 2 * k + 1))
        model = pin.Model()
        self.data = self.geometry.createData()
        pin.updateGeometryPlacements(model, model.createData(), self.geometry, self.data, np.zeros(0))

    def one_by_one(self) -> None:
        """coal from Python, a call for each pair."""
        for a, T_a, b, T_b in zip(self.shapes, self.poses, self.others, self.other_poses, strict=True):
            self.result.clear()
            coal.distance(a, T_a, b, T_b, self.request, self.result)

    def all_at_once(self) -> np.ndarray:
        """Pinocchio's loop; the distances are read only where they are wanted."""
        pin.computeDistances(self.geometry, self.data)
        return self.data.distanceResults

    def distances(self) -> np.ndarray:
        """The distances of all pairs."""
        return np.array([result.min_distance for result in self.all_at_once()])


class OwnGeometry:
    """The Panda with its own spheres and cylinders (example-robot-data), and all pairs of different bodies."""

    def __init__(self, urdf: Path, package: Path):
        self.model = pin.buildModelFromUrdf(str(urdf))
        kind = pin.GeometryType.COLLISION
        self.geometry = pin.buildGeomFromUrdf(self.model, str(urdf), kind, package_dirs=[str(package.parent)])
        bodies = [shape.parentJoint for shape in self.geometry.geometryObjects]
        for i, j in zip(*np.triu_indices(len(bodies), 1), strict=True):
            if bodies[i] != bodies[j]:
                self.geometry.addCollisionPair(pin.CollisionPair(int(i), int(j)))
        self.data, self.results = self.model.createData(), self.geometry.createData()
        self.pairs = len(self.geometry.collisionPairs)
        rng = np.random.default_rng(0)
        low, high = self.model.lowerPositionLimit, self.model.upperPositionLimit
        self.q = rng.uniform(low, high, (32, len(low)))

    def __call__(self) -> None:
        for q in self.q:
            pin.computeDistances(self.model, self.data, self.geometry, self.results, q)


# --- a robot among obstacles ------------------------------------------------------------------------------------------


class PandaChecker:
    """Pinocchio and coal with the capsules, obstacles and pairs of a `CollisionModel` of a Panda, fingers locked."""

    def __init__(self, ours: CollisionModel, urdf: Path, by_boxes: bool = False):
        full = pin.buildModelFromUrdf(str(urdf))
        q = pin.neutral(full)
        q[7:] = 0.02
        self.model = model = pin.buildReducedModel(full, list(range(8, full.njoints)), q)
        self.data = model.createData()
        self.geometry = geometry = pin.GeometryModel()
        shapes, robot = ours.shapes, ours.robot
        for k, T in enumerate(coal_poses(shapes.starts, shapes.ends)):
            body, length = int(shapes.bodies[k]), shapes.lengths[k]
            joint = 0 if body < 0 else model.getJointId(robot.body_joint_names[body])
            shape = coal.Capsule(shapes.radii[k], length) if length > 0 else coal.Sphere(shapes.radii[k])
            geometry.addGeometryObject(pin.GeometryObject(f"shape {k}", joint, se3(T), shape))
        for a, b in ours._plan.pairs.tolist():
            geometry.addCollisionPair(pin.CollisionPair(a, b))
        for k, solid in enumerate(ours.obstacles):
            T = solid.T_world_solid
            place = pin.SE3(T[:3, :3].copy(), T[:3, 3].copy())
            j = geometry.addGeometryObject(pin.GeometryObject(f"obstacle {k}", 0, place, coal_shape(solid)))
            for i in np.flatnonzero(shapes.bodies >= 0).tolist():
                geometry.addCollisionPair(pin.CollisionPair(i, j))
        self.results = geometry.createData()
        self.pairs = len(geometry.collisionPairs)
        self.broad = pin.BroadPhaseManager_DynamicAABBTreeCollisionManager(model, geometry, self.results)
        self.by_boxes, self.timed, self.checks, self.spent = by_boxes, False, 0, 0.0

    def free(self, q: np.ndarray) -> bool:
        """Whether a configuration is free; pairs after the first contact are left out."""
        return not pin.computeCollisions(self.model, self.data, self.geometry, self.results, q, True)

    def asked(self, q: np.ndarray) -> bool:
        """What a planner asks: `free`, or `free_by_boxes`; calls are counted, and timed if `timed` is set."""
        self.checks += 1
        way = self.free_by_boxes if self.by_boxes else self.free
        if not self.timed:
            return way(q)
        begun = time.process_time()
        found = way(q)
        self.spent += time.process_time() - begun
        return found

    def free_all_pairs(self, q: np.ndarray) -> bool:
        """Whether a configuration is free, after a look at all pairs."""
        return not pin.computeCollisions(self.model, self.data, self.geometry, self.results, q, False)

    def free_by_boxes(self, q: np.ndarray) -> bool:
        """Whether a configuration is free, by coal's tree of boxes; it ends at the first contact."""
        return not pin.computeCollisions(self.model, self.data, self.broad, q, True)

    def clearance(self, q: np.ndarray) -> float:
        """The least distance of all pairs."""
        k = pin.computeDistances(self.model, self.data, self.geometry, self.results, q)
        return self.results.distanceResults[k].min_distance

    def clearance_gradient(self, q: np.ndarray) -> tuple[float, np.ndarray]:
        """The least distance, and its gradient: the normal times how fast the nearest points move."""
        k = pin.computeDistances(self.model, self.data, self.geometry, self.results, q)
        result, pair = self.results.distanceResults[k], self.geometry.collisionPairs[k]
        pin.computeJointJacobians(self.model, self.data)
        n, gradient = result.normal, np.zeros(self.model.nv)
        ends = (pair.first, result.getNearestPoint1(), -1.0), (pair.second, result.getNearestPoint2(), 1.0)
        for number, p, sign in ends:
            joint = self.geometry.geometryObjects[number].parentJoint
            if joint:
                J = pin.getJointJacobian(self.model, self.data, joint, pin.ReferenceFrame.WORLD)
                gradient += sign * (n @ J[:3] + np.cross(p, n) @ J[3:])
        return result.min_distance, gradient

    def edge_free(self, start: np.ndarray, end: np.ndarray, resolution: float) -> bool:
        """Whether an edge is free, point after point."""
        steps = max(int(np.ceil(np.abs(end - start).max() / resolution - 1e-9)), 1)
        return all(self.free(start + s * (end - start)) for s in np.linspace(0.0, 1.0, steps + 1))


# --- planning ---------------------------------------------------------------------------------------------------------


class OmplPlan(NamedTuple):
    """What came of a search: the first path and the shorter one (k, nq), None if there is none, and their times [s]."""

    path: np.ndarray | None
    shorter: np.ndarray | None
    time: float
    time_shorter: float


class OmplPlanner:
    """OMPL's RRTConnect with a Pinocchio checker, and the resolution [rad] of ours; the rest is as OMPL sets it."""

    def __init__(self, checker: PandaChecker, lower: np.ndarray, upper: np.ndarray, resolution: float):
        self.n = n = len(lower)
        space = base.RealVectorStateSpace(n)
        bounds = base.RealVectorBounds(n)
        for i in range(n):
            bounds.setLow(i, float(lower[i]))
            bounds.setHigh(i, float(upper[i]))
        space.setBounds(bounds)
        self.space, self.setup = space, geometric.SimpleSetup(space)
        q = np.zeros(n)

        def valid(state) -> bool:
            for i in range(n):
                q[i] = state[i]
            return checker.asked(q)

        self.setup.setStateValidityChecker(valid)
        info = self.setup.getSpaceInformation()
        info.setStateValidityCheckingResolution(resolution / space.getMaximumExtent())
        self.setup.setPlanner(geometric.RRTConnect(info))

    def _state(self, q: np.ndarray) -> Any:
        state = self.space.allocState()
        for i in range(self.n):
            state[i] = float(q[i])
        return state

    def _path(self) -> np.ndarray:
        found = self.setup.getSolutionPath()
        return np.array([[found.getState(k)[i] for i in range(self.n)] for k in range(found.getStateCount())])

    def solve(self, start: np.ndarray, goal: np.ndarray, limit: float) -> OmplPlan:
        """The first path within a time limit [s], and what OMPL's default simplification makes of it."""
        self.setup.clear()
        self.setup.setStartAndGoalStates(self._state(start), self._state(goal))
        self.setup.setup()
        begun = time.process_time()
        self.setup.solve(limit)
        found = time.process_time() - begun
        if not self.setup.haveExactSolutionPath():
            return OmplPlan(None, None, found, found)
        path = self._path()
        begun = time.process_time()
        self.setup.simplifySolution(SIMPLIFY)
        return OmplPlan(path, self._path(), found, found + time.process_time() - begun)
