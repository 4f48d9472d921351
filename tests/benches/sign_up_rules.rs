//! The maximum processor time of sign-up rules: fifty expensive rules are compiled, and evaluated
//! for the longest address. Fails if an evaluation takes five milliseconds or more. To run it:
//! `cargo bench -p tests --bench sign_up_rules`.
#![expect(clippy::expect_used, reason = "a benchmark fails if something is missing")]

use std::time::Duration;

use model::email::Email;
use model::sign_up::program::Program;
use model::sign_up::risk::SignUpRisk;
use model::sign_up::rule::{Attempt, AuthMethod};
use rustix::time::{ClockId, clock_gettime};
use support::expensive_rules::{longest_address, sets};

const MAX: Duration = Duration::from_millis(5);
/// The shortest of this many measurements counts, because other processes delay some of them.
const TIMES: usize = 5;

/// The processor time that this thread has used so far.
fn taken() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().expect("positive"), time.tv_nsec.try_into().expect("less than a second"))
}

fn shortest(mut work: impl FnMut()) -> Duration {
    let measured = (0..TIMES).map(|_| {
        let begun = taken();
        work();
        taken().saturating_sub(begun)
    });
    measured.min().expect("at least one")
}

fn main() {
    let email = Email::parse(&longest_address()).expect("an address");
    let attempt = Attempt { email: Some(&email), method: AuthMethod::Password, country_code: None, risk: SignUpRisk::default() };
    let (facts, mut too_long) = (attempt.facts(), Vec::new());
    for (what, rules) in sets() {
        let program = Program::compile(&rules);
        let compiling = shortest(|| drop(Program::compile(&rules)));
        let evaluating = shortest(|| drop(program.run(&facts)));
        println!("{what:<45} {:>6} steps  {compiling:>10.1?} to compile  {evaluating:>10.1?} to evaluate", program.steps());
        if compiling + evaluating > MAX {
            too_long.push(what);
        }
    }
    assert!(too_long.is_empty(), "more than {MAX:?}: {too_long:?}");
}
