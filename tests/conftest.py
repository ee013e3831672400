"""Settings of every test run: a cache folder of the project's own, and the same random examples in every run of CI."""

import os
import tempfile
from pathlib import Path

import hypothesis
import pytest

hypothesis.settings.register_profile("ci", derandomize=True, print_blob=True)
if os.environ.get("CI"):
    hypothesis.settings.load_profile("ci")


def pytest_configure(config: pytest.Config) -> None:
    """Compiled kernels go to a folder inside pytest's own cache, not to the user's; worker processes inherit it."""
    if hasattr(config, "workerinput"):
        return
    cache = getattr(config, "cache", None)  # there is none with -p no:cacheprovider
    folder = cache.mkdir("compiled_kernels") if cache else Path(tempfile.mkdtemp(prefix="adjoint-tests-"))
    folder.chmod(0o700)
    os.environ["ADJOINT_CACHE"] = str(folder)
