"""Descriptions of shapes and textures: boundaries, regions, skeletons, moments."""
