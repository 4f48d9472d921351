//! The report, in Markdown.

use std::fmt::Write as _;

use crate::day::Day;
use crate::layout::Cache;
use crate::pages::List;
use crate::population::VISIT;
use crate::profile::Profiles;
use crate::walls::{Mix, Wall, simulated, walls};

const HEAD: &str = "\
# A simulated day

Written by `UPDATE_EXPECT=1 cargo test -p tests --test scale`, which records the calls that each
kind of request makes to the table, and replays these calls for a population. The simulation does
not make assumptions about keys. The recorded calls of the real operations show which keys a request
uses, which keys all users of a project share, how many units a request takes in the table and in
each index, and how long items exist.

The population consists of a million users in 100 projects, whose sizes follow Zipf's law (the
largest has a fifth of all users). Users make one visit a day on average, up to 500 for the busiest
user. Projects are in different time zones. In its busiest hour, a project has 1.9 times its mean
load.

Partitions behave as AWS documents them. Each has 3,000 read and 1,000 write units a second and 10
GB. A new table and each new index have four partitions, or 64 (set with warm throughput) for a
hundred times the load. Unused capacity from up to 300 seconds can be used for bursts. A partition
that has been above 80 % of its limit for five minutes is split into two, each with half of the
load. The figure of 80 % is an assumption: AWS does not publish the actual rule. Splitting does not
help if the load is on a single item, or on a partition key to which items are only appended in
order.

Figures *with a cache* assume that each instance of a function keeps project and key for two
seconds. The number of instances is assumed to be twice the number that the load keeps busy.
";

/// A load of a single project: its name, and the rates that reach limits without and with a cache.
pub(crate) struct Scenario {
    name: &'static str,
    pub(crate) without: (f64, String),
    pub(crate) with: (f64, String),
    pub(crate) walls: Vec<Wall>,
    pub(crate) walls_cached: Vec<Wall>,
}

impl Scenario {
    pub(crate) fn new(profiles: &Profiles, name: &'static str, mix: Mix) -> Self {
        Self {
            name,
            without: simulated(profiles, &mix, Cache::OFF),
            with: simulated(profiles, &mix, Cache::ON),
            walls: walls(profiles, &mix, Cache::OFF),
            walls_cached: walls(profiles, &mix, Cache::ON),
        }
    }

    /// How many requests a minute make the project's own items reach a partition's limit.
    pub(crate) fn own_items(&self, cache: Cache) -> f64 {
        let walls = if cache == Cache::ON { &self.walls_cached } else { &self.walls };
        walls.iter().filter(|wall| wall.is_own).map(|wall| wall.together).fold(f64::MAX, f64::min)
    }
}

/// A number with separators between thousands, rounded to two digits.
fn round(number: f64) -> String {
    let unit = 10_f64.powf((number.max(1.0).log10().floor() - 1.0).max(0.0));
    grouped((number / unit).round() * unit)
}

/// A whole number with separators between thousands.
fn grouped(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn gigabytes(bytes: f64) -> String {
    format!("{:.2}", bytes / 1024.0_f64.powi(3))
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// The text of the whole report.
pub(crate) fn text(profiles: &Profiles, days: &[Day; 3], scenarios: &[Scenario; 3], pages: &[List]) -> String {
    let mut text = HEAD.to_owned();
    requests(&mut text, profiles, &days[0]);
    heat(&mut text, days);
    growth(&mut text, &days[0]);
    walls_of_one_project(&mut text, scenarios);
    lists(&mut text, pages);
    text
}

fn requests(text: &mut String, profiles: &Profiles, day: &Day) {
    text.push_str(
        "
## The requests

The table shows the units of one request, in the table and in its indexes, and the number of
requests of the day.

| request | a visit | reads | writes | writes in indexes | under keys that the project shares: reads, writes | a day |
|---|---|---|---|---|---|---|
",
    );
    for ((kind, each, _), count) in VISIT.iter().zip(&day.requests) {
        let profile = profiles.kinds.iter().find(|profile| profile.kind == *kind).unwrap();
        let sum = |keep: &dyn Fn(usize, bool) -> bool| {
            let kept = profile.units.iter().filter(|(family, _)| keep(family.place, family.owner != crate::profile::Owner::User));
            kept.fold([0.0, 0.0], |[read, write], (_, units)| [read + units.read, write + units.write])
        };
        let ([read, write], [_, in_indexes], [shared_read, shared_write]) =
            (sum(&|_, _| true), sum(&|place, _| place > 0), sum(&|_, is_shared| is_shared));
        let _ = writeln!(
            text,
            "| {kind} | {each} | {read:.1} | {write:.1} | {in_indexes:.1} | {shared_read:.1}, {shared_write:.1} | {} |",
            round(*count)
        );
    }
}

fn heat(text: &mut String, days: &[Day; 3]) {
    text.push_str(
        "
## The hottest partition and the hottest key

The first table shows the load of the hottest partition and the hottest key at the worst moment, as
a share of a partition's limit. A key is an item, or a partition key whose items are appended in
order. The second table shows how many accesses were throttled.

| day | place | partitions at its end | splits | hottest partition | mostly for | hottest key | |
|---|---|---|---|---|---|---|---|
",
    );
    let names = ["a million users", "a hundred times as many visits", "the same, with a cache"];
    for (name, day) in names.iter().zip(days) {
        for (place, of_place) in ["table", "gsi1", "gsi2"].iter().enumerate() {
            let outcome = &day.outcomes[place];
            let (share, key) = &day.hottest_points[place];
            let _ = writeln!(
                text,
                "| {name} | {of_place} | {} | {} | {} | {} | {} | {key} |",
                day.partitions[place],
                outcome.splits,
                percent(outcome.hottest.0),
                outcome.hottest.1,
                percent(*share)
            );
        }
    }
    text.push_str("\n| throttled accesses, by request |");
    for name in names {
        let _ = write!(text, " {name} |");
    }
    text.push_str("\n|---|---|---|---|\n");
    for (kind, (name, ..)) in VISIT.iter().enumerate() {
        let _ = write!(text, "| {name} |");
        for day in days {
            let _ = write!(text, " {} ({}) |", round(day.throttled[kind]), percent(day.throttled[kind] / day.requests[kind]));
        }
        text.push('\n');
    }
    let peaks: Vec<String> = days.iter().map(|day| grouped(day.peak)).collect();
    let _ = writeln!(text, "\nPeak requests a second over all projects, in the order of the table's columns: {}.", peaks.join(", "));
}

fn growth(text: &mut String, day: &Day) {
    text.push_str(
        "
## Growth

Sizes are in gigabytes, with the 100 bytes that DynamoDB adds to each item. After a year of such
days, expired items have been deleted, and sign-ups have added 3.6 million users.

| place | a million users | added on the day | after a year |
|---|---|---|---|
",
    );
    for (place, name) in ["table", "gsi1", "gsi2"].iter().enumerate() {
        let [before, added, year] = [day.before, day.added, day.year].map(|bytes| gigabytes(bytes[place]));
        let _ = writeln!(text, "| {name} | {before} | {added} | {year} |");
    }
}

fn walls_of_one_project(text: &mut String, scenarios: &[Scenario; 3]) {
    text.push_str(
        "
## The limits of one project

The table shows at how many requests a minute a project reaches the limit of a partition. In this
simulation, the load is steady for two hours, and at the end nothing may be throttled.

| load | first limit, simulated | what is hottest | with a cache | what is hottest |
|---|---|---|---|---|
",
    );
    for Scenario { name, without, with, .. } in scenarios {
        let _ = writeln!(text, "| {name} | {} | {} | {} | {} |", round(without.0), without.1, round(with.0), with.1);
    }
    text.push_str(
        "
The next table lists the keys that a project's requests share, in the order of the load at which
each key reaches the limit. *In one partition* is the load while all items of a partition key are
still in one partition. *Divided* is the load once each item has its own partition, or a dash if
there is no end to dividing the items.

| load | keys | in one partition | divided | in one partition, with a cache | divided, with a cache |
|---|---|---|---|---|---|
",
    );
    for scenario in scenarios {
        for wall in scenario.walls.iter().filter(|wall| wall.together < 5e6) {
            let cached = scenario.walls_cached.iter().find(|other| other.name == wall.name).unwrap();
            let [alone, alone_cached] = [wall, cached].map(|wall| wall.alone.map_or_else(|| "–".to_owned(), round));
            let (name, keys, together, together_cached) = (scenario.name, &wall.name, round(wall.together), round(cached.together));
            let _ = writeln!(text, "| {name} | {keys} | {together} | {alone} | {together_cached} | {alone_cached} |");
        }
    }
}

fn lists(text: &mut String, lists: &[List]) {
    text.push_str(
        "
## Pages of long lists

The table shows the cost of the most expensive of the first five pages of a hundred entries,
including authentication. The test fails if the longer list takes more than two additional calls, or
reads more than one and a half times as many entries. Every query limits the number of items that it
reads, so a page of a list with a million entries costs about the same.

| list | entries | calls | entries read at most | read units |
|---|---|---|---|---|
",
    );
    for list in lists {
        for (entries, page) in &list.pages {
            let (name, entries) = (list.name, grouped(*entries as f64));
            let _ = writeln!(text, "| {name} | {entries} | {} | {} | {} |", page.calls, page.entries, page.units);
        }
    }
}
