"""Requests password resets from an optimized gateway over HTTP, in turn for all kinds of
accounts and for an unknown address, and prints how much the median response times differ. They
should differ by at most three percent, but the script does not fail beyond that.

    cargo build --profile gateway -p gateway && python3 tests/benches/reset.py target/gateway/gateway
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
TURNS = 300
# Seconds between requests, so that the email of each request is sent before the next request.
PAUSE = 0.06
# After this many consecutive wrong passwords, the account's password is locked.
WRONG = 100
# Well-formed bcrypt hashes whose passwords nobody knows.
IMPORTED = {
    10: "$2b$10$7EqJtq98hPqEX7fNZaFWoOhi5BqKxN4TqkQ2gYHk3nY1sJb0Q1c1e",
    12: "$2b$12$7EqJtq98hPqEX7fNZaFWoOhi5BqKxN4TqkQ2gYHk3nY1sJb0Q1c1e",
}


def main():
    with tempfile.TemporaryDirectory() as folder:
        command = [GATEWAY, "--data", folder, "--listen", f"127.0.0.1:{PORT}", "--limits", "off"]
        gateway = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            keys = {}
            for line in gateway.stdout:
                if found := re.match(r"  (Project|Client key|Server key|Internal admin) +(\S+)$", line):
                    keys[found[1]] = found[2]
                if "Internal admin" in keys:
                    break
            measure(keys)
        finally:
            gateway.terminate()
            gateway.wait(timeout=15)


def measure(keys):
    connection = http.client.HTTPConnection("127.0.0.1", PORT)

    def post(path, body, level="client", allowed=(200, 201)):
        name = {"client": "publishable-client", "server": "secret-server"}[level]
        headers = {
            "content-type": "application/json", "x-service-access-type": level, "x-service-project-id": keys["Project"],
            f"x-service-{name}-key": keys[f"{level.title()} key"],
        }
        connection.request("POST", f"/api/v1{path}", json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read()
        if answer.status not in allowed:
            raise SystemExit(f"POST {path}: {answer.status} {text}")

    def create(email, **fields):
        post("/users", {"primary_email": email, "primary_email_auth_enabled": True, **fields}, "server")

    callback = "http://localhost:3000/reset"
    for email in ["ada@example.com", "closed@example.com"]:
        post("/auth/password/sign-up", {"email": email, "password": "correct horse battery", "verification_callback_url": callback})
    for _ in range(WRONG):
        post("/auth/password/sign-in", {"email": "closed@example.com", "password": "wrong horse battery"}, allowed=[400])
    create("mail@example.com")
    for cost, hashed in IMPORTED.items():
        create(f"bcrypt-{cost}@example.com", password_hash=hashed)
    names = ["nobody", "ada", "closed", "mail", *(f"bcrypt-{cost}" for cost in IMPORTED)]
    times = {f"{name}@example.com": [] for name in names}
    for turn in range(TURNS + 20):
        # Each turn starts with a different account, so that no account is always first.
        emails = list(times)
        for email in emails[turn % len(emails):] + emails[:turn % len(emails)]:
            time.sleep(PAUSE)
            began = time.perf_counter()
            post("/auth/password/send-reset-code", {"email": email, "callback_url": callback})
            if turn >= 20:
                times[email].append((time.perf_counter() - began) * 1000)
    medians = {email: statistics.median(found) for email, found in times.items()}
    for email, median in medians.items():
        print(f"reset of {email}: {median:.3f} ms, {median / medians['nobody@example.com']:.3f} times that of the unknown account")
    print(f"the medians differ by {(max(medians.values()) / min(medians.values()) - 1) * 100:.1f} %")


main()
