"""Asks a release gateway over HTTP to reset the password of an account and of nobody, in turns: the medians may differ by three percent.

    cargo build --profile gateway -p gateway && python3 tests/bench/reset.py target/gateway/gateway
"""

import http.client
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time

GATEWAY = sys.argv[1]
PORT = 8799
TURNS = 600
# The email of a turn is on its way before the next begins.
PAUSE = 0.06


def main():
    with tempfile.TemporaryDirectory() as folder:
        command = [GATEWAY, "--data", folder, "--listen", f"127.0.0.1:{PORT}", "--limits", "off"]
        gateway = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            keys = {}
            for line in gateway.stdout:
                if found := re.match(r"  (Project|Client key|Internal admin) +(\S+)$", line):
                    keys[found[1]] = found[2]
                if "Internal admin" in keys:
                    break
            measure(keys)
        finally:
            gateway.terminate()
            gateway.wait(timeout=15)


def measure(keys):
    headers = {
        "content-type": "application/json", "x-service-access-type": "client", "x-service-project-id": keys["Project"],
        "x-service-publishable-client-key": keys["Client key"],
    }
    connection = http.client.HTTPConnection("127.0.0.1", PORT)

    def post(path, body):
        connection.request("POST", f"/api/v1{path}", json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{answer.status} {text}")

    callback = "http://localhost:3000/reset"
    post("/auth/password/sign-up", {"email": "ada@example.com", "password": "correct horse battery", "verification_callback_url": callback})
    times = {"ada@example.com": [], "nobody@example.com": []}
    for turn in range(TURNS + 20):
        for email, found in times.items():
            time.sleep(PAUSE)
            began = time.perf_counter()
            post("/auth/password/send-reset-code", {"email": email, "callback_url": callback})
            if turn >= 20:
                found.append((time.perf_counter() - began) * 1000)
    account, nobody = (statistics.median(found) for found in times.values())
    print(f"reset of an account: {account:.3f} ms, of nobody: {nobody:.3f} ms, ratio {account / nobody:.3f}")


main()
