"""The words of AUTOPASS and RAPT with an explanation and an example of each, for hover and completion."""

from __future__ import annotations

__all__ = ["AUTOPASS_WORDS", "RAPT_WORDS"]

_RELATIONS = {
    "AGAINST": "Two surfaces touch: faces look at each other in one plane. Example: {a} AGAINST {b}.",
    "FITS": "A shaft is in a hole, or a ball in a socket; it may turn and slide. Example: {shaft} FITS {hole}.",
    "COPLANAR": "Two faces lie in one plane and look to the same side. Example: {a} COPLANAR WITH {b}.",
    "ALIGNED": "The axes of two features lie on one line. Example: {shaft} ALIGNED WITH {hole}.",
    "PARALLEL": "Two faces or axes are parallel. Example: {a} PARALLEL TO {b}.",
    "PERPENDICULAR": "Two faces or axes make a right angle. Example: {a} PERPENDICULAR TO {b}.",
    "CENTRED": "The middle of a feature is on the axis through the middle of another. Example: {a} CENTRED ON {b}.",
    "COINCIDENT": "Points, lines or planes lie in each other. Example: {a} COINCIDENT WITH {b}.",
    "DISTANCE": "Two features are at a distance. Example: {a} AT DISTANCE 2 MM FROM {b}.",
    "ANGLE": "The x axes of two features make an angle. Example: {a} AT ANGLE 30 DEG TO {b}.",
}


def _relations(a: str, b: str, shaft: str, hole: str) -> dict[str, str]:
    return {word: text.format(a=a, b=b, shaft=shaft, hole=hole) for word, text in _RELATIONS.items()}


AUTOPASS_WORDS: dict[str, str] = {
    "PLACE": "A part is picked and placed. Example: PLACE bolt ON beam SUCH THAT bolt_tip IS ALIGNED WITH beam_bore;",
    "ON": "The part is put on the upper face of another part. Example: PLACE cup ON table;",
    "IN": "The part is put into a hole or a box. Example: PLACE peg IN block; IN PARALLEL DO; ... END; runs at once.",
    "GRASPING": "The hand holds the part by this feature. Example: PLACE bolt ON beam GRASPING bolt_head;",
    "SUCH": "SUCH THAT begins conditions that hold in the end. Example: SUCH THAT TORQUE IS EQ 12.0 IN-LBS.",
    "THAT": "SUCH THAT begins conditions that hold in the end. Example: SUCH THAT bolt_tip IS ALIGNED WITH beam_bore.",
    "WITH": "A constraint of PLACE, or the accessories of OPERATE. Example: PLACE egg IN box WITH FORCE LT 5 OZ;",
    "HOLD": "AND HOLD: the hand stays where it is in the end. Example: PLACE peg IN block AND HOLD;",
    "BY": "The arm that does it, or the step of a loop. Example: PLACE cup ON table BY puma;",
    "OPERATE": "A tool works at a place. Example: OPERATE driver AT bolt_head SUCH THAT TORQUE IS EQ 12 IN-LBS;",
    "DRIVE": "DRIVE IN: a tool turns a screw until it is tight. Example: DRIVE IN bolt AT bolt_grasp USING air_driver;",
    "AT": "The place at which a tool works. Example: DRIVE IN bolt AT bolt_grasp USING air_driver;",
    "USING": "The tool of DRIVE IN. Example: DRIVE IN bolt AT bolt_grasp USING air_driver;",
    "ATTACHED": "The new attachment: RIGIDLY, NONRIGIDLY or CONDITIONALLY. Example: ATTACHED RIGIDLY.",
    "CLOCKWISE": "The tool turns clockwise, seen from the tool. Example: OPERATE driver AT bolt_head CLOCKWISE;",
    "COUNTERCLOCKWISE": "The tool turns the other way, which loosens. Example: OPERATE driver COUNTERCLOCKWISE;",
    "SPEED": "How fast the tool turns. Example: OPERATE driver AT bolt_head SPEED 300 RPM;",
    "TORQUE": "The torque of the tool about its axis. Example: SUCH THAT TORQUE IS EQ 12.0 IN-LBS.",
    "FORCE": "The force on the hand along z, or along X, Y or Z. Example: WITH FORCE(Z) LT 5 OZ.",
    "WIDTH": "How far apart the fingers are. Example: IF WIDTH LT 10 MM THEN ABORT 'nothing is held';",
    "INPUT": "The state of an input line. Example: WAIT (INPUT(3));",
    "SENSOR": "What a sensor of the world says. Example: WAIT (SENSOR('feeder') GT 0);",
    "EQ": "Equal; also NE, LT, LE, GT and GE, or = and the other signs. Example: IF I EQ 9 THEN SIGNAL 1;",
    "DO": "Begins a group or a loop up to END. Example: DO I = 1 TO 9; PLACE part(I) IN bin(I); END;",
    "WHILE": "The loop goes on while a condition holds. Example: DO WHILE (I < 9); I = I + 1; END;",
    "UNTIL": "The loop ends after a round in which a condition holds. Example: DO UNTIL (INPUT(1)); DELAY 1 SEC; END;",
    "TO": "The last value of a loop. Example: DO I = 1 TO 9 BY 2; ... END;",
    "END": "Ends a group or a loop. Example: DO; STOP; END;",
    "IF": "Does one statement or group if a condition holds, else another. Example: IF I = 9 THEN SIGNAL 1; ELSE STOP;",
    "SIGNAL": "An output line goes on, or OFF. Example: SIGNAL 1;",
    "WAIT": "Waits until a condition holds. Example: WAIT (INPUT(3));",
    "DELAY": "Waits for some time. Example: DELAY 2 SEC;",
    "PUT": "PUT LIST shows values. Example: PUT LIST ('tray full', I);",
    "PAUSE": "Stops until a session goes on. Example: PAUSE 'change the tray';",
    "ABORT": "Ends the program as failed, with a message. Example: ABORT 'no bolt';",
    "STOP": "Ends the program. Example: STOP;",
} | _relations("lid_bottom IS", "box_top", "bolt_tip IS", "beam_bore")
"""{word: what it does} of AUTOPASS."""

RAPT_WORDS: dict[str, str] = {
    "PLACE": "A part is placed so that relations hold. Example: PLACE Block3 SO THAT (Block3-face1 AGAINST Table)",
    "SO": "SO THAT begins the relations of PLACE. Example: PLACE Peg SO THAT (Peg-shaft FITS Block-hole)",
    "THAT": "SO THAT begins the relations of PLACE. Example: PLACE Peg SO THAT (Peg-shaft FITS Block-hole)",
    "AND": "One more relation. Example: (Lid-bottom AGAINST Box-top) AND (Lid-left COPLANAR WITH Box-left)",
    "STATE": "A state of the world gets a name. Example: STATE A: (Block1-face1 AGAINST Table)",
    "CHECK": "The program fails if the state does not hold now. Example: CHECK A;",
    "ACHIEVE": "Parts are placed until the state holds. Example: ACHIEVE B;",
    "BY": "The arm that does it. Example: PLACE Block3 BY puma SO THAT (Block3-face1 AGAINST Table)",
    "ON": "AGAINST, and the middle of the face is over the other face. Example: (Cup-bottom ON Table-top)",
    "IN": "A shaft is in a hole, or a part in a box. Example: (Peg-shaft IN Block-hole)",
} | _relations("(Lid-bottom", "Box-top)", "(Peg-shaft", "Block-hole)")
"""{word: what it does} of RAPT."""
