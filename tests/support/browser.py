"""A real browser for tests: the system's Chromium if it has one, else the engine in PySide6's wheels, without a screen.

Both are told what to do through Chromium's DevTools protocol: pages are opened, asked in JavaScript, clicked, dragged
and photographed, and all that they complain about on the console is kept.

    with Browser() as browser:
        browser.open(page)
        browser.wait("document.title == 'puma560'")
        assert browser.complaints == []
"""

import base64
import itertools
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

from websockets.sync.client import connect

FLAGS = [
    "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
]  # fmt: skip
SYSTEMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

QT = """
import os, sys
from PySide6.QtCore import QUrl
from PySide6.QtWidgets import QApplication
from PySide6.QtWebEngineWidgets import QWebEngineView
app = QApplication(sys.argv)
view = QWebEngineView()
view.resize(int(sys.argv[1]), int(sys.argv[2]))
view.setUrl(QUrl("about:blank"))
view.show()
sys.exit(app.exec())
"""


class Browser:
    """One window of a browser, `width` x `height` pixels; it is closed at the end of the `with` statement."""

    def __init__(self, width: int = 1200, height: int = 800):
        self.complaints: list[str] = []  # errors and warnings of the console, and exceptions
        self._numbers = itertools.count(1)
        self._home = tempfile.TemporaryDirectory(prefix="adjoint-browser-", ignore_cleanup_errors=True)
        self._socket = None
        self._process = _started(width, height, Path(self._home.name))
        try:
            self._socket = connect(self._address(), max_size=None)
            for domain in ("Runtime", "Log", "Page", "Network"):
                self._ask(f"{domain}.enable")
            self.resize(width, height)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        """End the browser."""
        if self._socket is not None:
            self._socket.close()
        self._process.kill()
        self._process.wait()
        self._home.cleanup()

    # --- what tests say ---------------------------------------------------------------------------------------------

    def open(self, page: str | Path, seconds: float = 120) -> None:
        """Open a file or an address, and wait until it is loaded."""
        address = page.resolve().as_uri() if isinstance(page, Path) else page
        self._ask("Page.navigate", url=address)
        start = address.partition("#")[0]
        self.wait(f"location.href.startsWith({json.dumps(start)}) && document.readyState == 'complete'", seconds)

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression; a promise is waited for."""
        asked = {"expression": script, "returnByValue": True, "awaitPromise": True, "userGesture": True}
        answer = self._ask("Runtime.evaluate", **asked)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise AssertionError(f"{script}: {details.get('exception', {}).get('description', details['text'])}")
        return answer["result"].get("value")

    def wait(self, script: str, seconds: float = 120) -> Any:
        """Wait until a JavaScript expression is true; its value."""
        end = time.monotonic() + seconds
        while not (value := self.run(script)):
            if time.monotonic() > end:
                raise AssertionError(f"after {seconds} s still not: {script}; console: {self.complaints}")
            time.sleep(0.05)
        return value

    def drag(self, start: tuple[float, float], end: tuple[float, float], steps: int = 8) -> None:
        """Press the mouse at `start`, move it to `end` [pixels from the upper left corner], and let go."""
        self._mouse("mouseMoved", start)
        self._mouse("mousePressed", start, button="left", buttons=1, clickCount=1)
        for k in range(1, steps + 1):
            at = tuple(a + (b - a) * k / steps for a, b in zip(start, end, strict=True))
            self._mouse("mouseMoved", at, button="left", buttons=1)
            time.sleep(0.03)
        self._mouse("mouseReleased", end, button="left", clickCount=1)

    def click(self, at: tuple[float, float]) -> None:
        """Click at a point."""
        self._mouse("mouseMoved", at)
        self._mouse("mousePressed", at, button="left", buttons=1, clickCount=1)
        self._mouse("mouseReleased", at, button="left", clickCount=1)

    def center(self, selector: str) -> tuple[float, float]:
        """The middle of the first element that a CSS selector finds."""
        box = f"document.querySelector({json.dumps(selector)}).getBoundingClientRect()"
        x, y = self.run(f"(b => [b.x + b.width / 2, b.y + b.height / 2])({box})")
        return x, y

    def screenshot(self, path: Path | None = None) -> bytes:
        """The window as PNG; it is written to `path`, if given."""
        png = base64.b64decode(self._ask("Page.captureScreenshot", format="png")["data"])
        if path is not None:
            path.write_bytes(png)
        return png

    def resize(self, width: int, height: int, density: float = 1) -> None:
        """Change the size of the window [pixels of CSS]; `density` is how many pixels of the screen each has."""
        size = {"width": width, "height": height, "deviceScaleFactor": density, "mobile": False}
        self._ask("Emulation.setDeviceMetricsOverride", **size)

    def media(self, **features: str) -> None:
        """Set media features, such as prefers_color_scheme="dark"."""
        pairs = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self._ask("Emulation.setEmulatedMedia", features=pairs)

    # --- the protocol -----------------------------------------------------------------------------------------------

    def _mouse(self, kind: str, at, **more) -> None:
        self._ask("Input.dispatchMouseEvent", type=kind, x=at[0], y=at[1], **more)

    def _address(self) -> str:
        """The address of the window's DevTools; the browser writes the port when it is ready."""
        port = _port(self._process, Path(self._home.name))
        end = time.monotonic() + 120
        while time.monotonic() < end:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json") as answer:
                for target in json.load(answer):
                    if target["type"] == "page":
                        return target["webSocketDebuggerUrl"]
            time.sleep(0.1)
        raise AssertionError("the browser has no window")

    def _ask(self, method: str, **parameters) -> dict:
        number = next(self._numbers)
        assert self._socket is not None
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv(timeout=120))
            if message.get("id") == number:
                if "error" in message:
                    raise AssertionError(f"{method}: {message['error']}")
                return message["result"]
            self._heard(message)

    def _heard(self, message: dict) -> None:
        """Keep what a page complains about."""
        method, about = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = about["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning", "assert"):
            self.complaints.append(" ".join(str(x.get("value", x.get("description"))) for x in about["args"]))
        elif method == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
            self.complaints.append(f"{about['entry']['text']} {about['entry'].get('url', '')}".strip())


def _started(width: int, height: int, home: Path) -> subprocess.Popen:
    """The process of a browser, whose DevTools listen on a port of its choice."""
    found = next(filter(None, map(shutil.which, SYSTEMS)), None)
    if found:
        own = [f"--user-data-dir={home}", f"--window-size={width},{height}", "--remote-debugging-port=0"]
        command, environment = [found, "--headless", "--no-sandbox", *FLAGS, *own, "about:blank"], dict(os.environ)
    else:
        command = [sys.executable, "-c", QT, str(width), str(height)]
        environment = os.environ | {
            "QT_QPA_PLATFORM": "offscreen",
            "QTWEBENGINE_DISABLE_SANDBOX": "1",
            "QTWEBENGINE_REMOTE_DEBUGGING": str(_free_port()),  # Qt takes no 0 for any port
            "QTWEBENGINE_CHROMIUM_FLAGS": " ".join(FLAGS),
            "HOME": str(home),
        }
    with (home / "log").open("wb") as log:
        return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=log)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def _port(process: subprocess.Popen, home: Path) -> int:
    """The port that a browser tells in its log."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        said = (home / "log").read_text(errors="replace")
        if "DevTools listening on ws://" in said:
            return int(said.partition("DevTools listening on ws://")[2].partition("/")[0].rpartition(":")[2])
        if process.poll() is not None:
            raise AssertionError(f"the browser ended: {said}")
        time.sleep(0.05)
    raise AssertionError("the browser does not start")
