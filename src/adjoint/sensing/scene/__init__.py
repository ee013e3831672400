"""Sensors in a scene: rays, beams and pads against solids and meshes; range, depth and intensity images."""
