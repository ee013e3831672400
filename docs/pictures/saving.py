"""How the scripts of this folder write their pictures."""

import io
from pathlib import Path

from PIL import Image

IMAGES = Path(__file__).parents[1] / "images"


def save(figure, name: str, colours: int = 64, dpi: int = 100) -> None:
    """Writes docs/images/NAME.png with few colours, which keeps photographs small."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=dpi)
    save_image(Image.open(file), name, colours)


def save_image(image: Image.Image, name: str, colours: int = 64) -> None:
    """Writes docs/images/NAME.png with few colours."""
    path = IMAGES / f"{name}.png"
    few = image.convert("RGB").quantize(colours, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    few.save(path, optimize=True)  # an octree keeps the colours of small things
    print(path.name, f"{path.stat().st_size / 1000:.0f} kB")
