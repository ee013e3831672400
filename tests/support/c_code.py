"""Exported C code, compiled with every warning an error, and run."""

import ctypes
import shutil
import subprocess

import numpy as np


def compiler() -> str:
    found = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    assert found, "no C compiler (cc, gcc or clang) on PATH: the C export cannot be tested"
    return found


def c_function(text: str, folder, *options: str):
    """The exported function, compiled with every warning an error."""
    (folder / "kernel.c").write_text(text)
    flags = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-O2", "-shared", "-fPIC", *options]
    done = subprocess.run(
        [compiler(), *flags, "-o", folder / "kernel.so", folder / "kernel.c", "-lm"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    name = text.split("\nvoid ")[1].split("(")[0]
    return getattr(ctypes.CDLL(str(folder / "kernel.so")), name)


def run_c(k, args, folder, length=None, work=None):
    text = k.source("c")
    function = c_function(text, folder)
    program = k.only_specialisation("test").program
    arrays = [np.ascontiguousarray(a, float) for a in args]
    outputs = [np.full((length, *o.shape) if o.sequence else o.shape, np.nan) for o in program.outputs]
    pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (*arrays, *outputs, *([] if work is None else [work]))]
    assert (", double *work)" in text) == (work is not None)
    function(*([] if length is None else [ctypes.c_long(length)]), *pointers)
    return tuple(outputs)
