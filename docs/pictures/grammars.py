"""Draws the pictures of docs/grammars.md: python docs/pictures/grammars.py"""

import numpy as np
from saving import save

from adjoint.drawing.style import CURVES, house_style, new_figure
from adjoint.vision.recognition import Automaton, automaton_of_grammar, derivation, parse_grammar, parse_tree

WRENCH = parse_grammar("S -> aA; A -> bA | bB; B -> c")
INK = "#2b2f36"


def skeleton(axes, word: str, at: float) -> None:
    """The wrench of a sentence: a is a fork with a dot, b a short piece, c a bar that ends in a ring."""
    x = 0.0
    for symbol in word:
        if symbol == "a":
            axes.plot([-1.0, 0, -1.0], [at + 0.35, at, at - 0.35], color=CURVES[0], lw=2)
        elif symbol == "b":
            axes.plot([x, x + 0.5], [at, at], color=CURVES[1], lw=2)
            x += 0.5
        else:
            turn = np.linspace(0, 2 * np.pi, 60)
            axes.plot([x, x + 0.5], [at, at], color=CURVES[2], lw=2)
            axes.plot(x + 0.75 + 0.25 * np.cos(turn), at + 0.25 * np.sin(turn), color=CURVES[2], lw=2)
        axes.plot(x, at, ".", color=INK, ms=7, zorder=4)
    axes.text(5.0, at, word, va="center", family="monospace", fontsize=10)


def state_diagram(axes, automaton: Automaton, places: dict) -> None:
    """States as circles, final ones doubled, and arrows with their symbols."""
    arrows: dict[tuple, list[str]] = {}
    for (q, a), targets in automaton.transitions.items():
        for p in targets:
            arrows.setdefault((q, p), []).append(a)
    for (q, p), symbols in arrows.items():
        here, there = np.array(places[q]), np.array(places[p])
        if q == p:
            turn = np.radians(np.linspace(-50, 230, 40))
            loop = here + np.array([0, 0.42]) + 0.2 * np.stack([np.cos(turn), np.sin(turn)], axis=1)
            axes.plot(*loop.T, color=INK, lw=1.1)
            axes.annotate("", here + np.array([-0.1, 0.27]), loop[-3], arrowprops={"arrowstyle": "-|>", "color": INK})
            axes.text(
                *(here + np.array([0, 0.74])), ",".join(symbols), ha="center", va="center", color=CURVES[0], fontsize=10
            )
            continue
        bend = 0.25 if (p, q) in arrows else 0.0
        style = {"arrowstyle": "-|>", "color": INK, "shrinkA": 15, "shrinkB": 15, "connectionstyle": f"arc3,rad={bend}"}
        axes.annotate("", there, here, arrowprops=style)
        side = np.array([(there - here)[1], -(there - here)[0]]) / np.linalg.norm(there - here)
        spot = (here + there) / 2 + side * (0.13 + 0.5 * bend * np.linalg.norm(there - here))
        axes.text(*spot, ",".join(symbols), ha="center", va="center", color=CURVES[0], fontsize=10)
    for q, place in places.items():
        for ring in (22, 17) if q in automaton.final else (22,):
            axes.plot(*place, "o", ms=ring, mfc="white", mec=INK, mew=1.1)
        axes.text(*place, f"$q_{q}$", ha="center", va="center", fontsize=9.5)
    first = np.array(places[automaton.start])
    axes.annotate(
        "", first - np.array([0.24, 0]), first - np.array([0.62, 0]), arrowprops={"arrowstyle": "-|>", "color": INK}
    )
    axes.set_aspect("equal")
    axes.axis("off")


def strings() -> None:
    """Wrenches, the automaton that accepts them, and the textbook's automaton with three states."""
    figure = new_figure("strings", (10, 2.6), layout="constrained")
    left, middle, right = figure.subplots(1, 3, width_ratios=(1.1, 1.25, 0.75))
    for k, word in enumerate(("abc", "abbc", "abbbbbc")):
        assert derivation(WRENCH, word) is not None
        skeleton(left, word, -1.1 * k)
    left.set(xlim=(-1.2, 7.2), aspect="equal")
    left.axis("off")
    left.set_title("sentences and skeletons", loc="left")
    state_diagram(middle, automaton_of_grammar(WRENCH), {k: (1.15 * k, 0) for k in range(4)})
    middle.set(xlim=(-0.75, 3.8), ylim=(-0.6, 1.0))
    middle.set_title("the automaton of the wrench", loc="left")
    moves = {(0, "a"): 2, (0, "b"): 1, (1, "a"): 2, (1, "b"): 0, (2, "a"): 0, (2, "b"): 1}
    three = Automaton(range(3), "ab", moves, 0, {0})
    state_diagram(right, three, {0: (0, 0), 1: (1.3, -0.75), 2: (1.3, 0.75)})
    right.set(xlim=(-0.75, 1.8), ylim=(-1.15, 1.15))
    right.set_title("three states; λ is accepted", loc="left")
    save(figure, "grammars_strings")


def tree() -> None:
    """A tree of primitives and the structure that it describes: two legs below a body with a ring."""
    found = parse_tree("a(b(b(c(d(d(a)), e(e(a))))))")
    figure = new_figure("tree", (7, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    colours = dict(zip("abcde", CURVES, strict=False))
    moves = {"a": 0.6, "b": 0.8, "d": 0.8, "e": 0.8}

    def draw(node, x, y, p, way):
        if node.label == "c":
            turn = np.linspace(0, 2 * np.pi, 60)
            centre = p + np.array([0, -0.4])
            right.plot(*(centre[:, None] + 0.4 * np.array([np.cos(turn), np.sin(turn)])), color=colours["c"], lw=2)
            ways = np.array([[-0.6, -0.8], [0.6, -0.8]])
            ends = [(centre + 0.4 * w, w) for w in ways]
        else:
            end = p + moves[node.label] * way
            right.plot(*np.stack([p, end]).T, color=colours[node.label], lw=2.2)
            right.plot(*end, ".", color=INK, ms=5, zorder=4)
            ends = [(end, way)] * len(node.children)
        spread = [0.0] if len(node.children) == 1 else [-0.8, 0.8]
        for child, dx, (end, onward) in zip(node.children, spread, ends, strict=False):
            left.plot([x, x + dx], [y, y - 1], color="#8a9099", lw=1, zorder=1)
            draw(child, x + dx, y - 1, end, onward)
        left.plot(x, y, "o", ms=19, mfc="white", mec=colours[node.label], mew=1.6, zorder=2)
        left.text(x, y, node.label, ha="center", va="center", zorder=3)

    draw(found, 0.0, 0.0, np.zeros(2), np.array([0.0, -1.0]))
    for axes, name in ((left, "a tree of the grammar"), (right, "what it describes")):
        axes.set_title(name, loc="left")
        axes.set_aspect("equal")
        axes.axis("off")
        axes.margins(0.12)
    left.set(xlim=(-1.6, 1.6), ylim=(-6.5, 0.6))
    save(figure, "grammars_tree")


if __name__ == "__main__":
    with house_style("grammars"):
        strings()
        tree()
