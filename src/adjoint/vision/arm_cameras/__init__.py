"""Cameras on arms and beside them: hand-eye and robot-world calibration, closed forms and maximum likelihood."""
