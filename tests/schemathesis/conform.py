"""Starts a gateway, signs a user up, and lets schemathesis compare the service with its document: as a server, as that user's client, as an admin.

Examples and seed are fixed, so that two runs ask the same; together they stay under four minutes on two cores.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.request

GATEWAY = sys.argv[1]
EXAMPLES = 25
SEED = 20261121
CHECKS = [
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance", "response_schema_conformance",
]
# What ends the user that the other requests act for is asked last, on its own.
ENDS_THE_USER = "users-me-delete"
LABELS = {"Project": "project", "Client key": "client", "Server key": "server", "Admin key": "admin"}


class Gateway:
    """A gateway in memory; its project and keys are those that it prints."""

    def __enter__(self):
        self.log = tempfile.TemporaryFile("w+")
        command = [GATEWAY, "serve", "--memory", "--listen", "127.0.0.1:0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.keys = {}
        for line in self.process.stdout:
            if found := re.match(r"Gatelet answers at (\S+)", line):
                self.url = found[1].replace("localhost", "127.0.0.1")
            if (found := re.match(r"  (\S+(?: \S+)?)  +(\S+)$", line)) and found[1] in LABELS:
                self.keys[LABELS[found[1]]] = found[2]
            if "admin" in self.keys:
                return self
        raise SystemExit("the gateway did not start")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=15)
        self.log.seek(0)
        if errors := [line for line in self.log if re.search(r"\b(ERROR|panicked)\b", line)]:
            raise SystemExit("the gateway logged errors:\n" + "".join(errors[:20]))

    def headers(self, access):
        """What every request of an access type carries."""
        key = {"client": "Publishable-Client-Key", "server": "Secret-Server-Key", "admin": "Super-Secret-Admin-Key"}[access]
        return {"X-Service-Access-Type": access, "X-Service-Project-Id": self.keys["project"], f"X-Service-{key}": self.keys[access]}

    def sign_up(self, email):
        body = json.dumps({"email": email, "password": "correct horse battery"}).encode()
        headers = self.headers("client") | {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.url}/api/v1/auth/password/sign-up", body, headers)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)["access_token"]


def conforms(gateway, title, headers, *filters):
    """Whether everything that schemathesis finds is in the document."""
    print(f"== {title}", flush=True)
    command = ["schemathesis", "run", f"{gateway.url}/openapi.json", "--url", gateway.url, "--phases", "examples,coverage,fuzzing"]
    command += ["--checks", ",".join(CHECKS), "--max-examples", str(EXAMPLES), "--seed", str(SEED), "--workers", "2", "--warnings", "off"]
    command += ["--continue-on-failure", "--no-color", "--output-sanitize", "false", *filters]
    for name, value in headers.items():
        command += ["--header", f"{name}: {value}"]
    with tempfile.TemporaryDirectory() as folder:
        # Its store of former examples would make a run depend on the one before.
        return subprocess.run(command, cwd=folder, env=os.environ | {"PYTHONWARNINGS": "ignore"}).returncode == 0


def main():
    with Gateway() as gateway:
        user = {"X-Service-Access-Token": gateway.sign_up("ada@example.com"), "X-Service-Allow-Restricted-User": "true"}
        without = ["--exclude-operation-id", ENDS_THE_USER]
        passed = [
            conforms(gateway, "as a server, for a user", gateway.headers("server") | user, *without, "--exclude-path-regex", "/internal/"),
            conforms(gateway, "as the client of a user", gateway.headers("client") | user, *without, "--exclude-path-regex", "/internal/"),
            conforms(gateway, "as an admin", gateway.headers("admin") | user, "--include-path-regex", "/internal/"),
        ]
    if not all(passed):
        raise SystemExit("the service and its document disagree")


main()
