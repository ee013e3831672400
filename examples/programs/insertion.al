{ The bolt insertion of Table 9.7 with the corrections that it needs to run.
  1. The hand points down: the grasp is turned by ROT(X, 180*deg).
  2. The bolt stands on its tip, as in Table 9.3; the fingers hold it half an inch above.
  3. The tip is affixed to the hand, and the tip is what moves into the bore.
  4. After a miss the hand opens and tries again where it is; the printed step of an inch down would hit the feeder.
  5. The width is compared with a tolerance: on a bolt it is the diameter itself.
  6. The loop tries four times, as its condition says. }
BEGIN insertion
    { sizes of the bolt, and what the loop counts }
    bolt_diameter ← 0.5*inches;
    bolt_height ← 1*inches;
    tries ← 0;
    grasped ← false;

    { where the parts stand }
    beam ← FRAME(ROT(Z, 90*deg), VECTOR(20, 15, 0)*inches);
    feeder ← FRAME(nilrot, VECTOR(25, 20, 0)*inches);

    { their features; the bore is as deep as the bolt is high, and beam_bore is its bottom }
    bolt_tip ← feeder * TRANS(ROT(X, 180*deg), nilvect);
    bolt_grasp ← feeder * TRANS(ROT(X, 180*deg), VECTOR(0, 0, 0.5)*inches);
    beam_bore ← beam * TRANS(ROT(X, 180*deg), VECTOR(0, 0, 1)*inches);

    { places on the way, above the feeder and above the bore }
    A ← bolt_grasp + 5*Z*inches;
    B ← bolt_grasp + 8*Z*inches;
    C ← beam_bore + 5*Z*inches;
    D ← beam_bore + bolt_height*Z;

    { go to the bolt with open fingers }
    OPEN bhand TO bolt_diameter + 1*inches;
    MOVE barm TO bolt_grasp VIA A
        WITH APPROACH = -Z WRT feeder;

    { close them until they hold it; their width tells }
    DO
        CLOSE bhand TO 0.9*bolt_diameter;
        IF bhand < 0.99*bolt_diameter THEN BEGIN
            { nothing was there }
            OPEN bhand TO bolt_diameter + 1*inches;
            END
        ELSE grasped ← true;
        tries ← tries + 1;
        UNTIL grasped OR tries > 3;
    IF NOT grasped THEN ABORT("failed to grasp bolt");
    AFFIX bolt_tip TO barm;

    { carry it over the beam }
    MOVE barm TO B VIA A
        WITH DEPARTURE = Z WRT feeder;
    MOVE bolt_tip TO D VIA C
        WITH APPROACH = -Z WRT beam;

    { feel for the hole }
    MOVE barm TO ⊗ - 0.1*Z*inches ON FORCE(Z) > 10*ounces
        DO ABORT("No hole");

    { press the bolt in, and give way sideways }
    MOVE bolt_tip TO beam_bore DIRECTLY
        WITH FORCE(Z) = -10*ounces
        WITH FORCE(X) = 0*ounces
        WITH FORCE(Y) = 0*ounces
        WITH DURATION = 5*seconds;
END insertion.
