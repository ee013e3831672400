"""From text to running machine code, and from NumPy arrays to its arguments.

Making code: `jit` (LLVM turns IR into object code), `object_files` (reads ELF and COFF), `linker` (places object code
in memory and fills in addresses), `executable_memory` (memory whose contents may be executed). `disk_cache` keeps
object code between processes. `library_state` tells whether the library in memory is what its files define, because a
function is found in the cache by its name only then. `locks` has the lock that is held while something is compiled.

Running code: `execution` (loaded code, and the plan of a call), `layouts` (shapes, strides and addresses of arrays),
`result_arrays` (the arrays that results go to), `work_memory` (the memory that code works in), `strided_loop` (code for
arrays of any strides, which all kernels share), `thread_pool` and `thread_count`.

Calls without Python: `cpython_entry` makes functions that CPython calls directly. `entry_code` is the machine code of
these functions, `entry_record` the table of words that describes one kernel to it, and `python_abi` has the places of
what it reads in objects of CPython and NumPy.
"""
