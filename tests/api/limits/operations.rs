//! Sends every operation's event. Operations reject requests above their limit. Every operation
//! that checks or sends codes has a limit. The test covers new operations automatically.

use std::collections::BTreeSet;

use api::http::TableAction;
use infra::operations;
use jiff::SignedDuration;
use model::limit::{Limit, Limits, Rate, Rule};
use support::is_write;

use crate::events::{World, name, sent};

const WINDOW: u32 = 60;

#[tokio::test]
async fn every_limited_operation_is_rejected_at_its_limit() {
    for operation in operations::all() {
        let Some(limit) = operation.route.limit else { continue };
        let of_servers = |rule: &Rule| limit.early_rules(false).iter().any(|(other, _)| other == rule);
        let rules: Vec<Rule> = Rule::ALL.into_iter().filter(|rule| rule.limit() == limit || of_servers(rule)).collect();
        let one = rules.iter().fold(Limits::off(), |limits, rule| limits.with(*rule, Some(Rate::new(1, WINDOW))));
        let world = World::new(one).await;
        // The setup has used part of the quota. The quota is restored after a window.
        world.app.advance(SignedDuration::from_secs(WINDOW.into()));
        let (name, event) = (operation.route.name, name(&operation));
        // The content of the response is not checked here, because another test checks it. For
        // example, the code of the second factor has expired by now.
        let first = world.send(&event).await;
        assert!(first.status() < 500 && first.status() != 429, "{name}: {}", first.text());
        let second = world.send(&event).await;
        assert_eq!((second.status(), second.header("retry-after").is_some()), (429, true), "{name}: {}", second.text());
        let named = second.json()["details"]["limit"].clone();
        assert!(rules.iter().any(|rule| rule.limit().name() == named), "{name}: {named}");
        world.app.advance(SignedDuration::from_secs(WINDOW.into()));
        assert_ne!(world.send(&event).await.status(), 429, "{name}");
    }
}

#[tokio::test]
async fn routes_of_writes_have_a_limit_and_those_of_reads_have_none() {
    for operation in operations::all() {
        let route = operation.route;
        let writes = [TableAction::PutItem, TableAction::UpdateItem, TableAction::DeleteItem];
        let writes = route.table.actions.iter().any(|action| writes.contains(action));
        let is_counted_read = matches!(route.name, "auth-oauth-client-introspect" | "edge-check-version");
        assert_eq!(route.limit.is_some(), writes || is_counted_read, "{}", route.name);
    }
}

#[tokio::test]
async fn operations_that_check_or_send_codes_have_the_code_limit() {
    let (mut tried, mut mailed) = (BTreeSet::new(), BTreeSet::new());
    let sent = sent::SentEvents::get().await;
    for operation in operations::all() {
        let calls = &sent.event(&operation).calls;
        let (name, limit) = (operation.route.name, operation.route.limit);
        if calls.iter().any(|(_, body)| body.contains("ADD attempts")) {
            // Checks of the second factor share the limit of sign-ins.
            assert!(matches!(limit, Some(Limit::Code | Limit::SignIn)), "{name} checks codes without the limit of codes");
            tried.insert(name);
        }
        for (_, body) in calls.iter().filter(|(operation, body)| operation == "TransactWriteItems" && body.contains("\"C#")) {
            // The code for setting up an authenticator app is in the response, not in an email. A
            // link that undoes a change works only once.
            if body.contains("\"attempts\"") && !["auth-mfa-authenticator-begin", "auth-not-me"].contains(&name) {
                assert!(matches!(limit, Some(Limit::SendCode | Limit::SignUp)), "{name} sends codes without the limit of sending");
                let counts = |(operation, body): &(String, String)| is_write(operation) && body.contains("#send-code-recipient");
                assert!(calls.iter().any(counts), "{name} does not count the recipient of a code");
                mailed.insert(name);
            }
        }
    }
    assert!(tried.contains("auth-otp-sign-in") && mailed.contains("auth-otp-send-sign-in-code"), "{tried:?} {mailed:?}");
}
