"""What pages hold, read back from their text."""

import base64
import json
import re
import zlib
from typing import Any

import numpy as np


def data_of(text: str) -> dict[str, Any]:
    """The data of a page, with its arrays in the place of what the page knows them by."""
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    (arrays,) = re.findall(r'<script type="text/plain" id="arrays">(.*?)</script>', text, re.S)
    whole = zlib.decompress(base64.b64decode(arrays))

    def filled(value) -> Any:
        if isinstance(value, dict) and value.keys() == {"type", "at", "size"}:
            return np.frombuffer(whole, f"<{value['type']}", value["size"], value["at"])
        if isinstance(value, dict):
            return {k: filled(x) for k, x in value.items()}
        return [filled(x) for x in value] if isinstance(value, list) else value

    return filled(json.loads(data))


def configurations_of(data: dict[str, Any], number: int) -> np.ndarray:
    """The configurations (runs, frames, nq) of an actor of a page."""
    actor = data["actors"][number]
    q = actor["q"].reshape(actor["runs"], actor["frames"], -1)
    return np.asarray(actor["low"]) + np.asarray(actor["step"]) * q if "low" in actor else q.astype(float)
