{ The statements of Table 9.7, as printed.
  insertion.al is the same task with the corrections that it needs to run. }
BEGIN insertion
    { sizes of the bolt, and what the loop counts }
    bolt_diameter ← 0.5*inches;
    bolt_height ← 1*inches;
    tries ← 0;
    grasped ← false;

    { where the parts stand }
    beam ← FRAME(ROT(Z, 90*deg), VECTOR(20, 15, 0)*inches);
    feeder ← FRAME(nilrot, VECTOR(25, 20, 0)*inches);

    { their features }
    bolt_grasp ← feeder * TRANS(nilrot, nilvect);
    bolt_tip ← bolt_grasp * TRANS(nilrot, VECTOR(0, 0, 0.5)*inches);
    beam_bore ← beam * TRANS(nilrot, VECTOR(0, 0, 1)*inches);

    { places on the way }
    A ← feeder * TRANS(nilrot, VECTOR(0, 0, 5)*inches);
    B ← feeder * TRANS(nilrot, VECTOR(0, 0, 8)*inches);
    C ← beam_bore * TRANS(nilrot, VECTOR(0, 0, 5)*inches);
    D ← beam_bore * TRANS(nilrot, bolt_height*Z);

    { go to the bolt with open fingers }
    OPEN bhand TO bolt_diameter + 1*inches;
    MOVE barm TO bolt_grasp VIA A
        WITH APPROACH = -Z WRT feeder;

    { close them until they hold it; their width tells }
    DO
        CLOSE bhand TO 0.9*bolt_diameter;
        IF bhand < bolt_diameter THEN BEGIN { nothing was there }
            OPEN bhand TO bolt_diameter + 1*inches;
            MOVE barm TO ⊕ - 1*Z*inches;
            END ELSE grasped ← true;
        tries ← tries + 1;
        UNTIL grasped OR (tries > 3);
    IF NOT grasped THEN ABORT("failed to grasp bolt");

    { carry it over the beam }
    MOVE barm TO B
        VIA A
        WITH DEPARTURE = Z WRT feeder;
    MOVE barm TO D VIA C
        WITH APPROACH = -Z WRT beam_bore;

    { feel for the hole }
    MOVE barm TO ⊕ - 0.1*Z*inches ON FORCE(Z) > 10*ounces
        DO ABORT("No hole");

    { press the bolt in, and give way sideways }
    MOVE barm TO beam_bore DIRECTLY
        WITH FORCE(Z) = -10*ounces
        WITH FORCE(X) = 0*ounces
        WITH FORCE(Y) = 0*ounces
        WITH DURATION = 5*seconds;
END insertion.
