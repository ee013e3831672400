"""Fixman's method: the matrices and the timing figure of Lee, Wang & Chirikjian (2007), continued to long chains.

python examples/14_fixman.py             chains of up to 20 000 links, some seconds; writes output/fixman.png
python examples/14_fixman.py 1000000     chains of up to a million links

The paper is "O(n) mass matrix inversion for serial manipulators and polypeptide chains using Lie derivatives",
Robotica 25(6).
"""

import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one thread for all methods

import numpy as np

import adjoint as aj
from adjoint import fixman
from adjoint.fixman import fixman_solve

DENSE = 1000  # the longest chain whose mass matrix is inverted
SPARSE = 10_000  # the longest chain that is solved in the paper's own form
PAPER = 400, 1.9  # links and seconds at the end of the paper's Figure 3 (Matlab 6.5, Pentium 4 at 2.8 GHz)


def reproduce() -> None:
    """Prints the mass matrices of the paper's two examples, their inverses and determinants."""
    for name, chain in (("PUMA 560", fixman.paper.puma()), ("polypeptide", fixman.paper.polypeptide())):
        parted = fixman.dh_partition(chain, "beta")
        n, logdet = len(chain.masses), fixman.logdet(parted)
        with np.printoptions(precision=4, suppress=True, linewidth=120):
            print(f"{name}: M\n{fixman.constrained_mass_matrix(parted)}")
            print(f"M⁻¹ = H_11 - H_12 H_22⁻¹ H_12ᵀ\n{fixman.solve(parted, np.eye(n))}")
        print("log det M = log det G + log det H_22: ", end="")
        print(f"{logdet:.5f} = {parted.logdet_G:.5f} + {logdet - parted.logdet_G:.5f}\n")


def by_inverse(M, b) -> np.ndarray:
    return np.linalg.inv(M) @ b


def in_the_papers_form(chain: fixman.DHChain, b) -> np.ndarray:
    return fixman.solve(fixman.dh_partition(chain, "beta"), b)


def seconds(function: Callable, *arguments, budget: float = 0.1) -> float:
    """The time of the fastest of three calls or more, as many as the budget allows; the first call compiles."""
    call = partial(function, *arguments)
    call()
    laps, start = [], time.perf_counter()
    while len(laps) < 3 or time.perf_counter() - start < budget:
        lap = time.perf_counter()
        call()
        laps.append(time.perf_counter() - lap)
    return min(laps)


def measure(longest: int) -> dict[str, dict[int, float]]:
    """{method: {links: seconds}} of M⁻¹ b for polypeptides whose torsions all turn; the time for M is not included."""
    found: dict[str, dict[int, float]] = {name: {} for name in STYLES}
    rng = np.random.default_rng(0)
    for n in sorted({int(x) for x in np.geomspace(10, longest, 2 * round(np.log10(longest)))} | {PAPER[0], DENSE}):
        chain = fixman.paper.long_polypeptide(n)
        robot, q, b = fixman.dh_links.as_robot(chain, "beta"), np.zeros(n), rng.normal(size=n)
        found["Fixman, compiled loop"][n] = seconds(fixman_solve, robot, q, b)
        found["articulated bodies"][n] = seconds(aj.solve_mass_matrix, robot, q, b)
        if n <= SPARSE:
            found["Fixman, the paper's form"][n] = seconds(in_the_papers_form, chain, b)
        if n <= DENSE:
            found["inverse of M"][n] = seconds(by_inverse, np.linalg.inv(fixman_solve(robot, q, np.eye(n))), b)
    return found


STYLES = {
    "inverse of M": ("tab:red", "--"),
    "Fixman, the paper's form": ("tab:purple", "-"),
    "Fixman, compiled loop": ("tab:blue", "-"),
    "articulated bodies": ("tab:green", "-"),
}


def exponent(times: dict[int, float]) -> float:
    """The exponent k of seconds = c nᵏ, fitted to the longest chains: for short ones the overhead of a call counts."""
    n = np.array(list(times))
    last = n >= max(n.max() / 30, 200)
    return float(np.polyfit(np.log(n[last]), np.log(np.array(list(times.values()))[last]), 1)[0])


def draw(found: dict[str, dict[int, float]], path: Path) -> None:
    """Draws the times over the number of links into a file."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    fig, ax = plt.subplots(figsize=(8, 5.5), layout="constrained")
    for name, times in found.items():
        color, line = STYLES[name]
        label = f"{name}: n^{exponent(times):.2f}"
        ax.loglog(list(times), list(times.values()), line, marker="o", ms=4, color=color, label=label)
    ax.plot(*PAPER, "k*", ms=11, label="Fixman in the paper, 2007", ls="none")
    ax.set(xlabel="links n", ylabel="seconds for M⁻¹ b", title="Figure 3 of Lee, Wang & Chirikjian, continued")
    ax.grid(alpha=0.3)
    ax.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, dpi=130)
    print(f"drawn in {path}")


def main() -> None:
    longest = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    reproduce()
    found = measure(longest)
    for name, times in found.items():
        print(f"{name}: seconds = c n^{exponent(times):.2f}")
        print("  " + ", ".join(f"n = {n}: {t / n * 1e9:.0f} ns/link" for n, t in times.items()))
    draw(found, Path(__file__).parent / "output" / "fixman.png")


if __name__ == "__main__":
    main()
