"""The equations of motion as formulas, printed in the terminal and written as pages for a browser.

    python examples/11_equations.py

The pages are in examples/output: the two-link arm of the textbooks, expanded and in inner products; Park's three-joint
arm; and the PUMA 560 in inner products.
"""

import time
from pathlib import Path

import adjoint as aj
from adjoint.equations import equations_of_motion

OUTPUT = Path(__file__).parent / "output"


def show(title: str, robot: aj.Robot, page: str, to_print: bool = True, **options) -> None:
    """Writes the equations into a page, prints them, and prints how well they agree with the kernels."""
    start = time.perf_counter()
    found = equations_of_motion(robot, **options)
    seconds = time.perf_counter() - start
    path = found.to_html(OUTPUT / page)
    print(f"{title}\n{'-' * len(title)}")
    if to_print:
        print(found)
    print(f"-> {path.name}: {seconds:.1f} s, differs from the kernels by {found.verify():.0e}\n")


if __name__ == "__main__":
    OUTPUT.mkdir(exist_ok=True)
    arm = aj.robots.two_link()
    rods = {"m1": "m1", "m2": "m2", "l1": "l", "g": "g"}
    rods |= {"c1": "l/2", "c2": "l/2", "I1zz": "m1*l**2/12", "I2zz": "m2*l**2/12"}
    show("Two uniform rods, Fu, Gonzalez & Lee (1987), 3.2.6", arm, "two_rods.html", symbols=rods)
    show("Two links", arm, "two_link.html", symbols=True)
    show("Two links in inner products", arm, "two_link_factored.html", symbols=True, form="factored")
    show("Waist, shoulder, elbow", aj.robots.park3r(), "park3r.html", symbols=True)
    show("PUMA 560 in inner products", aj.robots.puma560(), "puma560.html", to_print=False, form="factored")
