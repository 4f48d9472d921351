"""An app on the deployment: signs up, signs in, and keeps what must survive an update."""

import base64
import json
import re
import time
import urllib.error
import urllib.request

PASSWORD = "correct horse battery"
#: The header and the key of each access level.
KEYS = {
    "client": ("publishable-client-key", "GATELET_PUBLISHABLE_CLIENT_KEY"),
    "server": ("secret-server-key", "GATELET_SECRET_SERVER_KEY"),
    "admin": ("super-secret-admin-key", "GATELET_SUPER_SECRET_ADMIN_KEY"),
}


def claims(token):
    payload = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))


class Client:
    def __init__(self, stack, keys):
        self.stack, self.keys = stack, keys

    def send(self, method, path, body=None, access="client", **headers):
        header, key = KEYS[access]
        headers = {f"x-service-{name.replace('_', '-')}": value for name, value in headers.items()}
        headers |= {"x-service-access-type": access, "x-service-project-id": self.keys["GATELET_PROJECT_ID"], f"x-service-{header}": self.keys[key]}
        data = None if body is None else json.dumps(body).encode()
        if data:
            headers["content-type"] = "application/json"
        request = urllib.request.Request(self.stack.url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, json.loads(answer.read() or "null")
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or "null")

    def keys_published(self):
        return [key["kid"] for key in self.ok("GET", f"/api/v1/projects/{self.keys['GATELET_PROJECT_ID']}/.well-known/jwks.json")["keys"]]

    def ok(self, *arguments, **options):
        status, body = self.send(*arguments, **options)
        assert status == 200, f"{arguments}: {status} {body}"
        return body

    def sign_in(self, email):
        return self.ok("POST", "/api/v1/auth/password/sign-in", {"email": email, "password": PASSWORD})

    def sign_up(self, email):
        return self.ok("POST", "/api/v1/auth/password/sign-up", {"email": email, "password": PASSWORD, "verification_callback_url": "http://localhost:3000/verify"})

    def has_one_id_for_a_request(self):
        """Asserts that a response's request id is in the logs of the function and of API
        Gateway."""
        with urllib.request.urlopen(f"{self.stack.url}/api/v1", timeout=30) as answer:
            request_id = answer.headers["x-request-id"]
        assert self.stack.logged("api", "requestId", request_id)["route"] == "ANY /api/{version}"
        assert self.stack.logged("functions", "request_id", request_id)["operation"] == "edge-welcome"

    def mails(self, address):
        with urllib.request.urlopen(f"{self.stack.endpoint}/_ministack/ses/messages", timeout=10) as answer:
            messages = json.load(answer)["messages"]
        return [mail for of_account in messages.values() for mail in of_account if address in mail["To"]]

    def mail(self, address, seconds):
        for _ in range(seconds * 10):
            for mail in self.mails(address):
                return mail
            time.sleep(0.1)
        raise AssertionError(f"no email to {address}")

    def use(self):
        """Creates accounts and sessions in this version; returns what must survive the update."""
        email = "ada@example.com"
        up = self.sign_up(email)
        # In MiniStack, a stream that starts at LATEST misses the first records. The schedule
        # processes the missed records within a minute.
        code = re.search(r"code=([0-9a-z]{45})", self.mail(email, 240)["BodyText"])[1]
        other = self.sign_up("grace@example.com")
        self.ok("PATCH", "/api/v1/users/me", {"display_name": "Grace"}, access_token=other["access_token"])
        return {"email": email, "code": code, **up, "other": other}

    def has_kept(self, kept):
        """Asserts that the earlier accounts, and the session and code of the first, still exist."""
        me = self.ok("GET", "/api/v1/users/me", access_token=kept["access_token"])
        assert (me["id"], me["primary_email"]) == (kept["user_id"], kept["email"]), me
        fresh = self.ok("POST", "/api/v1/auth/sessions/current/refresh", {}, refresh_token=kept["refresh_token"])["access_token"]
        sessions = self.ok("GET", "/api/v1/auth/sessions", access_token=fresh)["items"]
        # The newest session comes first, so sessions of later sign-ins precede that of the refresh
        # token.
        assert [session["is_current_session"] for session in sessions].index(True) == len(sessions) - 1, sessions
        self.ok("POST", "/api/v1/contact-channels/verify", {"code": kept["code"]})
        assert self.ok("GET", "/api/v1/users/me", access_token=fresh)["primary_email_verified"] is True
        assert self.sign_in(kept["email"])["user_id"] == kept["user_id"]
        users = self.ok("GET", "/api/v1/users", access="server")["items"]
        assert {user["id"]: user["display_name"] for user in users} == {kept["user_id"]: None, kept["other"]["user_id"]: "Grace"}, users

    def has_tokens_of(self, seconds):
        """Asserts that access tokens have the lifetime in the stack's parameter."""
        token = claims(self.sign_in("ada@example.com")["access_token"])
        assert token["exp"] - token["iat"] == seconds, token

    def loses_no_mail(self):
        """Asserts that the stream, with the schedule off, makes the new version send an email
        once."""
        email, events = "lin@example.com", self.stack.aws("events")
        rules = events.list_rules()["Rules"]
        (schedule,) = [rule["Name"] for rule in rules if rule.get("Description") == "Looks for emails that have become due"]
        events.disable_rule(Name=schedule)
        self.sign_up(email)
        self.mail(email, 240)
        events.enable_rule(Name=schedule)
        # An email that is still due would be sent before this one.
        self.sign_up("zoe@example.com")
        self.mail("zoe@example.com", 240)
        assert len(self.mails(email)) == 1
