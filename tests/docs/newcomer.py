"""Common parts of the documentation tests: a page's blocks, and a newcomer who runs them."""

import contextlib
import json
import os
import pathlib
import re
import secrets
import signal
import socket
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
URL = "http://localhost:8787"


class Block:
    def __init__(self, file, line, kind, text, before=""):
        self.file, self.line, self.kind, self.text = file, line, kind, text
        # The paragraph that precedes the block.
        self.before = before

    def __str__(self):
        return f"{self.file}:{self.line}"

    def lines(self):
        """The commands without comments."""
        return [line.split("   #")[0].rstrip() for line in self.text.splitlines() if line and not line.startswith("#")]


def blocks(name):
    """The fenced blocks of a file."""
    text = (ROOT / name).read_text()
    found = re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    before = lambda block: text[: block.start()].strip().rpartition("\n\n")[2]
    return [Block(name, text[: block.start()].count("\n") + 1, block[1], block[2], before(block)) for block in found]


class Shell:
    """A shell that stays open, so later blocks see earlier variables."""

    def __init__(self, newcomer, folder):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            ["bash", "-eu", "-o", "pipefail"], cwd=folder, env=newcomer.environment, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=self.errors, text=True,
        )
        self.run(f'. "$GATELET_DATA/keys.env"\n{newcomer.gateway()}')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(timeout=30)

    def run(self, text):
        """Runs a block; returns its output."""
        end = f"end-{secrets.token_hex(8)}"
        # Programs in the block must not read the commands after it.
        self.process.stdin.write(f"{{\n{text}\n}} </dev/null\nprintf '\\n{end}\\n'\n")
        self.process.stdin.flush()
        printed = []
        for line in self.process.stdout:
            if line.strip() == end:
                return "".join(printed)
            printed.append(line)
        self.errors.seek(0)
        raise SystemExit(f"this fails with {self.process.wait()}:\n{text}\n{''.join(printed)}\n{self.errors.read()[-5000:]}")


class Newcomer:
    """A folder with a shell that runs the documented commands."""

    def __init__(self, folder):
        self.folder = folder
        # `cargo run` runs in the folder of the clone. The gateway keeps its data in `self.folder`,
        # separate from the data of other gateways.
        self.environment = {**os.environ, "GATELET_DATA": str(folder / ".gatelet")}
        for name in [name for name in self.environment if name.startswith("GATELET_") and name != "GATELET_DATA"]:
            del self.environment[name]

    def shell(self, text, cwd=None, keys=True):
        """Runs a block; returns its output."""
        load = '. "$GATELET_DATA/keys.env"\n' if keys else ""
        command = ["bash", "-eu", "-o", "pipefail", "-c", load + text]
        done = subprocess.run(command, cwd=cwd or self.folder, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"this fails with {done.returncode}:\n{text}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def gateway(self):
        """The definition of a shell function `gateway`, which runs this clone's gateway with its
        sign-ins in `self.folder`."""
        config = self.folder / "config"
        # Cargo takes longer to find that everything is up to date than most commands take to run.
        program = f'"{os.environ["GATEWAY"]}"' if "GATEWAY" in os.environ else f'cargo run --quiet --manifest-path "{ROOT}/Cargo.toml" --'
        return f'gateway() {{ XDG_CONFIG_HOME="{config}" {program} "$@"; }}\n'

    def process(self, command, cwd, **options):
        """Starts a program."""
        load = '. "$GATELET_DATA/keys.env"\nexec '
        return subprocess.Popen(["bash", "-eu", "-c", load + command], cwd=cwd, env=self.environment, stdin=subprocess.DEVNULL, **options)

    @contextlib.contextmanager
    def runs(self, command, port, cwd):
        """Starts a long-running block, and waits until it answers on this port."""
        expect_nobody(port)
        with tempfile.TemporaryFile("w+") as log:
            process = self.process(command, cwd, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
            try:
                for _ in range(600):
                    if answers(port):
                        break
                    if process.poll() is not None:
                        log.seek(0)
                        raise SystemExit(f"this exits with {process.returncode}:\n{command}\n{log.read()}")
                    time.sleep(0.1)
                else:
                    raise SystemExit(f"this does not answer at port {port} within a minute: {command}")
                yield
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGTERM)
                process.wait(timeout=30)

    def script(self, text):
        """Runs a Node.js script; returns its output."""
        (self.folder / "script.mjs").write_text(text)
        return self.shell("node script.mjs")

    @contextlib.contextmanager
    def started(self, command):
        """Starts the gateway like the README; yields its output."""
        expect_nobody(8787)
        process = subprocess.Popen(command.split(), cwd=ROOT, env=self.environment, stdout=subprocess.PIPE, text=True, start_new_session=True)
        try:
            lines = []
            for line in process.stdout:
                lines.append(line.rstrip("\n"))
                if "Internal admin" in line:
                    break
            yield lines
        finally:
            os.killpg(process.pid, signal.SIGINT)
            process.wait(timeout=30)


def answers(port):
    # A server may listen on only one of the two addresses of `localhost`.
    for family, address in [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]:
        with contextlib.closing(socket.socket(family)) as probe:
            if probe.connect_ex((address, port)) == 0:
                return True
    return False


def expect_nobody(port):
    if answers(port):
        raise SystemExit(f"port {port}, which the documents use, is in use: stop the program that uses it")


def has_mail(newcomer, to):
    """Whether an email arrives within a minute."""
    for _ in range(600):
        if json.loads(newcomer.shell(f"curl --silent '{URL}/inbox/api/messages?to={to}' -H \"authorization: Bearer $GATELET_PAGE_KEY\""))["items"]:
            return True
        time.sleep(0.1)
    return False


def check(condition, block, what):
    if not condition:
        raise SystemExit(f"{block}: {what}")
