"""Serial robots as tables of numbers, Denavit-Hartenberg (DH) or product of exponentials (POE), in JSON, TOML and text.

A file is an object with `format` "dh" or "poe" and, with SI units and radians,

- DH: `convention` ("classic" or "modified"), `joints` (letters R and P), `table` (n rows theta, d, a, alpha), and
  `base` and `tool` (4, 4); see `from_dh`;
- POE: `form` ("space" or "body"), `screws` (n rows: angular part, then linear part) and `home` (4, 4); see
  `from_screws`;
- both: `name`, `gravity`, `inertias` (n, 10), and of each joint `lower`, `upper`, `velocity_limit`, `effort_limit`,
  `damping`, `friction` and `armature`. In JSON, an infinite limit is null.
"""

import json
import tomllib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import ModelError, nearest

if TYPE_CHECKING:
    import numpy as np

    from ..model import Robot

__all__ = ["as_json", "as_text", "as_toml", "dh_table", "parsed_table", "poe_table", "robot_of_table"]

_OF_JOINTS = ("velocity_limit", "effort_limit", "damping", "friction", "armature")
_EITHER = ("format", "name", "gravity", "inertias", "lower", "upper", *_OF_JOINTS)
_KEYS = {
    "dh": ("convention", "joints", "table", "base", "tool", *_EITHER),
    "poe": ("form", "screws", "home", *_EITHER),
}
_NEEDED = {"dh": ("table",), "poe": ("screws", "home")}


# --- robot -> table ---------------------------------------------------------------------------------------------------


def dh_table(robot: "Robot", tip: str) -> dict[str, Any]:
    """Return the classic Denavit-Hartenberg table of the joints on the way to the frame `tip`."""
    import numpy as np

    from ..model import dh_matrix, space_screws, to_dh

    found = to_dh(robot, tip)
    bodies, frame, links = space_screws(robot, tip).bodies, found.base, []
    for row in found.table:
        frame = frame @ dh_matrix(*row)
        links.append(frame)
    content = {"format": "dh", "name": robot.name, "convention": "classic", "joints": found.joints}
    content |= {"table": found.table.tolist()}
    placed = {"base": found.base, "tool": found.tool}
    content |= {name: T.tolist() for name, T in placed.items() if not np.array_equal(T, np.eye(4))}
    return content | _common(robot, bodies, np.array(links).reshape(-1, 4, 4))


def poe_table(robot: "Robot", tip: str, form: str = "space") -> dict[str, Any]:
    """Return the screws of the joints on the way to the frame `tip`, in the "space" or the "body" form."""
    import numpy as np

    from ..errors import ArgumentError
    from ..model import body_screws, space_screws

    screws, home, bodies = (space_screws if form == "space" else body_screws)(robot, tip)
    follows = next((robot.body_joint_names[i] for i in bodies if i in robot.mimics), None)
    if follows is not None:
        raise ArgumentError(f"joint '{follows}' follows another one; every row of a table has a coordinate of its own")
    content = {"format": "poe", "name": robot.name, "form": form, "screws": screws.tolist(), "home": home.tolist()}
    return content | _common(robot, bodies, np.tile(np.eye(4), (len(bodies), 1, 1)))


def _common(robot: "Robot", bodies: Sequence[int], links: "np.ndarray") -> dict[str, Any]:
    """Return what both tables have; inertias, of robots that are one chain, in the frames `links` at home."""
    import numpy as np

    from ..model import GRAVITY

    q, v = ([start[i] for i in bodies] for start in (robot.layout.q_start, robot.layout.v_start))
    found: dict[str, Any] = {}
    if not np.array_equal(robot.gravity, GRAVITY):
        found["gravity"] = robot.gravity.tolist()
    for name in ("lower", "upper"):
        if np.isfinite(getattr(robot, name)[q]).any():
            found[name] = getattr(robot, name)[q].tolist()
    for name in _OF_JOINTS:
        values, default = getattr(robot, name)[v], np.inf if name.endswith("limit") else 0.0
        if (values != default).any():
            found[name] = values.tolist()
    if len(bodies) == len(robot.body_names) and robot.inertias.any():
        found["inertias"] = _moved_inertias(robot, links).tolist()
    return found


def _moved_inertias(robot: "Robot", links: "np.ndarray") -> "np.ndarray":
    """Return the inertias (n, 10) of the bodies of a chain in frames `links` (n, 4, 4), seen from the base at home."""
    import numpy as np

    from ..lie import se3
    from ..model.whole_arrays import moved_inertias

    homes, N = [], np.eye(4)
    for M in robot.placements:
        N = N @ M
        homes.append(N)
    return moved_inertias(
        np.array([se3.inverse.eager(T) @ N for T, N in zip(links, homes, strict=True)]), robot.inertias
    )


# --- table -> robot ---------------------------------------------------------------------------------------------------


def robot_of_table(content: Mapping[str, Any], where: str) -> "Robot":
    """Return the robot of a table that `dh_table` or `poe_table` returned, or that somebody wrote by hand."""
    import numpy as np

    from ..errors import AdjointError
    from ..model import from_dh, from_screws

    kind = content.get("format")
    if kind not in _KEYS:
        raise ModelError(f"{where}: format is {kind!r}; it must be 'dh' or 'poe'")
    for key in content:
        if key not in _KEYS[kind]:
            raise ModelError(f"{where}: no entry '{key}' in a table of format '{kind}'; {nearest(key, _KEYS[kind])}")
    missing = [key for key in _NEEDED[kind] if key not in content]
    if missing:
        raise ModelError(f"{where}: '{missing[0]}' is missing")
    given = {key: _limits(key, x) for key, x in content.items() if key != "format"}
    of_joints = {key: given.pop(key) for key in _OF_JOINTS if key in given}
    try:
        robot = (from_dh if kind == "dh" else from_screws)(**given)
        return robot.replace(**{key: np.asarray(x, float) for key, x in of_joints.items()})
    except (TypeError, ValueError) as error:
        told = error if isinstance(error, AdjointError) else ModelError(str(error))
        raise ModelError(f"{where}: {told}") from None


def _limits(key: str, value: Any) -> Any:
    """Return limits with infinity for what is null."""
    if key not in ("lower", "upper", "velocity_limit", "effort_limit") or not isinstance(value, list):
        return value
    return [(float("-inf") if key == "lower" else float("inf")) if x is None else x for x in value]


def parsed_table(text: str, where: str) -> dict[str, Any]:
    """Return the content of a table in JSON or TOML."""
    parse = json.loads if text.lstrip()[:1] == "{" else tomllib.loads
    try:
        content = parse(text)
    except ValueError as error:
        raise ModelError(f"{where}: neither a model in XML nor a table in JSON or TOML: {error}") from None
    if not isinstance(content, dict):
        raise ModelError(f"{where}: it must be an object with 'format' and a table, not a {type(content).__name__}")
    return content


# --- text -------------------------------------------------------------------------------------------------------------


def as_json(content: Mapping[str, Any]) -> str:
    """Return a table as JSON, one line for each row of numbers."""
    lines = [f'  "{key}": {_json_value(x)}' for key, x in content.items()]
    return "{\n" + ",\n".join(lines) + "\n}"


def _json_value(value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[0], list):
        return "[\n" + ",\n".join(f"    {_json_value(row)}" for row in value) + "\n  ]"
    if isinstance(value, list):
        return "[" + ", ".join(_json_value(x) for x in value) + "]"
    return "null" if isinstance(value, float) and abs(value) == float("inf") else json.dumps(value)


def as_toml(content: Mapping[str, Any]) -> str:
    """Return a table as TOML, one line for each row of numbers."""
    return "\n".join(f"{key} = {_toml_value(x)}" for key, x in content.items())


def _toml_value(value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[0], list):
        return "[\n" + "".join(f"    {_toml_value(row)},\n" for row in value) + "]"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    return json.dumps(value) if isinstance(value, str) else repr(value)  # both write strings alike, and inf is inf


def as_text(content: Mapping[str, Any]) -> str:
    """Return a table for people, with angles in degrees and lengths in metres."""
    if content["format"] == "dh":
        head = ["joint", "theta [deg]", "d [m]", "a [m]", "alpha [deg]"]
        rows = [[kind, *_in_degrees(row)] for kind, row in zip(content["joints"], content["table"], strict=True)]
        title, ends = f"{content['name']}: classic Denavit-Hartenberg table", ("base", "tool")
    else:
        head = ["joint", "wx", "wy", "wz", "vx [m]", "vy [m]", "vz [m]"]
        rows = [["R" if any(row[:3]) else "P", *map(_short, row)] for row in content["screws"]]
        title, ends = f"{content['name']}: screws in the {content['form']} form, product of exponentials", ("home",)
    cells = [head, *([f"{k} {row[0]}", *row[1:]] for k, row in enumerate(rows, 1))]
    widths = [max(len(row[k]) for row in cells) for k in range(len(head))]
    lines = ["  ".join(x.rjust(w) for x, w in zip(row, widths, strict=True)) for row in cells]
    for name in ends:
        if name in content:
            lines += ["", name, *("  ".join(_short(x).rjust(10) for x in row) for row in content[name])]
    return "\n".join([title, "", *lines])


def _in_degrees(row: Sequence[float]) -> list[str]:
    theta, d, a, alpha = row
    turn = 57.29577951308232
    return [_short(theta * turn), _short(d), _short(a), _short(alpha * turn)]


def _short(x: float) -> str:
    return f"{round(x, 9) + 0.0:.7g}"
