{ Nine parts go from a feeder into the three by three bins of a tray; then one signal tells that it is full. }
BEGIN pallet
    EVENT tray_full;
    FRAME ARRAY bins[1:9];
    SCALAR row, column, n;
    DISTANCE SCALAR pitch_x, pitch_y, width;

    pitch_x ← 60*mm;
    pitch_y ← 40*mm;
    width ← 20*mm;
    feed ← FRAME(ROT(X, 180*deg), VECTOR(400, -250, 100)*mm);
    tray ← FRAME(ROT(X, 180*deg), VECTOR(350, 150, 100)*mm);

    PROCEDURE bring(FRAME place);
    BEGIN
        OPEN bhand TO 2*width;
        MOVE barm TO feed
            WITH APPROACH = -50*Z*mm;
        CLOSE bhand TO 0.9*width;
        MOVE barm TO place
            WITH DEPARTURE = 50*Z*mm
            WITH APPROACH = -50*Z*mm;
        OPEN bhand TO 2*width;
        MOVE barm TO ⊗ + 50*Z*mm;
    END;

    { the bins, row by row }
    FOR row ← 1 STEP 1 UNTIL 3 DO
        FOR column ← 1 STEP 1 UNTIL 3 DO
            bins[3*(row - 1) + column] ← tray + VECTOR((column - 1)*pitch_x, (row - 1)*pitch_y, 0*mm);

    FOR n ← 1 STEP 1 UNTIL 9 DO bring(bins[n]);
    SIGNAL tray_full;
    PRINT("tray full");
END pallet.
