//! Tests of [`crate::sign_up::rule`].

use std::collections::HashMap;

use cel::parser::PrattParser;
use cel::{Context, ParseErrors, Program, Value};
use proptest::prelude::*;
use serde_json::json;

use crate::email::Email;
use crate::sign_up::check::{RuleRefusal, check};
use crate::sign_up::risk::SignUpRisk;
use crate::sign_up::rule::{Attempt, AuthMethod, DefaultAction, SignUpRule};
use crate::sign_up::verdict::{Decision, evaluate};

fn rule(id: &str, priority: u32, condition: &str, action: &str) -> SignUpRule {
    let action = json!({ "type": action, "message": format!("says {id}") });
    let rule = json!({ "id": id, "enabled": true, "priority": priority, "condition": condition, "action": action });
    serde_json::from_value(rule).expect("a rule")
}

fn check_one(rule: SignUpRule) -> Result<(), RuleRefusal> {
    check(&[rule]).map_err(|(_, invalid)| invalid)
}

/// Whether the condition is true for this sign-up.
fn applies(condition: &str, email: &str, method: AuthMethod<'_>, country_code: Option<&str>) -> bool {
    let rule = rule("it", 0, condition, "reject");
    assert_eq!(check_one(rule.clone()), Ok(()), "{condition}");
    let email = Email::parse(email).expect("an address");
    let attempt = Attempt { email: Some(&email), method, country_code, risk: SignUpRisk::default() };
    !evaluate(&[rule], DefaultAction::Allow, &attempt).admits()
}

#[test]
fn a_condition_sees_the_facts_of_the_sign_up() {
    let github = AuthMethod::OAuth("github");
    for (condition, email, method, country, wanted) in [
        (r#"email == "eve@evil.test""#, "eve@evil.test", AuthMethod::Password, None, true),
        (r#"email.endsWith("@evil.test")"#, "EVE@Evil.Test", AuthMethod::Password, None, true),
        (r#"emailDomain in ["evil.test", "spam.test"]"#, "a@spam.test", AuthMethod::Otp, None, true),
        (r#"emailDomain in ["evil.test", "spam.test"]"#, "a@spam.test.example.com", AuthMethod::Otp, None, false),
        (r#"email.matches("^[a-z]+[+].*@example[.]com$")"#, "ada+1@example.com", AuthMethod::Password, None, true),
        (r#"email.matches("^[a-z]+[+].*@example[.]com$")"#, "ada@example.com", AuthMethod::Password, None, false),
        (r#"email.contains("ada") && email.startsWith("ada")"#, "ada@example.com", AuthMethod::Password, None, true),
        (r#"authMethod == "oauth" && oauthProvider == "github""#, "a@example.com", github, None, true),
        (r#"authMethod == "oauth" && oauthProvider != "github""#, "a@example.com", github, None, false),
        (r#"authMethod == "otp""#, "a@example.com", AuthMethod::Otp, None, true),
        (r#"countryCode == "DE" || countryCode == """#, "a@example.com", AuthMethod::Password, Some("DE"), true),
        (r#"countryCode == "DE""#, "a@example.com", AuthMethod::Password, None, false),
        ("riskScores.bot < 50 && riskScores.free_trial_abuse == 0", "a@example.com", AuthMethod::Password, None, true),
    ] {
        assert_eq!(applies(condition, email, method, country), wanted, "{condition} of {email}");
    }
}

/// The decision about Ada's sign-up, whether Ada is admitted, and the rule that restricts her.
fn decided(rules: &[SignUpRule]) -> (String, bool, Option<&str>) {
    let email = Email::parse("ada@example.com").expect("an address");
    let ada = Attempt { email: Some(&email), method: AuthMethod::Password, country_code: None, risk: SignUpRisk::default() };
    let verdict = evaluate(rules, DefaultAction::Reject, &ada);
    let decision = match verdict.decision {
        Decision::Allow(rule) | Decision::Reject(rule) => rule.id.clone(),
        Decision::Default(_) => "default".to_owned(),
    };
    (decision, verdict.admits(), verdict.restricted_by.map(|rule| rule.id.as_str()))
}

#[test]
fn the_first_matching_allow_or_reject_decides() {
    let by = |rules: &[SignUpRule]| {
        let (decision, admits, _) = decided(rules);
        (decision, admits)
    };
    let of = |id: &str, admits: bool| (id.to_owned(), admits);
    assert_eq!(by(&[rule("low", 1, "true", "reject"), rule("high", 2, "true", "allow")]), of("high", true));
    assert_eq!(by(&[rule("b", 1, "true", "allow"), rule("a", 1, "true", "reject")]), of("a", false));
    assert_eq!(by(&[rule("log", 9, "true", "log"), rule("then", 1, "true", "reject")]), of("then", false));
    let off = SignUpRule { enabled: false, ..rule("off", 9, "true", "reject") };
    assert_eq!(by(&[off, rule("on", 1, "true", "allow")]), of("on", true));
    let fails = rule("fails", 9, r#"email.split("@")[5] == """#, "reject");
    assert_eq!(by(&[fails, rule("then", 1, "true", "allow")]), of("then", true));
    assert_eq!(by(&[]), of("default", false));
}

#[test]
fn a_restricting_rule_does_not_end_the_evaluation() {
    let restrict = |id: &str, priority| rule(id, priority, "true", "restrict");
    let both = [restrict("first", 9), restrict("second", 8), rule("allow", 1, "true", "allow")];
    assert_eq!(decided(&both), ("allow".to_owned(), true, Some("first")));
    let rejected = [restrict("first", 9), rule("reject", 1, "true", "reject")];
    assert!(!decided(&rejected).1);
    assert!(!decided(&[restrict("first", 9)]).1, "the default rejects");
}

#[test]
fn an_invalid_rule_is_rejected() {
    for condition in
        ["email ==", "unknown == 1", "email", "1 + 1", "\"x\" < 1", "nothing(email)", r#"email.matches("(")"#, &"(".repeat(2000)]
    {
        let check = check_one(rule("it", 0, condition, "allow"));
        assert!(matches!(check, Err(RuleRefusal::Condition(_))), "{condition}: {check:?}");
    }
    for condition in ["", &" ".repeat(3000)] {
        assert_eq!(check_one(rule("it", 0, condition, "allow")), Err(RuleRefusal::Length));
    }
    for id in ["", "with space", &"x".repeat(64), "ä"] {
        assert_eq!(check_one(rule(id, 0, "true", "allow")), Err(RuleRefusal::Id));
    }
}

#[test]
fn deeply_nested_conditions_are_evaluated_or_rejected() {
    let deep = |open: &str, middle: &str, close: &str| {
        let times = (2048 - middle.len()) / (open.len() + close.len());
        format!("{}{middle}{}", open.repeat(times), close.repeat(times))
    };
    for (open, middle, close) in [
        ("!", "true", ""),
        ("-", "1", ""),
        ("(", "true", ")"),
        ("[", "1", "]"),
        ("{1:", "1", "}"),
        ("true ? true : ", "true", ""),
        ("true && ", "true", ""),
        ("1 + ", "1", " == 1"),
        ("", "email", ".b"),
        ("", "email", "[0]"),
        ("", "email", ".size()"),
        ("[1].all(x, ", "true", ")"),
    ] {
        let condition = deep(open, middle, close);
        let _ = check_one(rule("it", 0, &condition, "allow"));
    }
}

/// Random conditions, as text, with all kinds of operators and most kinds of literals.
fn conditions() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        "[0-9]{1,4}|0x[0-9a-f]{1,4}|[0-9]{1,3}u|[0-9]\\.[0-9]{1,2}|[0-9]e[0-9]",
        "\"[a-z@.\\\\ä ]{0,6}\"|'[a-z\"]{0,4}'|r'[a-z\\\\]{0,4}'|b'[a-z]{0,3}'|\"\"\"[a-z\n]{0,4}\"\"\"",
        prop_oneof![Just("true"), Just("false"), Just("null"), Just("email"), Just("emailDomain"), Just("riskScores.bot"), Just("x")]
            .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(5, 40, 3, |inner| {
        let binary = prop_oneof![
            Just("=="),
            Just("!="),
            Just("<"),
            Just("<="),
            Just(">"),
            Just(">="),
            Just("&&"),
            Just("||"),
            Just("in"),
            Just("+"),
            Just("-"),
            Just("*"),
            Just("/"),
            Just("%"),
        ];
        let member = prop_oneof![Just("startsWith"), Just("endsWith"), Just("contains"), Just("matches")];
        let each = prop_oneof![Just("all"), Just("exists"), Just("exists_one"), Just("map"), Just("filter")];
        prop_oneof![
            (inner.clone(), binary, inner.clone(), any::<bool>()).prop_map(|(a, operator, b, group)| if group {
                format!("({a} {operator} {b})")
            } else {
                format!("{a} {operator} {b}")
            }),
            (inner.clone(), member, inner.clone()).prop_map(|(a, name, b)| format!("{a}.{name}({b})")),
            (inner.clone(), each, inner.clone()).prop_map(|(a, name, b)| format!("[{a}].{name}(x, {b})")),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("{a} ? {b} : {c}")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("[{a}, {b}][0]")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{{{a}: {b}}}")),
            inner.clone().prop_map(|a| format!("!{a}")),
            inner.clone().prop_map(|a| format!("-{a}")),
            inner.clone().prop_map(|a| format!("size({a})")),
            inner.clone().prop_map(|a| format!("has({a}.b)")),
            inner.prop_map(|a| format!("string({a}) // why")),
        ]
    })
}

proptest! {
    /// One parser is generated from the grammar of the language, and the other is written by hand.
    /// If the generated parser accepts a condition, both parsers produce the same result. If the
    /// generated parser rejects a condition, the hand-written parser does not produce a value
    /// either, unless the condition contains alternating unary operators (`-!!0`).
    #[test]
    fn both_parsers_agree(condition in conditions()) {
        let mut context = Context::default();
        for (name, value) in [("email", "a@b.c"), ("emailDomain", "b.c"), ("x", "x")] {
            context.add_variable_from_value(name, value);
        }
        context.add_variable_from_value("riskScores", HashMap::from([("bot", 7)]));
        let small = PrattParser::new().parse(&condition).map(|expression| Value::resolve(&expression, &context));
        match Program::compile(&condition) {
            Ok(program) => prop_assert_eq!(format!("{:?}", Ok::<_, ParseErrors>(program.execute(&context))), format!("{small:?}")),
            Err(_) => prop_assert!(["-!", "!-"].iter().any(|both| condition.contains(both)) || !matches!(small, Ok(Ok(_)))),
        }
    }
}
