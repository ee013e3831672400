"""Settings of every test run: a cache folder of its own, the same random examples every time, and the quick selection.

`pytest --hypothesis-profile=random` draws new random examples; `pytest --quick` runs the core of every module.
"""

import os
import tempfile
import zlib
from collections import Counter
from pathlib import Path

import hypothesis
import numpy as np
import pytest

pytest.register_assert_rewrite("support")

hypothesis.settings.register_profile("fixed", derandomize=True, deadline=None, print_blob=True)
hypothesis.settings.register_profile("random", deadline=None, print_blob=True)
hypothesis.settings.load_profile("fixed")

QUICK_CASES = 2  # how many cases of each parametrised test are quick


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option `--quick`."""
    parser.addoption("--quick", action="store_true", help="leave out slow tests, and all but the first cases of others")


def pytest_configure(config: pytest.Config) -> None:
    """Compiled kernels go to a folder inside pytest's own cache, not to the user's; worker processes inherit it."""
    if hasattr(config, "workerinput"):
        return
    cache = getattr(config, "cache", None)  # there is none with -p no:cacheprovider
    folder = cache.mkdir("compiled_kernels") if cache else Path(tempfile.mkdtemp(prefix="adjoint-tests-"))
    folder.chmod(0o700)
    os.environ["ADJOINT_CACHE"] = str(folder)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Generators of a test's module start anew: a test draws the same numbers, whatever its worker ran before."""
    fresh = np.random.default_rng(zlib.crc32(item.name.encode())).bit_generator.state
    for value in vars(getattr(item, "module", None) or object).values():
        if isinstance(value, np.random.Generator):
            value.bit_generator.state = fresh


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With `--quick`, tests marked `slow` are left out, and all but the first cases of each parametrised test."""
    if not config.getoption("--quick"):
        return
    seen, kept, left = Counter(), [], []
    for item in items:
        function = item.nodeid.partition("[")[0]
        slow = item.get_closest_marker("slow") is not None
        seen[function] += not slow
        (left if slow or seen[function] > QUICK_CASES else kept).append(item)
    config.hook.pytest_deselected(items=left)
    items[:] = kept
