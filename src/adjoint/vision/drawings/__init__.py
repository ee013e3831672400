"""Line drawings of solids: junctions, labels of lines, and drawings that cannot be."""
