"""Proxies in front of a gateway: who can see the pages with keys and emails, and which address
the rate limits use. The proxies are Caddy and nginx with their default settings (a trusted nginx
also sends `X-Forwarded-For`), and proxies that do not identify themselves: nginx with HTTP/1.1,
HAProxy, and a relay of connections like `ssh -R` and socat.

    tests/abuse/run

Needs nginx, caddy and haproxy (Debian packages).
"""

import contextlib
import http.client
import pathlib
import secrets
import shutil
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading
import time

from service import PASSWORD, Service, end, free_port

PAGES = ["/", "/console", "/inbox", "/outbox", "/inbox/api/messages"]
PERSON = {"accept": "text/html", "user-agent": "Mozilla/5.0", "sec-fetch-site": "none"}
# Headers that make a request look local, as if a browser or a program on the gateway's machine had
# sent it.
LOCAL = {"host": "localhost"}
HERE, THERE = "127.0.1.1", "127.0.1.2"
# The number of sign-ins that an IP address may attempt in ten minutes.
LIMIT = 60


@contextlib.contextmanager
def started(command, port, folder):
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        for _ in range(1200):
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
    # By default, nginx does not forward the client's address, so this line from nginx's
    # documentation is added.
    return nginx_with("proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;" if trusted else "", gateway, folder)


def nginx_http11(gateway, folder):
    return nginx_with("proxy_http_version 1.1;", gateway, folder)


def nginx_with(setting, gateway, folder):
    port = free_port()
    temporary = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
    (folder / "nginx.conf").write_text(f"""
daemon off; pid {folder}/pid; error_log {folder}/errors;
events {{}}
http {{ access_log off; {temporary}
  server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://127.0.0.1:{gateway}; {setting} }} }} }}
""")
    return ["nginx", "-c", str(folder / "nginx.conf")], port


def caddy(gateway, folder, _):
    port = free_port()
    (folder / "Caddyfile").write_text(f"{{\n admin off\n}}\nhttp://:{port} {{\n bind 127.0.0.1\n reverse_proxy 127.0.0.1:{gateway}\n}}\n")
    return ["caddy", "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")], port


def haproxy(gateway, folder):
    port = free_port()
    (folder / "haproxy.cfg").write_text(f"""
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
listen gateway
  bind 127.0.0.1:{port}
  server gateway 127.0.0.1:{gateway}
""")
    return ["haproxy", "-db", "-f", str(folder / "haproxy.cfg")], port


def relay(gateway, _):
    port = free_port()
    return [sys.executable, __file__, "relay", str(port), str(gateway)], port


class Relay(socketserver.BaseRequestHandler):
    """Relays a connection to another port in both directions."""

    def handle(self):
        with socket.create_connection(("127.0.0.1", self.server.gateway)) as other:
            back = threading.Thread(target=self.copy, args=(other, self.request), daemon=True)
            back.start()
            self.copy(self.request, other)
            back.join()

    @staticmethod
    def copy(source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)


class Through:
    """A service as seen through a proxy."""

    def __init__(self, service, port):
        self.service, self.port = service, port

    def send(self, address, method, path, body=None, headers=None):
        own, self.service.port = self.service.port, self.port
        try:
            return self.service.client(address, method, path, body, headers) if path.startswith("/auth") else self.service.send(
                address, method, path, body, headers)
        finally:
            self.service.port = own

    def opened(self, address, path, headers):
        """Status and headers of a page."""
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=30, source_address=(address, 0))) as connection:
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.headers

    def sign_in(self, address, headers=None):
        # Each sign-in uses a different email address, because wrong passwords are also limited per
        # email address.
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
                    # The site's start page is public. Without a trusted proxy, people get the
                    # gateway's private page at `/` instead of the site's start page.
                    expected = (200,) if page == "/" and (who == "a program" or trusted) else (403, 404)
                    check(status in expected, f"{name}: {who} gets {status} at {page}: {str(text)[:200]}")
            statuses = [through.sign_in(HERE, {"x-forwarded-for": f"203.0.113.{number}"}) for number in range(LIMIT + 5)]
            check(statuses[-1] == 429, f"{name}: X-Forwarded-For bypasses the limit: {statuses}")
            other = through.sign_in(THERE)
            check((other != 429) == trusted, f"{name}: another address behind the proxy gets {other}")
            print(f"{name:16} no pages, {statuses.count(429)} of {len(statuses)} sign-ins rejected, another address {'passes' if trusted else 'is rejected as well'}", flush=True)


def behind_silent(proxy, gateway):
    """A proxy whose requests look local: only users with the page key see the pages."""
    name = proxy.__name__
    with tempfile.TemporaryDirectory() as folder, Service(gateway) as service:
        email, _ = service.user("ada")
        secret = [*service.keys.values(), email]
        command, port = proxy(service.port, pathlib.Path(folder))
        with started(command, port, pathlib.Path(folder)):
            through = Through(service, port)
            mail = service.mails(email)[0]
            entry = f"/outbox/{mail['project_id']}/{mail['outbox_id']}"
            paths = [*PAGES, f"/inbox/{mail['id']}", f"/inbox/{mail['id']}/html", f"/inbox/api/messages/{mail['id']}",
                     f"/inbox/api/messages/{mail['id']}/raw", entry, f"{entry}/html"]
            port_seen = service.port if proxy is nginx_http11 else 80
            keys = [{}, {"authorization": "Bearer wrong"}, {"cookie": f"gatelet_pages_{port_seen}=wrong"}]
            for path in paths:
                for who in [{**PERSON, **LOCAL}, LOCAL, {**LOCAL, "sec-fetch-site": "none"}]:
                    for key in keys:
                        status, text = through.send(HERE, "GET", path, None, {**who, **key})
                        # Programs get the public start page of the site at `/`.
                        expected = 200 if path == "/" and "accept" not in who else 403
                        check(status == expected, f"{name}: {who} gets {status} at {path}")
                        check(not any(value in str(text) for value in secret), f"{name}: {who} gets a secret at {path}: {text}")
            status, _ = through.send(HERE, "DELETE", "/inbox/api/messages", None, LOCAL)
            check(status == 403 and service.mails(email), f"{name}: the inbox is emptied ({status})")

            key = service.keys["GATELET_PAGE_KEY"]
            status, headers = through.opened(HERE, f"/?key={key}", {**PERSON, **LOCAL})
            page, _, token = headers["location"].partition("#")
            check((status, page, bool(token)) == (303, "/console", True), f"{name}: the link leads to {status} {headers['location']}")
            cookie = {"cookie": headers["set-cookie"].split(";")[0]}
            for path in paths:
                who, opener = (LOCAL, service.page_key()) if "/api/" in path else ({**PERSON, **LOCAL}, cookie)
                status, text = through.send(HERE, "GET", path, None, {**who, **opener})
                check(status == (303 if path == "/" else 200), f"{name}: with the key, {path} answers {status}: {text}")
            # The cookie gives access to the pages, but not to the project's keys.
            for bearer, expected in [({}, 403), ({"authorization": "Bearer wrong"}, 403), ({"authorization": f"Bearer {token}"}, 200)]:
                status, text = through.send(HERE, "GET", "/console/session", None, {**LOCAL, "sec-fetch-site": "same-origin", **cookie, **bearer})
                check(status == expected and ("sak_" in str(text)) == (expected == 200), f"{name}: the keys answer {status} to {bearer}")
            print(f"{name:16} pages only with the page key", flush=True)


def main(gateway):
    if missing := [name for name in ["nginx", "caddy", "haproxy"] if not shutil.which(name)]:
        raise SystemExit(f"missing: {', '.join(missing)}; run apt-get install nginx-light caddy haproxy")
    for proxy in [nginx_http11, haproxy, relay]:
        behind_silent(proxy, gateway)
    for proxy in [nginx, caddy]:
        for trusted in [False, True]:
            behind(proxy, gateway, trusted)
    end([])


def serve_relay(port, gateway):
    with socketserver.ThreadingTCPServer(("127.0.0.1", port), Relay) as server:
        server.gateway = gateway
        server.serve_forever()


if __name__ == "__main__":
    if sys.argv[1] == "relay":
        serve_relay(int(sys.argv[2]), int(sys.argv[3]))
    else:
        main(sys.argv[1])
