"""nginx and Caddy in front of a gateway, as they are without settings of their own: who sees pages with keys and emails, and who is counted.

    tests/abuse/run

Needs nginx and caddy (packages of Debian).
"""

import contextlib
import pathlib
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time

from service import PASSWORD, Service, end, free_port

PAGES = ["/", "/inbox", "/outbox", "/inbox/api/messages"]
PERSON = {"accept": "text/html", "user-agent": "Mozilla/5.0", "sec-fetch-site": "none"}
HERE, THERE = "127.0.1.1", "127.0.1.2"
# Sign-ins of an address in ten minutes.
LIMIT = 60


@contextlib.contextmanager
def started(command, port, folder):
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        for _ in range(100):
            with contextlib.closing(socket.socket()) as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        else:
            raise SystemExit(f"{command[0]} does not start: {(folder / 'log').read_text()}")
        yield
    finally:
        process.terminate()
        process.wait(timeout=10)


def nginx(gateway, folder, trusted):
    # It passes no address on by itself: that is the line that its documentation has for it.
    header = "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;" if trusted else ""
    port = free_port()
    temporary = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
    (folder / "nginx.conf").write_text(f"""
daemon off; pid {folder}/pid; error_log {folder}/errors;
events {{}}
http {{ access_log off; {temporary}
  server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://127.0.0.1:{gateway}; {header} }} }} }}
""")
    return ["nginx", "-c", str(folder / "nginx.conf")], port


def caddy(gateway, folder, _):
    port = free_port()
    (folder / "Caddyfile").write_text(f"{{\n admin off\n}}\nhttp://:{port} {{\n bind 127.0.0.1\n reverse_proxy 127.0.0.1:{gateway}\n}}\n")
    return ["caddy", "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")], port


class Through:
    """A service as its clients see it through a proxy."""

    def __init__(self, service, port):
        self.service, self.port = service, port

    def send(self, address, method, path, body=None, headers=None):
        own, self.service.port = self.service.port, self.port
        try:
            return self.service.client(address, method, path, body, headers) if path.startswith("/auth") else self.service.send(
                address, method, path, body, headers)
        finally:
            self.service.port = own

    def sign_in(self, address, headers=None):
        # Each for an account of its own, as wrong passwords for one are limited, too.
        body = {"email": f"{secrets.token_hex(6)}@people.example", "password": PASSWORD}
        return self.send(address, "POST", "/auth/password/sign-in", body, headers)[0]


def check(condition, what):
    if not condition:
        raise SystemExit(what)


def behind(proxy, gateway, trusted):
    with tempfile.TemporaryDirectory() as folder, Service(gateway, ["--trusted-proxy", "127.0.0.1/32"] if trusted else []) as service:
        command, port = proxy(service.port, pathlib.Path(folder), trusted)
        with started(command, port, pathlib.Path(folder)):
            through, name = Through(service, port), f"{command[0]}{', trusted' if trusted else ''}"
            check(through.send(HERE, "GET", "/health")[0] == 200, f"{name}: the gateway is not reached")
            for page in PAGES:
                for who, headers in [("a person", PERSON), ("a program", {})]:
                    status, text = through.send(HERE, "GET", page, None, headers)
                    check(status in (403, 404), f"{name}: {who} gets {status} at {page}: {str(text)[:200]}")
            statuses = [through.sign_in(HERE, {"x-forwarded-for": f"203.0.113.{number}"}) for number in range(LIMIT + 5)]
            check(statuses[-1] == 429, f"{name}: whoever writes X-Forwarded-For is not limited: {statuses}")
            other = through.sign_in(THERE)
            check((other != 429) == trusted, f"{name}: another address behind the proxy gets {other}")
            print(f"{name:16} no pages, {statuses.count(429)} of {len(statuses)} sign-ins refused, another address {'passes' if trusted else 'is refused as well'}", flush=True)


def main(gateway):
    if missing := [name for name in ["nginx", "caddy"] if not shutil.which(name)]:
        raise SystemExit(f"{' and '.join(missing)} missing: apt-get install nginx-light caddy")
    for proxy in [nginx, caddy]:
        for trusted in [False, True]:
            behind(proxy, gateway, trusted)
    end([])


if __name__ == "__main__":
    main(sys.argv[1])
