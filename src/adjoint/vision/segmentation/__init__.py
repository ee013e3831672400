"""Segmentation: edges, paths, regions and motion in images."""
