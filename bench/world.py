"""Collisions, motion plans and worlds beside coal, Pinocchio and OMPL: pairs of solids, a Panda among obstacles, plans.

python bench/world.py            one run, one core; writes bench/results/world.json

`world_peers.py` gives Pinocchio, coal and OMPL the capsules, obstacles, pairs and resolutions of ours, and results are
compared before anything is timed. Times are those of the processor, not of the clock on the wall. Of plans, which
differ from problem to problem, rows have the median time of all problems, and the ratio of both medians with quartiles
by resampling the problems. All ways of planning take turns, each with ten problems at a time.
"""

import functools
import time
from typing import NamedTuple

from common import find, in_time, one_core, quick_or_full, race, ratio_target, report, row, target

one_core()

import sys  # noqa: E402
from pathlib import Path  # noqa: E402

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import numpy as np  # noqa: E402
from support.collisions import KINDS, capsules, random_poses  # noqa: E402
from support.planning_scenes import SCENES, panda, random_problems  # noqa: E402
from support.robots import PACKAGE, urdf  # noqa: E402
from world_peers import OmplPlanner, OwnGeometry, Pairs, PandaChecker  # noqa: E402

import adjoint as aj  # noqa: E402
from adjoint.collision import CollisionModel, clearance_gradient, collision_model, edges_free, is_free  # noqa: E402
from adjoint.sensing.scene import Box, Capsule, Solid, Sphere  # noqa: E402
from adjoint.world import Gripper, World, against, cuboid, cylinder, fits, placements  # noqa: E402
from adjoint.world.grasps import find_grasps, grasp_candidates  # noqa: E402
from adjoint.world.motion import plan_motion, plan_with_ompl  # noqa: E402

PATH = urdf("panda")
BATCH, FEW = 4096, 256  # configurations of a batch, and those that peers get one by one
COUNT = quick_or_full(20, 100)  # problems of a scene
RESOLUTION = 0.05  # [rad] of points of paths that are checked
TURN = 10  # problems that a way of planning solves before it is the turn of the next
LIMIT = 2.0  # [s] of a search
ANCHOR = 286.0  # [ns] of Pinocchio and coal for a pair of the Panda's own shapes when the target was set

raced = functools.partial(race, clock=time.process_time)
VAMP = (
    "VAMP, a planner in C++ with vector instructions, is published with 35 µs (median) for a plan of a Panda; that is "
    "another machine and other problems, and it is not run here: Thomason, Kingston & Kavraki (2024), "
    '"Motions in Microseconds via Vectorized Sampling-Based Planning", ICRA.'
)


# --- pairs of solids --------------------------------------------------------------------------------------------------


def pairs() -> list[dict]:
    """Distances with witness points and normals, of pairs of solids beside coal, one by one and in Pinocchio's loop."""
    own, rows = OwnGeometry(PATH.with_name("panda_collision.urdf"), PACKAGE), []
    for kind in ("capsule", "box"):
        rng, kernel = np.random.default_rng(0), KINDS[kind].kernel
        a, b = capsules(rng, BATCH), KINDS[kind].others(rng, BATCH)
        theirs = Pairs(kind, tuple(x[:1024] for x in a), tuple(x[:1024] for x in b))
        found, apart = kernel(*a, *b).distance[:1024], theirs.distances()
        same = np.abs(found - apart) < 1e-6
        assert np.mean(same[found > 0]) == 1 and np.mean(same) > 0.95, f"coal differs: {np.abs(found - apart).max()}"
        calls = {
            "adjoint": functools.partial(kernel, *a, *b), "coal, one by one": theirs.one_by_one,
            "pinocchio, one loop": theirs.all_at_once, "pinocchio, the Panda's own shapes": own,
        }  # fmt: skip
        samples = {"adjoint": BATCH, "coal, one by one": 1024, "pinocchio, one loop": 1024}
        samples["pinocchio, the Panda's own shapes"] = own.pairs * len(own.q)
        rows.append(row(f"capsule and {kind}", "distance", "batch", raced(calls), samples=samples, own_pairs=own.pairs))
    return rows


# --- a Panda among 20 obstacles ---------------------------------------------------------------------------------------


def obstacles(n: int = 20, seed: int = 1) -> list[Solid]:
    """Spheres, boxes and capsules around the arm, of about a hand's size."""
    rng = np.random.default_rng(seed)
    T = random_poses(rng, n)
    away = rng.normal(size=(n, 3)) * [1, 1, 0.6]
    T[:, :3, 3] = away / np.linalg.norm(away, axis=1, keepdims=True) * rng.uniform(0.45, 0.9, (n, 1)) + [0, 0, 0.4]
    found: list[Solid] = []
    for k, pose in enumerate(T):
        size = rng.uniform(0.04, 0.12)
        kinds = (
            lambda T, s, name: Sphere(s, T_world_solid=T, name=name),
            lambda T, s, name: Box([2 * s, 3 * s, s], T_world_solid=T, name=name),
            lambda T, s, name: Capsule(0.5 * s, 4 * s, T_world_solid=T, name=name),
        )
        found.append(kinds[k % 3](pose, size, f"solid {k}"))
    return found


def check_same(model: CollisionModel, theirs: PandaChecker, q: np.ndarray) -> None:
    """Ours and Pinocchio agree about what is free, about clearances, and about gradients where these are smooth."""
    free, found = is_free(model, q), clearance_gradient(model, q)
    for way in (theirs.free, theirs.free_all_pairs, theirs.free_by_boxes):
        assert np.array_equal(free, [way(x) for x in q]), way.__name__
    distances, gradients = map(np.array, zip(*(theirs.clearance_gradient(x) for x in q), strict=True))
    outside = found.clearance > 1e-4  # coal's penetration depths are less accurate
    np.testing.assert_allclose(found.clearance[outside], distances[outside], atol=1e-5)
    off = np.abs(found.gradient - gradients).max(axis=1)[outside]
    assert np.mean(off < 1e-3) > 0.95, f"gradients differ by {np.sort(off)[-5:]}"


def robot_checks() -> list[dict]:
    """A Panda of capsules among 20 obstacles: is it free, and its clearance with the gradient; then whole edges."""
    robot = panda(PATH)
    model = collision_model(robot, obstacles())
    theirs = PandaChecker(model, PATH)
    q = aj.random_configuration(robot, BATCH, rng=0)
    some = q[:FEW]
    check_same(model, theirs, some)
    free = is_free(model, q)
    subject, more = "Panda, 20 obstacles", {"pairs": theirs.pairs, "free": float(np.mean(free))}

    def one_by_one(way):
        return [way(x) for x in some]

    ways = {
        "pinocchio": theirs.free, "pinocchio, all pairs": theirs.free_all_pairs,
        "pinocchio, tree of boxes": theirs.free_by_boxes,
    }  # fmt: skip
    peers = {name: functools.partial(one_by_one, way) for name, way in ways.items()}
    rows, counts = [], dict.fromkeys(ways, FEW)
    for n in (BATCH, 64, 8, 1):
        part = q[:n] if n > 1 else q[0]
        laps = raced({"adjoint": lambda part=part: is_free(model, part), **peers})
        rows.append(row(subject, "is_free", "batch", laps, samples={"adjoint": n, **counts}, size=n, **more))
    peers = {"pinocchio": functools.partial(one_by_one, theirs.clearance_gradient)}
    for n in (BATCH, 64, 8, 1):
        part = q[:n] if n > 1 else q[0]
        laps = raced({"adjoint": lambda part=part: clearance_gradient(model, part), **peers})
        samples = {"adjoint": n, "pinocchio": FEW}
        rows.append(row(subject, "clearance_gradient", "batch", laps, samples=samples, size=n, **more))
    return rows + edges(model, theirs, q[free]) + moved_obstacles(model)


def edges(model: CollisionModel, theirs: PandaChecker, q: np.ndarray) -> list[dict]:
    """Straight motions of at most 1 rad a joint from free configurations: all are checked at the same points."""
    n = len(q) // 2
    starts, way = q[:n], q[n : 2 * n] - q[:n]
    ends = starts + way / np.maximum(1.0, np.abs(way).max(axis=1, keepdims=True))
    few = 64

    def one_by_one():
        return [theirs.edge_free(a, b, RESOLUTION) for a, b in zip(starts[:few], ends[:few], strict=True)]

    found = edges_free(model, starts, ends, resolution=RESOLUTION)
    assert np.array_equal(found[:few], one_by_one())
    calls = {"adjoint": lambda: edges_free(model, starts, ends, resolution=RESOLUTION), "pinocchio": one_by_one}
    samples, more = {"adjoint": n, "pinocchio": few}, {"free": float(np.mean(found))}
    return [row("Panda, 20 obstacles", "edges_free", "an edge of a batch", raced(calls), samples=samples, **more)]


def moved_obstacles(model: CollisionModel) -> list[dict]:
    """Other obstacles, and one check among them: nothing is compiled again."""
    scenes, q = [obstacles(seed=k) for k in range(2, 10)], np.zeros(model.robot.nq)

    def ours():
        for solids in scenes:
            is_free(model.with_obstacles(solids), q)

    return [row("Panda, 20 obstacles", "with_obstacles and is_free", "one call", raced({"adjoint": ours}), samples=8)]


# --- plans ------------------------------------------------------------------------------------------------------------


class Outcome(NamedTuple):
    """What came of all problems of a scene: times [s], and lengths of paths [rad], which are NaN if there is none."""

    times: np.ndarray
    lengths: np.ndarray

    @property
    def solved(self) -> np.ndarray:
        return np.isfinite(self.lengths)


def length(path: np.ndarray | None) -> float:
    """The length of a path (k, nq), NaN if there is none."""
    return np.nan if path is None or not len(path) else float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())


def outcome_of(tried: list[tuple[float, np.ndarray | None]]) -> Outcome:
    """The outcome of tries, each a time and a path."""
    return Outcome(np.array([t for t, _ in tried]), np.array([length(path) for _, path in tried]))


def timed(call) -> tuple[float, np.ndarray]:
    """The time of a call of ours [s], and the path."""
    begun = time.process_time()
    plan = call()
    return time.process_time() - begun, plan.path


def solved_by_all(scene: str) -> tuple[dict[str, dict[str, Outcome]], dict[str, float]]:
    """{"first path" or "with shortcuts": {way: outcome}} of a scene, and more numbers."""
    make, region = SCENES[scene]
    robot = panda(PATH)
    model = collision_model(robot, make())
    problems = random_problems(robot, lambda q: is_free(model, q), region, COUNT, 0)
    ours = functools.partial(plan_motion, model, None, timing=None, resolution=RESOLUTION, time_limit=LIMIT)
    through = functools.partial(plan_with_ompl, model, resolution=RESOLUTION, time_limit=LIMIT)
    checkers = {
        "OMPL, Pinocchio": PandaChecker(model, PATH),
        "OMPL, Pinocchio's tree of boxes": PandaChecker(model, PATH, by_boxes=True),
    }
    planners = {name: OmplPlanner(c, robot.lower, robot.upper, RESOLUTION) for name, c in checkers.items()}
    check_same(model, checkers["OMPL, Pinocchio"], aj.random_configuration(robot, FEW, rng=1))
    ours(*problems[0]), plan_with_ompl(model, *problems[0])  # what is compiled is compiled now
    first: dict[str, list] = {name: [] for name in ("adjoint", *planners, "adjoint, through OMPL")}
    short: dict[str, list] = {name: [] for name in ("adjoint", *planners)}
    for begin in range(0, COUNT, TURN):
        turn = list(enumerate(problems))[begin : begin + TURN]
        first["adjoint"] += [timed(lambda k=k, p=p: ours(*p, shortcut=False, finer=1, rng=k)) for k, p in turn]
        short["adjoint"] += [timed(lambda k=k, p=p: ours(*p, rng=k)) for k, p in turn]
        for name, planner in planners.items():
            found = [planner.solve(*p, LIMIT) for _, p in turn]
            first[name] += [(x.time, x.path) for x in found]
            short[name] += [(x.time_shorter, x.shorter) for x in found]
        first["adjoint, through OMPL"] += [timed(lambda p=p: through(*p)) for _, p in turn]
    outcomes = {
        how: {name: outcome_of(tried) for name, tried in ways.items()}
        for how, ways in (("first path", first), ("with shortcuts", short))
    }
    more: dict[str, float] = {}
    for name, checker in checkers.items():
        more[f"{name}, checks"] = checker.checks / COUNT  # of the search and of making the path shorter
        checker.timed = True
        again = sum(planners[name].solve(*problem, LIMIT).time_shorter for problem in problems[:10])
        more[f"{name}, part of the time in checks"] = checker.spent / again
    return outcomes, more


def plan_row(scene: str, how: str, outcomes: dict[str, Outcome], more: dict[str, float]) -> dict:
    """The row of a scene: median times, the ratios of medians, and how these spread if problems are drawn again."""
    rng = np.random.default_rng(0)
    drawn = rng.integers(COUNT, size=(500, COUNT))
    own = np.median(outcomes["adjoint"].times[drawn], axis=1)
    laps = {name: (1e9 * outcome.times).tolist() for name, outcome in outcomes.items()}
    found = row(f"Panda, {scene}", "plan", how, laps) | {"ours_ns": 1e9 * float(np.median(outcomes["adjoint"].times))}
    for name, peer in found["peers"].items():
        theirs = outcomes[name].times
        low, middle, high = np.quantile(np.median(theirs[drawn], axis=1) / own, [0.25, 0.5, 0.75]).tolist()
        peer |= {"ns": 1e9 * float(np.median(theirs)), "ratio_low": low, "ratio": middle, "ratio_high": high}
    best = np.logical_or.reduce([x.solved for name, x in outcomes.items() if name.startswith("OMPL")])
    found["extra"] = more | {"problems": COUNT, "missed": int(np.sum(best & ~outcomes["adjoint"].solved))}
    for name, x in outcomes.items():
        found["extra"][name] = {
            "solved": int(x.solved.sum()), "median_ms": 1e3 * float(np.median(x.times)),
            "p95_ms": 1e3 * float(np.quantile(x.times, 0.95)), "length": float(np.nanmedian(x.lengths)),
        }  # fmt: skip
    return found


def plans(scene: str) -> list[dict]:
    outcomes, more = solved_by_all(scene)
    return [plan_row(scene, how, found, more) for how, found in outcomes.items()]


# --- worlds -----------------------------------------------------------------------------------------------------------


def worlds() -> list[dict]:
    """A peg placed by relations, and edits of a world of 1000 frames."""
    block = cuboid(0.1, 0.06, 0.04) - cylinder(0.0102, 0.1)
    peg = cylinder(0.01, 0.06, name="pin") | cylinder(0.016, 0.01, at=[0, 0, 0.035], name="head")
    world = World().add("block", block, at=[0, 0, 0.02]).add("peg", peg, at=[0, 0, 0.12])
    relations = [fits("peg.pin.shaft", "block.hole"), against("peg.head.bottom", "block.top")]
    assert placements(world, "peg", relations).dof == 1
    laps = raced({"adjoint": lambda: placements(world, "peg", relations)}, rounds=5)
    rows = [row("peg and block", "placements", "two relations", laps)]
    many = World()
    for k in range(1000):
        many = many.add(f"part {k}", block if k % 10 == 0 else None, at=[0.1 * k, 0, 0], parent=_parent(k))
    T = np.eye(4)
    calls = {
        "move": lambda: many.move("part 500", T), "pose": lambda: many.pose("part 999"),
        "attach": lambda: many.attach("part 500", "part 3"), "add": lambda: many.add("new", at=[0, 0, 1]),
    }  # fmt: skip
    for what, call in calls.items():
        rows.append(row("world of 1000 frames", what, "one call", raced({"adjoint": call})))
    return rows


def grasps() -> list[dict]:
    """Ways to hold a block, pruned and ranked: by the part and the hand alone, and by a PUMA and a table, too."""
    block, hand = cuboid(0.08, 0.04, 0.02), Gripper(opening=0.05, T_tool_grip=[0, 0, 0.12])
    world = World().add("table", cuboid(0.6, 0.8, 0.05), at=[0.6, 0, -0.3]).add("block", block, at=[0.5, 0.1, -0.265])
    world = world.add_robot("arm", aj.robots.puma560(), gripper=hand)
    calls = {
        "grasp_candidates": lambda: grasp_candidates(block, hand),
        "find_grasps": lambda: find_grasps(world, "arm", "block"),
    }
    rows = []
    for what, call in calls.items():
        found = call()
        n = len(found) + sum(found.counts.values())
        laps = raced({"adjoint": call}, rounds=5)
        rows.append(row("block", what, "a candidate", laps, samples=n, candidates=n, kept=len(found)))
    return rows


def _parent(k: int) -> str:
    """Frames are in a tree that is ten deep."""
    return f"part {k - 1}" if k % 10 else "world"


# --- all of them ------------------------------------------------------------------------------------------------------


def targets(rows: list[dict]) -> list[list]:
    """Rows (target, measured, wanted, verdict)."""
    found = find(rows, "capsule and capsule", "distance", "batch")
    verdicts = ratio_target(found, "pinocchio, the Panda's own shapes", 15)
    if found:
        often = ANCHOR / found["ours_ns"]
        verdicts.append(target(f"capsule and capsule, distance, times faster than {ANCHOR:g} ns", often, ">= 15"))
    for what in ("is_free", "clearance_gradient"):
        found = find(rows, "Panda, 20 obstacles", what, "batch", BATCH)
        verdicts += [v for peer in (found["peers"] if found else ()) for v in ratio_target(found, peer, 20)]
    for r in (r for r in rows if r["what"] == "plan"):
        verdicts += [v for peer in r["peers"] if peer.startswith("OMPL") for v in ratio_target(r, peer, 10)]
        verdicts.append(target(f"{r['subject']}, plan, {r['how']}, solved by OMPL alone", r["extra"]["missed"], "<= 0"))
    return verdicts


def main() -> None:
    parts = {"pairs": pairs, "a Panda among 20 obstacles": robot_checks, "worlds": worlds, "grasps": grasps}
    parts |= {f"plans, {scene}": functools.partial(plans, scene) for scene in SCENES}
    rows: list[dict] = []
    for name in in_time(parts):
        rows += parts[name]()
    packages = ("numpy", "scipy", "coal", "pin", "ompl", "example-robot-data")
    report("world", packages, rows, targets(rows), resolution=RESOLUTION, limit_s=LIMIT, published=VAMP)


if __name__ == "__main__":
    main()
