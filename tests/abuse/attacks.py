"""Attacks a gateway over loopback. Each attack is a bounded number of requests, with loopback
addresses as the attacker's.

    tests/abuse/run

During each attack a user with an account requests a password reset three times. The table shows the
outcome for both. The test fails if an attack exceeds its bounds, or if the user waits half a minute
for an email.
"""

import collections
import concurrent.futures
import itertools
import secrets
import sys
import threading
import time

from service import LINK, PASSWORD, Service, end

# The number of requests that run at the same time.
AT_ONCE = 8
MAX_WAIT = 30.0
ATTACKS = 16
# The approximate number of items that the honest user leaves in the table by requesting emails
# during each attack.
OWN = 40

# `reached` is the part of an email address that identifies the emails of this attack, because
# emails of the previous attack may still be queued.
Attack = collections.namedtuple("Attack", "name requests send refused reached mails items")
NOBODY = None


def attacks(service):
    """Each attack's name, number of requests, function that sends one, `reached`, and bounds:
    the minimum of rejected requests, and the maxima of emails and of items left in the table."""
    own = next(service.networks)
    networks = lambda: f"{next(service.networks)}.7"
    unknown = lambda: secrets.token_urlsafe(32)

    def code(address, email):
        return service.client(address, "POST", "/auth/otp/send-sign-in-code", {"email": email, "callback_url": LINK})

    def sign_up(address, email):
        body = {"email": email, "password": PASSWORD, "verification_callback_url": LINK}
        return service.client(address, "POST", "/auth/password/sign-up", body)

    def anonymous(address):
        """Signs up a user without an email address; returns the user's headers."""
        status, user = service.client(address, "POST", "/auth/anonymous/sign-up", {})
        assert status == 200, user
        return {"x-service-access-token": user["access_token"], "x-service-allow-anonymous-user": "true"}

    def verify(address, user, email):
        """Adds an email address to a user, and requests its verification email."""
        new = {"user_id": "me", "value": email, "type": "email", "used_for_auth": False}
        status, channel = service.client(address, "POST", "/contact-channels", new, user)
        assert status == 201, channel
        return service.client(address, "POST", f"/contact-channels/me/{channel['id']}/send-verification-code", {"callback_url": LINK}, user)

    def invite(address, user, email):
        """Creates a team, and invites an email address to it."""
        status, team = service.client(address, "POST", "/teams", {"display_name": "Engines"}, user)
        assert status == 201, team
        body = {"team_id": team["id"], "email": email, "callback_url": LINK}
        return service.client(address, "POST", "/team-invitations/send-code", body, user)

    def rename(address, user, email):
        """Makes an email address the primary one, then replaces it with another."""
        status, me = service.client(address, "PATCH", "/users/me", {"primary_email": email}, user)
        assert status == 200, me
        return service.client(address, "PATCH", "/users/me", {"primary_email": f"again-{email}"}, user)

    def at_new(way, domain):
        def send(number):
            address = networks()
            return way(address, anonymous(address), stranger(domain, number))
        return send

    def wrong_key(_):
        keys = {"x-service-access-type": "server", "x-service-secret-server-key": f"ssk_{unknown()}"}
        return service.client(f"{own}.11", "GET", "/users", None, keys)

    def unknown_project(_):
        headers = {"x-service-project-id": f"{secrets.token_hex(4)}-0000-4000-8000-{secrets.token_hex(6)}", "x-service-access-type": "client"}
        return service.send(f"{own}.12", "POST", "/api/v1/auth/anonymous/sign-up", {}, headers)

    def stranger(domain, number):
        return f"{secrets.token_hex(4)}{number}{domain}"

    victim = service.user("victim")[0]
    tagged = f"{victim.partition('@')[0]}+"
    mailbox = victim.replace("@", "+{}@")
    parts = ("one", "each", "new", "asked", "added", "invited", "named", "made")
    one, each, new, asked, added, invited, named, made = (f"@{part}.strangers.example" for part in parts)
    per_network = itertools.cycle(range(1, 11))
    yield Attack("sign-in codes for strangers, 10 addresses of a network", 300, lambda n: code(
        f"{own}.{next(per_network)}", stranger(one, n)), 180, one, 60, 700)
    yield Attack("sign-in codes for strangers, an address of each network", 300, lambda n: code(
        networks(), stranger(each, n)), 0, each, 60, 2500)
    yield Attack("sign-ups of strangers, an address of each network", 150, lambda n: sign_up(
        networks(), stranger(new, n)), 0, new, 60, 2500)
    yield Attack("emails to one mailbox under many aliases, many networks", 60, lambda n: code(
        networks(), mailbox.format(n)), 50, tagged, 10, 400)
    yield Attack("passwords of one account, many networks", 60, lambda n: service.client(
        networks(), "POST", "/auth/password/sign-in", {"email": victim, "password": f"{unknown()}"}), 45, NOBODY, 0, 200)
    yield Attack("unknown refresh tokens", 500, lambda _: service.client(
        f"{own}.20", "POST", "/auth/sessions/current/refresh", {}, {"x-service-refresh-token": unknown()}), 190, NOBODY, 0, OWN)
    yield Attack("wrong server keys", 500, wrong_key, 370, NOBODY, 0, OWN)
    yield Attack("unknown projects", 500, unknown_project, 370, NOBODY, 0, OWN)
    yield Attack("guessed codes", 300, lambda _: service.client(
        f"{own}.21", "POST", "/auth/otp/sign-in/check-code", {"code": secrets.token_hex(23)[:45]}), 230, NOBODY, 0, 70)
    yield Attack("made-up invitations", 300, lambda _: service.client(
        f"{own}.23", "POST", "/team-invitations/accept/check-code", {"code": secrets.token_hex(23)[:45]}), 230, NOBODY, 0, OWN)
    by_hand = [{"x-service-access-token": sign_up(networks(), f"maker{number}@makers.example")[1]["access_token"]} for number in range(10)]
    service.configure({
        "bot_challenge": {"provider": "altcha"}, "bot_challenge_usual_requests_per_hour": 100, "client_team_creation_enabled": True,
        "anonymous_creation_enabled": True})
    yield Attack("sign-in codes, each network, with bot challenges", 300, lambda n: code(
        networks(), stranger(asked, n)), 190, asked, 60, 2500)
    yield Attack("addresses of anonymous users, with bot challenges", 100, at_new(verify, added), 100, added, 0, 2000)
    # Anonymous users may not send invitations.
    yield Attack("invitations by anonymous users", 100, at_new(invite, invited), 0, invited, 0, 3000)
    yield Attack("primary addresses of anonymous users", 100, at_new(rename, named), 0, named, 0, 1200)
    yield Attack("addresses of manually created accounts, with bot challenges", 300, lambda n: verify(
        networks(), by_hand[n % len(by_hand)], stranger(made, n)), 200, made, 60, 2500)
    yield Attack("proof-of-work challenges", 200, lambda _: service.send(
        f"{own}.22", "GET", f"/api/v1/auth/challenge?project_id={service.keys['GATELET_PROJECT_ID']}"), 130, NOBODY, 0, OWN)


class Honest(threading.Thread):
    """A user who requests three emails, one after another, and records the longest wait."""

    def __init__(self, service, email, home):
        super().__init__()
        self.service, self.email, self.home, self.slowest, self.problem = service, email, home, 0.0, None

    def run(self):
        try:
            for number in range(3):
                asked = time.monotonic()
                body = {"email": self.email, "callback_url": LINK}
                status, answer = self.service.client(self.home, "POST", "/auth/password/send-reset-code", body)
                assert status == 200, answer
                self.service.wait_for_mail(self.email, number + 2)
                self.slowest = max(self.slowest, time.monotonic() - asked)
                time.sleep(0.5)
        except (AssertionError, OSError, SystemExit) as problem:
            self.problem = problem


def main(gateway):
    failed = []
    with Service(gateway) as service:
        print(f"{'attack':58} {'sent':>5} {'rejected':>8} {'emails':>7} {'items':>6} {'user waits, s':>14} {'MB':>6}", flush=True)
        people = [service.user(f"person{number}") for number in range(ATTACKS)]
        for attack, (email, home) in zip(attacks(service), people, strict=True):
            honest = Honest(service, email, home)
            items = service.items()
            honest.start()
            with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
                statuses = collections.Counter(status for status, _ in pool.map(attack.send, range(attack.requests)))
            honest.join()
            mails = len(service.mails(attack.reached)) if attack.reached else 0
            items = service.items() - items
            refused = statuses[429] + statuses[409]
            print(f"{attack.name:58} {attack.requests:5} {refused:8} {mails:7} {items:6} {honest.slowest:14.2f} {service.megabytes():6.0f}", flush=True)
            bounds = [
                (refused >= attack.refused, f"{refused} requests are rejected, fewer than {attack.refused}: {statuses}"),
                (mails <= attack.mails, f"{mails} emails are sent, more than {attack.mails}"),
                (items <= attack.items, f"{items} items are left, more than {attack.items}"),
                (not any(status >= 500 for status in statuses), f"internal errors: {statuses}"),
                (honest.problem is None and honest.slowest < MAX_WAIT, f"the user waits {honest.slowest:.1f} s: {honest.problem}"),
            ]
            failed += [f"{attack.name}: {what}" for is_kept, what in bounds if not is_kept]
    end(failed)


if __name__ == "__main__":
    main(sys.argv[1])
