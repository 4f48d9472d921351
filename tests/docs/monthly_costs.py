"""Computes the table of docs/operations/monthly-costs.md from infra/COSTS.md; fails if the page
differs, and updates it with `--write`."""

import re
import sys

from newcomer import ROOT

PAGE = ROOT / "docs/operations/monthly-costs.md"
USERS = [1_000, 100_000, 1_000_000]

# An active user's calls in a month: how many, and how many milliseconds of Lambda each takes.
USE = {
    "auth-password-sign-in": (2, 60),
    "auth-session-refresh": (60, 5),
    "users-me-read": (60, 5),
    "auth-password-sign-up": (0.1, 60),
    "users-contact-channel-verify": (0.1, 5),
    "auth-password-send-reset-code": (0.05, 5),
    "auth-password-reset": (0.05, 60),
}
# Emails: one for each sign-up, one for each reset, and a notice for each changed password.
EMAILS = 0.1 + 0.05 + 0.05
# Audit log entries: one for a sign-up, one for a verified address, two for a reset, and two for
# sign-ins.
ENTRIES = 0.1 + 0.1 + 0.1 + 2
# The number of days per month when an active user is active.
DAYS = 20
# The number of refreshes that are the first of their hour but not of their day, the number of index
# units that each of them writes, and the price of a unit in dollars.
HOURS, INDEX_UNITS, UNIT = 40, 2, 0.625e-6
# Prices in dollars.
SES_EMAIL, LOG_GB, STORED_GB, BACKUP_GB, SECRET, METRIC, ALARM = 100e-6, 0.50, 0.25, 0.20, 0.40, 0.30, 0.10
LINE_BYTES, USER_BYTES = 600, 10_000
METRICS = 2 * len(USE) + 1


def prices():
    """Each operation's prices in dollars: of a million calls, and of a millisecond of Lambda in
    each of them."""
    rows = re.findall(r"^\| (.+?) \|.*\| ([\d.]+) \| ([\d.]+) \|$", (ROOT / "infra/COSTS.md").read_text(), re.MULTILINE)
    return {name: (float(request), float(millisecond)) for name, request, millisecond in rows}


def alarms():
    files = [ROOT / "infra/template.yaml", *(ROOT / "infra/stacks").glob("*.yaml")]
    return sum(file.read_text().count("Type: AWS::CloudWatch::Alarm") for file in files)


def table():
    price = prices()
    def of(name, times, milliseconds):
        request, millisecond = price[name]
        return times * (request + milliseconds * millisecond) / 1e6
    calls = sum(times for times, _ in USE.values())
    # The cost of an active user per month.
    sign_ins = of("auth-password-sign-in", *USE["auth-password-sign-in"])
    rows = {
        "sign-ins with a password": sign_ins,
        "all other requests": sum(of(name, *use) for name, use in USE.items()) - sign_ins,
        "audit log": of("workers-trail, one entry", ENTRIES, 5),
        "figures: active users": of("auth-session-refresh, first of a day", DAYS, 5) - of("auth-session-refresh", DAYS, 5) + HOURS * INDEX_UNITS * UNIT,
        "emails: SES and the worker": EMAILS * SES_EMAIL + of("workers-outbox, one email", EMAILS, 100),
        "logs": calls * 2 * LINE_BYTES / 1e9 * LOG_GB,
        "storage and its backups": USER_BYTES / 1e9 * (STORED_GB + BACKUP_GB),
    }
    fixed = SECRET + METRICS * METRIC + alarms() * ALARM
    lines = [f"| what | {' | '.join(f'{users:,}' for users in USERS)} |", "|---|" + "---|" * len(USERS)]
    line = lambda name, amounts: f"| {name} | {' | '.join(f'{amount:,.2f}' for amount in amounts)} |"
    lines += [line(name, [users * amount for users in USERS]) for name, amount in rows.items()]
    lines += [line(f"secret, {METRICS} metrics, {alarms()} alarms", [fixed] * len(USERS))]
    lines += [line("**together**", [users * sum(rows.values()) + fixed for users in USERS])]
    return "\n".join(lines)


def main():
    text = PAGE.read_text()
    new = re.sub(r"^\| what \|.*?\n\n", lambda _: table() + "\n\n", text, count=1, flags=re.MULTILINE | re.DOTALL)
    if "--write" in sys.argv[1:]:
        PAGE.write_text(new)
    elif new != text:
        raise SystemExit(f"{PAGE.name} differs from infra/COSTS.md: run python3 tests/docs/monthly_costs.py --write")


if __name__ == "__main__":
    main()
