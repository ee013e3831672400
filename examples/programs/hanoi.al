{ Two disks, each an inch thick, go from peg A to peg C; a smaller disk always lies on a larger one.
  The hand holds a disk by suction: to close the hand is to switch it on. }
BEGIN hanoi
    FRAME A, B, C, from_peg, to_peg;
    SCALAR ARRAY height[1:3];
    DISTANCE SCALAR thickness, above;

    thickness ← 1*inches;
    above ← 6*inches;
    A ← FRAME(ROT(X, 180*deg), VECTOR(16, -6, 0)*inches);
    B ← FRAME(ROT(X, 180*deg), VECTOR(16, 0, 0)*inches);
    C ← FRAME(ROT(X, 180*deg), VECTOR(16, 6, 0)*inches);
    height[1] ← 2;
    height[2] ← 0;
    height[3] ← 0;

    { the place of a peg on the table }
    FRAME PROCEDURE peg(SCALAR number);
    BEGIN
        CASE number OF
        BEGIN
            [1] RETURN(A);
            [2] RETURN(B);
            ELSE RETURN(C);
        END;
    END;

    { the topmost disk of one peg goes onto another }
    PROCEDURE carry(SCALAR start, goal);
    BEGIN
        from_peg ← peg(start);
        to_peg ← peg(goal);
        MOVE barm TO from_peg + height[start]*thickness*Z VIA from_peg + above*Z;
        CLOSE bhand;
        height[start] ← height[start] - 1;
        height[goal] ← height[goal] + 1;
        MOVE barm TO to_peg + height[goal]*thickness*Z
            VIA from_peg + above*Z, to_peg + above*Z;
        OPEN bhand;
        MOVE barm TO to_peg + above*Z;
        PRINT("disk from peg", start, "to peg", goal);
    END;

    { a tower of n disks goes from one peg to another; the third peg helps }
    PROCEDURE tower(SCALAR n, start, helper, goal);
    BEGIN
        IF n > 0 THEN BEGIN
            tower(n - 1, start, goal, helper);
            carry(start, goal);
            tower(n - 1, helper, start, goal);
        END;
    END;

    OPEN bhand;
    tower(2, 1, 2, 3);
END hanoi.
