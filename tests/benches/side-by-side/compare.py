"""Measures a gateway and Better Auth in turn; started by `run`.

Both run all the time with their data on disk, but only one is measured at a time: the same
operation, first over one connection, then over sixteen. The ratio is the median ratio of
neighboring turns, which hardly depends on drifts of the machine's speed.
"""

import argparse
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import tempfile
import time
import urllib.request

import measure

PORTS = {"Gatelet": 8793, "Better Auth": 8794}
ACCOUNTS = [{"email": f"{name}@example.com", "password": "correct horse battery"} for name in ("reader", "ada")]
# The number of sessions in the list. Sign-ins use another account, so that the list does not grow
# during the measurement.
SESSIONS = 10
# How long it takes to return memory that was used under load, in seconds.
COOLDOWN = 30


class Gatelet:
    name = "Gatelet"

    def __init__(self, gateway):
        self.gateway = gateway
        self.folder = tempfile.mkdtemp()
        self.base = f"http://127.0.0.1:{PORTS[self.name]}"

    def start(self):
        self.process, ready = measure.start(self.gateway, self.folder, PORTS[self.name])
        return ready

    def operations(self):
        keys = dict(line.strip().removeprefix("export ").split("=", 1) for line in open(f"{self.folder}/keys.env", encoding="ascii"))
        client = {
            "x-service-access-type": "client",
            "x-service-project-id": keys["GATELET_PROJECT_ID"],
            "x-service-publishable-client-key": keys["GATELET_PUBLISHABLE_CLIENT_KEY"],
        }
        for account in ACCOUNTS:
            measure.call(client, "/api/v1/auth/password/sign-up", account, self.base)
        for _ in range(SESSIONS - 1):
            token = measure.call(client, "/api/v1/auth/password/sign-in", ACCOUNTS[0], self.base)["access_token"]
        user = {**client, "x-service-access-token": token}
        return [
            ("get current user", "/api/v1/users/me", user, None),
            ("list sessions", "/api/v1/auth/sessions", user, None),
            ("sign in", "/api/v1/auth/password/sign-in", client, ACCOUNTS[1]),
        ]

    def version(self):
        return subprocess.run([self.gateway, "--version"], check=True, capture_output=True, text=True).stdout.split()[-1]


class BetterAuth:
    name = "Better Auth"

    def __init__(self, packages):
        self.packages = packages
        self.folder = tempfile.mkdtemp()
        self.base = f"http://127.0.0.1:{PORTS[self.name]}"

    def start(self):
        began = time.perf_counter()
        command = ["node", f"{self.packages}/better-auth.mjs", f"{self.folder}/auth.db", str(PORTS[self.name])]
        self.process = subprocess.Popen(command, env={**os.environ, "NODE_ENV": "production"})
        while True:
            try:
                urllib.request.urlopen(f"{self.base}/api/auth/ok", timeout=1).read()
                return (time.perf_counter() - began) * 1000
            except OSError:
                if self.process.poll() is not None:
                    raise SystemExit("Better Auth does not start") from None
                time.sleep(0.001)

    def call(self, path, body):
        headers = {"content-type": "application/json", "origin": self.base}
        with urllib.request.urlopen(urllib.request.Request(self.base + path, json.dumps(body).encode(), headers)) as answer:
            return answer.headers["set-cookie"].split(";")[0]

    def operations(self):
        for account in ACCOUNTS:
            self.call("/api/auth/sign-up/email", {**account, "name": "Ada"})
        for _ in range(SESSIONS - 1):
            cookie = self.call("/api/auth/sign-in/email", ACCOUNTS[0])
        user = {"cookie": cookie}
        return [
            ("get current user", "/api/auth/get-session", user, None),
            ("list sessions", "/api/auth/list-sessions", user, None),
            ("sign in", "/api/auth/sign-in/email", {"origin": self.base}, ACCOUNTS[1]),
        ]

    def version(self):
        return json.loads(pathlib.Path(self.packages, "node_modules/better-auth/package.json").read_text(encoding="utf-8"))["version"]


def starts(sides, rounds):
    """Median milliseconds until each side answers, with data from an earlier run."""
    for side in sides:
        side.start()
        measure.stop(side.process)
    times = [[] for _ in sides]
    for _ in range(rounds):
        for side, kept in zip(sides, times):
            kept.append(side.start())
            measure.stop(side.process)
    return [statistics.median(kept) for kept in times]


def throughput(sides, rounds, seconds):
    """Yields, by operation and number of connections, both sides' median requests a second and
    the median ratio."""
    operations = [side.operations() for side in sides]
    for of_sides in zip(*operations):
        for connections in (1, 16):
            rates = [[], []]
            for turn in range(rounds):
                # The two services take turns in going first.
                for number in (0, 1) if turn % 2 else (1, 0):
                    side, (_, path, headers, body) = sides[number], of_sides[number]
                    rates[number].append(measure.wrk(side.process, seconds, connections, path, headers, body, side.base)[0])
            ratio = statistics.median(own / other for own, other in zip(*rates))
            name = f"{of_sides[0][0]}, {connections} connection{'s' if connections > 1 else ''}, requests a second"
            yield name, *map(statistics.median, rates), ratio


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("gateway")
    parser.add_argument("packages")
    options = parser.parse_args()
    rounds, seconds = (1, 1) if options.quick else (5, 2)
    sides = [Gatelet(options.gateway), BetterAuth(options.packages)]
    try:
        rows = [("start to first answer, ms", *starts(sides, rounds))]
        for side in sides:
            side.start()
        time.sleep(1)
        idle = [measure.resident_megabytes(side.process) for side in sides]
        rates = list(throughput(sides, rounds, seconds))
        loaded = [measure.resident_megabytes(side.process) for side in sides]
        time.sleep(0 if options.quick else COOLDOWN)
        rested = [measure.resident_megabytes(side.process) for side in sides]
    finally:
        for side in sides:
            if side.process.poll() is None:
                measure.stop(side.process)
            shutil.rmtree(side.folder)
    rows += [("memory, idle, MB", *idle), ("memory, right after the load, MB", *loaded), ("memory, half a minute later, MB", *rested)]
    node = subprocess.run(["node", "--version"], check=True, capture_output=True, text=True).stdout.strip()
    # The factor is above 1 if Gatelet is better: more requests, a faster start, or less memory.
    print(f"Gatelet {sides[0].version()}, Better Auth {sides[1].version()} on Node {node}; {os.cpu_count()} cores, {platform.machine()}\n")
    print("| | Gatelet | Better Auth | factor |\n|---|---|---|---|")
    for name, own, other, factor in rates + [(name, own, other, other / own) for name, own, other in rows]:
        print(f"| {name} | {own:,.0f} | {other:,.0f} | {factor:.1f} |")


if __name__ == "__main__":
    main()
