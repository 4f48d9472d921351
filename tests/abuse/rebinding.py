"""DNS rebinding: the address of a host changes after the gateway has checked it.

    tests/abuse/run

Everything happens in a network namespace of its own, whose only interface is loopback: it has a
public address, where the attacker's servers listen, and the addresses of the machine, where nobody
may be called. The resolver is the attacker's. A second gateway, which allows private addresses,
shows that the calls would arrive.
"""

import collections
import contextlib
import http.server
import json
import os
import pathlib
import socket
import socketserver
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import urllib.parse

from service import Service, end

PUBLIC = ["1.1.1.1", "2606:4700::1111"]
INSIDE = ["127.0.0.1", "::1"]
HTTPS, SMTP = 443, 587
REDIRECT = "http://localhost:3000/callback"
# DNS responses that contain addresses of the machine, in all their forms.
FORMS = {
    "plain": ["127.0.0.1"],
    "version6": ["::1"],
    "mapped": ["::ffff:127.0.0.1"],
    "unspecified": ["0.0.0.0", "::"],
    "another": ["127.0.0.2"],
}


class Names(threading.Thread):
    """The attacker's resolver."""

    def __init__(self):
        super().__init__(daemon=True)
        self.port = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.port.bind(("127.0.0.1", 53))
        self.answers, self.counts = {}, collections.Counter()

    def run(self):
        while True:
            query, sender = self.port.recvfrom(512)
            self.port.sendto(self.answer(query), sender)

    def answer(self, query):
        labels, at = [], 12
        while length := query[at]:
            labels.append(query[at + 1:at + 1 + length].decode().lower())
            at += 1 + length
        kind = struct.unpack(">H", query[at + 1:at + 3])[0]
        name = ".".join(labels)
        number = self.counts[name, kind]
        self.counts[name, kind] += 1
        family, size = (socket.AF_INET6, 16) if kind == 28 else (socket.AF_INET, 4)
        addresses = [one for one in self.answers.get(name, lambda _: [])(number) if (":" in one) == (kind == 28)]
        # The responses must not be cached, so each connection needs a new lookup.
        records = b"".join(struct.pack(">HHHIH", 0xC00C, kind, 1, 0, size) + socket.inet_pton(family, one) for one in addresses)
        return query[:2] + struct.pack(">HHHHH", 0x8580, 1, len(addresses), 0, 0) + query[12:at + 5] + records


class Issuer(http.server.BaseHTTPRequestHandler):
    """An OpenID issuer and a receiver of webhooks, at every name."""

    def do_GET(self):
        issuer = f"https://{self.headers['host']}"
        endpoints = {"authorization_endpoint": "/authorize", "token_endpoint": "/token", "jwks_uri": "/jwks"}
        metadata = {"issuer": issuer, **{name: f"{issuer}{path}" for name, path in endpoints.items()}}
        key = {"kty": "OKP", "crv": "Ed25519", "kid": "key", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}
        self.reply(metadata if "openid-configuration" in self.path else {"keys": [key]})

    def do_POST(self):
        self.reply({"error": "invalid_grant"})

    def reply(self, body):
        self.server.calls += 1
        text = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


class Listener(socketserver.ThreadingTCPServer):
    """Counts the connections to an address, and closes them."""

    allow_reuse_address, daemon_threads = True, True

    def __init__(self, address, port):
        self.address_family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.calls = 0
        super().__init__((address, port), socketserver.BaseRequestHandler)

    def process_request(self, request, address):
        self.calls += 1
        self.shutdown_request(request)


def certificates(folder):
    """A private CA, and a certificate for every name of the attacker."""
    run = lambda *command: subprocess.run(command, check=True, cwd=folder, capture_output=True)
    run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=CA", "-keyout", "ca.key", "-out", "ca.pem", "-days", "2")
    run("openssl", "req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=x", "-keyout", "own.key", "-out", "own.csr")
    (folder / "names").write_text("subjectAltName=DNS:*.rebinding.example\nbasicConstraints=CA:FALSE\n")
    run("openssl", "x509", "-req", "-in", "own.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out", "own.pem",
        "-days", "2", "-extfile", "names")


class World:
    """The attacker's resolver and servers, and listeners at the addresses of the machine."""

    def __init__(self, folder):
        certificates(folder)
        self.ca = str(folder / "ca.pem")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "own.pem", folder / "own.key")
        self.issuer = http.server.ThreadingHTTPServer((PUBLIC[0], HTTPS), Issuer)
        self.issuer.calls = 0
        self.issuer.socket = context.wrap_socket(self.issuer.socket, server_side=True)
        self.mail = Listener(PUBLIC[0], SMTP)
        self.inside = [Listener(address, port) for address in [*INSIDE, "127.0.0.2"] for port in (HTTPS, SMTP)]
        for server in [self.issuer, self.mail, *self.inside]:
            threading.Thread(target=server.serve_forever, daemon=True).start()
        self.names = Names()
        self.names.start()

    def host(self, label, answer):
        name = f"{label}.rebinding.example"
        self.names.answers[name] = answer
        return name

    def called(self):
        """The calls to the attacker's servers and to the machine, since the last time."""
        servers = [self.issuer, self.mail]
        counts = sum(server.calls for server in servers), sum(server.calls for server in self.inside)
        for server in [*servers, *self.inside]:
            server.calls = 0
        return counts


def admin(service, method, path, body):
    own = {
        "x-service-project-id": service.keys["GATELET_PROJECT_ID"],
        "x-service-access-type": "admin",
        "x-service-super-secret-admin-key": service.keys["GATELET_SUPER_SECRET_ADMIN_KEY"],
    }
    return service.send("127.0.0.1", method, f"/api/v1{path}", body, own, timeout=60)


def provider(service, host):
    """Saves a provider, whose issuer is asked for its metadata and keys; whether it is accepted."""
    entry = {"id": "acme", "type": "standard", "client_id": "x", "client_secret": "y", "issuer": f"https://{host}"}
    status, _ = admin(service, "PATCH", "/internal/projects/current", {"config": {"oauth_providers": [entry]}})
    return status == 200


def begin(service):
    """Begins to sign in; returns the state of the flow."""
    query = urllib.parse.urlencode({
        "client_id": service.keys["GATELET_PROJECT_ID"], "client_secret": service.keys["GATELET_PUBLISHABLE_CLIENT_KEY"],
        "redirect_uri": REDIRECT, "scope": "legacy", "state": "s", "grant_type": "authorization_code", "response_type": "code",
        "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "code_challenge_method": "S256", "stack_response_mode": "json",
    })
    status, answer = service.send("127.0.0.1", "GET", f"/api/v1/auth/oauth/authorize/acme?{query}")
    assert status == 200, answer
    return urllib.parse.parse_qs(urllib.parse.urlsplit(answer["location"]).query)["state"][0]


def sign_in(service, world):
    """The issuer's address changes between the two halves of a flow."""
    is_flipped = []
    host = world.host("flow", lambda _: INSIDE if is_flipped else PUBLIC)
    assert provider(service, host)
    state = begin(service)
    is_flipped.append(True)
    service.send("127.0.0.1", "GET", f"/api/v1/auth/oauth/callback/acme?code=x&state={state}", timeout=60)


def each_lookup(service, world):
    """The address changes with each lookup: once to check, once to connect."""
    for number in range(6):
        provider(service, world.host(f"each{number}", lambda lookup, first=number % 2: INSIDE if (lookup + first) % 2 else PUBLIC))


def several(service, world):
    """Public and private addresses are in one answer."""
    for number, both in enumerate([INSIDE + PUBLIC, PUBLIC + INSIDE, ["127.0.0.2", PUBLIC[0]]]):
        provider(service, world.host(f"several{number}", lambda _, both=both: both))


def forms(service, world):
    for label, addresses in FORMS.items():
        assert not provider(service, world.host(label, lambda _, addresses=addresses: addresses))


def webhooks(service, world):
    """The endpoint's address changes after it was saved, and with each delivery."""
    is_flipped = []
    host = world.host("hook", lambda lookup: INSIDE if is_flipped and lookup % 2 else PUBLIC)
    status, endpoint = admin(service, "POST", "/internal/webhook-endpoints", {"url": f"https://{host}/", "event_types": ["user.created"]})
    assert status == 201, endpoint
    for _ in range(6):
        admin(service, "POST", "/internal/send-test-webhook", {"endpoint_id": endpoint["id"]})
        is_flipped.append(True)


def mail(service, world):
    for number in range(4):
        host = world.host(f"mail{number}", lambda lookup, first=number % 2: INSIDE if (lookup + first) % 2 else PUBLIC)
        server = {"host": host, "port": SMTP, "username": "x", "password": "y", "sender_name": "X", "sender_email": "x@example.com"}
        for _ in range(2):
            status, answer = admin(service, "POST", "/internal/send-test-email", {"recipient_email": "ada@example.com", "email_config": server})
            assert status == 200, answer


# Each attack, and whether it calls the servers of the attacker.
ATTACKS = [(sign_in, True), (each_lookup, True), (several, True), (forms, False), (webhooks, True), (mail, True)]


def main(gateway):
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        world = World(pathlib.Path(folder))
        trust = {"SSL_CERT_FILE": world.ca}
        with Service(gateway, environment=trust) as service:
            print(f"{'attack':16} {'calls to the attacker':>22} {'calls to the machine':>21}", flush=True)
            for attack, reaches in ATTACKS:
                attack(service, world)
                outside, inside = world.called()
                print(f"{attack.__name__:16} {outside:22} {inside:21}", flush=True)
                if inside or (outside > 0) != reaches:
                    failed.append(f"{attack.__name__}: {outside} calls to the attacker, {inside} to the machine")
        with Service(gateway, environment={**trust, "GATELET_ALLOW_PRIVATE_ISSUERS": "1"}) as service:
            provider(service, world.host("allowed", lambda _: INSIDE))
            if not world.called()[1]:
                failed.append("the calls would not arrive anyway")
    end(failed)


def isolated(arguments):
    """Runs this program again, in a network of its own."""
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as resolver:
        resolver.write("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
        resolver.flush()
        prepare = " && ".join([
            "ip link set lo up", f"ip address add {PUBLIC[0]}/32 dev lo", f"ip address add {PUBLIC[1]}/128 dev lo nodad",
            f"mount --bind {resolver.name} {os.path.realpath('/etc/resolv.conf')}",
        ])
        command = ["unshare", "--map-root-user", "--net", "--mount", "sh", "-c", f'{prepare} && exec python3 "$@"', "sh", __file__, *arguments]
        return subprocess.run(command, env={**os.environ, "ISOLATED": "1"}).returncode


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main(sys.argv[1]) if os.environ.get("ISOLATED") else isolated(sys.argv[1:]))
