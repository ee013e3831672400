{ Frames of a bolt insertion cell. }
BEGIN frames
    { where things stand in the station }
    base ← FRAME(nilrot, VECTOR(20, 0, 15)*inches);
    beam ← FRAME(ROT(Z, 90*deg), VECTOR(20, 15, 0)*inches);
    feeder ← FRAME(nilrot, VECTOR(25, 20, 0)*inches);

    { features, each seen from the thing that has it }
    T6 ← base * TRANS(ROT(X, 180*deg), VECTOR(15, 0, 0)*inches);
    E ← T6 * TRANS(nilrot, VECTOR(0, 0, 5)*inches);
    bolt_tip ← feeder * TRANS(nilrot, nilvect);
    bolt_grasp ← bolt_tip * TRANS(nilrot, VECTOR(0, 0, 1)*inches);
    beam_bore ← beam * TRANS(nilrot, VECTOR(0, 2, 3)*inches);
END frames.
