"""A gateway with a deployment's limits, and callers at addresses of 127.0.0.0/8."""

import contextlib
import http.client
import itertools
import json
import pathlib
import random
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.parse

PASSWORD = "correct horse battery"
LINK = "http://localhost:3000/link"


def free_port():
    """A free port below the kernel's ephemeral range, which the many clients use."""
    while True:
        port = random.randrange(20_000, 30_000)
        with contextlib.closing(socket.socket()) as probe, contextlib.suppress(OSError):
            probe.bind(("0.0.0.0", port))
            return port


def end(failed):
    """Exits with a report of the failures."""
    for line in failed:
        print(line, file=sys.stderr)
    print(f"{0 if failed else 1} passed, {1 if failed else 0} failed")
    sys.exit(1 if failed else 0)


class Service:
    def __init__(self, gateway, options=(), environment=None):
        self.gateway, self.options, self.port = gateway, options, free_port()
        self.environment = {"GATELET_LIMITS": "standard", "GATELET_MAILS_PER_HOUR": "200", "GATELET_LOG": "error", **(environment or {})}
        # Networks without other users. Each request of an attack can come from a new network.
        self.networks = (f"127.{number // 250}.{number % 250 + 1}" for number in itertools.count(250))

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.data = pathlib.Path(self.folder.name) / "data"
        self.process = subprocess.Popen(
            [self.gateway, "--data", self.data, "--listen", f"127.0.0.1:{self.port}", *self.options], stdout=subprocess.PIPE, text=True,
            env=self.environment,
        )
        for line in self.process.stdout:
            if "Internal admin" in line:
                break
        lines = (self.data / "keys.env").read_text().splitlines()
        self.keys = dict(line.removeprefix("export ").split("=", 1) for line in lines if "=" in line)
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.folder.cleanup()

    def send(self, address, method, path, body=None, headers=None, timeout=30):
        """Status and body of a response."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout, source_address=(address, 0))
        try:
            sent = None if body is None else json.dumps(body)
            typed = {} if body is None else {"content-type": "application/json"}
            connection.request(method, path, sent, {**typed, **(headers or {})})
            answer = connection.getresponse()
            text = answer.read().decode()
        finally:
            connection.close()
        is_json = "json" in (answer.getheader("content-type") or "")
        return answer.status, json.loads(text) if is_json else text

    def client(self, address, method, path, body=None, headers=None):
        own = {"x-service-project-id": self.keys["GATELET_PROJECT_ID"], "x-service-access-type": "client"}
        return self.send(address, method, f"/api/v1{path}", body, {**own, **(headers or {})})

    def page_key(self):
        """The header that opens the inbox."""
        return {"authorization": f"Bearer {self.keys['GATELET_PAGE_KEY']}"}

    def configure(self, config):
        own = {
            "x-service-project-id": self.keys["GATELET_PROJECT_ID"],
            "x-service-access-type": "admin",
            "x-service-super-secret-admin-key": self.keys["GATELET_SUPER_SECRET_ADMIN_KEY"],
        }
        status, answer = self.send("127.0.0.1", "PATCH", "/api/v1/internal/projects/current", {"config": config}, own)
        assert status == 200, answer

    def mails(self, part):
        """The emails to addresses that contain this part, newest first."""
        path = f"/inbox/api/messages?limit=1000&bodies=false&q={urllib.parse.quote(part)}"
        return [mail for mail in self.send("127.0.0.1", "GET", path, headers=self.page_key())[1]["items"] if part in json.dumps(mail["to"])]

    def user(self, name):
        """Signs up a user and verifies the address; returns email and IP address."""
        email, home = f"{name}@people.example", f"{next(self.networks)}.1"
        body = {"email": email, "password": PASSWORD, "verification_callback_url": LINK}
        status, answer = self.client(home, "POST", "/auth/password/sign-up", body)
        assert status == 200, answer
        mail = self.wait_for_mail(email, 1)
        text = self.send("127.0.0.1", "GET", f"/inbox/api/messages/{mail['id']}", headers=self.page_key())[1]["text"]
        code = re.search(r"code=(\w+)", text).group(1)
        status, answer = self.client(home, "POST", "/contact-channels/verify", {"code": code})
        assert status == 200, answer
        return email, home

    def wait_for_mail(self, email, count, seconds=60):
        """Waits until an address has this many emails; returns the newest one."""
        for _ in range(seconds * 50):
            if len(found := self.mails(email)) >= count:
                return found[0]
            time.sleep(0.02)
        raise SystemExit(f"{email} has {len(found)} emails instead of {count} after {seconds} s")

    def items(self):
        with contextlib.closing(sqlite3.connect(f"file:{self.data}/gatelet.db?mode=ro", uri=True)) as table:
            return table.execute("SELECT count(*) FROM gatelet").fetchone()[0]

    def megabytes(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024
