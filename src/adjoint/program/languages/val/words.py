"""The words of VAL: what each instruction does, and how it is written."""

from __future__ import annotations

__all__ = ["VAL_WORDS"]

_ROWS: dict[str, tuple[str, str]] = {
    "MOVE": ("MOVE location", "The joints move the tool to a location. MOVE BIN"),
    "MOVES": ("MOVES location", "The tool moves to a location on a straight line. MOVES BIN"),
    "MOVET": ("MOVET location,opening", "The joints move to a location, and meanwhile the fingers to an opening [mm]."),
    "MOVEST": ("MOVEST location,opening", "Like MOVET, on a straight line. MOVEST FEED,40"),
    "APPRO": (
        "APPRO location,distance",
        "The joints move to the point this distance [mm] before a location, along the -Z axis of the location.",
    ),
    "APPROS": ("APPROS location,distance", "Like APPRO, on a straight line. APPROS FEED,50"),
    "DEPART": ("DEPART distance", "The joints move the tool back by a distance [mm] along its own -Z axis. DEPART 50"),
    "DEPARTS": ("DEPARTS distance", "Like DEPART, on a straight line. DEPARTS 50"),
    "DRAW": ("DRAW dx,dy,dz", "The tool moves straight by distances [mm] along axes of the station. DRAW 0,0,25"),
    "DRIVE": (
        "DRIVE joint,change,speed",
        "One joint moves by an angle [deg] or a distance [mm], at a percentage of the full speed. DRIVE 4,-30,50",
    ),
    "READY": ("READY", "The six joints of a PUMA move to (0, -90, 90, 0, 0, 0) degrees: the arm stands upright."),
    "DELAY": ("DELAY seconds", "The program waits for a time [s]. DELAY 0.5"),
    "SPEED": (
        "SPEED percent ALWAYS",
        "The speed of the next move as a percentage of the full speed; with ALWAYS, that of all further moves.",
    ),
    "OPEN": ("OPEN opening", "The fingers open [mm], and the program goes on meanwhile. Alone: wide."),
    "OPENI": ("OPENI opening", "The fingers open [mm], and the program waits until they rest. OPENI 40"),
    "CLOSE": ("CLOSE opening", "The fingers close [mm], and the program goes on meanwhile."),
    "CLOSEI": ("CLOSEI opening", "The fingers close [mm], and the program waits until they rest. CLOSEI"),
    "GRASP": (
        "GRASP opening,label",
        "The fingers close. If less than the opening [mm] is left between them, they hold nothing: the program goes to "
        "the label, or fails if there is none. GRASP 20,90",
    ),
    "HERE": ("HERE location", "A location becomes the pose of the tool now; #NAME becomes the angles of the joints."),
    "SET": ("SET location = location:location", "A location becomes a product. SET BIN = TRAY:TRANS(60,0,0)"),
    "INVERSE": ("INVERSE(location)", "The inverse of a location. SET PART = INVERSE(CAMERA):SEEN"),
    "FRAME": (
        "FRAME(a,b,c,origin)",
        "The frame with the x axis from a to b, c on the side of its y axis, and the position of origin (or of a).",
    ),
    "TRANS": (
        "TRANS(x,y,z,o,a,t)",
        "The location of a position [mm] and angles O, A and T [deg]; TRANS(x,y,z) shifts and does not turn.",
    ),
    "POINT": (
        "POINT location = x,y,z,o,a,t",
        "A location gets a position [mm] and angles O, A and T [deg]; #NAME gets the angles of the joints [deg].",
    ),
    "SHIFT": ("SHIFT location BY dx,dy,dz", "A location moves [mm] along axes of the station. SHIFT BIN BY 60,0,0"),
    "TOOL": ("TOOL location", "Locations are now poses of this frame of the flange; TOOL alone is the arm's own tool."),
    "BASE": (
        "BASE dx,dy,dz,angle",
        "Locations are now seen from a frame with this origin [mm] that is turned about Z [deg]; BASE alone undoes it.",
    ),
    "SETI": ("SETI variable = expression", "A variable gets a whole number, with + - * / %. SETI I = I + 1"),
    "TYPEI": ("TYPEI variable", "The value of a variable is shown. TYPEI N"),
    "TYPE": ("TYPE text", 'A text is shown; TYPE "N =",N shows texts and numbers. TYPE TRAY FULL'),
    "REMARK": ("REMARK text", "A comment, like what follows a semicolon."),
    "IF": ("IF a EQ b THEN label", "The program goes to a label if EQ, NE, LT, GT, LE or GE holds. IF I LT 3 THEN 20"),
    "IFSIG": ("IFSIG line,-line THEN label", "The program goes to a label if lines are on or off (-). IFSIG 3 THEN 50"),
    "GOTO": ("GOTO label", "The program goes on at a label. GOTO 10"),
    "GOSUB": ("GOSUB program", "Another program of the file, or the lines at a label, run up to RETURN. GOSUB PLACE"),
    "RETURN": ("RETURN", "The program, or the lines, that GOSUB called end."),
    "SIGNAL": ("SIGNAL line,-line", "Output lines go on, or off (-). SIGNAL 1,-2"),
    "WAIT": ("WAIT line,-line", "The program waits until input lines are on, or off (-). WAIT 3,-4"),
    "REACT": (
        "REACT line,program ALWAYS",
        "When an input line goes on, or off (-), a program runs after the move under way; with ALWAYS, every time.",
    ),
    "REACTI": ("REACTI line,program ALWAYS", "Like REACT, but the arm brakes at once. REACTI 5,RESCUE"),
    "IGNORE": ("IGNORE line", "REACT or REACTI to an input line ends. IGNORE 5"),
    "LEFTY": ("LEFTY", "From the next move on, the arm is like a left arm."),
    "RIGHTY": ("RIGHTY", "From the next move on, the arm is like a right arm."),
    "ABOVE": ("ABOVE", "From the next move on, the elbow is above the line from shoulder to wrist."),
    "BELOW": ("BELOW", "From the next move on, the elbow is below the line from shoulder to wrist."),
    "FLIP": ("FLIP", "From the next move on, joint 5 is negative, and the wrist is turned over."),
    "NOFLIP": ("NOFLIP", "From the next move on, joint 5 is positive."),
    "PAUSE": ("PAUSE text", "The program stops, shows a text, and can go on. PAUSE FILL THE FEEDER"),
    "STOP": ("STOP", "The program ends."),
    ".PROGRAM": (".PROGRAM name", "A program of the file begins; the first is the main one if nothing stands outside."),
    ".END": (".END", "A program that began with .PROGRAM ends."),
    "BY": ("SHIFT location BY dx,dy,dz", "It stands before the distances of SHIFT."),
    "THEN": ("IF a EQ b THEN label", "It stands before the label of IF and IFSIG."),
    "ALWAYS": ("SPEED percent ALWAYS", "SPEED, REACT or REACTI holds from now on, not only once."),
    "EQ": ("IF a EQ b THEN label", "a is equal to b."),
    "NE": ("IF a NE b THEN label", "a is not equal to b."),
    "LT": ("IF a LT b THEN label", "a is less than b."),
    "GT": ("IF a GT b THEN label", "a is greater than b."),
    "LE": ("IF a LE b THEN label", "a is at most b."),
    "GE": ("IF a GE b THEN label", "a is at least b."),
}  # fmt: skip

VAL_WORDS: dict[str, str] = {word: f"{form}: {text}" for word, (form, text) in _ROWS.items()}
"""{word of VAL: its form, and one or two sentences about it}."""

FORMS = {word: form for word, (form, _) in _ROWS.items()}

# Words of Unimation's manuals that have no meaning here, with what to write instead.
ELSEWHERE = {
    "ALIGN": "the angles of a location turn the tool",
    "COARSE": "moves end at their goals here; leave it out",
    "ENABLE": "there are no switches here; leave it out",
    "DISABLE": "there are no switches here; leave it out",
    "FINE": "moves end at their goals here; leave it out",
    "GO": "write MOVE",
    "HALT": "write STOP",
    "INTOFF": "there are no errors of position to integrate here; leave it out",
    "INTON": "there are no errors of position to integrate here; leave it out",
    "NEST": "READY, or a precision point, takes the arm to its place of rest",
    "NONULL": "moves end at their goals here; leave it out",
    "NULL": "moves end at their goals here; leave it out",
    "RELAX": "write OPEN",
    "RELAXI": "write OPENI",
    "EXECUTE": "programs are started from Python, or by adjoint program run",
    "CALL": "write GOSUB",
    "PROMPT": "programs cannot ask for input",
    "WHILE": "loops are IF ... THEN label",
    "FOR": "loops are IF ... THEN label",
    "ELSE": "branches are IF ... THEN label",
    "END": "a program ends with .END",
}
RELATIONS = {
    "EQ": "=", "NE": "<>", "LT": "<", "GT": ">", "LE": "<=", "GE": ">=",
    "=": "=", "==": "=", "<>": "<>", "<": "<", ">": ">", "<=": "<=", ">=": ">=",
}  # fmt: skip
FLAGS = ("LEFTY", "RIGHTY", "ABOVE", "BELOW", "FLIP", "NOFLIP")
# Words with a meaning inside instructions, so that no variable has their names; NILROT has one inside expressions, and
# TYPE, PAUSE and REMARK take what follows them as a text.
RESERVED = frozenset(
    (
        "HERE",
        "INVERSE",
        "FRAME",
        "TRANS",
        "BY",
        "THEN",
        "ALWAYS",
        "NILROT",
        "TYPE",
        "PAUSE",
        "REMARK",
        *FLAGS,
        *RELATIONS,
    )
)
