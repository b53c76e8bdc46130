"""Programs written elsewhere, each in a virtual environment of its own, so that their pins cannot clash."""

from __future__ import annotations

import re
import subprocess
import sys
import venv
from pathlib import Path
from zlib import crc32

ENVIRONMENTS = Path(__file__).parent.parent / ".venv-peers"


def peer_python(*packages: str) -> Path:
    """Python of an environment with ``packages`` installed, created on first use; named by them.

    Raises ``RuntimeError`` with the installer's last words when they cannot be installed.
    """
    name = re.split(r"[^\w.-]", packages[0])[0]
    folder = ENVIRONMENTS / f"{name}-{crc32(' '.join(packages).encode()):08x}"
    python, done = folder / "bin" / "python", folder / "installed.txt"
    wanted = "\n".join(packages)
    if not (done.exists() and done.read_text() == wanted):
        venv.create(folder, with_pip=True, clear=True)
        install = [str(python), "-m", "pip", "install", "--quiet", *packages]
        finished = subprocess.run(install, capture_output=True, text=True, check=False)
        if finished.returncode:
            last = (finished.stderr.strip().splitlines() or ["no message"])[-1]
            raise RuntimeError(f"{packages[0]} cannot be installed: {last}")
        done.write_text(wanted)
    return python


if __name__ == "__main__":
    print(peer_python(*sys.argv[1:]))
