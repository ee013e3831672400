"""The page that plays runs: one HTML file with all numbers and a few lines of JavaScript, which needs nothing else."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path

import numpy as np

from .run_scenes import Scene, Stage

__all__ = ["COLOURS", "run_page"]

COLOURS = ("#e07b22", "#2f7fc8", "#2a9d6f", "#b65aa2", "#c9a227", "#8a8f98")

_TEMPLATE = Path(__file__).with_name("run_page.html")
_LARGEST = 32767  # int16


def run_page(title: str, scenes: list[Scene], stage: Stage, times: np.ndarray, rate: float) -> str:
    """The text of the page; `times` (frames,) [s] are those of the frames, of which `rate` are shown in a second."""
    centers = [centers for scene in scenes for centers, _ in scene.loads]
    farthest = max(float(np.abs(x).max()) for x in [*(scene.points for scene in scenes), *centers])
    unit = max(farthest, 1e-9) / _LARGEST  # [m]

    def packed(x: np.ndarray) -> str:
        return b64encode(np.rint(x / unit).astype("<i2").tobytes()).decode()

    data = {
        "title": title, "colours": COLOURS, "start": float(times[0]), "duration": (len(times) - 1) / rate, "rate": rate,
        "frames": len(times), "unit": unit, "scenes": [_scene(x, packed) for x in scenes],
        "stage": {"floor": stage.floor, "middle": stage.middle.tolist(), "reach": stage.reach},
    }  # fmt: skip
    text = json.dumps(data, separators=(",", ":")).replace("<", r"\u003c")  # no name may end the script
    return _TEMPLATE.read_text(encoding="utf-8").replace("/*DATA*/null", text)


def _scene(scene: Scene, packed: Callable[[np.ndarray], str]) -> dict:
    return {
        "name": scene.name, "runs": len(scene.points), "count": scene.points.shape[2], "points": packed(scene.points),
        "links": scene.links, "widths": [round(x, 4) for x in scene.widths], "tips": scene.tips, "base": scene.base,
        "loads": [{"points": packed(x), "radii": [round(r, 4) for r in radii.tolist()]} for x, radii in scene.loads],
    }  # fmt: skip
