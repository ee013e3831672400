"""Rules of the model doctor about inertias: what no body can have, what moves nothing, what is in wrong units."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..lie import inertia as inertias
from ..lie import se3
from .doctor_model import FAR, Model, is_moderate, link_finding
from .doctor_report import listed
from .parts import Finding, Link
from .robot import Robot

__all__ = ["idle_joints", "masses", "sizes"]


def masses(model: Model) -> Iterator[Finding]:
    """Yield findings about inertias that no body can have, and about point masses."""
    for link in model.links:
        if link.inertia is None:
            continue
        mass, rest = link.inertia[0], link.inertia[1:]
        if not np.all(np.isfinite(link.inertia)):
            yield link_finding("error", "not-finite", link, "its inertia contains NaN or infinity")
        elif not is_moderate(link.inertia):
            largest = np.abs(link.inertia).max()
            message = f"mass {mass:.3g} kg and numbers up to {largest:.3g}: no body has such an inertia"
            yield link_finding("error", "impossible-inertia", link, message)
        elif mass < 0:
            yield link_finding(
                "error", "negative-mass", link, f"mass {mass:g} kg; it must be positive, or 0 for a mere frame"
            )
        elif mass == 0 and np.any(rest):
            yield link_finding(
                "warning", "inertia-without-mass", link, f"mass 0, yet inertia up to {np.abs(rest).max():.3g} kg m²"
            )
        elif mass > 0:
            yield from _impossible(link)
    # A radius of gyration below 10 µm means that the model states masses only.
    points = [l for l, c, _ in model.solid if np.abs(c.inertia).max() < 1e-10 * c.mass]
    if points:
        what = f"links with mass but no rotational inertia: {listed(l.name for l in points)} ({len(points)})"
        yield Finding("note", "point-masses", f"robot '{model.robot.name}'", what, points[0].where)


def _impossible(link: Link) -> Iterator[Finding]:
    """Yield findings about an inertia with negative moments, or with moments that break the triangle inequality."""
    assert link.inertia is not None
    for why in inertias.faults(link.inertia):
        moments = np.linalg.eigvalsh(inertias.central.eager(link.inertia).inertia)
        if moments[0] < -0.01 * moments[2]:
            yield link_finding("error", "impossible-inertia", link, why)
        elif inertias.faults(link.inertia, tolerance=0.01):
            yield link_finding("warning", "impossible-inertia", link, why)
        else:
            yield link_finding("note", "inexact-inertia", link, f"{why}, by less than 1 %: too few digits?")


def idle_joints(model: Model) -> Iterator[Finding]:
    """Yield findings about joints that move no inertia or a negative one, so that M(q) is not positive definite."""
    robot = model.robot
    if len(robot.body_names) and not np.any(robot.inertias):
        yield Finding("note", "no-masses", f"robot '{robot.name}'", "no body has mass: good for kinematics only")
        return
    for i in sorted([*_idle_alone(robot), *_idle_leaders(robot)]):
        message = (
            "moves no inertia, or a negative one: the mass matrix at the neutral configuration is not positive "
            "definite; give the links it moves mass and rotational inertia, or the joint an armature"
        )
        yield model.joint("warning", "idle-joint", robot.body_joint_names[i], message)


def _idle_alone(robot: Robot) -> Iterator[int]:
    """Yield the bodies whose D = Sᵀ I_A S + armature is not positive definite; I_A is the articulated inertia.

    Joints that mimic others, or that others mimic, count as locked here; `_idle_leaders` looks at them.
    """
    locked = {*robot.mimics, *(m.source for m in robot.mimics.values())}
    I_A = [inertias.matrix.eager(I) for I in robot.inertias]
    for body in reversed(robot.bodies):
        S, A = body.joint.S, I_A[body.index]
        if body.index not in locked:
            D = S.T @ A @ S + np.diag(robot.armature[body.joint.v])
            if not np.isfinite(D).all():
                pass  # other rules find the absurd numbers that lead to this
            elif np.linalg.eigvalsh(D)[0] <= 1e-12 * np.abs(A).max() * np.abs(S).max() ** 2:
                yield body.index
            else:
                A = A - A @ S @ np.linalg.solve(D, S.T @ A)
        if body.parent >= 0:
            X = se3.Ad.eager(se3.inverse.eager(body.M))
            I_A[body.parent] = I_A[body.parent] + X.T @ A @ X


def _idle_leaders(robot: Robot) -> Iterator[int]:
    """Yield the bodies whose joint leads others, where the motion of all of these together has no kinetic energy.

    The sum of Vᵀ I V over all bodies, plus the armature, is then not positive.
    """
    for source in {m.source for m in robot.mimics.values()}:
        rates = {source: 1.0} | {i: m.multiplier for i, m in robot.mimics.items() if m.source == source}
        V = {-1: np.zeros(6)}
        total = robot.armature[robot.bodies[source].joint.v][0]
        for body in robot.bodies:
            V[body.index] = se3.Ad_inv_action.eager(body.M, V[body.parent]) + body.joint.S[:, 0] * rates.get(
                body.index, 0.0
            )
            total += 2 * inertias.energy.eager(body.inertia, V[body.index])
        if total <= 0:
            yield source


def sizes(model: Model) -> Iterator[Finding]:
    """Yield findings about centres of mass and radii of gyration that are too large for the distances between links."""
    heavy = model.robot.mass * model.size**2  # [kg m²]
    for link, c, reach in model.solid:
        far = float(np.linalg.norm(c.com))
        if far > 5 * reach > 0:
            message = f"its com is {far:.3g} m from its origin, its neighbours at most {reach:.3g} m"
            yield link_finding(
                "warning", "com-far-away", link, message + (": is it in mm?" if far > 50 * reach else "")
            )
        largest = max(0.0, float(np.linalg.eigvalsh(c.inertia)[2]))
        gyration = np.sqrt(largest / c.mass)
        size = f"inertia {largest:.3g} kg m² for {c.mass:.3g} kg is a radius of gyration of {gyration:.3g} m"
        if gyration > 3 * reach > 0 and largest > 1e-6 * heavy:  # small ones are harmless placeholders
            message = f"{size}, its neighbours are at most {reach:.3g} m away" + _unit_guess(float(gyration / reach))
            yield link_finding("warning", "inertia-too-large", link, message)
        elif gyration > FAR:
            yield link_finding("warning", "inertia-too-large", link, f"{size}: is it in kg mm² or g mm²?")


def _unit_guess(ratio: float) -> str:
    """Return a guess of the unit, if a radius of gyration is `ratio` times the size of its link.

    Moments in kg mm², read as kg m², give a radius that is 1000 times too large; moments in kg cm² give 100 times.
    """
    if ratio < 20:
        return ""
    return ": is it in kg cm²?" if ratio < 200 else ": is it in kg mm² or g mm²?"
