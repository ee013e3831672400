"""AL programs of the tests: the statements of Fu, Gonzalez & Lee (1987), Tables 9.2-9.7 and Sec. 9.3, and our own."""

from pathlib import Path

FOLDER = Path(__file__).parents[2] / "examples" / "programs"

TABLES = {
    "table 9.2": """
        base ← FRAME(nilrot, VECTOR(20, 0, 15)*inches);
        beam ← FRAME(ROT(Z, 90*deg), VECTOR(20, 15, 0)*inches);
        feeder ← FRAME(nilrot, VECTOR(25, 20, 0)*inches);
    """,
    "table 9.3": """
        T6 ← base * TRANS(ROT(X, 180*deg), VECTOR(15, 0, 0)*inches);
        E ← T6 * TRANS(nilrot, VECTOR(0, 0, 5)*inches);
        bolt_tip ← feeder * TRANS(nilrot, nilvect);
        bolt_grasp ← bolt_tip * TRANS(nilrot, VECTOR(0, 0, 1)*inches);
        beam_bore ← beam * TRANS(nilrot, VECTOR(0, 2, 3)*inches);
    """,
    "table 9.4": """
        { with a stop at A }
        MOVE barm TO A;
        MOVE barm TO bolt_grasp;
        { without one }
        MOVE barm TO bolt_grasp VIA A;
        { relative }
        MOVE barm TO ⊗ - 1*Z*inches;
    """,
    "table 9.5": """
        { up from the feeder, slowly }
        MOVE barm TO A
        WITH DEPARTURE = Z WRT feeder
        WITH DURATION = 5*seconds;
        OPEN bhand TO 2.5*inches;
    """,
    "table 9.6": """
        { is there a hole? }
        MOVE barm TO ⊕ - 1*Z*inches ON FORCE(Z) > 10*ounces
            DO ABORT("No Hole");
        { press, and give way sideways }
        MOVE barm TO beam_bore
        WITH FORCE(Z) = - 10*ounces WITH FORCE(X) = 0*ounces
        WITH FORCE(Y) = 0*ounces WITH DURATION = 3*seconds;
    """,
    "section 9.3.1": """
        AFFIX beam_bore TO beam RIGIDLY;
        beam_bore = FRAME(nilrot, VECTOR(1,0,0)*inches);
    """,
    "section 9.3.2": """
        AFFIX bolt_tip TO barm;
        MOVE bolt_tip TO beam_bore;
    """,
    "table 9.7": (FOLDER / "insertion_as_printed.al").read_text(encoding="utf-8"),
}
"""The statements of the book's tables, in our own layout."""

PROBLEM_9_1 = {
    "shifted along the axes of the block": "grasp ← block * TRANS(ROT(Y, 65*deg), VECTOR(4, 6, 0)*inches);",
    "shifted along the turned axes": (
        "grasp ← block * TRANS(ROT(Y, 65*deg), nilvect) * TRANS(nilrot, VECTOR(4, 6, 0)*inches);"
    ),
}
"""Both readings of Prob. 9.1."""

EVERYTHING = """
{ every statement of the language,
  and a comment of two lines }
BEGIN everything
    SCALAR i, n; DISTANCE SCALAR depth; VECTOR v; ROT turned; FRAME f; TRANS g; STRING text; BOOLEAN found;
    EVENT ready, full;
    FRAME ARRAY bins, trays[1:9];
    SCALAR list[0:n + 1], plain;
    SPEED_FACTOR ← 0.5;
    PROCEDURE put(FRAME place; SCALAR count, VALUE more; anything);
    BEGIN
        MOVE barm TO place; RETURN;
    END put;
    SCALAR PROCEDURE twice(SCALAR x); RETURN(2*x);
    FORCE SCALAR PROCEDURE limit; RETURN 10*ounces;
    n := 3; i <- n; i = -n; list[i + 1] ← -1.5e-3;
    depth ← 3*mm + 0.5*inches - 1*in; m ← 2; s ← m*1*'m' + 4*'m/s'*5*seconds;
    v ← -Z WRT f; v ← (X + Y) WRT (f*g) WRT station;
    found ← NOT (n < 3 AND n >= 1 OR n <> 2) AND n ≤ 4 ∨ ¬ true;
    i ← n MOD 2/3*4 - (5 - 6) - 7; i ← -(2) - -2 - (-n)*-3;
    text ← "say ""hello"" to it";
    IF found THEN i ← 1 ELSE IF n = 2 THEN i ← 2 ELSE BEGIN i ← 3; n ← 4 END;
    IF found THEN BEGIN IF n > 1 THEN put(f, 1, 2, 3) END ELSE;
    WHILE n < 10 DO n ← n + 1;
    FOR i ← 1 STEP 2 UNTIL 9 DO PRINT("bin ", i, bins[i]);
    FOR i ← 1 UNTIL 3 DO BEGIN { nothing } END;
    DO n ← n - 1; UNTIL n = 0;
    CASE n OF BEGIN [0] STOP; [1, 2] BEGIN PAUSE; put(f, n, n, n) END; { else } ELSE PAUSE "look"; END;
    CASE n OF BEGIN i ← 0; i ← 1 END;
    COBEGIN
        BEGIN SIGNAL ready; MOVE barm TO f END;
        { the other arm }
        BEGIN WAIT ready; MOVE yarm TO f VIA f, g END;
        OPEN yhand;
    COEND;
    MOVE barm TO f*g VIA bins[1], bins[2] DIRECTLY AVOIDING NONSTOP
        WITH APPROACH = -3*Z*inches WITH DEPARTURE = VECTOR(0, 0, 5)*cm WITH DURATION = 2*sec
        WITH SPEED_FACTOR = 0.2 WITH FORCE_FRAME = f WITH FORCE(z) = 0*ounces WITH TORQUE(XHAT) = 1*'in-lbf'
        ON FORCE(Z, barm) > 10*ounces AND bhand < 1*inches DO BEGIN n ← 1; STOP; END
        ON TORQUE(X) > 2*'in-lbs' DO STOP
        ON INPUT(3) NOSTOP DO PRINT();
    MOVE TO HERE(barm); MOVE f TO GRINCH + 1*Z*inches; MOVE barm TO JOINTS(); MOVE barm TO JOINTS(yarm);
    CLOSE bhand TO 0.9*WIDTH(bhand) NOWAIT; OPEN; CLOSE bhand;
    AFFIX f TO barm AT TRANS(nilrot, nilvect) RIGIDLY; AFFIX g TO f CONDITIONALLY; AFFIX g TO f NONRIGIDLY;
    UNFIX f FROM barm; UNFIX g;
    alarm: ON SENSOR("range") < 3*cm INTERRUPT REPEATEDLY DO BEGIN PRINT("near"); PROMPT("go on?") END;
    ON DONE(barm) DO SIGNAL full;
    DISABLE alarm;
    OUTPUT 3 ON; OUTPUT n + 1 OFF; WAIT UNTIL INPUT(n); PAUSE 0.5*seconds; PAUSE(n*1*seconds);
    BEGIN inner i ← JOINT(3) + JOINT(n, yarm) END inner;
    BEGIN "a name" END "a name";
    put(bins[twice(2)], 1, 2, 3);
    ABORT("no " + text); ABORT
END everything.
{ behind it }
"""
"""Every statement, clause and operator of AL, in odd layouts."""


def examples() -> dict[str, str]:
    """{name of the file: text} of the example programs."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.al"))}


def programs() -> dict[str, str]:
    """All AL programs of the tests."""
    return {**TABLES, **PROBLEM_9_1, "everything": EVERYTHING, **examples()}
