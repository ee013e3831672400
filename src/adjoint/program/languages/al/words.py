"""The words of AL: what they mean, for hover and completion, and sets of them that parser and printer share."""

from __future__ import annotations

from ...instructions.value_types import (
    ACCELERATION,
    ANGLE,
    BOOLEAN,
    EVENT,
    FORCE,
    FRAME,
    JOINTS,
    LENGTH,
    NUMBER,
    ROTATION,
    SPEED,
    TEXT,
    TIME,
    TORQUE,
    TURNING,
    Type,
    scalar,
)

__all__ = ["AL_WORDS"]

AL_WORDS: dict[str, str] = {
    "BEGIN": "Begins a block, which ends with END and is one statement. A program is BEGIN name ... END name.",
    "END": "Ends the block that BEGIN began; the name of a program stands behind it: END insertion.",
    "COBEGIN": "Begins statements that run at the same time; COEND waits for all: COBEGIN a; b; COEND",
    "COEND": "Ends statements that run at the same time.",
    "MOVE": "An arm, or a frame that it holds, moves: MOVE barm TO bolt_grasp VIA A WITH APPROACH = -Z WRT feeder",
    "TO": "Says where a move, a hand or an affixment goes: MOVE barm TO A, OPEN bhand TO 2*inches.",
    "VIA": "Frames that a move passes without a stop: MOVE barm TO C VIA A, B",
    "DIRECTLY": "The move is straight: MOVE barm TO beam_bore DIRECTLY",
    "AVOIDING": "The move is planned around what is in its way: MOVE barm TO C AVOIDING",
    "NONSTOP": "The next move begins without a stop: MOVE barm TO A NONSTOP",
    "WITH": "Adds APPROACH, DEPARTURE, DURATION, SPEED_FACTOR, FORCE, TORQUE or FORCE_FRAME to a move.",
    "APPROACH": "The direction in which a move ends, straight: WITH APPROACH = -Z WRT feeder comes from above.",
    "DEPARTURE": "The direction in which a move begins, straight: WITH DEPARTURE = Z WRT feeder",
    "DURATION": "The time that a move takes: WITH DURATION = 5*seconds",
    "SPEED_FACTOR": "A fraction of the full speed, of a move (WITH SPEED_FACTOR = 0.2) or of all (SPEED_FACTOR ← 0.5).",
    "FORCE": "What pushes the hand along an axis: ON FORCE(Z) > 10*ounces DO STOP. WITH FORCE(Z) = f exerts it.",
    "TORQUE": "What twists the hand about an axis: TORQUE(Z). WITH TORQUE(Z) = 0*'in-lbf' complies.",
    "FORCE_FRAME": "The frame whose axes FORCE and TORQUE of a move mean; the station's by default.",
    "ON": 'Asks a condition at every moment of a move: ON FORCE(Z) > 10*ounces DO ABORT("No hole")',
    "NOSTOP": 'The move goes on while the body of ON runs: ON FORCE(Z) > 1*ounces NOSTOP DO PRINT("touched")',
    "INTERRUPT": "Moves brake at once when the condition of ON becomes true: alarm: ON INPUT(3) INTERRUPT DO STOP",
    "REPEATEDLY": "The monitor ON runs whenever its condition becomes true, not only the first time.",
    "ENABLE": "Not part of this AL: write the ON statement where the monitor shall begin.",
    "DISABLE": "Ends a monitor: DISABLE alarm",
    "WRT": "A vector along the axes of a frame: Z WRT feeder. WRT binds tighter than the minus of -Z WRT feeder.",
    "HERE": "Where the arm is now, as ⊗ and ⊕: MOVE barm TO HERE - 1*Z*inches. HERE(barm) names the arm.",
    "GRINCH": "The sign ⊗ in letters: where the arm is now.",
    "OPEN": "A hand opens: OPEN bhand TO 2.5*inches, or as far as it goes: OPEN bhand",
    "CLOSE": "A hand closes: CLOSE bhand TO 0.4*inches. Fingers that meet a part stop; bhand then reads their width.",
    "NOWAIT": "The next statement begins while the fingers move: OPEN bhand NOWAIT",
    "AFFIX": "Attaches a frame to another, or to an arm: AFFIX bolt_tip TO barm AT TRANS(...) RIGIDLY",
    "UNFIX": "Ends an affixment: UNFIX bolt_tip FROM barm",
    "LOCATE": "A camera looks for a part, which then is where it is seen: LOCATE block WITH eye INTO seen. It is ours.",
    "INTO": "Names the truth value that tells whether a camera has seen a part: LOCATE block WITH eye INTO seen",
    "AT": "Where the child is in its parent: AFFIX bore TO beam AT TRANS(nilrot, VECTOR(0, 2, 3)*inches)",
    "FROM": "Names the parent: UNFIX bolt_tip FROM barm",
    "RIGIDLY": "Moving either frame moves both: AFFIX bore TO beam RIGIDLY",
    "NONRIGIDLY": "The parent carries the child, but not the child the parent. It is so without a word, too.",
    "CONDITIONALLY": "The child stays on its parent by gravity alone.",
    "SCALAR": "Declares numbers: SCALAR tries; DISTANCE SCALAR depth; SCALAR ARRAY heights[1:3]",
    "VECTOR": "Makes or declares vectors: VECTOR(20, 0, 15)*inches; DISTANCE VECTOR offset",
    "ROT": "A rotation about an axis: ROT(Z, 90*deg)",
    "FRAME": "A place, from a rotation and a position: FRAME(nilrot, VECTOR(25, 20, 0)*inches)",
    "TRANS": "A place seen from another: feeder * TRANS(nilrot, VECTOR(0, 0, 1)*inches)",
    "EVENT": "Declares semaphores: EVENT full; SIGNAL full; WAIT full",
    "STRING": "Declares texts: STRING message",
    "BOOLEAN": "Declares truth values: BOOLEAN grasped",
    "JOINTS": "Declares configurations of an arm; JOINTS(barm) is the present one.",
    "ARRAY": "Declares lists, with first and last index: FRAME ARRAY bins[1:9]; bins[3]",
    "DIMENSIONLESS": "A number without unit: DIMENSIONLESS SCALAR tries. It is so without a word, too.",
    "DISTANCE": "A length: DISTANCE SCALAR depth; DISTANCE VECTOR offset",
    "ANGLE": "An angle: ANGLE SCALAR turn",
    "TIME": "A time: TIME SCALAR wait_for",
    "MASS": "A mass: MASS SCALAR m1",
    "VELOCITY": "A speed: VELOCITY SCALAR v1",
    "ANGULAR_VELOCITY": "A rate of turning: ANGULAR_VELOCITY SCALAR w1",
    "ACCELERATION": "An acceleration: ACCELERATION SCALAR a1",
    "PROCEDURE": "Defines a procedure: PROCEDURE put(FRAME place; SCALAR n); BEGIN ... END",
    "VALUE": "A parameter is handed over by value, as all are.",
    "RETURN": "Ends a procedure, with its value: RETURN(2*n)",
    "IF": "IF bhand < bolt_diameter THEN ... ELSE ...; no ';' stands before ELSE.",
    "THEN": "What happens if the condition of IF holds.",
    "ELSE": "What happens if the condition of IF does not hold, or no number of CASE fits.",
    "WHILE": "Repeats a statement as long as a condition holds: WHILE n < 3 DO n ← n + 1",
    "DO": "Begins a loop that ends with UNTIL, or the statement of WHILE, FOR and ON.",
    "UNTIL": "Ends DO ... UNTIL grasped OR tries > 3; in FOR: the last value.",
    "FOR": "FOR i ← 1 STEP 1 UNTIL 9 DO ... runs with each value, the last one too.",
    "STEP": "How far FOR counts at once; 1 without it.",
    "CASE": "Chooses by a number: CASE n OF BEGIN [1] a; [2, 3] b; ELSE c; END",
    "OF": "Stands behind the number of CASE.",
    "SIGNAL": "Counts a semaphore up: SIGNAL full",
    "WAIT": "Waits for a semaphore: WAIT full; or for a condition: WAIT UNTIL INPUT(3)",
    "OUTPUT": "An output line goes on or off: OUTPUT 3 ON; OUTPUT 3 OFF",
    "OFF": "Says that an output line goes off: OUTPUT 3 OFF",
    "INPUT": "Whether an input line is on: INPUT(3)",
    "SENSOR": 'The reading of a sensor by its name: SENSOR("range")',
    "WIDTH": "How far apart the fingers are: WIDTH(bhand), or simply bhand.",
    "JOINT": "The value of a joint by its number: JOINT(3)",
    "DONE": "Whether an arm rests: DONE(barm)",
    "ABORT": 'Everything stops, and the program has failed: ABORT("No hole")',
    "PRINT": 'Shows values: PRINT("tries: ", tries)',
    "PAUSE": "Waits: PAUSE 2*seconds. PAUSE alone, or with a text, waits for the user.",
    "PROMPT": 'Waits for the user: PROMPT("tray in place?")',
    "STOP": "Ends the program; as the statement of ON it ends the move alone.",
    "AND": "Both conditions hold.",
    "OR": "One of the conditions holds, or both.",
    "NOT": "The condition does not hold: NOT grasped",
    "MOD": "The rest of a division: n MOD 3",
    "TRUE": "The truth value true.",
    "FALSE": "The truth value false.",
    "nilrot": "The rotation by no angle: ROT(Z, 0*deg).",
    "nilvect": "The vector VECTOR(0, 0, 0)*inches.",
    "niltrans": "The frame that changes nothing: TRANS(nilrot, nilvect).",
    "station": "The frame of the station, in which all frames are given.",
    "X": "The unit vector along x.",
    "Y": "The unit vector along y.",
    "Z": "The unit vector along z.",
    "barm": "The blue arm; if the world has one robot, that one. Its hand is bhand.",
    "bhand": "The hand of barm; as a number it is the width between the fingers.",
    "inches": "A length of 25.4 mm: 2.5*inches",
    "deg": "A degree: 90*deg",
    "ounces": "A force of 0.27801 N: 10*ounces",
    "seconds": "A second: 5*seconds",
}
"""What the words of AL mean, with an example of each: editors show it."""

STATEMENTS = (
    "ABORT", "AFFIX", "BEGIN", "CASE", "CLOSE", "COBEGIN", "DISABLE", "DO", "FOR", "IF", "LOCATE", "MOVE", "ON", "OPEN",
    "OUTPUT", "PAUSE", "PRINT", "PROCEDURE", "PROMPT", "RETURN", "SIGNAL", "STOP", "UNFIX", "WAIT", "WHILE",
)  # fmt: skip
"""Words that begin statements; words of types begin declarations."""

KINDS: dict[str, Type] = {
    "SCALAR": NUMBER, "VECTOR": Type("vector"), "ROT": ROTATION, "FRAME": FRAME, "TRANS": FRAME, "EVENT": EVENT,
    "STRING": TEXT, "BOOLEAN": BOOLEAN, "JOINTS": JOINTS,
}  # fmt: skip
"""The types of declarations. As in AL itself, numbers and vectors have no unit unless a word of `POWERS` says so."""

POWERS: dict[str, tuple[int, int, int, int]] = {
    "DIMENSIONLESS": NUMBER.dimension, "DISTANCE": LENGTH.dimension, "ANGLE": ANGLE.dimension, "TIME": TIME.dimension,
    "MASS": scalar(kg=1).dimension, "FORCE": FORCE.dimension, "TORQUE": TORQUE.dimension, "VELOCITY": SPEED.dimension,
    "ANGULAR_VELOCITY": TURNING.dimension, "ACCELERATION": ACCELERATION.dimension,
}  # fmt: skip
"""The units of declared numbers and vectors: DISTANCE SCALAR depth."""

RESERVED = frozenset(STATEMENTS) | frozenset(
    """END COEND TO VIA WITH WRT THEN ELSE UNTIL STEP OF AND OR NOT MOD TRUE FALSE HERE GRINCH DIRECTLY AVOIDING NONSTOP
    SCALAR EVENT STRING BOOLEAN ARRAY""".split()
)
"""Words that are no names of variables, in whatever case."""

READINGS = {"FORCE": "force", "TORQUE": "torque", "WIDTH": "width", "JOINT": "joints", "SENSOR": "sensor",
            "INPUT": "signal", "DONE": "done"}  # fmt: skip
"""Functions that read sensors, and the kinds of `Reading` that they are."""

OPERATORS: dict[str, tuple[int, str]] = {
    "OR": (1, "or"), "∨": (1, "or"), "AND": (2, "and"), "∧": (2, "and"),
    "<": (4, "<"), "<=": (4, "<="), "≤": (4, "<="), ">": (4, ">"), ">=": (4, ">="), "≥": (4, ">="), "=": (4, "="),
    "<>": (4, "<>"), "≠": (4, "<>"), "+": (5, "+"), "-": (5, "-"), "*": (6, "*"), "/": (6, "/"), "MOD": (6, "mod"),
}  # fmt: skip
"""{sign: (precedence, operator of `Binary`)}; NOT has the precedence 3, the minus of one value 7, WRT 8."""

SIGNS = ("<=", ">=", "<>", ":=", "←", "⊗", "⊕", "≤", "≥", "≠", "∧", "∨", "¬", *"<>=+-*/()[],;:.")
"""All operators and separators, longer ones first."""
