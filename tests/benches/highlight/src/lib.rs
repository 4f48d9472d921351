//! A page with three blocks of code, and the cost of highlighting it.

#[path = "../../../../shared/site/src/code/mod.rs"]
pub mod code;
#[path = "../../../../shared/site/src/escape.rs"]
pub mod escape;

use std::hint::black_box;

use rustix::time::{ClockId, clock_gettime};

/// Blocks of 15 lines, each with the name of its language.
const PAGE: [(&str, &str); 3] = [
    ("rs", include_str!("../page/errors.rs.txt")),
    ("ts", include_str!("../page/user.ts.txt")),
    ("sh", include_str!("../page/publish.sh.txt")),
];
/// The number of times that the page is rendered again.
const REPETITIONS: usize = 99;

/// The CPU time that this process has used, in microseconds.
fn cpu() -> i64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec * 1_000_000 + time.tv_nsec / 1000
}

/// Prints the CPU time of the first page and the median of later pages, both in microseconds, and
/// the length of the HTML.
pub fn measure(highlighted: impl Fn(&str, &str) -> String) {
    let page = || -> String { PAGE.iter().map(|(language, code)| highlighted(language, code)).collect() };
    let took = || {
        let began = cpu();
        let length = black_box(page()).len();
        (cpu() - began, length)
    };
    let (first, length) = took();
    let mut next: Vec<i64> = (0..REPETITIONS).map(|_| took().0).collect();
    next.sort_unstable();
    println!("{first} {} {length}", next[REPETITIONS / 2]);
}
