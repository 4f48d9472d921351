//! Tests that conditions stay within their bounds, and all rules together within the budget.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cel::extractors::This;
use cel::parser::PrattParser;
use cel::{Context, Value};
use proptest::prelude::*;
use serde_json::json;

use crate::email::Email;
use crate::sign_up::budget::{Budget, MAX_BYTES, MAX_STEPS};
use crate::sign_up::check::{RuleRefusal, check};
use crate::sign_up::cost;
use crate::sign_up::patterns::{Patterns, steps_of_matching};
use crate::sign_up::program::{Program, Status};
use crate::sign_up::risk::SignUpRisk;
use crate::sign_up::rule::{Attempt, AuthMethod, DefaultAction, SignUpRule};
use crate::sign_up::verdict::{Decision, evaluate};

fn rule(id: &str, priority: u32, condition: &str) -> SignUpRule {
    let rule = json!({ "id": id, "enabled": true, "priority": priority, "condition": condition, "action": { "type": "reject" } });
    serde_json::from_value(rule).expect("a rule")
}

fn check_one(condition: &str) -> Result<(), RuleRefusal> {
    check(&[rule("it", 0, condition)]).map_err(|(_, invalid)| invalid)
}

/// A condition that takes almost a third of the budget: 48 comparisons with a pattern of 512 bytes.
fn third(letter: char) -> String {
    vec![format!(r#"email.matches("{letter}")"#); 48].join("||")
}

#[test]
fn a_condition_cannot_multiply_its_work() {
    let each =
        |body: &str| format!("{} == []", (0..40).fold(r#"["aaaaaaaaaaaaaaaa"]"#.to_owned(), |list, _| format!("{list}.map(x, {body})")));
    let twenty = (0..20).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let nested = (0..12).fold("true".to_owned(), |body, n| format!("[{twenty}].all(v{n}, {body})"));
    let long = format!("[{}].all(x, {})", vec!["1"; 400].join(","), vec!["x == 1"; 100].join(" || "));
    for condition in [
        each("x + x"),
        nested.clone(),
        // The check evaluates conditions without an address, whereas sign-ups have an address.
        format!(r#"email == "" || {nested}"#),
        format!("true ? true : {nested}"),
        "[[1].map(x, x)].all(y, true)".to_owned(),
        "{1: [1].all(x, [1].all(y, true))} == {}".to_owned(),
        long,
        r#"email.matches("a{2000}") || email.matches("b{2000}")"#.to_owned(),
        format!(r#"email.matches("{}")"#, "()".repeat(500)),
        format!("[{}].exists(p, email.matches(p))", vec!["'a'"; 100].join(",")),
        format!("[{}].all(x, {} == '')", vec!["email"; 100].join(","), vec!["x"; 300].join("+")),
        // Parsing the next two conditions would take 20 and 5 milliseconds.
        format!("email{} == ''", ".b()".repeat(500)),
        format!("email{} == ''", ".b() // a\n".repeat(200)),
        format!("{}true{}", "[1].all(x, ".repeat(90), ")".repeat(90)),
        format!("{}1{} == 1", "size([".repeat(90), "])".repeat(90)),
    ] {
        assert!(condition.len() <= 2048, "{condition}");
        let check = check_one(&condition);
        assert!(matches!(check, Err(RuleRefusal::Condition(_))), "{condition}: {check:?}");
    }
    let domains = (0..100).map(|n| format!("'d{n}.example.com'")).collect::<Vec<_>>().join(",");
    let listed = format!(r#"[{domains}].exists(d, emailDomain == d || emailDomain.endsWith("." + d))"#);
    let usual = r#"email.matches("^[a-z]+[+].*@example[.]com$")"#;
    for condition in [&listed, &third('a'), usual, r#"["a"].all(x, x == "a") && ["b"].exists(x, email.matches(x))"#] {
        assert_eq!(check_one(condition), Ok(()), "{condition}");
    }
}

#[test]
fn the_rule_that_exceeds_the_budget_is_skipped_and_later_rules_are_not() {
    let rules = [
        rule("first", 9, &third('a')),
        rule("second", 8, &third('b')),
        rule("third", 7, &third('c')),
        rule("fourth", 6, &third('d')),
        rule("last", 5, "true"),
    ];
    let email = Email::parse("1@2.test").expect("an address");
    let attempt = Attempt { email: Some(&email), method: AuthMethod::Password, country_code: None, risk: SignUpRisk::default() };
    let verdict = evaluate(&rules, DefaultAction::Allow, &attempt);
    let skipped =
        |status: &Status| matches!(status, Status::Error(reason) if reason.contains("steps that all rules of a project may take"));
    let which: Vec<bool> = verdict.evaluations.iter().map(|(_, status)| skipped(status)).collect();
    assert_eq!((which.iter().filter(|skipped| **skipped).count(), which[0], which[3]), (1, false, true), "{:?}", verdict.evaluations);
    assert_eq!(verdict.decision, Decision::Reject(&rules[4]));
    let (position, invalid) = check(&rules).expect_err("too expensive");
    assert_eq!((position, invalid.field()), (3, "condition"));
    // Disabled rules do not count towards the budget.
    let off = rules.map(|rule| SignUpRule { enabled: rule.id != "second", ..rule });
    assert_eq!(check(&off), Ok(()));
}

/// A rule that fits into the budget for the shortest address fits for the longest address too.
#[test]
fn which_rules_are_skipped_does_not_depend_on_the_sign_up() {
    let rules = [rule("first", 9, &third('a')), rule("second", 8, r#"email.endsWith(".evil.test")"#)];
    let labels = vec!["b".repeat(60); 3].join(".");
    let long = Email::parse(&format!("{}@{labels}.evil.test", "a".repeat(50))).expect("an address");
    let attempt = Attempt { email: Some(&long), method: AuthMethod::Password, country_code: None, risk: SignUpRisk::default() };
    let statuses = Program::compile(&rules).run(&attempt.facts());
    assert_eq!(statuses, [Status::Matched]);
    let statuses = Program::compile(&rules[1..]).run(&attempt.facts());
    assert_eq!(statuses, [Status::Matched]);
}

#[test]
fn a_comparison_costs_by_the_size_of_the_pattern_and_of_the_text() {
    let mut patterns = Patterns::default();
    let mut size = |pattern: &str| patterns.add(pattern, &mut Budget::FULL.clone()).expect("a pattern");
    let (small, large) = (size("a"), size("a{500}"));
    assert_eq!((small, large), (512, 16_384));
    assert!(steps_of_matching(large, 256) > 30 * steps_of_matching(small, 256));
    assert!(steps_of_matching(large, 256) > 60 * steps_of_matching(large, 2));
}

/// Expressions that call `probe`, a function that records its calls and their arguments.
fn probed() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![Just("email".to_owned()), Just("'abcdefgh'".to_owned()), Just("x".to_owned())];
    let text = leaf.prop_recursive(5, 24, 3, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} + {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(x == {a} ? {b} : {a})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("[{a}, {b}][1]")),
            inner.prop_map(|a| format!("{{'k': {a}}}.k")),
        ]
    });
    let each = prop_oneof![Just("all"), Just("exists"), Just("exists_one"), Just("filter")];
    let list = proptest::collection::vec(text.clone(), 1..6).prop_map(|items| format!("[{}]", items.join(", ")));
    prop_oneof![
        text.clone().prop_map(|text| format!("probe({text})")),
        (list.clone(), each, text.clone()).prop_map(|(list, each, text)| format!("{list}.{each}(x, probe(x + {text})) == true")),
        (list.clone(), text).prop_map(|(list, text)| format!("{list}.map(x, x + {text}) == [] || probe('')")),
        list.prop_map(|list| format!("probe({list}.map(x, x + x)[0])")),
    ]
}

proptest! {
    /// The work of an evaluation, measured by the calls of `probe`, is within the bound, which does
    /// not depend on values.
    #[test]
    fn the_bound_holds(condition in probed()) {
        let counted = Arc::new(AtomicU64::new(0));
        let counter = counted.clone();
        let mut context = Context::default();
        for (name, value) in [("email", "a".repeat(256)), ("x", "x".to_owned())] {
            context.add_variable_from_value(name, value);
        }
        let probe = move |This(text): This<Arc<String>>| {
            counter.fetch_add(4 + text.len() as u64 / 256, Ordering::Relaxed);
            false
        };
        context.add_function("probe", probe).expect("a new function");
        let expression = PrattParser::new().parse(&condition).expect("an expression");
        let _ = Value::resolve(&expression, &context);
        let cost = cost::estimate(&expression, &mut Patterns::default(), &mut Budget::FULL.clone()).expect("a bound");
        prop_assert!(counted.load(Ordering::Relaxed) <= cost.steps, "{} of {} for {condition}", counted.load(Ordering::Relaxed), cost.steps);
    }

    #[test]
    fn rules_together_stay_within_the_budget(lengths in proptest::collection::vec((1_usize..700, 1_usize..60), 1..50)) {
        let rules: Vec<SignUpRule> = lengths
            .iter()
            .enumerate()
            .map(|(n, (length, times))| rule(&format!("r{n}"), 0, &vec![format!(r#"email.matches("{n}x{{{length}}}")"#); *times].join("||")))
            .collect();
        let program = Program::compile(&rules);
        prop_assert!(program.steps() <= MAX_STEPS);
        let texts: usize = rules.iter().map(|rule| size_of::<SignUpRule>() + rule.condition.len()).sum();
        prop_assert!(program.bytes() <= MAX_BYTES + texts);
    }
}
