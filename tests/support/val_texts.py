"""Random programs of VAL, as texts: what the language can say, token soups, and mutations."""

from __future__ import annotations

from pathlib import Path

from hypothesis import strategies as st

from adjoint.program.languages.val.words import FLAGS, VAL_WORDS

PROGRAMS = Path(__file__).parents[2] / "examples" / "programs"
EXAMPLES = {path.stem: path.read_text(encoding="utf-8") for path in sorted(PROGRAMS.glob("*.val"))}
PLACES, NUMBERS = ("FEED", "BIN", "tray.1", "Row_2"), ("I", "J", "COUNT")

_number = st.one_of(
    st.integers(-500, 500).map(str),
    st.floats(-1e4, 1e4, allow_nan=False).map(lambda x: repr(round(x, 3))),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
)
_whole = st.recursive(
    st.one_of(st.integers(-99, 99).map(str), st.sampled_from(NUMBERS)),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*/%"), inner).map(lambda x: f"{x[0]} {x[1]} {x[2]}"),
        inner.map(lambda x: f"({x})"),
        inner.map(lambda x: f"-({x})"),
    ),
    max_leaves=5,
)
_amount = st.one_of(_number, _whole)
_three = st.lists(_amount, min_size=3, max_size=3).map(",".join)
_six = st.lists(_amount, min_size=6, max_size=6).map(",".join)
_place = st.recursive(
    st.one_of(st.sampled_from(PLACES), st.just("HERE"), _three.map("TRANS({})".format), _six.map("TRANS({})".format)),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(":".join),
        inner.map("({})".format),
        inner.map("INVERSE({})".format),
        st.lists(inner, min_size=3, max_size=4).map(lambda x: f"FRAME({','.join(x)})"),
    ),
    max_leaves=4,
)
_joints = st.sampled_from(("#A", "#safe"))
_goal = st.one_of(_place, _joints)
_percent = st.one_of(st.integers(1, 100).map(str), st.floats(0.01, 100).map(repr), st.sampled_from(NUMBERS))
_line = st.tuples(st.sampled_from(("", "-")), st.integers(1, 32)).map(lambda x: f"{x[0]}{x[1]}")
_lines = st.lists(_line, min_size=1, max_size=3).map(",".join)
_always = st.sampled_from(("", " ALWAYS"))
_opening = st.one_of(st.just(""), _amount)
_raw = st.text(st.characters(exclude_categories=("C", "Z")), max_size=12)
_seen = st.characters(exclude_characters='"', exclude_categories=("C", "Zl", "Zp"))
_quoted = st.text(_seen, max_size=12).map('"{}"'.format)
_typed = st.one_of(
    _raw.map(lambda x: x.replace('"', "").replace(";", "")),
    st.lists(_quoted, min_size=1, max_size=2).map(",".join),
    st.tuples(_quoted, _whole).map(",".join),
)
LABELS = ("10", "20", "007", "32767")
_label = st.sampled_from(LABELS)


def _form(pattern: str, *parts):
    return st.tuples(*parts).map(lambda x: pattern.format(*x))


_either = st.sampled_from
lines_of_val = st.one_of(
    _form("{} {}", _either(("MOVE", "MOVES", "move")), _goal),
    _form("{} {},{}", _either(("MOVET", "MOVEST")), _goal, _amount),
    _form("{} {},{}", _either(("APPRO", "APPROS")), _place, _amount),
    _form("{} {}", _either(("DEPART", "DEPARTS")), _amount),
    _form("DRAW {}", _three),
    _form("DRIVE {},{},{}", st.integers(1, 6), _amount, _percent),
    _form("DRIVE {},{}", st.integers(1, 6), _number),
    _form("{}", _either(("READY", "RETURN", "STOP", "TOOL", "BASE", "TYPE", "PAUSE", *FLAGS))),
    _form("DELAY {}", st.integers(0, 9)),
    _form("SPEED {}{}", _percent, _always),
    _form("{} {}", _either(("OPEN", "OPENI", "CLOSE", "CLOSEI")), _opening),
    _form("GRASP {},{}", _amount, _label),
    _form("GRASP {}", _amount),
    _form("HERE {}", _either((*PLACES, "#A"))),
    _form("HERE {}:{}", _either(PLACES), _either(PLACES)),
    _form("SET {} = {}", _either(PLACES), _place),
    _form("SET #A = {}", _joints),
    _form("INVERSE {} = {}", _either(PLACES), _place),
    _form("FRAME {0} = {1},{0},{2}", _either(PLACES), _place, _place),
    _form("POINT {} = {}", _either(PLACES), _six),
    _form("POINT #A = {}", _six),
    _form("SHIFT {} BY {}", _either(PLACES), _three),
    _form("TOOL {}", _place),
    _form("BASE {},{}", _three, _amount),
    _form("BASE {}", _either(PLACES)),
    _form("SETI {} = {}", _either(NUMBERS), _whole),
    _form("TYPEI {}", _either(NUMBERS)),
    _form("TYPE {}", _typed),
    _form("PAUSE {}", _typed.filter(lambda x: not x.startswith('"') or (x.count('"') == 2 and x.endswith('"')))),
    _form("REMARK {}", _raw),
    _form("IF {} {} {} THEN {}", _whole, _either(("EQ", "NE", "LT", "GT", "LE", "GE", "<")), _whole, _label),
    _form("IFSIG {} THEN {}", _lines, _label),
    _form("GOTO {}", _label),
    _form("GOSUB {}", _either(("10", "SUB", "sub2"))),
    _form("SIGNAL {}", _lines),
    _form("WAIT {}", _lines),
    _form("{} {},SUB{}", _either(("REACT", "REACTI")), _line, _always),
    _form("IGNORE {}", _line),
    st.just(""),
)
_comment = st.one_of(st.just(""), st.just(""), _raw.map(" ;{}".format))


@st.composite
def bodies(draw):
    """Lines with labels and comments; all labels are there."""
    lines = [line + draw(_comment) for line in draw(st.lists(lines_of_val, max_size=8))]
    lines += draw(st.permutations([f"{label} READY" for label in LABELS]))
    return "\n".join(lines)


@st.composite
def programs_of_val(draw):
    """Texts of all layouts: lines alone, programs between .PROGRAM and .END, and both."""
    parts = [draw(bodies()) for _ in range(draw(st.integers(1, 3)))]
    outside = draw(st.booleans())
    texts = [parts[0]] if outside else [f".PROGRAM main\n{parts[0]}\n.END"]
    texts += [f".PROGRAM part{k}\n{part}\n.END ; end" for k, part in enumerate(parts[1:])]
    if outside:
        texts = draw(st.permutations(texts))
    return "\n".join(texts)


WORDS = [
    *VAL_WORDS,
    *PLACES,
    *NUMBERS,
    "#A",
    *LABELS,
    *",:=()+-*/%<>;\n\n\n",
    '"',
    '"a"',
    "2.5",
    "1e99",
    "1e999",
    "\t",
    "é",
]
