"""The command line in processes of its own: pipes, exit codes, Ctrl-C, and what is loaded."""

import json
import os
import subprocess
import sys

import pytest
from support.command_line import command, environment, process

import adjoint as aj

PUMA = aj.robots.puma560()

LOADED = """
import sys
sys.argv = ["adjoint", *{words!r}]
from adjoint.cli import main
try:
    main()
except SystemExit as left:
    assert not left.code, left.code
print([name for name in ("numpy", "scipy", "llvmlite", "lxml", "sympy", "matplotlib") if name in sys.modules])
"""


@pytest.mark.slow
@pytest.mark.parametrize("words", [[], ["--help"], ["--version"], ["simulate", "--help"], ["trajectory", "--help"]])
def test_help_loads_nothing_slow(words):
    script = [sys.executable, "-c", LOADED.format(words=words)]
    done = subprocess.run(script, env=environment(), capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


@pytest.mark.slow
def test_the_module_is_the_program():
    done = process("fk", "puma560", "--q", "0,-0.8,1.6,0,0.5,0", "--json")
    assert done.returncode == 0 and done.stderr == ""
    wanted = aj.forward_kinematics(PUMA, [0, -0.8, 1.6, 0, 0.5, 0], "tool")
    assert json.loads(done.stdout)["T"] == wanted.tolist()
    assert process("info", "pumma").returncode == 2
    assert process("check", "puma560", "--strict").returncode == 1
    assert process("nosuch").returncode == 2


@pytest.mark.slow
def test_robots_and_numbers_through_pipes():
    text = aj.to_urdf(PUMA.reframed("joint"))
    done = process("info", "-", input=text, FORCE_COLOR="")
    assert done.returncode == 0 and "\x1b" not in done.stdout and "joint6" in done.stdout
    piped = process("fk", "puma560", "--q", "-", "--out", "-", input="0,0,0,0,0,0\n0.1,0,0,0,0,0\n").stdout
    assert len(piped.splitlines()) == 3 and piped.startswith("q_joint1,")


@pytest.mark.slow
def test_a_reader_that_leaves_early_is_no_error():
    writer = subprocess.Popen(
        command("trajectory", "sample", "planar:2", "-"),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    writer.communicate(timeout=60)  # there is no such file
    assert writer.returncode == 2
    # A help fits into a pipe: it is written after the pipe was closed. The other does not, and is read in part.
    long = ["compile", "puma560", "--function", "forward_dynamics_derivatives"]
    for words, read in ((long, 10), (["fk", "--help"], 0)):
        with subprocess.Popen(
            command(*words), env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as running:
            assert running.stdout is not None and running.stderr is not None
            running.stdout.read(read)
            running.stdout.close()
            assert running.stderr.read() == b""
        assert running.returncode == 141


CONTROL_C = """
import os, signal, threading
from adjoint import simulation
from adjoint.cli import main

signal.signal(signal.SIGINT, signal.default_int_handler)  # programs in the background may be told to ignore it
real, press = simulation.simulate, threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
def simulate(*args, **options):
    if press.ident is None:
        press.start()
    return real(*args, **options)

simulation.simulate = simulate
main()
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals are other ones there")
def test_control_c_ends_a_long_simulation_in_one_line(tmp_path):
    out = tmp_path / "run.npz"
    words = ["simulate", "puma560", "--duration", "100000", "--out", str(out)]
    warm = process("simulate", "puma560", "--duration", "0.01")
    assert warm.returncode == 0
    script = [sys.executable, "-c", CONTROL_C, *words]  # half a second after the simulation has begun
    done = subprocess.run(script, env=environment(), capture_output=True, text=True, timeout=120)
    assert done.returncode == 130 and done.stdout == "" and done.stderr.strip() == "adjoint: interrupted"
    assert list(tmp_path.iterdir()) == []
