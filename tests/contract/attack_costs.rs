//! How much an attacker can cost the operator in a day: `docs/operations/attacks.md`, derived from
//! the costs of operations, the standard limits and the defaults of the template.

use std::fmt::Write as _;

use expect_test::expect_file;
use infra::checked_in::root;
use model::limit::{BYTES_PER_READ, Limit, Limits, Rule, SubjectKind};
use model::outbox::quota::{Audience, Bucket};
use store::table::sharded::MAX_PAGE_BYTES;

use crate::tree;

const DAY: f64 = 86_400.0;
const MILLION: f64 = 1_000_000.0;
/// The price of a million emails at SES, in dollars.
const SES: f64 = 100.0;
/// The price of a million rejected requests, in dollars: that of the requests themselves, plus six
/// read units each in a process that has not cached the rejection yet.
const REFUSED: f64 = 1.2 + 6.0 * 0.125;
/// The durations of a function that hashes a password and of any other function, in milliseconds.
const HASHING: f64 = 60.0;
const USUAL: f64 = 5.0;
const MAILS_PER_HOUR: f64 = 200.0;
const READ_PRICE: f64 = 0.125;
/// The price of sending one byte to the internet a million times, in dollars.
const TRANSFER: f64 = 90.0 / 1_000_000.0;
/// The cost of the longest page: its reads in units of 4 KB, and the duration of its function in
/// milliseconds.
const PAGE_UNITS: f64 = 730.0;
const PAGE_MS: f64 = 300.0;

/// The attackers: a name, the number of IP addresses, and the number of networks.
const ATTACKERS: [(&str, f64, f64); 3] =
    [("one address", 1.0, 1.0), ("a network (/24)", 256.0, 1.0), ("10,000 addresses", 10_000.0, 10_000.0)];

struct Attack {
    what: &'static str,
    operation: &'static str,
    /// The limit per IP address and, if there is one, the limit per network.
    rules: (Rule, Option<Rule>),
    /// The template parameter that limits the requests per second of this attack.
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
        rules: (Rule::SignIn, Some(Rule::SignInNetwork)),
        throttle: "CostlyThrottleRate",
        hashes: true,
        mails: false,
    },
    Attack {
        what: "made-up refresh tokens",
        operation: "auth-session-refresh",
        rules: (Rule::TokenUnknown, Some(Rule::TokenNetwork)),
        throttle: "ThrottleRate",
        hashes: false,
        mails: false,
    },
];

const HEAD: &str = "\
# What attacks cost

The table shows the daily costs that an attacker can cause in a project, with a deployment's
standard settings, in dollars at us-east-1 prices. `tests/abuse/run` shows the effect of the same
attacks on your machine.

";

const FORMULA: &str = "
Written by `UPDATE_EXPECT=1 cargo test -p tests --test contract attack_costs`. The test fails when a
limit, a default or a cost changes.

- *requests* = seconds of a day × the throttle of the operation (`CostlyThrottleRate`, 100; for
  refresh tokens `ThrottleRate`, 500). API Gateway rejects requests beyond the throttle at no cost.
- *answered* = the smallest of the requests, addresses × the limit of an address, and networks × the
  limit of a network ([limits](../security/sign-in.md)), each times the windows of a day.
- *emails* = the smaller of the answered requests and the project's daily quota for strangers, which
  is half of 200 an hour. Without limits, strangers get the whole quota.
- *cost* = answered × (the operation in `infra/COSTS.md`, with requests, + 60 ms of Lambda where a
  password is hashed, 5 ms otherwise) + rejected requests × (API request + six read units + 5 ms of
  Lambda) + emails × (SES's $100 a million + the worker's part).
- *without limits* assumes that all requests are answered.

## The most expensive requests

An attacker can sign up any number of users, so every operation that users can call matters.
`infra/dearest-requests.md` lists the cost of each operation that a client can call, with the
longest values that its fields accept. The next table shows the daily costs of the most expensive
operations, at `ThrottleRate` requests a second:

{{dearest}}

- *counts*: a write counts once more for each 4 KB of its body. A picture counts as a write of the
  same length, and also as a picture. A write that is refused counts just as much, because it is
  counted while the caller is verified, before the body is checked.
- *the longest page* is the most expensive read. The request reads at most 3 MB (730 units), even if
  it shows only a small part of them. The page's 1 MB costs $90 a million to transfer, at $0.09 a
  GB. The page counts as {{weight}} reads of 16 KB. Each process counts separately, so the figures assume
  the number of processes that serve such pages at the same time, at {{milliseconds}} ms each. Only the throttle
  limits requests that read less than 16 KB. Such requests cost at most {{small}} a day, including their
  transfer. Only a lower `ThrottleRate` stops an attacker with 10,000 addresses.
- *cost* = requests within the limits × (table + API request + 5 ms of Lambda) + rejected requests ×
  (API request + six read units + 5 ms of Lambda).

A web ACL (`firewall.yaml`) with its rate rule rejects an address before it causes any of these
costs. `MonthlyBudget` reports other costs. A [bot challenge](../bot-challenges.md) prevents the
first two attacks.

## Emails of servers

The email gate (`shared/flows/src/email/gate.rs`) counts each code and notice against its recipient.
Emails that a server sends to the project's users are not counted: counting each would cost another
write, and a project that imports users may write to thousands of unverified addresses at one
company at once. The project's quota limits the number of such emails, to 200 an hour for a new
project. If sign-up at `internal` is open, anybody can own projects, up to 100 with each team, and
send a stranger as many emails as the quotas of these projects allow together. If you do not know
everyone who signs up at `internal`, close sign-up and create the projects yourself.

## Public content

All public content is in one partition of the table, which DynamoDB serves with 3,000 read units a
second. If an attacker uses up these units, requests for content fail unless the response is cached.
Users and their data are in other partitions. The units that a response reads
(`infra/content-costs.md`) depend on the number of posts: up to 865 units at 10,000 posts.

- **A distribution answers repeated requests.** Its cache key consists of the path and, of the
  query, only `page` for `/blog` and `offset` for `/api/v1/blog-posts`. If a request contains a
  number in a form that links do not use (`page=02`, `offset=x`, a parameter that appears twice), it
  is redirected without a read. For a page or list after the last post, no posts are read. Only an
  `offset` that is a multiple of 100 returns a long list. Lists from other offsets end at the next
  multiple of 100. So each long response is read a few times a minute for each of CloudFront's
  caches, no matter how many requests there are.
- **Not cached**: `POST /mcp` and `POST /a2a`. After a publication, each process reads all content
  once (865 units at 10,000 posts) and builds an index for searches. After that, a search or a
  request for one of the resources `index.md` and `llms.txt` reads only which publication is current
  (3 units). A search also compares at most 16 words with each distinct word of the content. The
  tool `list_blog_posts` reads up to 30 units. Like the two resources, the tool shows at most 200
  posts, in some 140 KB. API Gateway accepts 100 requests a second for each operation
  (`CostlyThrottleRate`). Transferring the responses costs $110 a day, or more if a post is longer.
  If readers are more important to you than agents, lower this rate. The web ACL (`firewall.yaml`)
  rejects a single address.
- **Also not cached**: responses for made-up paths, such as `/blog/nothing-1`, which take a few
  units each, and all content in a deployment without a distribution. API Gateway's `ThrottleRate`
  limits all these requests.
";

/// The value of a column in the row of an operation in the cost table.
fn cost(table: &str, name: &str, column: usize) -> f64 {
    let row = table.lines().find(|line| line.starts_with(&format!("| {name} |"))).unwrap_or_else(|| panic!("no row of {name}"));
    row.split('|').nth(column + 1).unwrap().trim().parse().unwrap()
}

fn per_day(rule: Rule) -> f64 {
    let rate = Limits::standard().rate(rule).unwrap();
    f64::from(rate.quota) * DAY / f64::from(rate.window())
}

/// The number of emails that a project can send in a day, to unverified addresses and in total, if
/// emails are always waiting.
fn mails_per_day() -> (f64, f64) {
    let start = jiff::Timestamp::UNIX_EPOCH;
    let sent = |to: Audience| {
        // The initial content of the bucket is used up first, and does not count.
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

/// A row of `infra/dearest-requests.md`.
struct DearestRequest {
    operation: String,
    limit: Option<Limit>,
    body: f64,
    uploads: bool,
    /// The price of a million requests apart from the requests themselves, in dollars.
    table: f64,
}

impl DearestRequest {
    fn all() -> Vec<Self> {
        let page = std::fs::read_to_string(root().join("infra/dearest-requests.md")).unwrap();
        let rows = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| operation"));
        rows.map(|row| {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let limit = Rule::ALL.into_iter().map(Rule::limit).find(|limit| limit.name() == cells[2]);
            let (body, table) = (cells[3].parse().unwrap(), cells[7].parse().unwrap());
            Self { operation: cells[1].to_owned(), limit, body, uploads: cells[4] == "yes", table }
        })
        .collect()
    }

    /// How many of these requests the service accepts in a day if they come from this many
    /// addresses and networks.
    fn answered(&self, requests: f64, addresses: f64, networks: f64) -> f64 {
        let limits = self.limit.into_iter().chain(self.uploads.then_some(Limit::Picture));
        limits.flat_map(|limit| limit.early_rules(true)).fold(requests, |least, (rule, by)| {
            let count = if rule.is_batched() { 1.0 + (self.body / 4096.0).floor() } else { 1.0 };
            let places = match by {
                SubjectKind::Address => addresses,
                SubjectKind::Network => networks,
                // An attacker can have any number of users, keys and sessions.
                SubjectKind::Caller | SubjectKind::User | SubjectKind::Session | SubjectKind::ApiKey | SubjectKind::Project => {
                    return least;
                }
            };
            least.min(places * per_day(*rule) / count)
        })
    }
}

/// The table of the most expensive requests, with the cost of this many requests a day.
fn dearest(table: &str, requests: f64) -> String {
    let mut text = "| operation | body, KB | table, $ a million | one address, $ | a network (/24), $ | 10,000 addresses, $ |\n|---|---|---|---|---|---|\n".to_owned();
    for request in DearestRequest::all() {
        let a_ms = cost(table, &request.operation, 7);
        let each = request.table + 1.2 + a_ms * USUAL;
        let costs = ATTACKERS.map(|(_, addresses, networks)| {
            let answered = request.answered(requests, addresses, networks);
            let refused = (requests - answered) * (REFUSED + a_ms * USUAL);
            format!("{:.2}", (answered * each + refused) / MILLION)
        });
        let (operation, body) = (&request.operation, (request.body / 1024.0).ceil());
        writeln!(text, "| {operation} | {body} | {:.2} | {} |", request.table, costs.join(" | ")).unwrap();
    }
    text
}

/// The number of reads that the longest page counts as.
fn page_weight() -> f64 {
    (PAGE_UNITS * 4096.0 / bytes(BYTES_PER_READ)).floor()
}

fn bytes(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap())
}

/// The row of the longest page, for this many requests a day. Each process that handles such
/// requests applies the limits separately.
fn longest_page(table: &str, requests: f64) -> String {
    let a_ms = cost(table, "teams-team-list", 7);
    let price = PAGE_UNITS * READ_PRICE;
    let each = price + bytes(MAX_PAGE_BYTES) * TRANSFER + 1.2 + a_ms * PAGE_MS;
    let processes = requests / DAY * PAGE_MS / 1000.0;
    let costs = ATTACKERS.map(|(_, addresses, networks)| {
        let permitted = (addresses * per_day(Rule::ReadAddress)).min(networks * per_day(Rule::ReadNetwork));
        let answered = requests.min(processes * permitted / page_weight());
        format!("{:.2}", (answered * each + (requests - answered) * (REFUSED + a_ms * USUAL)) / MILLION)
    });
    format!("| the longest page | 0 | {price:.2} | {} |\n", costs.join(" | "))
}

/// The daily cost of requests that are too small for the limits to count.
fn small_reads(table: &str, requests: f64) -> String {
    let size = bytes(BYTES_PER_READ);
    let each = size / 4096.0 * READ_PRICE + size * TRANSFER + 1.2 + cost(table, "teams-team-list", 7) * USUAL;
    format!("${:.0}", requests * each / MILLION)
}

#[test]
fn the_page_lists_the_cost_of_each_attack() {
    let table = std::fs::read_to_string(root().join("infra/COSTS.md")).unwrap();
    let parameters = &tree::template()["Parameters"];
    let (to_strangers, to_all) = mails_per_day();
    let mail = SES + cost(&table, "workers-outbox, one email", 5) + HASHING * cost(&table, "workers-outbox, one email", 7);
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
    let throttle = parameters["ThrottleRate"]["Default"].as_f64().unwrap();
    let requests = throttle * DAY;
    let formula = FORMULA.replace("{{dearest}}\n", &(dearest(&table, requests) + &longest_page(&table, requests)));
    let (weight, milliseconds) = (page_weight().to_string(), PAGE_MS.to_string());
    let formula = formula.replace("{{weight}}", &weight).replace("{{milliseconds}}", &milliseconds);
    let formula = formula.replace("{{small}}", &small_reads(&table, requests));
    expect_file![root().join("docs/operations/attacks.md")].assert_eq(&(text + &formula));
}
