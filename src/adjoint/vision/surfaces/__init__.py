"""Surfaces in range images and volumes: planar patches, their classes, gradients, generalized cones."""
