"""Starts a gateway, signs a user up, and has schemathesis compare the service with its OpenAPI
document: as a server, that user's client, an agent, and an admin.

Examples and seed are fixed, so every run sends the same requests. With `--long` there are fifty
times as many examples, and the seed changes daily.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

GATEWAY = sys.argv[1]
LONG = "--long" in sys.argv[2:]
EXAMPLES = 1500 if LONG else 30
SEED = int(time.strftime("%Y%m%d", time.gmtime())) if LONG else 20261121
CHECKS = [
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance", "response_schema_conformance",
    "negative_data_rejection", "unsupported_method", "allow_header_conformance", "ensure_resource_availability", "use_after_free",
]
# The statuses that refuse invalid data. A change that names an outdated version in `If-Match` is
# refused with 412 before its values are checked.
REFUSALS = ["400", "401", "403", "404", "405", "406", "409", "412", "415", "422", "428", "429", "5xx"]
# JSON-RPC over HTTP reports errors in the body of a response with status 200.
RPC, RPC_CHECKS = "/a2a", [check for check in CHECKS if check != "negative_data_rejection"]
# Operations that delete users are tested last and separately, because other requests need these
# users.
ENDING = r"^DELETE /api/v1/users/(me|\{user_id\})$"
CALLBACK = "http://localhost:3000/callback"
# Parameters whose values are known, each with the name of these values in the result of `inhabit`.
KNOWN_AT = {
    "path.user_id": "users", "query.user_id": "users", "body.user_id": "users", "body.user_ids[*]": "users", "path.id": "ids",
    "path.contact_channel_id": "ids", "body.email": "emails", "body.password": "passwords", "body.old_password": "passwords",
    "body.callback_url": "urls", "body.verification_callback_url": "urls",
}
LABELS = {"Project": "project", "Client key": "client", "Server key": "server", "Admin key": "admin"}


class Gateway:
    """A gateway in memory, with project and keys from its output."""

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
        raise SystemExit("the gateway ended before it printed its keys: start it by hand to see why")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=15)
        self.log.seek(0)
        if errors := [line for line in self.log if re.search(r"\b(ERROR|panicked)\b", line)]:
            raise SystemExit("the gateway logged errors:\n" + "".join(errors[:20]))

    def headers(self, access):
        """The headers of requests of an access type."""
        key = {"client": "Publishable-Client-Key", "server": "Secret-Server-Key", "admin": "Super-Secret-Admin-Key"}[access]
        return {"X-Service-Access-Type": access, "X-Service-Project-Id": self.keys["project"], f"X-Service-{key}": self.keys[access]}

    def ask(self, access, path, body=None, token=None):
        headers = self.headers(access) | {"Content-Type": "application/json"} | ({"X-Service-Access-Token": token} if token else {})
        request = urllib.request.Request(f"{self.url}/api/v1{path}", json.dumps(body).encode() if body else None, headers)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def inhabit(self):
        """Signs up a user and creates items for requests; returns known values by name."""
        account = {"email": "ada@example.com", "password": "correct horse battery"}
        user = self.ask("client", "/auth/password/sign-up", account | {"verification_callback_url": CALLBACK})
        self.ask("server", "/auth/sessions", {"user_id": user["user_id"]})
        self.ask("server", "/emails/send-email", {"user_ids": [user["user_id"]], "html": "<p>Later</p>", "scheduled_at_millis": 4102444800000})
        lists = [f"/auth/sessions?user_id={user['user_id']}", "/emails/outbox", f"/contact-channels?user_id={user['user_id']}"]
        ids = [item["id"] for path in lists for item in self.ask("server", path)["items"]]
        known = {"users": [user["user_id"], "me"], "ids": ids, "emails": [account["email"]], "passwords": [account["password"]], "urls": [CALLBACK]}
        return known

    def user(self, known):
        """The headers of the user in a new session: requests of earlier runs may have ended others."""
        session = self.ask("server", "/auth/sessions", {"user_id": known["users"][0]})
        return {"X-Service-Access-Token": session["access_token"], "X-Service-Allow-Restricted-User": "true"}


def configuration(known):
    """Schemathesis's configuration: half of the values of the parameters in `KNOWN_AT` are known
    ones, the others arbitrary."""
    lines = [f"[dictionaries.{name}]\nvalues = {json.dumps(values)}" for name, values in known.items()]
    lines += ["[checks]", f"negative_data_rejection.expected-statuses = {json.dumps(REFUSALS)}"]
    lines += ["[parameters]"]
    lines += [f'"{place}" = {{ dictionary = "{name}", probability = 0.5 }}' for place, name in KNOWN_AT.items()]
    return "\n".join(lines)


def conforms(gateway, title, headers, known, *filters, checks=CHECKS):
    """Whether the responses to all of schemathesis's requests match the document.

    There is one worker, because CPython before 3.12 counts the depth of syntax trees across
    threads: two parsing threads of hypothesis would cause a SystemError.
    """
    with tempfile.TemporaryDirectory() as folder:
        # schemathesis runs in a new folder, because its database of examples would make a run
        # depend on earlier runs.
        config = pathlib.Path(folder, "schemathesis.toml")
        config.write_text(configuration(known))
        command = ["schemathesis", "--config-file", config, "run", f"{gateway.url}/openapi.json", "--url", gateway.url]
        command += ["--phases", "examples,coverage,fuzzing", "--checks", ",".join(checks), "--max-examples", str(EXAMPLES), "--seed", str(SEED)]
        command += ["--workers", "1", "--warnings", "off", "--continue-on-failure", *filters]
        for name, value in headers.items():
            command += ["--header", f"{name}: {value}"]
        run = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(f"== {title}\n{run.stdout}", flush=True)
    return run.returncode == 0


def main():
    with Gateway() as gateway:
        known = gateway.inhabit()
        # There is only one filter, because schemathesis excludes only operations that match all
        # filters.
        product = ["--exclude-name-regex", f"/internal/|^POST {RPC}$|{ENDING}"]
        runs = [("as a server, for a user", "server"), ("as the client of a user", "client")]
        with ThreadPoolExecutor() as pool:
            passed = list(pool.map(lambda run: conforms(gateway, run[0], gateway.headers(run[1]) | gateway.user(known), known, *product), runs))
        passed.append(conforms(gateway, "as an agent", {}, known, "--include-path", RPC, checks=RPC_CHECKS))
        # If the project were deleted, all later requests would fail.
        settings = ["--include-path-regex", "/internal/", "--exclude-operation-id", "projects-internal-current-delete"]
        passed.append(conforms(gateway, "as an admin", gateway.headers("admin") | gateway.user(known), known, *settings))
        ending = ["--include-name-regex", ENDING]
        passed.append(conforms(gateway, "as a server, which deletes users", gateway.headers("server") | gateway.user(known), known, *ending))
    if not all(passed):
        raise SystemExit("the service does not conform to its OpenAPI document: see the failures above")


main()
