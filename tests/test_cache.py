"""The disk cache: found by another process, never trusted blindly, never in the way."""

import errno
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from adjoint import cache_info, clear_cache, kernel
from adjoint.compile.machine import disk_cache, jit
from adjoint.errors import ArgumentError

POSIX = pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have no owner here")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    path = tmp_path / "cache"
    monkeypatch.setenv("ADJOINT_CACHE", str(path))
    return path


@pytest.fixture
def compilations(monkeypatch):
    """IR texts compiled since the test began."""
    made, original = [], jit.compile_ir
    monkeypatch.setattr(jit, "compile_ir", lambda text: made.append(text) or original(text))
    return made


def fresh(scale=2.0):
    """The same kernel anew, as another process would have it: nothing in memory."""
    return kernel(lambda x: scale * x + np.sin(x))


X = np.linspace(-1, 1, 5)
RIGHT = 2 * X + np.sin(X)


def compute(k=None):
    np.testing.assert_allclose((k or fresh())(X), RIGHT, rtol=1e-15, atol=1e-15)


def entry(folder) -> Path:
    """The one file of the kernel (the code that all kernels share may be another)."""
    found = [p for p in folder.iterdir() if b'"outputs"' in p.read_bytes()]
    assert len(found) == 1
    return found[0]


# --- found again ------------------------------------------------------------------------------------------------------


def test_second_use_compiles_nothing(folder, compilations):
    compute()
    assert len(compilations) >= 1 and entry(folder)
    compilations.clear()
    compute()
    assert not compilations


def test_entries_are_private(folder):
    compute()
    if hasattr(os, "getuid"):
        assert folder.stat().st_mode & 0o077 == 0
        assert all(p.stat().st_mode & 0o077 == 0 for p in folder.iterdir())
    assert {p.suffix for p in folder.iterdir()} == {".ajo", ""}  # entries and the ledger; no temporary files are left
    assert [p.name for p in folder.iterdir() if not p.suffix] == [disk_cache._LEDGER]


def test_different_mathematics_are_different_entries(folder, compilations):
    compute()
    count = len(list(folder.iterdir()))
    assert np.allclose(fresh(3.0)(X), RIGHT + X) and len(list(folder.iterdir())) == count + 1
    fresh()(X.astype(np.float32))
    assert len(list(folder.iterdir())) >= count + 2
    compilations.clear()
    compute(
        kernel(lambda angle: (lambda t: 2.0 * t + np.sin(t))(angle))
    )  # the same graph, but for the name of the input
    assert len(compilations) == 1
    compilations.clear()
    compute(kernel(lambda x: (lambda t: 2.0 * t + np.sin(t))(x)))  # the same graph, from other source code
    assert not compilations


def test_names_and_shapes_are_part_of_the_key(folder):
    """The same nodes with other shapes must not be given the code of one another."""
    a = kernel(lambda x: x * 2.0, x=(2, 3))
    b = kernel(lambda x: x * 2.0, x=(3, 2))
    c = kernel(lambda x: (x * 2.0).T, x=(2, 3))
    for _ in range(2):
        m = np.arange(6.0)
        assert a(m.reshape(2, 3)).shape == (2, 3) and b(m.reshape(3, 2)).shape == (3, 2)
        np.testing.assert_array_equal(c(m.reshape(2, 3)), 2 * m.reshape(2, 3).T)


@pytest.mark.slow
def test_named_results_survive(folder):
    from adjoint.lie import so3

    code = """
import numpy as np
from adjoint.lie import so3
print(type(so3.axis_angle(np.eye(3)) if hasattr(so3, "axis_angle") else so3.exp.jvp(np.ones(3), np.ones(3))).__name__)
"""
    assert run(code) == run(code)
    k = so3.exp.jvp
    assert k(np.ones(3), np.ones(3))._fields == ("out", "out_dot")


# --- other processes --------------------------------------------------------------------------------------------------


def run(code, check=True, **env):
    """What a fresh Python process prints last."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), **env},
    )
    assert not check or done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip().splitlines()[-1]


_LIBRARY = """
import sys, numpy as np
from adjoint.compile.front import specialisation as variant
from adjoint import cache_info
calls = []
original = variant.TracedSpecialisation.trace
variant.TracedSpecialisation.trace = lambda self: calls.append(self.name) or original(self)
from adjoint.lie import so3
R = so3.exp(np.array([0.1, 0.2, 0.3]))
J = so3.exp.jacobian("w")(np.array([0.1, 0.2, 0.3]))
print(len(calls), "casadi" in sys.modules, cache_info().misses, round(float(R[0, 1] + J[0, 0, 0]), 12))
"""


@pytest.mark.slow
def test_library_kernels_load_without_tracing():
    first, second = run(_LIBRARY).split(), run(_LIBRARY).split()
    assert int(first[0]) > 0 and int(first[2]) > 0
    assert second[:3] == ["0", "False", "0"] and second[3] == first[3]


_USER = """
import numpy as np
from adjoint import cache_info, kernel
f = kernel(lambda x: np.sin(x) * {scale})
f(0.5), f(0.5)
print(cache_info().hits, cache_info().misses, cache_info().writes)
"""


@pytest.mark.slow
def test_user_functions_are_found_by_their_graph():
    run(_USER.format(scale=2.0))
    hits, misses, writes = map(int, run(_USER.format(scale=2.0)).split())
    assert hits >= 1 and misses == 0 and writes == 0
    hits, misses, writes = map(int, run(_USER.format(scale=3.0)).split())
    assert misses == writes == 1


@pytest.mark.slow
def test_processes_may_race():
    code = _USER.replace("f(0.5), f(0.5)", "assert abs(f(0.5) - 2 * np.sin(0.5)) < 1e-15").format(scale=2.0)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    racing = [
        subprocess.Popen([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    for p in racing:
        _, err = p.communicate(timeout=120)
        assert p.returncode == 0, err.decode()
    assert run(_USER.format(scale=2.0)).split()[1:] == ["0", "0"]


# --- not to be trusted ------------------------------------------------------------------------------------------------


def flip(path, at):
    data = bytearray(path.read_bytes())
    data[at] ^= 0x40
    path.write_bytes(bytes(data))


def other_key(path):
    """A whole and valid entry, of another kernel."""
    for p in path.parent.iterdir():
        p.unlink()
    fresh(100.0)(X)
    stranger = entry(path.parent)
    stranger.rename(path)


def socket_at(path):
    os.chdir(path.parent)  # the path may be too long for a socket
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(path.name)


DAMAGE = {
    "empty": lambda p: p.write_bytes(b""),
    "garbage": lambda p: p.write_bytes(os.urandom(5000)),
    "truncated": lambda p: p.write_bytes(p.read_bytes()[:-100]),
    "only the head": lambda p: p.write_bytes(p.read_bytes()[:40]),
    "longer": lambda p: p.write_bytes(p.read_bytes() + b"\0"),
    "magic": lambda p: flip(p, 3),
    "checksum": lambda p: flip(p, 30),
    "header": lambda p: flip(p, 80),
    "code": lambda p: flip(p, -200),
    "another entry": other_key,
    "a folder": lambda p: (p.unlink(), p.mkdir()),
    "a pipe": lambda p: (p.unlink(), os.mkfifo(p)),
    "a socket": lambda p: (p.unlink(), socket_at(p)),
    "a huge file": lambda p: os.truncate(p, 2**40),
    "a link to nothing": lambda p: (p.unlink(), p.symlink_to("/nowhere")),
    "a link to itself": lambda p: (p.unlink(), p.symlink_to(p)),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_entries_are_compiled_again(name, folder, compilations, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    compute()
    path = entry(folder)
    DAMAGE[name](path)
    compilations.clear()
    compute()
    assert len(compilations) == 1
    if name != "a folder":  # which cannot be replaced by a file
        compilations.clear()
        compute()
        assert not compilations and path.is_file() and not path.is_symlink()


def test_a_valid_checksum_does_not_make_a_header_valid(folder, compilations):
    """Whole files of this user whose header is not ours: compiled again, never an exception."""
    import hashlib

    compute()
    path = entry(folder)
    head, body = path.read_bytes()[: len(disk_cache._MAGIC)], path.read_bytes()[len(disk_cache._MAGIC) + 32 :]
    size = int.from_bytes(body[:8], "little")
    for text in [b"{}", b"[]", b"null", b"\xff"]:
        new = len(text).to_bytes(8, "little") + text + body[8 + size :]
        path.write_bytes(head + hashlib.sha256(new).digest() + new)
        compilations.clear()
        compute()
        assert len(compilations) == 1


@POSIX
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_files_others_can_write_are_not_run(mode, folder, compilations):
    compute()
    entry(folder).chmod(mode)
    compilations.clear()
    compute()
    assert len(compilations) == 1


@POSIX
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_folders_others_can_write_are_not_read(mode, folder, compilations):
    compute()
    folder.chmod(mode)
    compilations.clear()
    compute()
    assert len(compilations) == 1
    folder.chmod(0o700)


@POSIX
def test_foreign_files_are_not_run(folder, compilations, monkeypatch):
    compute()
    compilations.clear()
    monkeypatch.setattr(os, "getuid", lambda: os.geteuid() + 1)
    compute()
    assert len(compilations) == 1


@POSIX
def test_entries_that_are_links_are_not_followed(folder, compilations, tmp_path):
    compute()
    path = entry(folder)
    path.symlink_to(path.rename(tmp_path / "elsewhere"))
    compilations.clear()
    compute()
    assert len(compilations) == 1


@POSIX
@pytest.mark.parametrize("mode", [0o700, 0o777])
def test_a_linked_folder_is_as_good_as_what_it_leads_to(mode, folder, compilations, tmp_path):
    compute()
    moved = folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(moved)
    moved.chmod(mode)
    compilations.clear()
    compute()
    info = cache_info()
    assert info.path == str(moved)
    if mode == 0o700:
        assert not compilations and info.disabled is None and info.entries >= 1
    else:
        assert len(compilations) == 1 and f"others can write {moved}" in (info.disabled or "")


@POSIX
def test_folders_above_that_others_can_write_do_no_harm(compilations, tmp_path, monkeypatch):
    """Whoever renames them cannot make files that belong to this user."""
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    monkeypatch.setenv("ADJOINT_CACHE", str(tmp_path / "open" / "cache"))
    compute()
    compilations.clear()
    compute()
    assert not compilations
    with disk_cache._opened() as place:  # the folder is exchanged between the check and the use of it
        (tmp_path / "open" / "cache").rename(tmp_path / "open" / "moved")
        (tmp_path / "open" / "cache").mkdir()
        assert [name for name, _ in place.files()]


def test_without_owners_only_the_profile_is_trusted(compilations, tmp_path, monkeypatch):
    """As on Windows, where a file does not tell whose it is."""
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "me"))
    monkeypatch.delattr(os, "getuid", raising=False)
    for path, trusted in [("me/cache", True), ("shared", False), ("me_too/cache", False), ("me/../shared", False)]:
        monkeypatch.setenv("ADJOINT_CACHE", str(tmp_path / path))
        compute()
        compilations.clear()
        compute()
        assert bool(compilations) is not trusted
        assert (cache_info().disabled is None) is trusted
    assert "profile" in (cache_info().disabled or "")
    (tmp_path / "me" / "link").symlink_to(tmp_path / "shared")
    monkeypatch.setenv("ADJOINT_CACHE", str(tmp_path / "me" / "link"))
    assert "profile" in (cache_info().disabled or "")


def test_the_default_folder_is_the_users_own(tmp_path, monkeypatch):
    monkeypatch.delenv("ADJOINT_CACHE")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_info().disabled is None  # which loads a package that needs os.getuid
    monkeypatch.delattr(os, "getuid", raising=False)
    assert cache_info().path.startswith(str(tmp_path)) and cache_info().disabled is None


def test_a_tilde_is_expanded(tmp_path, monkeypatch, folder):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("ADJOINT_CACHE", "~/cache")
    compute()
    assert cache_info().path == str(folder) and cache_info().entries >= 1


def test_code_of_another_cpu_is_not_found(folder, compilations, monkeypatch):
    compute()
    here = jit.host()
    disk_cache._environment.cache_clear()
    monkeypatch.setattr(jit, "host", lambda: here._replace(cpu="pentium"))
    try:
        other = disk_cache.key("same")
        disk_cache._environment.cache_clear()
        monkeypatch.setattr(jit, "host", lambda: here._replace(features=here.features + ",+more"))
        more = disk_cache.key("same")
        disk_cache._environment.cache_clear()
        monkeypatch.setattr(jit, "host", lambda: here._replace(versions="LLVM 1"))
        older = disk_cache.key("same")
        compilations.clear()
        compute()
        assert len(compilations) == 1
    finally:
        disk_cache._environment.cache_clear()
    monkeypatch.setattr(jit, "host", lambda: here)
    assert len({disk_cache.key("same"), other, more, older}) == 4
    disk_cache._environment.cache_clear()
    compilations.clear()
    compute()
    assert not compilations  # the first entry is still there


# --- disks ------------------------------------------------------------------------------------------------------------


def full_disk(*args, **kwargs):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("what", ["create", "write", "rename", "folder"])
def test_a_full_disk_costs_only_the_caching(what, folder, compilations, monkeypatch):
    if what == "create":
        monkeypatch.setattr(disk_cache._Folder, "open", full_disk)
    elif what == "rename":
        monkeypatch.setattr(os, "replace", full_disk)
    elif what == "folder":
        monkeypatch.setattr(Path, "mkdir", full_disk)
    else:

        class Full:
            def __init__(self, handle, mode):
                self._file = os.fdopen(handle, mode)

            def __enter__(self):
                return self

            def __exit__(self, *_):
                self._file.close()

            write = staticmethod(full_disk)

        monkeypatch.setattr(disk_cache, "open", Full, raising=False)
    compute()
    compute()
    assert len(compilations) >= 2 and cache_info().entries == 0
    assert "No space left" in (cache_info().disabled or "")
    monkeypatch.undo()
    monkeypatch.setenv("ADJOINT_CACHE", str(folder))
    assert not folder.exists() or not list(folder.iterdir())  # nothing half-written is left behind


@pytest.mark.parametrize("where", ["/proc/nowhere", "/dev/null/cache", "a file"])
def test_a_folder_that_cannot_be_written(where, folder, monkeypatch, tmp_path):
    if where == "a file":
        (tmp_path / "file").write_text("")
        where = str(tmp_path / "file")
    monkeypatch.setenv("ADJOINT_CACHE", where)
    compute()
    assert cache_info().entries == 0 and clear_cache() == 0 and cache_info().disabled


@POSIX
def test_a_read_only_folder(folder, compilations, monkeypatch):
    compute()
    folder.chmod(0o500)
    if os.geteuid() == 0:  # root may write anywhere: say no in its place

        def no(*_):
            raise PermissionError(errno.EACCES, "no")

        monkeypatch.setattr(disk_cache, "_store", no)
    try:
        compilations.clear()
        compute()
        assert not compilations  # what is there is used
        assert np.allclose(fresh(3.0)(X), RIGHT + X) and len(compilations) == 1
    finally:
        folder.chmod(0o700)


# --- size -------------------------------------------------------------------------------------------------------------


def store(number: int, size: int = 10_000) -> str:
    name = f"{number:064x}"
    disk_cache.write(name, disk_cache.Entry({}, bytes(size)))
    return name


def kept() -> set[str]:
    return {p.stem for p in Path(cache_info().path).glob("*.ajo")}


def age(folder, name: str, hours: float) -> None:
    path = folder / name
    os.utime(path, (path.stat().st_atime, path.stat().st_mtime - 3600 * hours))


def test_entries_not_used_for_longest_are_deleted(folder, monkeypatch):
    monkeypatch.setenv("ADJOINT_CACHE_SIZE", "100K")
    names = [store(k) for k in range(9)]
    for k, name in enumerate(names):
        age(folder, name + ".ajo", 24 + k)
    assert disk_cache.read(names[8]) and disk_cache.read(names[7])  # the oldest, which are used now
    last = [store(k) for k in range(100, 104)]
    assert cache_info().bytes <= 102400 == cache_info().limit
    assert {*last, names[8], names[7]} <= kept() and names[6] not in kept() and names[5] not in kept()


def test_a_folder_that_is_too_large_already(folder, monkeypatch):
    for k in range(20):
        store(k)
    (folder / disk_cache._LEDGER).unlink()  # an older version of the library kept none
    monkeypatch.setenv("ADJOINT_CACHE_SIZE", "50K")
    new = store(99)
    assert cache_info().bytes <= 51200 and new in kept()
    store(100, 60_000)
    assert "more than ADJOINT_CACHE_SIZE" in (cache_info().disabled or "") and new in kept()
    store(101, 100)
    assert cache_info().disabled is None


def test_files_are_looked_at_rarely(monkeypatch):
    """Each process counts what it wrote in one file: the folder is listed once for every 64th of the limit."""
    looked, original = [], disk_cache._Folder.files
    monkeypatch.setattr(disk_cache._Folder, "files", lambda self: looked.append(1) or original(self))
    monkeypatch.setenv("ADJOINT_CACHE_SIZE", "10M")
    for k in range(100):  # 3 pages each; 40 pages are a 64th
        store(k)
    assert 100 * 3 // 42 <= len(looked) <= 1 + 100 * 3 // 40


def test_what_killed_processes_left_is_swept(folder, monkeypatch):
    store(0)
    for name, hours in [("old", 2), ("young", 0.5)]:
        (folder / f".new-{name}").write_bytes(b"half an entry")
        age(folder, f".new-{name}", hours)
    (folder / "notes.txt").write_text("not ours")
    age(folder, "notes.txt", 1e5)
    orphan = store(1)
    age(folder, orphan + ".ajo", 24 * 100)  # as entries of a version of the library that is gone
    monkeypatch.setenv("ADJOINT_CACHE_SIZE", "100K")
    store(2)
    names = {p.name for p in folder.iterdir()}
    assert ".new-old" not in names and {".new-young", "notes.txt"} <= names and orphan not in kept()
    assert clear_cache() == 2
    assert {p.name for p in folder.iterdir()} == {"notes.txt"}


def test_a_ledger_that_is_no_file(folder, monkeypatch):
    monkeypatch.setenv("ADJOINT_CACHE_SIZE", "100K")
    folder.mkdir(mode=0o700)
    for make in (os.mkfifo, os.mkdir):
        make(folder / disk_cache._LEDGER)
        for k in range(15):
            store(k)
        assert cache_info().bytes <= 102400 and cache_info().disabled is None
        if make is os.mkfifo:
            (folder / disk_cache._LEDGER).unlink()


@pytest.mark.slow
def test_processes_that_sweep_may_race(folder):
    code = """
import os, sys
from adjoint import cache_info
from adjoint.compile.machine import disk_cache as cache
for k in range(60):
    name = f"{os.getpid()}{k}"
    cache.write(name, cache.Entry({"n": k}, bytes(9000)))
    found = cache.read(name)
    assert found is None or (found.header, found.code) == ({"n": k}, bytes(9000))
assert cache_info().disabled is None, cache_info()
"""
    env = {**os.environ, "PYTHONPATH": ":".join(p for p in sys.path if p), "ADJOINT_CACHE_SIZE": "200K"}
    racing = [subprocess.Popen([sys.executable, "-c", code], env=env, stderr=subprocess.PIPE) for _ in range(3)]
    for p in racing:
        _, err = p.communicate(timeout=120)
        assert p.returncode == 0, err.decode()
    assert cache_info().bytes <= 204800 and not list(folder.glob(".new-*"))


@pytest.mark.parametrize("text", ["2G", "2g", "2GB", "2GiB", " 2048M ", "2147483648", "2097152k"])
def test_sizes_are_read(text, monkeypatch):
    monkeypatch.setenv("ADJOINT_CACHE_SIZE", text)
    assert cache_info().limit == 2**31


@pytest.mark.parametrize("text", ["many", "-1", "nan", "inf", "1X", "G", " ", "1e30"])
def test_bad_sizes_are_named(text, monkeypatch):
    monkeypatch.setenv("ADJOINT_CACHE_SIZE", text)
    with pytest.raises(ArgumentError, match=r"ADJOINT_CACHE_SIZE is .* such as 500M or 2G"):
        cache_info()


def test_no_size_is_no_cache(folder, monkeypatch, compilations):
    monkeypatch.setenv("ADJOINT_CACHE_SIZE", "0")
    compute()
    compilations.clear()
    compute()
    assert len(compilations) == 1 and not folder.exists() and cache_info().disabled == "ADJOINT_CACHE_SIZE is 0"


# --- what is in it ----------------------------------------------------------------------------------------------------


def test_cache_info_and_clear(folder):
    before = cache_info()
    assert before.path == str(folder) and before.entries == before.bytes == 0
    k = fresh()
    compute(k)
    after = cache_info()
    files = list(folder.glob("*.ajo"))
    assert after.entries == len(files) >= 1 and after.bytes == sum(p.stat().st_size for p in files)
    assert after.misses > before.misses and after.writes > before.writes and after.hits == before.hits
    compute()
    assert cache_info().hits > after.hits
    (folder / "notes.txt").write_text("not ours")
    assert clear_cache() == len(files) and cache_info().entries == 0
    assert [p.name for p in folder.iterdir()] == ["notes.txt"]
    compute(k)  # loaded code goes on working
    compute()
    assert clear_cache() >= 1 and clear_cache() == 0


def test_nothing_is_unpickled(folder):
    compute()
    text = Path(disk_cache.__file__).read_text()
    assert "import pickle" not in text and "marshal" not in text
    body = entry(folder).read_bytes()[len(disk_cache._MAGIC) + 32 :]
    header = json.loads(body[8 : 8 + int.from_bytes(body[:8], "little")])
    assert header["key"] == entry(folder).stem


# --- smallest examples of what once went wrong ------------------------------------------------------------------------


class First(NamedTuple):
    one: float
    two: float


class Second(NamedTuple):
    one: float
    two: float


def test_results_have_the_class_the_function_gave_them(tmp_path, monkeypatch):
    monkeypatch.setenv("ADJOINT_CACHE", str(tmp_path))

    class Local(NamedTuple):
        one: float
        two: float

    for made in (First, Second, Local):
        assert type(kernel(lambda x: made(x + 1, x * 2))(1.0)) is made  # noqa: B023
