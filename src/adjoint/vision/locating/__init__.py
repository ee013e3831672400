"""From an image to named objects with poses."""
