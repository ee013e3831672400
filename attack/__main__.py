"""`make attack` uses the library as an enemy would, for about ten minutes, and prints seeds, counts and findings.

Every attack is a script that runs in a process of its own, so that a crash or a hang is a finding too:

    python attack                            all attacks, ten minutes, a new seed
    python attack --seconds 60 programs      one attack for a minute
    python attack/programs.py 12345 0        only the try with seed 12345, which a finding has named
"""

import argparse
import secrets
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
NAMES = sorted(p.stem for p in HERE.glob("*.py") if p.stem not in ("__main__", "common"))
PATIENCE = 180  # seconds that the last try of an attack may take beyond the attack's time


def run(name: str, seed: int, seconds: float) -> bool:
    """Runs one attack and prints what it found; true if it found nothing."""
    with tempfile.TemporaryDirectory() as folder, open(Path(folder, "output"), "w+") as output:
        command = [sys.executable, str(HERE / f"{name}.py"), str(seed), str(seconds)]
        try:
            code = subprocess.run(command, stdout=output, stderr=output, timeout=seconds + PATIENCE).returncode
        except subprocess.TimeoutExpired:
            code = None
        output.seek(0)
        lines = output.read().splitlines()
    last = next((line for line in reversed(lines) if line.startswith("seed ")), "seed none")
    tries = sum(line.startswith("seed ") for line in lines)
    verdict = {0: "nothing found", 1: "FOUND", None: "HANGS"}.get(code, f"CRASHES (exit code {code})")
    print(f"{name:10} {tries:7} tries from seed {seed}: {verdict}", flush=True)
    if code != 0:
        print(f"  the last try had {last}", *[line for line in lines if not line.startswith("seed ")][-60:], sep="\n  ")
    return code == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=NAMES, metavar="attack", help=f"some of {', '.join(NAMES)}")
    parser.add_argument("--seconds", type=float, default=600.0, help="how long all attacks take together")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**31), help="the first seed of every attack")
    options = parser.parse_args()
    for name in options.names:
        if name not in NAMES:
            parser.error(f"there is no attack {name!r}; there are {', '.join(NAMES)}")
    share = options.seconds / len(options.names)
    failed = [name for name in options.names if not run(name, options.seed, share)]  # a list, so that all attacks run
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
