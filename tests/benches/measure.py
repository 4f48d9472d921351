"""Measures an optimized gateway over HTTP (see `run`): startup, memory, throughput, CPU time."""

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

PORT = 8791
BASE = f"http://127.0.0.1:{PORT}"
REPETITIONS = 5


def start(gateway, folder, port=PORT):
    """Starts a gateway; returns its process, and the milliseconds until it answered."""
    began = time.perf_counter()
    process = subprocess.Popen([gateway, "--data", folder, "--listen", f"127.0.0.1:{port}", "--limits", "off"], stdout=subprocess.DEVNULL)
    while True:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=1).read()
            return process, (time.perf_counter() - began) * 1000
        except OSError:
            if process.poll() is not None:
                raise SystemExit(f"{gateway} ended with status {process.returncode} before it answered") from None
            time.sleep(0.001)


def stop(process):
    process.terminate()
    process.wait(timeout=15)


def resident_megabytes(process):
    with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)) / 1024


def cpu_milliseconds(process):
    """A process's CPU time so far."""
    with open(f"/proc/{process.pid}/stat", encoding="ascii") as stat:
        user, system = stat.read().rsplit(") ", 1)[1].split()[11:13]
    return (int(user) + int(system)) * 1000 / os.sysconf("SC_CLK_TCK")


def call(headers, path, body, base=BASE):
    request = urllib.request.Request(base + path, json.dumps(body).encode(), {**headers, "content-type": "application/json"})
    return json.load(urllib.request.urlopen(request))


def operations(folder, base=BASE):
    """Signs up a user; returns requests to measure: name, path, headers, body."""
    keys = dict(line.strip().removeprefix("export ").split("=", 1) for line in open(f"{folder}/keys.env", encoding="ascii"))
    client = {
        "x-service-access-type": "client",
        "x-service-project-id": keys["GATELET_PROJECT_ID"],
        "x-service-publishable-client-key": keys["GATELET_PUBLISHABLE_CLIENT_KEY"],
    }
    account = {"email": "ada@example.com", "password": "correct horse battery"}
    token = call(client, "/api/v1/auth/password/sign-up", account, base)["access_token"]
    user = {**client, "x-service-access-token": token}
    return [
        ("list apps", "/api/v1/apps", {}, None),
        ("get current user", "/api/v1/users/me", user, None),
        ("list sessions", "/api/v1/auth/sessions?limit=10", user, None),
        ("check code", "/api/v1/auth/otp/sign-in/check-code", client, {"code": "0" * 45}),
        ("sign in (argon2)", "/api/v1/auth/password/sign-in", client, account),
    ]


def wrk(process, seconds, connections, path, headers, body=None, base=BASE):
    """Requests per second, and per request the median latency and the gateway's CPU time, in
    milliseconds."""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency"]
    before = cpu_milliseconds(process)
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        if body is not None:
            script.write(f'wrk.method = "POST"\nwrk.body = [[{json.dumps(body)}]]\nwrk.headers["content-type"] = "application/json"\n')
            script.flush()
            command += ["-s", script.name]
        for name, value in headers.items():
            command += ["-H", f"{name}: {value}"]
        out = subprocess.run([*command, base + path], check=True, capture_output=True, text=True).stdout
    if "Non-2xx" in out:
        raise SystemExit(f"{path}: {out}")
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", out).group(1))
    value, unit = re.search(r"50%\s+([\d.]+)(us|ms|s)", out).groups()
    cpu = (cpu_milliseconds(process) - before) / int(re.search(r"(\d+) requests in", out).group(1))
    return rate, float(value) * {"us": 0.001, "ms": 1, "s": 1000}[unit], cpu


def main(gateway, seconds):
    first, later, idle = [], [], []
    for _ in range(REPETITIONS):
        folder = tempfile.mkdtemp()
        process, ready = start(gateway, folder)
        first.append(ready)
        time.sleep(0.5)
        idle.append(resident_megabytes(process))
        stop(process)
        process, ready = start(gateway, folder)
        later.append(ready)
        stop(process)
        shutil.rmtree(folder)
    print(f"ready, first start:  {statistics.median(first):6.1f} ms")
    print(f"ready, later starts: {statistics.median(later):6.1f} ms")
    print(f"idle memory:         {statistics.median(idle):6.1f} MB")

    folder = tempfile.mkdtemp()
    process, _ = start(gateway, folder)
    try:
        print(f"\n{'operation':18} {'1 connection: req/s':>19} {'median ms':>10} {'CPU ms':>7} {'16 connections: req/s':>22} {'median ms':>10} {'CPU ms':>7}")
        for name, path, headers, body in operations(folder):
            one, many = (wrk(process, seconds, connections, path, headers, body) for connections in (1, 16))
            print(f"{name:18} {one[0]:19.0f} {one[1]:10.2f} {one[2]:7.3f} {many[0]:22.0f} {many[1]:10.2f} {many[2]:7.3f}")
        print(f"\nmemory after the load: {resident_megabytes(process):.1f} MB")
    finally:
        stop(process)
        shutil.rmtree(folder)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
