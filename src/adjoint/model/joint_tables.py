"""What the joints of a model state beside their geometry, as tables: mimics, limits and losses."""

from __future__ import annotations

import math

import numpy as np

from ..compile.front.arguments import unmasked
from ..errors import ModelError
from .input_checks import check_finite
from .input_checks import located as _at
from .joints import JOINTS
from .parts import JointSpec, Mimic

__all__ = ["END", "LOWER", "limits_of", "mimics_of", "spread"]


_FLOATS = frozenset([float])
LOWER, _VELOCITY, END = (JointSpec._fields.index(f) for f in ("lower", "velocity", "where"))
"""The fields of a `JointSpec` from number `LOWER` up to `END` are limits and losses."""


def mimics_of(joints: list[JointSpec], all_joints: dict[str, JointSpec]) -> dict[int, Mimic]:
    """Return {number of a body: `Mimic`}; a mimic of a mimic follows the joint that leads both.

    `joints` are those of the bodies; `all_joints` by name are those of the model, fixed ones too, for messages.
    """
    followers = [i for i, joint in enumerate(joints) if joint.mimic is not None]
    if not followers:
        return {}
    index = {joint.name: i for i, joint in enumerate(joints)}
    found: dict[int, Mimic] = {}
    for i in followers:
        chain: dict[int, None] = {}  # an ordered set: the joints on the way to the leader that are not in `found` yet
        while joints[i].mimic is not None and i not in found:
            if i in chain:
                names = ", ".join([joints[k].name for k in chain][:6])
                raise ModelError(_at(joints[i].where, f"joint '{joints[i].name}' mimics itself, through {names}"))
            chain[i] = None
            i = _source(joints[i], index, all_joints)
        lead = found.get(i, Mimic(i))
        for k in reversed(chain):
            _, multiplier, offset = joints[k].mimic  # type: ignore[misc]
            lead = Mimic(lead.source, multiplier * lead.multiplier, multiplier * lead.offset + offset)
            found[k] = lead
    _check_mimics(joints, found)
    return found


def _source(joint: JointSpec, index: dict[str, int], all_joints: dict[str, JointSpec]) -> int:
    """Return the number of the joint that `joint` mimics, or raise `ModelError` if it is no joint of a body."""
    source = joint.mimic[0]  # type: ignore[index]
    if source not in index:
        kind = all_joints[source].type if source in all_joints else None
        why = "does not exist" if kind is None else f"is {kind}; it must be a movable joint"
        if kind == "universal":
            why = f"is universal, two joints in one; name '{source}.1' or '{source}.2'"
        raise ModelError(_at(joint.where, f"joint '{joint.name}' mimics joint '{source}', which {why}"))
    return index[source]


def _check_mimics(joints: list[JointSpec], mimics: dict[int, Mimic]) -> None:
    """Raise `ModelError` if a joint that follows or leads has several coordinates, or if a number is not finite."""
    for i, (source, multiplier, offset) in mimics.items():
        for j in (joints[i], joints[source]):
            if JOINTS[j.type].nq != 1:
                what = f"joint '{j.name}' is {j.type}; only joints with one coordinate mimic or are mimicked"
                raise ModelError(_at(j.where, what))
        if not (math.isfinite(multiplier) and math.isfinite(offset)):
            what = f"joint '{joints[i].name}': multiplier or offset of its mimic is NaN or infinite"
            raise ModelError(_at(joints[i].where, what))


def limits_of(joints: list[JointSpec], mimics: dict[int, Mimic]) -> dict[str, np.ndarray]:
    """Return {field of a robot: its numbers} for limits and losses, in the order of q and v.

    Limits are those of the joints that lead; `check` compares them with the limits of the joints that follow. A
    follower moves k times as fast as its leader, which feels k² of its damping and armature and |k| of its friction.
    """
    bounds, rates = [], []  # rows (lower, upper) for each coordinate of q, (velocity ... armature) for each of v
    place = {}  # {number of a joint: where its rows in `rates` start}
    for i, joint in enumerate(joints):
        place[i] = len(rates)
        if joint.mimic is None:
            row, stated = JOINTS[joint.type], joint[LOWER:END]
            if row.nq == 1 and _FLOATS.issuperset(map(type, stated)):
                bounds.append(stated[:2])
                rates.append(stated[2:])
            else:
                bounds += spread(joint, LOWER, _VELOCITY, row.nq)
                rates += spread(joint, _VELOCITY, END, row.nv)
    table = np.array(bounds).reshape(-1, 2), np.array(rates).reshape(-1, 5)
    if np.isnan(table[0]).any() or np.isnan(table[1]).any():
        for joint in joints:  # `spread` raises at the joint that has the NaN
            spread(joint, LOWER, _VELOCITY, JOINTS[joint.type].nq)
            spread(joint, _VELOCITY, END, JOINTS[joint.type].nv)
    for i, (source, k, _) in mimics.items():
        _, _, damping, friction, armature = spread(joints[i], _VELOCITY, END, 1)[0]
        table[1][place[source], 2:] += k * k * damping, abs(k) * friction, k * k * armature
    if not np.isfinite(table[1][:, 2:]).all():
        names = [joint.name for joint in joints if joint.mimic is None for _ in range(JOINTS[joint.type].nv)]
        check_finite(table[1][:, 2:], "joint", names, "damping, friction or armature, with that of its mimics,")
    lower, upper, velocity, effort, damping, friction, armature = (*table[0].T, *table[1].T)
    return {
        "lower": lower, "upper": upper, "velocity_limit": velocity, "effort_limit": effort, "damping": damping,
        "friction": friction, "armature": armature,
    }  # fmt: skip


def spread(joint: JointSpec, start: int, stop: int, n: int) -> list[tuple]:
    """Return the fields number `start` up to `stop` of a joint as n rows, one for each coordinate.

    A field is one number for all coordinates, or n of them; otherwise a `ModelError` names it.
    """
    columns = []
    for option, value in zip(JointSpec._fields[start:stop], joint[start:stop], strict=True):
        try:
            columns.append(np.broadcast_to(np.asarray(unmasked(value), float), n).tolist())
            good = not np.isnan(columns[-1]).any()
        except (TypeError, ValueError, OverflowError):
            good = False
        if not good:
            what = f"joint '{joint.name}': {option} must be one number, or {n} of them, got {value!r}"
            raise ModelError(_at(joint.where, what))
    return list(zip(*columns, strict=True))
