//! A scenario, explored exhaustively.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Instant;

use stateright::{Checker as _, Expectation, HasDiscoveries, Model as _};

use crate::explored::{Break, Exploration, Scenario, State, Step};

/// Explores a scenario with the unmodified code, and reports the rules that it breaks.
pub(crate) fn check(scenario: &Arc<Scenario>) {
    let begun = Instant::now();
    let model = Exploration { scenario: Arc::clone(scenario), broken: None };
    let checker = model.checker().spawn_bfs().join();
    println!(
        "{}: {} states, {} steps, {} deep, {} runs, {:.1?}",
        scenario.name,
        checker.unique_state_count(),
        checker.state_count(),
        checker.max_depth(),
        scenario.services.runs(),
        begun.elapsed()
    );
    let mut discoveries = checker.discoveries();
    for property in checker.model().properties() {
        let found = discoveries.remove(property.name);
        match (property.expectation, found) {
            (Expectation::Sometimes, None) => panic!("{}: never reached: {}", scenario.name, property.name),
            (Expectation::Sometimes, Some(_)) | (_, None) => {}
            (_, Some(path)) => panic!("{}: violated: {}:\n{}", scenario.name, property.name, told(path.into_vec())),
        }
    }
}

/// The rule that the code breaks with this change; `None` if it does not break any rule.
pub(crate) fn broken_rule(scenario: &Arc<Scenario>, broken: Break) -> Option<&'static str> {
    let model = Exploration { scenario: Arc::clone(scenario), broken: Some(broken) };
    let checker = model.checker().finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    let failures = checker.model().properties().into_iter().filter(|property| property.expectation.discovery_is_failure());
    let discoveries = checker.discoveries();
    failures.map(|property| property.name).find(|name| discoveries.contains_key(name))
}

fn told(path: Vec<(State, Option<Step>)>) -> String {
    let mut text = String::new();
    for (state, step) in &path {
        if let Some(step) = step {
            writeln!(text, "  {}", state.describe(*step)).unwrap();
        }
    }
    if let Some((state, _)) = path.last() {
        for (number, place) in state.places.iter().enumerate() {
            let answers: Vec<_> = place.0.answers.iter().map(|answer| (answer.status, answer.code.as_deref().unwrap_or("OK"))).collect();
            writeln!(text, "  client {number} was told {answers:?}, redeemed {}", state.past.redeemed[number]).unwrap();
        }
    }
    text
}
