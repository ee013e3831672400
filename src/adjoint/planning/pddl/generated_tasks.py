"""Tasks of any size: random towers of blocks, the towers of Hanoi, and deliveries with costs."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

import numpy as np

from ...errors import ArgumentError
from ...randomness import Rng, generator, rng_by_keyword
from ..strips.task_types import OBJECT, Condition, Domain, Fact, Problem
from .book_tasks import book_text
from .task_reader import read_domain

__all__ = ["blocks_task", "delivery_task", "hanoi_task"]

_MOST = 10_000  # blocks, discs or parcels

_DELIVERY = """
(define (domain delivery)
  (:requirements :strips :typing :negative-preconditions :equality :action-costs)
  (:types place thing - object truck parcel - thing depot shop - place)
  (:predicates (at ?x - thing ?p - place) (in ?x - parcel ?t - truck) (full ?t - truck))
  (:functions (total-cost) (distance ?a ?b - place) - number)
  (:action drive
    :parameters (?t - truck ?a ?b - place)
    :precondition (and (at ?t ?a) (not (= ?a ?b)))
    :effect (and (not (at ?t ?a)) (at ?t ?b) (increase (total-cost) (distance ?a ?b))))
  (:action load
    :parameters (?x - parcel ?t - truck ?p - place)
    :precondition (and (at ?x ?p) (at ?t ?p) (not (full ?t)))
    :effect (and (not (at ?x ?p)) (in ?x ?t) (full ?t) (increase (total-cost) 1)))
  (:action unload
    :parameters (?x - parcel ?t - truck ?p - place)
    :precondition (and (in ?x ?t) (at ?t ?p))
    :effect (and (not (in ?x ?t)) (not (full ?t)) (at ?x ?p) (increase (total-cost) 1))))
"""


@lru_cache
def _domain(name: str) -> Domain:
    return read_domain(_DELIVERY if name == "delivery" else book_text(name))


@rng_by_keyword
def blocks_task(n: int, *, rng: Rng = 0) -> Problem:
    """A task with `n` blocks, in random towers at first and in other random towers at the end.

        >>> blocks_task(5)
        <Problem blocks-5 of fgl: 5 objects, ... facts, goal ...>

    The towers are a random order of the blocks, cut at random places; the goal says where every block is. The domain is
    that of `book_task("blocks")`. Reference: Fu, Gonzalez & Lee (1987), Sec. 10.6.
    """
    n, random = _size(n, "blocks_task", "blocks"), generator(rng, "blocks_task")
    blocks = [f"b{k}" for k in range(1, n + 1)]
    first, last = _towers(blocks, random), _towers(blocks, random)
    clear = [("clear", tower[-1]) for tower in first]
    initial = frozenset([*_places(first), *clear, ("handempty",)])
    goal = Condition(tuple(_places(last)))
    return Problem(f"blocks-{n}", _domain("blocks"), dict.fromkeys(blocks, "block"), initial, goal)


def _towers(blocks: list[str], random: np.random.Generator) -> list[list[str]]:
    """All blocks in random towers, each from the bottom to the top."""
    order = random.permutation(len(blocks))
    cuts = random.random(len(blocks)) < 0.3
    towers: list[list[str]] = []
    for k, cut in zip(order, cuts, strict=True):
        if cut or not towers:
            towers.append([])
        towers[-1].append(blocks[k])
    return towers


def _places(towers: Iterable[list[str]]) -> list[Fact]:
    """Where every block is: on the table or on another one."""
    places: list[Fact] = []
    for tower in towers:
        places += [("ontable", tower[0]), *(("on", upper, lower) for lower, upper in pairwise(tower))]
    return places


def hanoi_task(n: int) -> Problem:
    """The task to bring a tower of `n` discs from peg pa to peg pc; its shortest plan has 2ⁿ - 1 moves.

        >>> hanoi_task(3).goal
        Condition: (on d3 pc), (on d2 d3), (on d1 d2)

    Disc d1 is the smallest. Reference: Fu, Gonzalez & Lee (1987), Probs. 9.7 and 9.8.
    """
    n = _size(n, "hanoi_task", "discs")
    pegs, discs = ["pa", "pb", "pc"], [f"d{k}" for k in range(1, n + 1)]
    smaller = {("smaller", disc, other) for k, disc in enumerate(discs) for other in (*discs[k + 1 :], *pegs)}
    tower = [("on", upper, lower) for upper, lower in pairwise(discs)]
    free = {("clear", x) for x in (discs[0], "pb", "pc")}
    goal = Condition((("on", discs[-1], "pc"), *reversed(tower)))
    initial = frozenset({*smaller, *tower, *free, ("on", discs[-1], "pa")})
    return Problem(f"hanoi-{n}", _domain("hanoi"), dict.fromkeys([*pegs, *discs], OBJECT), initial, goal)


@rng_by_keyword
def delivery_task(parcels: int, shops: int = 3, trucks: int = 1, *, rng: Rng = 0) -> Problem:
    """A task to bring parcels from a depot to shops, with trucks for one parcel each and costs of the ways.

        >>> task = delivery_task(2)
        >>> task.minimise, task.domain.operator("drive").cost
        (True, ('distance', '?a', '?b'))

    Shops and the depot are at random points of a square, with distances rounded up to whole numbers, so that no detour
    is shorter than the direct way. Types, negative conditions, equality and costs are all used.
    """
    sizes = zip((parcels, shops, trucks), ("parcels", "shops", "trucks"), strict=True)
    parcels, shops, trucks = (_size(n, "delivery_task", what) for n, what in sizes)
    random = generator(rng, "delivery_task")
    objects = {"home": "depot"} | {f"shop{k + 1}": "shop" for k in range(shops)}
    places = list(objects)
    objects |= {f"truck{k + 1}": "truck" for k in range(trucks)} | {f"parcel{k + 1}": "parcel" for k in range(parcels)}
    points = random.uniform(0, 20, (len(places), 2))
    distances = np.ceil(np.linalg.norm(points[:, None] - points, axis=-1))
    costs: dict[Fact, float] = {
        ("distance", a, b): float(distances[i, j]) for i, a in enumerate(places) for j, b in enumerate(places)
    }
    things = list(objects)[len(places) :]
    initial = frozenset(("at", thing, "home") for thing in things)
    to = random.integers(1, len(places), parcels)
    goal = Condition(tuple(("at", thing, places[k]) for thing, k in zip(things[trucks:], to, strict=True)))
    return Problem(f"delivery-{parcels}", _domain("delivery"), objects, initial, goal, costs, minimise=True)


def _size(n, who: str, what: str) -> int:
    try:
        size = operator.index(n)
    except TypeError:
        size = 0
    if not 1 <= size <= _MOST:
        raise ArgumentError(f"{who}: the number of {what} must be between 1 and {_MOST}, got {n!r}")
    return size
