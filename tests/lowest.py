"""Print, as constraints for pip, the lowest version that pyproject.toml allows of each package: `make test-lowest`.

numpy==2.0
scipy==1.13
...
"""

import re
import tomllib
from pathlib import Path

REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(\[[\w,]*\])?\s*>=\s*(?P<version>[\w.]+)")


def lowest(project: dict) -> dict[str, str]:
    """{package: lowest version} of all requirements that have a lower bound, of the library and its extras."""
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    found: dict[str, str] = {}
    for requirement in (r for group in groups for r in group):
        if bound := REQUIREMENT.match(requirement):
            name, version = bound["name"], bound["version"]
            if found.setdefault(name, version) != version:
                raise SystemExit(f"pyproject.toml: {name} has two lower bounds, {found[name]} and {version}")
    return found


if __name__ == "__main__":
    text = (Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8")
    for name, version in lowest(tomllib.loads(text)["project"]).items():
        print(f"{name}=={version}")
