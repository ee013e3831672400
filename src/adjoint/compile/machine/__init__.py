"""From text to running machine code, and from NumPy arrays to its arguments.

Making code: `jit` (LLVM turns IR into object code), `object_files` (reads ELF and COFF), `linker` (places object code
and fills in addresses), `executable_memory` (where code may be executed). `disk_cache` keeps object code between
processes, under a key; `library_state` tells whether the library in memory is what its files define, so that a function
is found there by its name. `locks` has the lock that is held while something is compiled.

Running code: `execution` (loaded code, and the plan of a call), `layouts` (shapes, strides and addresses of arrays),
`result_arrays` (where results go), `work_memory`, `strided_loop` (shared code for arrays of any strides),
`cpython_entry` (functions that CPython calls without any Python in between), `thread_pool` and `thread_count`.
"""
