"""Builds and starts the examples as their READMEs describe, against this clone's gateway, and
uses the app in a browser."""

import pathlib
import shutil
import tempfile
import time

import guides
from newcomer import ROOT, URL, Newcomer, blocks, check

APP, SERVER = "http://localhost:5173/", "http://localhost:4000"


def copied(name, folder):
    """A copy of an example, without build outputs and installed packages."""
    ignored = shutil.ignore_patterns("node_modules", "dist", ".env.local")
    return shutil.copytree(ROOT / "examples" / name, folder / name, ignore=ignored)


def drive(newcomer):
    """Uses the app in a browser."""
    script = ROOT / "tests/docs/drive.mjs"
    newcomer.shell(f"node '{script}' {APP} {SERVER} {URL}/inbox/api/messages")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        newcomer = Newcomer(folder)
        (install, start), (build, preview) = blocks("examples/server/README.md"), blocks("examples/react/README.md")
        check(start.lines() == ["npm start"] and preview.lines() == ["npm run preview"], start, "expected other commands")
        with newcomer.started("cargo run"):
            server, app = copied("server", folder), copied("react", folder)
            newcomer.shell(install.text, cwd=server)
            newcomer.shell(build.text, cwd=app)
            with newcomer.runs(start.lines()[0], 4000, server), newcomer.runs(preview.lines()[0], 5173, app):
                drive(newcomer)
                guides.read(newcomer, guides.WITH_THE_APP)
    print("the examples do what their READMEs say")


if __name__ == "__main__":
    started_at = time.monotonic()
    main()
    print(f"in {time.monotonic() - started_at:.0f} s")
