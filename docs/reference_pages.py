"""A hook of mkdocs that writes the pages of the reference, by task, from what the library's modules offer.

Every public name is on one page, under the shortest name that users can type: `aj.inverse_dynamics`, `aj.lie.se3.exp`.
The lists are the modules' own `__all__`s, so a new function appears by itself, and a new module gets a page of its own.
"""

import importlib
import inspect
import re
import types
from functools import cache
from typing import NamedTuple

import command_pages
import griffe
from escaping import escaped
from mkdocs.structure.files import File

import adjoint

FOLDER = "reference/"


class Page(NamedTuple):
    """A page of the reference."""

    title: str
    says: str
    """The first sentence: what the reader can do."""
    modules: str = ""
    """Modules of adjoint whose names the page shows, unless another page asks for them by name."""
    names: str = ""
    """Names that the page takes from modules of other pages."""


def _of_folders(module: str, folders: str) -> str:
    """The names that the folders, or files, of a module with a table of homes offer, for `Page.names`."""
    homes = importlib.import_module(f"adjoint.{module}")._HOMES
    return " ".join(f"{module}.{name}" for folder in folders.split() for name in homes[folder].split())


_PLANNED = {
    "models": Page(
        "Models", "Make robots from files, tables, screws and code, check them, and write them.", "model robots"
    ),
    "configurations": Page(
        "Configurations",
        "Compute with configurations: differences, distances, steps, and what lies between two of them.",
        names="model.difference model.distance model.integrate model.interpolate model.neutral "
        "model.random_configuration",
    ),
    "kinematics": Page("Kinematics", "Compute where frames of a robot are and how they move.", "kinematics"),
    "inverse_kinematics": Page(
        "Inverse kinematics", "Find configurations that bring a robot to a pose or to other goals.", "inverse goals"
    ),
    "dynamics": Page(
        "Dynamics", "Compute forces, accelerations, energies, and the mass matrix with its factors.", "dynamics"
    ),
    "derivatives": Page(
        "Derivatives",
        "Differentiate the dynamics by the state, once and twice, and linearize a robot.",
        names="dynamics.inverse_dynamics_derivatives dynamics.forward_dynamics_derivatives dynamics.linearize "
        "dynamics.inverse_dynamics_second_derivatives dynamics.forward_dynamics_second_derivatives "
        "dynamics.inverse_dynamics_hessian dynamics.forward_dynamics_hessian dynamics.TorqueDerivatives "
        "dynamics.AccelerationDerivatives dynamics.SecondDerivatives dynamics.Linearization "
        "dynamics.mass_matrix_logdet_gradient compile.check_grads",
    ),
    "geometry": Page(
        "Geometry", "Compute Christoffel symbols, curvature and geodesics of the kinetic energy.", "geometry"
    ),
    "identification": Page(
        "Identification", "Find masses, inertias and friction of a robot from recordings.", "identification"
    ),
    "calibration": Page(
        "Calibration", "Find true screws, offsets, base and tool from measurements of the tool.", "calibration"
    ),
    "trajectories": Page(
        "Trajectories", "Make motions of joints and of poses in time, and look at them.", "trajectory"
    ),
    "control": Page("Control", "Take control laws, write your own, and put sensors and motors around them.", "control"),
    "simulation": Page("Simulation", "Let robots move in time, and differentiate through the run.", "simulation"),
    "sensing": Page(
        "Sensing", "Model sensors of range, proximity, touch and force, with noise, and invert them.", "sensing"
    ),
    "scenes": Page(
        "Scenes",
        "Let sensors and cameras see solids: rays, depth and intensity images, lidar, beams and tactile pads.",
        names=_of_folders("sensing", "scene"),
    ),
    "cameras": Page("Cameras", "Project, calibrate cameras, and find poses from one image.", "vision"),
    "arm_cameras": Page(
        "Cameras and arms",
        "Calibrate cameras on arms, see with two eyes, and move an arm by what its camera sees.",
        names=_of_folders("vision", "arm_cameras stereo servoing"),
    ),
    "images": Page(
        "Images",
        "Filter images, enhance them, find edges and regions, and watch what moves.",
        names=_of_folders("vision", "images segmentation"),
    ),
    "shapes": Page(
        "Shapes", "Describe boundaries, regions and textures in numbers.", names=_of_folders("vision", "shapes")
    ),
    "structures": Page(
        "Surfaces and drawings",
        "Find planes and cones in range images, and label line drawings of solids.",
        names=_of_folders("vision", "surfaces drawings"),
    ),
    "recognition": Page(
        "Recognition",
        "Classify, match templates and strings, and parse with grammars and automata.",
        names=_of_folders("vision", "recognition"),
    ),
    "locating": Page(
        "Locating", "Find named objects in images, with their poses.", names=_of_folders("vision", "locating")
    ),
    "world": Page("World", "Keep frames, parts, robots and sensors, and what is attached to what.", "world"),
    "parts": Page(
        "Parts",
        "Make solids with masses and features from simple ones, and convert units.",
        names=_of_folders("world", "parts features units"),
    ),
    "relations": Page(
        "Relations",
        "Place parts by relations between their features, bound errors, and read facts from a world.",
        names=_of_folders("world", "relations predicates"),
    ),
    "motion_plans": Page(
        "Motion plans", "Plan motions that touch nothing, in many ways.", names=_of_folders("world", "motion")
    ),
    "grasps": Page(
        "Grasps", "Find grasps of parts, and plan how to pick and place them.", names=_of_folders("world", "grasps")
    ),
    "program": Page("Programs", "Write robot programs in Python, run them, and look at what they did.", "program"),
    "program_languages": Page(
        "Program languages",
        "Read and write AL, VAL, AML, AUTOPASS and RAPT, check programs, and help editors.",
        names=_of_folders("program", "languages meaning editing"),
    ),
    "program_instructions": Page(
        "Program instructions",
        "The instruction set that all languages share.",
        names=_of_folders("program", "instructions"),
    ),
    "planning": Page("Planning", "Find actions that reach a goal, check them, and do them with robots.", "planning"),
    "planning_search": Page(
        "Search", "Search state spaces, AND/OR graphs and differences.", names=_of_folders("planning", "search")
    ),
    "planning_logic": Page(
        "Logic and rules",
        "Prove formulas, and draw conclusions with certainty factors.",
        names=_of_folders("planning", "logic rules"),
    ),
    "planning_strips": Page(
        "STRIPS and PDDL",
        "Read, write and ground planning tasks, and estimate what they cost.",
        names=_of_folders("planning", "strips pddl"),
    ),
    "collision": Page(
        "Collision", "Compute distances between robots and solids, and whether motions are free.", "collision"
    ),
    "equations": Page("Equations", "Print equations of motion as formulas.", "equations"),
    "lie_groups": Page("Lie groups", "Compute with rotations, rigid motions and inertias.", "lie"),
    "kernels": Page("Kernels", "Turn functions of your own into machine code, with derivatives.", "compile"),
    "polymers": Page("Polymers", "Make robots of chain molecules, and let them move at a temperature.", "polymer"),
    "chains": Page("Chains, by Fixman's method", "Compute with chains by free bodies and constraints.", "fixman"),
    "viewer": Page("Viewer", "See robots, runs and trajectories in a browser, in a page and in a plot.", "viewer"),
    "errors": Page("Errors", "Look up what went wrong: all errors are of these kinds.", "errors"),
}
DAILY = "aj"
"""The section of names that the door itself offers."""


def offered() -> list[str]:
    """The modules that users open, and `compile`, whose names the door offers."""
    return ["compile", *adjoint._MODULES]


def planned() -> dict[str, Page]:
    """The pages of the modules that are there; a module that nobody has planned for has its own page."""
    there = set(offered())
    pages = {slug: p for slug, p in _PLANNED.items() if p.names or there & set(p.modules.split())}
    for module in sorted(there - {m for p in pages.values() for m in p.modules.split()}):
        first = (importlib.import_module(f"adjoint.{module}").__doc__ or module).splitlines()[0]
        pages[module] = Page(module.replace("_", " ").capitalize(), first, module)
    return pages


PAGES = planned()


class Entry(NamedTuple):
    """A public name."""

    typed: str
    """As users type it: aj.lie.se3.exp."""
    path: str
    """Where it is defined, for mkdocstrings."""
    value: object


def _knows_its_name(value: object) -> bool:
    """Whether a value has its own name and docstring; constants and aliases of types do not."""
    return hasattr(value, "__name__") and not isinstance(value, types.GenericAlias)


def entries(module, typed: str) -> list[Entry]:
    """The public names of a module and of the modules that it offers."""
    found = []
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.ismodule(value):
            found += entries(value, f"{typed}.{name}")
        else:
            home = getattr(value, "__module__", None) if _knows_its_name(value) else None
            found.append(Entry(f"{typed}.{name}", f"{home or module.__name__}.{name}", value))
    return found


@cache
def contents() -> dict[str, list[Entry]]:
    """{page: its names}; of several ways to type a name, only the shortest stays."""
    wanted = {f"{prefix(n)}": slug for slug, p in PAGES.items() for n in p.names.split()}
    page_of = {module: slug for slug, p in PAGES.items() for module in p.modules.split()}
    daily = {id(getattr(adjoint, name)): f"{DAILY}.{name}" for name in adjoint.__all__}
    best: dict[int, tuple[str, Entry]] = {}
    for module in sorted(offered(), key=lambda m: m == "model"):  # aj.robots.scara before aj.model.catalog.scara
        for e in entries(importlib.import_module(f"adjoint.{module}"), prefix(module)):
            if module != "errors" and any(e.value is error for error in vars(adjoint.errors).values()):
                continue
            entry = e._replace(typed=daily.get(id(e.value), e.typed))
            best.setdefault(id(e.value), (wanted.get(e.typed, page_of[module]), entry))
    pages: dict[str, list[Entry]] = {slug: [] for slug in PAGES}
    for slug, entry in best.values():
        pages[slug].append(entry)
    return pages


def prefix(name: str) -> str:
    """How a module, or a name in it, is typed; `compile` is not in the door."""
    return f"adjoint.{name}" if name.partition(".")[0] == "compile" else f"{DAILY}.{name}"


def sections(page: str) -> dict[str, list[Entry]]:
    """The names of a page by the module that they are typed with, functions before types."""
    found: dict[str, list[Entry]] = {}
    for entry in contents()[page]:
        found.setdefault(entry.typed.rpartition(".")[0], []).append(entry)
    for names in found.values():
        names.sort(key=lambda e: (not callable(e.value), isinstance(e.value, type), e.typed.lower()))
    return dict(sorted(found.items(), key=lambda item: item[0].count(".") if item[0] != DAILY else -1))


@cache
def _source() -> griffe.Object | griffe.Alias:
    return griffe.load("adjoint", search_paths=["src"])


def one_line(entry: Entry) -> str:
    """The first sentence of what a name's docstring says, for a table."""
    doc = entry.value.__doc__ if _knows_its_name(entry.value) else None
    if doc is None:  # a constant, whose docstring stands below it in the source
        held = _source()[entry.path.partition(".")[2]].docstring
        doc = held.value if held else ""
    first = inspect.cleandoc(doc).partition("\n\n")[0].replace("\n", " ")
    sentence = re.split(r"(?<=[a-z)`\]0-9])[.;](?= |$)|:$", first)[0]
    return escaped(sentence, "[<|*_")


def table(names: list[Entry], page: str = "") -> str:
    """A table of names with a line each, linked to where they are explained."""
    rows = [f"| [`{e.typed}`]({page}#{e.path}) | {one_line(e)} |" for e in names]
    return "\n".join(["| name | what it is |", "|---|---|", *rows])


def about(section: str) -> str:
    """The first sentence of what a module says of itself, such as aj.lie.se3."""
    module = importlib.import_module(f"adjoint.{section.partition('.')[2]}")
    return escaped(inspect.cleandoc(module.__doc__ or "").partition("\n\n")[0])


def text(page: str) -> str:
    """The Markdown of a page."""
    plan, parts = PAGES[page], sections(page)
    lines = ["---\nsearch:\n  boost: 2\n---", f"# {plan.title}", plan.says, *(table(names) for names in parts.values())]
    for section, names in parts.items():
        lines += ["## Used daily"] if section == DAILY else [f"## `{section}`", about(section)]
        for e in names:
            label = e.typed.rpartition(".")[2]
            options = f'    options:\n      heading: "{e.typed}"\n      toc_label: "{label}"'  # `on` would be true
            lines.append(f"::: {e.path}\n{options}")
    return "\n\n".join(lines) + "\n"


def on_files(files, config):
    for page in PAGES:
        files.append(File.generated(config, f"{FOLDER}{page}.md", content=text(page)))


def on_page_markdown(markdown: str, page, config, files) -> str:
    """Below the text of the index: all names of the door, by task, and where the rest is."""
    if page.file.src_uri != f"{FOLDER}index.md":
        return markdown
    lines = [markdown]
    for slug, plan in PAGES.items():
        daily = sections(slug).get(DAILY, [])
        rest = len(contents()[slug]) - len(daily)
        more = f" The page has {rest} more names." if daily and rest else ""
        lines.append(f"## [{plan.title}]({slug}.md)\n\n{plan.says}{more}")
        if daily:
            lines.append(table(daily, f"{slug}.md"))
    lines.append(f"## [{command_pages.TITLE}](command_line.md)\n\n{command_pages.SAYS}")
    return "\n\n".join(lines) + "\n"
