"""Stereo: rectified pairs, matching, and points in space with their uncertainty."""
