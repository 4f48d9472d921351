"""The commands of the runbook, `infra/README.md`, as printed: the rehearsal runs what operators
copy."""

import os
import pathlib
import re
import subprocess
import textwrap
import time

HERE = pathlib.Path(__file__).resolve().parent
README = HERE.parents[1] / "infra" / "README.md"


def blocks(heading):
    """A section's blocks marked `sh`."""
    section = README.read_text().split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    found = [textwrap.dedent(block) for block in re.findall(r"^ *```sh\n(.*?)^ *```$", section, re.MULTILINE | re.DOTALL)]
    assert found, f"the section {heading} has no commands"
    return found


class Shell:
    """An operator's shell for a deployment, in its folder."""

    def __init__(self, stack, tools, folder, work, gateway):
        self.work = work / "shell"
        commands = self.work / "commands"
        commands.mkdir(parents=True)
        # Nobody is there to confirm the change set.
        self.command(commands / "sam", f'exec "{tools}/python" "{HERE}/sam.py" "$@" --no-confirm-changeset --no-progressbar')
        self.command(commands / "aws", f'exec "{tools}/python" "{HERE}/aws.py" "$@"')
        self.command(commands / "gateway", f'exec "{gateway}" "$@"')
        path = f"{commands}:{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "AWS_ENDPOINT_URL": stack.endpoint, "TMPDIR": str(work), "SAM_CLI_POLL_DELAY": "0.2"}
        self.log = self.work / "log"
        script = self.work / "script"
        os.mkfifo(script)
        with open(self.log, "wb") as log:
            # The script is read from a separate pipe, because commands that read standard input
            # would otherwise consume the commands after them.
            self.bash = subprocess.Popen(["bash", "-eu", "-o", "pipefail", script], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.script = open(script, "w", encoding="utf-8")
        self.count = 0

    @staticmethod
    def command(file, text):
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)

    def run(self, block):
        """Runs a block; returns its output."""
        before = self.log.stat().st_size
        self.count += 1
        done = self.work / f"done-{self.count}"
        self.script.write(f"{block}\n: >'{done}'\n")
        self.script.flush()
        while not done.exists():
            if self.bash.poll() is not None:
                raise SystemExit(f"the runbook fails:\n{block}\n{self.log.read_text(errors='replace')[-4000:]}")
            time.sleep(0.1)
        return self.log.read_bytes()[before:].decode(errors="replace")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.script.close()
        try:
            self.bash.wait(10)
        except subprocess.TimeoutExpired:
            self.bash.kill()
