"""The robot that ROBOT means: a file, standard input, a name of the catalog, or a name of a package of robots."""

import os
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError, ModelError, nearest
from .guard import note
from .values import parsed_number, read_text

if TYPE_CHECKING:
    from ..model import Robot

__all__ = ["example_files", "find_robot", "frame_or_default", "robot_names"]

CATALOG = ("chain", "gantry", "park3r", "planar", "puma560", "random_tree", "scara", "stanford", "two_link")
"""The names of `adjoint.robots`; they are repeated here, since completion should not import NumPy."""

MODELS, TABLES = (".urdf", ".xml", ".mjcf", ".xacro"), (".json", ".toml")


def find_robot(
    name: str,
    base: str | None = None,
    package_dirs: Sequence[Path] = (),
    gravity: str | None = None,
) -> "Robot":
    """Return the robot that a user means by `name`, with the options that all commands have."""
    robot = _found(name, base, package_dirs)
    return robot if gravity is None else robot.replace(gravity=_gravity(gravity))


def _gravity(text: str) -> list[float]:
    words = [parsed_number(word) for word in re.split(r"[,\s]+", text.strip())]
    if len(words) not in (1, 3) or None in words:
        raise ArgumentError(f"--gravity: {text!r} must be x,y,z [m/s²], or one number g, which means 0,0,-g")
    return words if len(words) == 3 else [0.0, 0.0, -words[0]]  # type: ignore[operator,return-value]


def _found(name: str, base: str | None, package_dirs: Sequence[Path]) -> "Robot":
    path = Path(os.path.expanduser(name))
    if name == "-":
        return _of_text(sys.stdin.read(), "standard input", base, package_dirs)
    if path.is_file() and path.suffix.lower() in TABLES:
        return _of_text(read_text(path), name, base, package_dirs)
    if path.is_file():
        return _loaded(path, base, package_dirs)
    if path.is_dir() and ("/" in name or not _is_name(name)):
        raise ArgumentError(f"{name} is a folder; a robot is a file{_models_in(path)}")
    if "/" in name or path.suffix.lower() in (*MODELS, *TABLES):
        raise ArgumentError(f"{name}: there is no such file{_near_files(path)}")
    if re.split(r"[:(]", name)[0] in CATALOG:
        _need_file(base, f"robot '{name}' of the catalog")
        return _of_catalog(name)
    if example := _example(name):
        return _loaded(example, base, [*package_dirs, example_folder(example)])
    if name.endswith("_description"):
        return _described(name, base, package_dirs)
    raise ArgumentError(_unknown(name))


def _need_file(base: str | None, what: str) -> None:
    if base == "free":
        raise ArgumentError(f"--base free is for model files; {what} stands on a fixed base")


def _loaded(path: str | Path, base: str | None, package_dirs: Sequence[Path]) -> "Robot":
    from ..model import load

    return load(path, base=base, package_dirs=package_dirs)


def _of_text(text: str, where: str, base: str | None, package_dirs: Sequence[Path]) -> "Robot":
    from .tables import parsed_table, robot_of_table

    if not text.strip():
        raise ModelError(f"{where}: it is empty; a model in URDF or MJCF, or a table in JSON or TOML, is expected")
    if text.lstrip().startswith("<"):
        return _loaded(text.lstrip(), base, package_dirs)
    robot = robot_of_table(parsed_table(text, where), where)
    _need_file(base, f"the table of '{robot.name}'")
    return robot


def _is_name(name: str) -> bool:
    """Return whether a word, which may be a folder too, names a robot."""
    return re.split(r"[:(]", name)[0] in (*CATALOG, *robot_names())


def _models_in(folder: Path) -> str:
    """Return what to say about the model files of a folder."""
    try:
        names = sorted(p.name for p in folder.iterdir() if p.suffix.lower() in MODELS)
    except OSError:
        return ""
    return f"; this one has {', '.join(names[:8])}{', ...' * (len(names) > 8)}" if names else ""


def _near_files(path: Path) -> str:
    """Return which file of the same folder may be meant by the path of one that does not exist."""
    from difflib import get_close_matches

    if not path.parent.is_dir():
        return f"; there is no folder {path.parent}"
    files = {p.stem: p.name for p in sorted(path.parent.iterdir()) if p.suffix.lower() in (*MODELS, *TABLES)}
    near = [files[stem] for stem in get_close_matches(path.stem, files, n=3)]
    return f"; did you mean {' or '.join(repr(str(path.parent / name)) for name in near)}?" if near else ""


# --- the catalog ------------------------------------------------------------------------------------------------------


def _of_catalog(text: str) -> "Robot":
    """Return the robot that a text such as "puma560", "planar:3", "chain(5)" or "two_link:length=2" means."""
    from .. import robots

    name, words = re.split(r"[:(]", text)[0], re.split(r"[:,]", text.partition("(")[2].rstrip(")"))
    if ":" in text and "(" not in text:
        words = re.split(r"[:,]", text.partition(":")[2])
    args: list[Any] = []
    options: dict[str, Any] = {}
    for word in filter(None, (word.strip() for word in words)):
        key, _, value = word.rpartition("=")
        x = parsed_number(value)
        if x is None:
            raise ArgumentError(f"{text}: {value!r} is no number; families take numbers, such as planar:3")
        x = int(value) if re.fullmatch(r"[+-]?\d+", value) else x
        options |= {key: x} if key else {}
        args += [] if key else [x]
    try:
        found = getattr(robots, name)(*args, **options)
    except TypeError as error:
        raise ArgumentError(f"{text}: {str(error).removesuffix('()')}; such as planar:3, random_tree:0:12") from None
    if not found.nv:
        raise ArgumentError(f"{text}: a robot of a family has at least one joint, such as planar:1")
    return found


# --- packages of robots -----------------------------------------------------------------------------------------------


def example_files() -> dict[str, Path]:
    """Return {name: URDF} of the package example-robot-data, or nothing if it is not installed."""
    folders = [Path(p) / "cmeel.prefix/share/example-robot-data" for p in sys.path] + [Path(sys.prefix) / "share"]
    place = next((p / "robots" for p in folders if (p / "robots").is_dir()), None)
    found: dict[str, Path] = {}
    for path in sorted(place.rglob("*.urdf")) if place else ():
        if path.stat().st_size > 400:  # ur3.urdf is what is left of a macro: a robot without links
            folder = path.relative_to(place).parts[0].removesuffix("_description")  # type: ignore[arg-type]
            found[path.stem if path.stem not in found else folder] = path
    return found


def example_folder(path: Path) -> Path:
    """Return the folder of example-robot-data, in which a file is; meshes are named from there."""
    return next((parent.parent for parent in path.parents if parent.name == "robots"), path.parent)


def _example(name: str) -> Path | None:
    """Return the file that a name or the beginning of a name means; of several, the shortest."""
    files = example_files()
    if name in files:
        return files[name]
    near = sorted((stem for stem in files if stem.startswith(name)), key=lambda stem: (len(stem), stem))
    if not near or len(name) < 2:
        return None
    more = f" (there are also {', '.join(near[1:4])}{', ...' if len(near) > 4 else ''})" if near[1:] else ""
    note(f"{name} is {near[0]} of example-robot-data{more}")
    return files[near[0]]


def _descriptions() -> list[str]:
    """Return the names of the package robot_descriptions, or nothing if it is not installed."""
    try:
        from robot_descriptions import DESCRIPTIONS  # pyright: ignore[reportMissingImports]
    except ImportError:
        return []
    return list(DESCRIPTIONS)


def _described(name: str, base: str | None, package_dirs: Sequence[Path]) -> "Robot":
    """Return a robot of robot_descriptions, which downloads it when it is imported for the first time."""
    import importlib

    names = _descriptions()
    if name not in names:
        without = "the package robot_descriptions is not installed: pip install robot_descriptions"
        raise ArgumentError(f"no robot '{name}'; {nearest(name, names) if names else without}")
    try:
        module = importlib.import_module(f"robot_descriptions.{name}")
    except BaseException as error:  # git, the network, the disk
        if isinstance(error, KeyboardInterrupt):
            raise
        told = (str(error).strip() or type(error).__name__).splitlines()[-1]
        raise ModelError(f"{name}: robot_descriptions downloads it by git, and that failed: {told:.200}") from None
    path = getattr(module, "URDF_PATH", None) or getattr(module, "MJCF_PATH", None)
    if path is None:
        raise ModelError(f"{name}: robot_descriptions has it in xacro alone, which must be expanded first")
    return _loaded(Path(path), base, [*package_dirs, Path(getattr(module, "PACKAGE_PATH", Path(path).parent))])


def robot_names() -> list[str]:
    """Return all names that need no file: the catalog and what the packages of robots have."""
    return [*CATALOG, *example_files(), *_descriptions()]


def _unknown(name: str) -> str:
    packages = "" if example_files() else " (pip install example-robot-data has more)"
    return (
        f"no robot '{name}': it is neither a file nor a name of the catalog; {nearest(name, robot_names())}{packages}"
    )


# --- frames -----------------------------------------------------------------------------------------------------------


def frame_or_default(robot: "Robot", frame: str | None) -> str:
    """Return the frame, if the robot has it; without one, "tool" if there is one, else the last frame."""
    if frame is not None:
        return robot.frame(frame).name
    return "tool" if "tool" in robot.frame_names else robot.frame_names[-1]


def matching_files(incomplete: str, endings: Iterable[str] = (*MODELS, *TABLES)) -> list[str]:
    """Return files with these endings, and folders, whose path begins with `incomplete`, for completion."""
    folder, _, start = incomplete.rpartition("/")
    place = Path(f"{folder}/" if folder else ("/" if incomplete.startswith("/") else "."))
    try:
        inside = sorted(p for p in place.iterdir() if p.name.startswith(start) and not p.name.startswith("."))
    except OSError:
        return []
    before = incomplete[: len(incomplete) - len(start)]
    found = [before + p.name + ("/" if p.is_dir() else "") for p in inside]
    return [name for name in found if name.endswith("/") or Path(name).suffix.lower() in endings]
