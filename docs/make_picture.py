"""Takes docs/images/page.png, the picture of the page in the README: ``python docs/make_picture.py``."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import sync_playwright

PICTURE = Path(__file__).parent / "images" / "page.png"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


def main() -> None:
    """Serve the starter model and look at the page's first example."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-c", "from pboh.cli import main; main()", "serve", "--port", str(port)]
    server = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        wait_for(f"http://127.0.0.1:{port}/readyz")
        PICTURE.parent.mkdir(exist_ok=True)
        take(f"http://127.0.0.1:{port}/")
    finally:
        server.terminate()
        server.wait(60)


def wait_for(address: str) -> None:
    """Wait until the server has its model."""
    for _ in range(300):
        with contextlib.suppress(OSError):
            urllib.request.urlopen(address, timeout=5).close()
            return
        time.sleep(0.2)
    raise SystemExit("the server did not start")


def take(address: str) -> None:
    """One screenshot, of a width that is still readable in a README."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=program, args=FLAGS)
        page = browser.new_page(viewport={"width": 1240, "height": 960}, color_scheme="light")
        page.goto(address)
        page.wait_for_selector(".reasons")
        page.wait_for_timeout(1000)  # bars and rings have moved to their places
        page.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    main()
