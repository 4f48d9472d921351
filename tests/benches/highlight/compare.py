"""Compares two highlighters for pages: the scanner of shared/site, and the crate `syntect`.

    python3 tests/benches/highlight/compare.py

Prints the sizes of programs that differ only in this, and the CPU times of a process's first page
and of later ones. The page has three blocks of code.
"""

import json
import pathlib
import statistics
import subprocess
import zlib

FOLDER = pathlib.Path(__file__).parent
TARGET = str(FOLDER.parents[2] / "target/highlight")
STARTS = 21


def built(*features):
    """The programs of a build, by name."""
    cargo = ["cargo", "build", "--release", "--quiet", "--locked", "--manifest-path", str(FOLDER / "Cargo.toml"), "--message-format", "json"]
    said = subprocess.run([*cargo, "--target-dir", TARGET, *features], check=True, capture_output=True, text=True).stdout
    artifacts = [json.loads(line) for line in said.splitlines()]
    return {one["target"]["name"]: one["executable"] for one in artifacts if one.get("executable")}


def row(name, program):
    binary = pathlib.Path(program).read_bytes()
    runs = [subprocess.run([program], check=True, capture_output=True, text=True).stdout.split() for _ in range(STARTS)]
    first, later, length = (statistics.median(int(run[at]) for run in runs) for at in range(3))
    sizes = f"{len(binary) / 1e6:.2f} | {len(zlib.compress(binary)) / 1e6:.2f}"
    print(f"| {name} | {sizes} | {first / 1000:.2f} | {later / 1000:.2f} | {length / 1000:.1f} |")


def main():
    print("| highlighted by | MB | zipped, MB | CPU time for the first page, ms | for later ones, ms | HTML, KB |\n|---|---|---|---|---|---|")
    programs = built()
    row("nothing", programs["plain"])
    row("the scanner", programs["scanner"])
    row("`syntect`", programs["syntect"])
    row("`syntect`, with Oniguruma", built("--features", "oniguruma")["syntect"])


main()
