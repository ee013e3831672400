"""From graphs to text: LLVM's intermediate representation (IR).

- `target`: what code is written for. `ir`: a small writer of IR, with vectors of any width.
- `scheduler`: the order in which the operations of a graph are computed, so that few values wait in registers.
- `body`: the code of one group of samples, operation by operation.
- `segments`: programs that are too long for one function, cut into several.
- `batch_loop`: the loop over the groups of a batch; `line_stores` writes large results past the caches.
- `watch`: where a long call looks whether it is to stop.
- `vecmath`: elementary functions such as sin and exp on vectors; a new one goes there, and into `graph.operations`.
"""
