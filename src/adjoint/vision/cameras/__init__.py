"""Cameras: pinholes with distortion, the textbook's camera, calibration, and poses from one image."""
