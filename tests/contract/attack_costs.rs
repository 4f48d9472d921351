//! What an attacker can make a deployment cost in a day: `docs/operations/attacks.md`, from the costs of the operations, the standard limits
//! and the defaults of the template.

use std::fmt::Write as _;

use expect_test::expect_file;
use infra::checked_in::root;
use model::limit::{Limits, Rule};
use model::outbox::quota::{Audience, Bucket};

use crate::tree;

const DAY: f64 = 86_400.0;
const MILLION: f64 = 1_000_000.0;
/// Dollars for a million emails: SES's price, and what the table and the worker cost for each.
const SES: f64 = 100.0;
/// What a refused request costs in dollars a million: the request, and six read units of a process that does not know yet that it refuses.
const REFUSED: f64 = 1.2 + 6.0 * 0.125;
/// Milliseconds that a function takes for a password, and for anything else.
const HASHING: f64 = 60.0;
const USUAL: f64 = 5.0;
const MAILS_PER_HOUR: f64 = 200.0;

/// Name, addresses, networks.
const ATTACKERS: [(&str, f64, f64); 3] =
    [("one address", 1.0, 1.0), ("a network (/24)", 256.0, 1.0), ("10,000 addresses", 10_000.0, 10_000.0)];

struct Attack {
    what: &'static str,
    operation: &'static str,
    /// By the address, and by the network.
    rules: (Rule, Option<Rule>),
    /// The parameter of the template that bounds its requests in a second.
    throttle: &'static str,
    hashes: bool,
    mails: bool,
}

const ATTACKS: [Attack; 4] = [
    Attack {
        what: "sign-in codes for strangers",
        operation: "auth-otp-send-sign-in-code",
        rules: (Rule::SendCode, Some(Rule::SendCodeNetwork)),
        throttle: "CostlyThrottleRate",
        hashes: false,
        mails: true,
    },
    Attack {
        what: "sign-ups of strangers",
        operation: "auth-password-sign-up",
        rules: (Rule::SignUp, Some(Rule::SignUpNetwork)),
        throttle: "CostlyThrottleRate",
        hashes: true,
        mails: true,
    },
    Attack {
        what: "guessed passwords",
        operation: "auth-password-sign-in",
        rules: (Rule::SignIn, None),
        throttle: "CostlyThrottleRate",
        hashes: true,
        mails: false,
    },
    Attack {
        what: "made-up refresh tokens",
        operation: "auth-session-refresh",
        rules: (Rule::TokenUnknown, None),
        throttle: "ThrottleRate",
        hashes: false,
        mails: false,
    },
];

const HEAD: &str = "\
# What attacks cost

What a project's attacker can make a deployment with the standard settings cost in a day, in dollars of us-east-1. `tests/abuse/run` shows
what the same attacks achieve on your machine.

";

const FORMULA: &str = "
Written by `UPDATE_EXPECT=1 cargo test -p tests --test contract attack_costs`; the test fails when a limit, a default or a cost changes.

- *requests* = seconds of a day × the throttle of the operation (`CostlyThrottleRate`, 100; for refresh tokens `ThrottleRate`, 500). API
  Gateway refuses what is beyond, for nothing.
- *answered* = the least of the requests, addresses × the limit of an address, and networks × the limit of a network
  ([limits](../security/sign-in.md)), each times the windows of a day.
- *emails* = the least of what is answered and what the project may send to strangers in a day: half of 200 an hour, and without limits all
  of it.
- *cost* = answered × (the operation in `infra/COSTS.md`, with requests, and 60 ms of Lambda where a password is hashed, 5 ms otherwise) +
  refused × (the request, six read units and 5 ms) + emails × (SES's $100 a million, and the worker's part).
- *without limits*: all requests are answered.

A web ACL (`firewall.yaml`) with its rate rule refuses an address before it costs any of this; `MonthlyBudget` tells you
of what is left. A [bot challenge](../bot-challenges.md) ends the first two.
";

/// A column of the row of an operation in the table of costs.
fn cost(table: &str, name: &str, column: usize) -> f64 {
    let row = table.lines().find(|line| line.starts_with(&format!("| {name} |"))).unwrap_or_else(|| panic!("no row of {name}"));
    row.split('|').nth(column + 1).unwrap().trim().parse().unwrap()
}

fn per_day(rule: Rule) -> f64 {
    let rate = Limits::standard().rate(rule).unwrap();
    f64::from(rate.quota) * DAY / f64::from(rate.window())
}

/// How many emails strangers get in a day, and all recipients, when more wait all the time.
fn mails_per_day() -> (f64, f64) {
    let start = jiff::Timestamp::UNIX_EPOCH;
    let sent = |to: Audience| {
        // Nothing is left of the hour before.
        let (mut bucket, mut sent) = (Bucket::full(MAILS_PER_HOUR, start).take(to, u32::MAX, start).0, 0);
        for minute in 1..=24 * 60 {
            let (next, taken) = bucket.take(to, u32::MAX, start + jiff::SignedDuration::from_mins(minute));
            (bucket, sent) = (next, sent + taken);
        }
        f64::from(sent)
    };
    (sent(Audience::Strangers), sent(Audience::Known))
}

fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let parts: Vec<&str> = digits.as_bytes().rchunks(3).rev().map(|part| std::str::from_utf8(part).unwrap()).collect();
    parts.join(",")
}

#[test]
fn the_page_says_what_each_attack_costs() {
    let table = std::fs::read_to_string(root().join("infra/COSTS.md")).unwrap();
    let parameters = &tree::template()["Parameters"];
    let (to_strangers, to_all) = mails_per_day();
    let mail = SES + cost(&table, "workers-outbox, one mail", 5) + HASHING * cost(&table, "workers-outbox, one mail", 7);
    let mut text = HEAD.to_owned();
    text += "| attack | from | requests | answered | emails | cost, $ | without limits: emails | cost, $ |\n|---|---|---|---|---|---|---|---|\n";
    for attack in &ATTACKS {
        let throttle = parameters[attack.throttle]["Default"].as_f64().unwrap();
        let a_ms = cost(&table, attack.operation, 7);
        let answer = cost(&table, attack.operation, 6) + a_ms * if attack.hashes { HASHING } else { USUAL };
        let requests = throttle * DAY;
        for (from, addresses, networks) in ATTACKERS {
            let (by_address, by_network) =
                (addresses * per_day(attack.rules.0), attack.rules.1.map_or(f64::MAX, |rule| networks * per_day(rule)));
            let answered = requests.min(by_address).min(by_network);
            let emails = if attack.mails { answered.min(to_strangers) } else { 0.0 };
            let all_emails = if attack.mails { requests.min(to_all) } else { 0.0 };
            let refused = (requests - answered) * (REFUSED + a_ms * USUAL);
            let after = (answered * answer + refused + emails * mail) / MILLION;
            let before = (requests * answer + all_emails * mail) / MILLION;
            let (what, requests) = (attack.what, thousands(requests));
            let (answered, emails, all_emails) = (thousands(answered), thousands(emails), thousands(all_emails));
            writeln!(text, "| {what} | {from} | {requests} | {answered} | {emails} | {after:.2} | {all_emails} | {before:.2} |").unwrap();
        }
    }
    expect_file![root().join("docs/operations/attacks.md")].assert_eq(&(text + FORMULA));
}
