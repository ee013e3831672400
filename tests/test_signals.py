"""Ctrl-C and other signals, threads that outlive the interpreter, forks: each in a process of its own."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import adjoint
from adjoint import kernel
from adjoint.compile.machine import execution, thread_pool
from adjoint.compile.machine.locks import compiling

pytestmark = pytest.mark.skipif(os.name == "nt", reason="processes cannot be sent single signals there")

_HEAD = """
import os, signal, sys, threading, time
import numpy as np
from adjoint import kernel, scan, while_loop

signal.signal(signal.SIGINT, signal.default_int_handler)  # shells start background jobs without it

@kernel(x=6)
def heavy(x):
    for _ in range(60):
        x = np.sin(x) + 0.5 * x
    return x

@kernel
def endless(x):
    return while_loop(lambda c: c > 0, lambda c: c + 1.0, x, max_iterations=10**15)

@kernel
def long(x):
    return scan(lambda c, _: (np.sin(c) + x, None), x, length=10**10)[0]

@kernel(xs=...)
def summed(xs, x):
    return scan(lambda c, y: (0.5 * c + y, c), x, xs)[1]

@kernel
def nested(x):
    def outer(c, _):
        return while_loop(lambda d: d > 0, lambda d: d + 1.0, c, max_iterations=10**4), None
    return scan(outer, x, length=10**8)[0]

def send(after, number=signal.SIGINT):
    "A signal to this process, from another process: threads of this one may find no time for it."
    if os.fork() == 0:
        time.sleep(after)
        os.kill(os.getppid(), number)
        os._exit(0)

def stops(call, error=KeyboardInterrupt):
    "Whether a call that would take for ever is broken off; the time it takes after the signal."
    send(0.15)
    start = time.monotonic()
    try:
        call()
    except error:
        os.wait()
        return time.monotonic() - start - 0.15
    raise SystemExit("a call was not stopped")
"""


def run(code: str, *arguments: str, timeout: float = 100) -> str:
    """What a child process prints."""
    command = [sys.executable, "-W", "ignore", "-c", _HEAD + code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.slow
def test_every_kind_of_long_call_stops():
    """Single calls by CPython's own road and by Python's, batches, strides, sequences, loops within loops."""
    code = """
for k in (heavy, endless, long, nested):
    k.threads = int(sys.argv[1])
many, rows = np.ones(1000), np.ones((1_000_000, 6))
endless(-1.0), heavy(rows[:8]), heavy(rows[0]), summed(many, 1.0), endless(-many)  # compiled before
calls = [
    lambda: endless(1.0), lambda: endless(many), lambda: endless(many[::2]), lambda: long(1.0), lambda: nested(1.0),
    lambda: [heavy(rows) for _ in range(10**6)], lambda: [heavy(rows[:, ::-1]) for _ in range(10**6)],
    lambda: summed(np.ones(10**7), 1.0) is [summed(np.ones(10**7), 1.0) for _ in range(10**6)],
]
print(max(stops(call) for call in calls))
assert endless(-2.0) == -2.0 and np.array_equal(heavy(rows[:9])[0], heavy(rows[0]))
"""
    for threads in ("1", "8"):
        assert float(run(code, threads)) < 20  # a second, on a machine that has time for it


@pytest.mark.slow
def test_a_batch_that_the_code_for_single_calls_serves_stops():
    """Large functions are compiled for batches only where that pays."""
    code = """
from adjoint.compile.front import specialisation as variant
variant.LARGE, variant.BORROWED, os.environ["ADJOINT_CACHE_SIZE"] = 0, 10**9, "0"
heavy.threads = 1
heavy(np.ones(6))
rows, out = np.ones((2**20, 6)), np.zeros((2**20, 6))
stops(lambda: heavy(rows, out=out))
assert out[0, 0] and not out[-1, 0]
assert len(heavy.only_specialisation("heavy").codes) == 1
"""
    run(code)


@pytest.mark.slow
def test_the_calls_after_an_interrupted_one_are_right():
    """Workers that went on after the call had ended would write into memory of the next."""
    code = """
light = kernel(lambda x: x + 1.0, x=6)
heavy.threads = 8
x = np.random.default_rng(0).normal(size=(60_000, 6))
heavy(x), light(x)
signal.signal(signal.SIGALRM, signal.default_int_handler)
for k in range(20):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.004 + 0.001 * k)
        while True:
            heavy(x)
    except KeyboardInterrupt:
        pass
    result = light(x)  # as large as the other's result
    time.sleep(0.05)
    np.testing.assert_array_equal(result, x + 1.0)
"""
    run(code)


@pytest.mark.slow
def test_a_storm_of_signals():
    """Exceptions out of handlers, one after the other, also in the midst of starting workers and of waiting for them.

    No part of a call runs when the call has ended.
    """
    code = """
from adjoint.compile.machine import execution as call, thread_pool as workers
running, wrong, stopped = [], 0, 0
part, within = call.Plan._part, workers.run_together.__code__

def counted(self, *args):
    running.append(None)
    try:
        part(self, *args)
    finally:
        running.pop()

heavy.threads = 8
x = np.random.default_rng(0).normal(size=(20_000, 6))
good = heavy(x)
call.Plan._part = counted

class Alarm(BaseException):
    pass

def ring(number, frame):
    while frame is not None:
        if frame.f_code is within:
            raise Alarm
        frame = frame.f_back

signal.signal(signal.SIGALRM, ring)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.0001)
end = time.monotonic() + 3
while time.monotonic() < end:
    try:
        heavy(x)
    except Alarm:
        stopped += 1
    wrong += len(running) > 0
signal.setitimer(signal.ITIMER_REAL, 0)
assert np.array_equal(heavy(x), good)
print(stopped, wrong)
"""
    stopped, wrong = map(int, run(code).split())
    assert stopped > 20 and wrong == 0


@pytest.mark.slow
def test_handlers_that_raise_nothing():
    """A handler may run in the midst of a call, and call kernels itself: the outer call goes on, and is right."""
    code = """
x, small = np.random.default_rng(0).normal(size=(100_000, 6)), np.ones((3, 6))
heavy.threads = 1
good, one, inner = heavy(x), heavy(small), []

def ring(*_):
    inner.append(np.array_equal(heavy(small[:, ::-1]), one) and np.array_equal(heavy(small), one))

signal.signal(signal.SIGALRM, ring)
signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
for threads in (1, 4):
    heavy.threads = threads
    for _ in range(8):
        np.testing.assert_array_equal(heavy(x), good)
signal.setitimer(signal.ITIMER_REAL, 0)
assert all(inner)
print(len(inner))
"""
    assert int(run(code)) > 5


@pytest.mark.slow
def test_given_arrays_are_let_go():
    """An interrupted call leaves its results to whoever gave the arrays: nobody writes into them any more."""
    code = """
heavy.threads = 8
x, out = np.ones((60_000, 6)), np.zeros((60_000, 6))
heavy(x)
signal.signal(signal.SIGALRM, signal.default_int_handler)
for k in range(20):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.004 + 0.001 * k)
        while True:
            heavy(x, out=out)
    except KeyboardInterrupt:
        pass
    out[:] = 0
    time.sleep(0.05)
    assert not out.any()
while sys.getrefcount(out) > 2:  # until workers have seen that there is nothing left to do
    time.sleep(0.05)
"""
    run(code)


@pytest.mark.slow
def test_the_exception_of_a_worker(monkeypatch):
    """What a part raises in a worker thread is raised by the call, after all other parts have ended."""
    f = kernel(lambda x: np.sin(x) + 1.0)
    f.threads = 4
    x = np.linspace(0, 1, 4_000_000)
    good, part, running = f(x), execution.Plan._part, []

    def failing(self, words, start, *more):
        if threading.current_thread() is not threading.main_thread():
            raise MemoryError("no work memory")
        running.append(start)
        part(self, words, start, *more)
        running.pop()

    with monkeypatch.context() as patched:
        patched.setattr(execution.Plan, "_part", failing)
        for _ in range(20):
            with contextlib.suppress(MemoryError):
                np.testing.assert_array_equal(f(x), good)  # this thread did it all
            assert not running
    np.testing.assert_array_equal(f(x), good)


def test_parts_nobody_has_time_for(monkeypatch):
    """Where no thread can be started, the call does all parts itself."""

    def full(*_):
        raise RuntimeError("can't start new thread")

    f = kernel(lambda x: np.cos(x) + 1.0)
    f.threads = 4
    x = np.linspace(0, 1, 4_000_000)
    good = f(x)
    monkeypatch.setattr(thread_pool, "_leave_to_workers", full)
    np.testing.assert_array_equal(f(x), good)


@pytest.mark.slow
def test_exceptions_for_other_threads():
    """`PyThreadState_SetAsyncExc` in a thread that waits for workers: the call ends after they have."""
    code = """
import ctypes
heavy.threads = 4
x = np.ones((100_000, 6))
good, seen = heavy(x), []

def work():
    try:
        while True:
            heavy(x)
    except ValueError:
        seen.append(True)

for _ in range(10):
    t = threading.Thread(target=work)
    t.start()
    time.sleep(0.02)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(t.ident), ctypes.py_object(ValueError))
    t.join()
    np.testing.assert_array_equal(heavy(x), good)
print(len(seen))
"""
    assert int(run(code)) == 10


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["C", "F"])
def test_a_daemon_thread_inside_a_batch_at_exit(layout):
    """The interpreter takes its modules apart while the thread is running code that belongs to them."""
    code = """
class Slow:
    def __del__(self, sleep=time.sleep):
        sleep(0.5)

heavy.threads = int(sys.argv[2])
x = np.array(np.ones((400_000, 6)), order=sys.argv[1])
heavy(x[:10_000])

def work():
    while True:
        heavy(x[:10_000])
        heavy(x)

threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
sys.slow = Slow()  # freed after the modules
"""
    for threads in ("1", "2"):
        run(code, layout, threads)


def test_signals_are_asked_for_in_the_main_thread_alone():
    handler, (watch, other) = signal.getsignal(signal.SIGINT), thread_pool.new_watches(2)
    thread_pool.start_watch(watch)
    thread = threading.Thread(target=thread_pool.start_watch, args=(other,))
    thread.start()
    thread.join()
    assert watch[2] != 0 and other[2] == 0
    assert signal.getsignal(signal.SIGINT) is handler


# --- forks ------------------------------------------------------------------------------------------------------------

_FORK = """
def long_function(steps, seed):
    "A kernel that is in no cache."
    def function(x):
        for k in range(steps):
            x = np.sin(x * (1.0 + k + seed)) + x
        return x
    return kernel(function, x=4)

def child_works():
    "Whether a child process can trace, compile and run."
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)
        found = long_function(3, time.time_ns() % 10**9)(np.ones((8, 4)))
        os._exit(0 if found.shape == (8, 4) else 1)
    return os.waitpid(pid, 0)[1] == 0
"""


@pytest.mark.slow
def test_forks_while_another_thread_compiles():
    """LLVM's lock, and those of Python's own library, are open in the child."""
    code = """
long_function(3, 0.5)(np.ones((8, 4)))
for k in range(10):
    compiled = long_function(150, time.time_ns() % 10**9)
    thread = threading.Thread(target=compiled, args=(np.ones((8, 4)),))
    thread.start()
    time.sleep(0.02 * k)
    assert child_works()
    thread.join()
"""
    run(_FORK + code)


@pytest.mark.slow
def test_a_fork_does_not_wait_for_ever():
    """The function that is traced may wait for the thread that forks; that one may itself be tracing."""
    code = """
from adjoint.compile.machine.locks import compiling
compiling.patience = 0.3
forked = threading.Event()

def waits(x):
    forked.wait(60)
    return x + 1.0

def forks(x):
    assert child_works()
    return x + 1.0

thread = threading.Thread(target=kernel(waits), args=(1.0,))
thread.start()
time.sleep(0.2)
assert child_works()
forked.set()
thread.join()
assert kernel(forks)(1.0) == 2.0 and kernel(forks)(2.0) == 3.0
"""
    run(_FORK + code)


@pytest.mark.slow
def test_a_child_that_cannot_compile_says_so():
    code = """
from adjoint.compile.machine.locks import calling_llvm, compiling
compiling.patience = calling_llvm.patience = 0.1
held, forked = threading.Event(), threading.Event()

def hold():
    with calling_llvm:
        held.set()
        forked.wait(60)

heavy(np.ones((8, 6)))
thread = threading.Thread(target=hold)
thread.start()
held.wait(60)
pid = os.fork()
if pid == 0:
    signal.alarm(60)
    good = np.isfinite(heavy(np.ones((8, 6)))).all()  # compiled before
    try:
        long_function(3, time.time_ns() % 10**9)(np.ones(4))
    except Exception as error:
        os._exit(0 if good and "forked while another thread" in str(error) else 1)
    os._exit(2)
assert os.waitpid(pid, 0)[1] == 0
forked.set()
thread.join()
assert child_works()
"""
    run(_FORK + code)


def test_calls_do_not_wait_for_what_is_being_compiled():
    """Neither those that start worker threads nor those of a thread that has not called before."""

    @kernel(x=6)
    def heavy(x):
        for _ in range(60):
            x = np.sin(x) + 0.5 * x
        return x

    heavy.threads, x = 4, np.ones((20_000, 6))
    heavy(x)
    with compiling:  # as another thread that compiles
        caller = threading.Thread(target=heavy, args=(x,), daemon=True)
        caller.start()
        caller.join(60)
        assert not caller.is_alive()


@pytest.mark.slow
def test_loading_the_library_waits_for_no_lock():
    """A thread that traces a function holds the lock, and may be waiting for a file that another thread is loading."""
    code = """
import importlib, pkgutil
import adjoint
from adjoint.compile.machine.locks import compiling

def load():
    for module in pkgutil.walk_packages(adjoint.__path__, "adjoint."):
        importlib.import_module(module.name)
    print("loaded")

with compiling:
    loader = threading.Thread(target=load, daemon=True)
    loader.start()
    loader.join(60)
"""
    assert run(code) == "loaded\n"


def test_properties_have_no_locks():
    """Before 3.12 `functools.cached_property` has one, which stays shut in a child that was forked meanwhile."""
    package = Path(adjoint.__file__).parent
    users = [p.name for p in package.rglob("*.py") if "functools.cached_property" in p.read_text(encoding="utf-8")]
    imports = [p.name for p in package.rglob("*.py") if "from functools import cached" in p.read_text(encoding="utf-8")]
    assert users == ["lazy.py"] and imports == ["lazy.py"]


# --- smallest examples of what once went wrong ------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_fork_while_another_thread_traces():
    code = """
import os, threading, time
from adjoint import kernel
def slow(x):
    time.sleep(1.0)
    return x + 1
kernel(lambda x: x)(1.0)  # everything is imported: after a fork during an import, CPython waits for it forever
k, other = kernel(slow), kernel(lambda x: 2 * x)
threading.Thread(target=k, args=(1.0,), daemon=True).start()
time.sleep(0.3)
pid = os.fork()
if pid == 0:
    ok = other(2.0) == 4.0 and other(2.0) == 4.0 and kernel(lambda x: 3 * x)(2.0) == 6.0
    os._exit(0 if ok else 1)
for _ in range(100):
    done, status = os.waitpid(pid, os.WNOHANG)
    if done:
        raise SystemExit(os.waitstatus_to_exitcode(status))
    time.sleep(0.2)
raise SystemExit("the child hangs")
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=60)
