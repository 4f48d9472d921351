//! Tests of how codes are sealed, masked and deleted as an entry changes its status.

use std::collections::BTreeMap;

use crypto::seal::SealedText;
use serde_json::{Map, Value, json};

use crate::code::Code;
use crate::document::builtin::Builtin;
use crate::outbox::body::BodyChange;
use crate::outbox::codes::{CodeVariable, Codes, HIDDEN, LINK, NOT_ME_LINK, OTP, value};
use crate::outbox::patch::Refusal;
use crate::outbox::status::Status;
use crate::outbox::tests::{ME, at, entry, mail, patch};
use crate::outbox::work::Outcome;
use crate::outbox::{OutboxEntry, SendError, Source, Stage};

const CODE: &str = "2h7bkqm4x8r1tz6w0c5vjn9pd3yfgs2a7hekb4mq8xr1t";
const OTHER: &str = "zz7bkqm4x8r1tz6w0c5vjn9pd3yfgs2a7hekb4mq8xr1t";

fn variables(fields: Value) -> Map<String, Value> {
    let Value::Object(fields) = fields else { panic!("{fields} has no fields") };
    fields
}

/// An email with a link and a code to type, as written by an earlier version.
fn before() -> OutboxEntry {
    let link = format!("https://a.test/x?code={CODE}&b=1");
    let variables = variables(json!({ LINK: link, OTP: "2H7BKQ", "email": "ada@example.com" }));
    OutboxEntry { source: Source::builtin(Builtin::SignIn), variables, ..entry() }
}

/// The same email in the form in which this version writes it.
fn now() -> OutboxEntry {
    let sealed = |name: &str| (name.to_owned(), SealedText::from_text(format!("sealed {name}")));
    let shown = before().shown().into_owned().variables;
    OutboxEntry { variables: shown, codes: Some(BTreeMap::from([sealed(LINK), sealed(OTP)])), ..before() }
}

fn names(entry: &OutboxEntry) -> Vec<&str> {
    entry.codes.iter().flatten().map(|(name, _)| name.as_str()).collect()
}

fn sent(entry: OutboxEntry) -> OutboxEntry {
    let queued = entry.begin_rendering(ME, at(1)).and_then(|entry| entry.finish_rendering(ME, mail(), at(2))).expect("a mail");
    let sending = queued.begin_sending(ME, at(3)).expect("a claim");
    sending.finish_sending(ME, Outcome::Sent { is_reported_on: true }, 0.0, at(4)).expect("an outcome")
}

#[test]
fn a_link_is_shown_without_its_code() {
    let code = Code::parse(CODE).expect("a code");
    let coded = CodeVariable::link(NOT_ME_LINK, format!("https://a.test/x?code={CODE}#top"), &code);
    assert_eq!(coded.shown, format!("https://a.test/x?code={HIDDEN}#top"));
    assert_eq!(value(&coded.shown, &coded.code), format!("https://a.test/x?code={CODE}#top"));
    let typed = CodeVariable::typed(OTP, &code);
    assert_eq!((value(&typed.shown, &typed.code), typed.shown), ("2H7BKQ".to_owned(), HIDDEN.to_owned()));
    assert_eq!(
        now().variables,
        variables(json!({ LINK: format!("https://a.test/x?code={HIDDEN}&b=1"), OTP: HIDDEN, "email": "ada@example.com" }))
    );
}

#[test]
fn a_link_that_an_earlier_version_sealed_stays_whole() {
    let link = format!("https://a.test/x?code={CODE}");
    assert_eq!(value(&format!("https://a.test/x?code={HIDDEN}"), &link), link);
}

#[test]
fn codes_are_hidden_completely_in_any_case_and_with_shared_prefixes() {
    let codes = Codes::of(&before().variables);
    let text = format!("{CODE} 2h7bkq 2H7BKQ {} ä2H7BKQä {OTHER}", CODE.to_uppercase());
    assert_eq!(codes.hide(&text), format!("{HIDDEN} {HIDDEN} {HIDDEN} {HIDDEN} ä{HIDDEN}ä {OTHER}"));
}

#[test]
fn foreign_codes_are_shown() {
    let fields = json!({ LINK: "https://a.test/x?code=short", OTP: "not a code", "name": "2H7BKQ" });
    let builtin = OutboxEntry { variables: variables(fields.clone()), ..before() };
    assert_eq!(builtin.shown().variables, variables(fields));
    let own = OutboxEntry { source: entry().source, ..before() };
    assert_eq!(own.shown().variables, before().variables, "an email that is not built in contains no codes of this service");
}

#[test]
fn a_variable_sent_back_as_shown_keeps_its_code() {
    for entry in [before(), now()] {
        let shown = entry.shown().into_owned().variables;
        let mut more = shown.clone();
        more.insert("name".to_owned(), json!("Ada"));
        let edited = entry.clone().apply(patch(json!({ "variables": more })), at(10)).expect("an edit");
        assert_eq!((names(&edited), &edited.variables[LINK]), (names(&entry), &entry.variables[LINK]));
        assert_eq!((edited.shown().variables.get(OTP), edited.shown().variables.get("name")), (shown.get(OTP), Some(&json!("Ada"))));

        let own = entry.clone().apply(patch(json!({ "variables": { LINK: "https://b.test", OTP: shown[OTP] } })), at(10)).expect("an edit");
        assert_eq!((&own.variables[LINK], &own.variables[OTP]), (&json!("https://b.test"), &entry.variables[OTP]));
        assert!(names(&own).iter().all(|name| *name == OTP));
        let none = entry.apply(patch(json!({ "variables": {} })), at(10)).expect("an edit");
        assert!(!none.carries_codes() && none.variables.is_empty());
    }
}

#[test]
fn a_code_is_sent_only_to_its_recipient() {
    let to = json!({ "type": "custom-emails", "emails": ["eve@example.com"] });
    for entry in [before(), now()] {
        assert_eq!(entry.clone().apply(patch(json!({ "to": to })), at(10)), Err(Refusal::Redirected));
        assert!(entry.clone().apply(patch(json!({ "to": entry.to })), at(10)).is_ok());
        let without = entry.apply(patch(json!({ "to": to, "variables": { LINK: "https://b.test" } })), at(10));
        assert!(without.is_ok_and(|entry| !entry.carries_codes()), "an email without its codes may go to any recipient");
    }
}

#[test]
fn codes_are_kept_until_the_email_is_sent_or_cancelled() {
    for entry in [before(), now()] {
        let cancelled = entry.clone().apply(patch(json!({ "cancel": true })), at(10)).expect("an edit");
        for ended in [sent(entry.clone()), cancelled] {
            let (kept, _) = ended.parted();
            assert_eq!((kept.carries_codes(), &kept.variables), (false, &now().variables));
        }
        let queued = entry.begin_rendering(ME, at(1)).and_then(|entry| entry.finish_rendering(ME, mail(), at(2))).expect("a mail");
        let sending = queued.clone().begin_sending(ME, at(3)).expect("a claim");
        let failed = sending.clone().finish_sending(ME, Outcome::Final(SendError::unknown(at(4), "?")), 0.0, at(4)).expect("an outcome");
        for going in [queued, sending, failed] {
            assert!(going.clone().parted().0.carries_codes(), "{:?}", going.status());
        }
    }
}

#[test]
fn the_bodies_of_a_failed_email_of_an_earlier_version_are_stored_without_codes() {
    let with_code = Ok(("Hi".to_owned(), Some(format!("<p>{CODE}")), None));
    let queued = before().begin_rendering(ME, at(1)).and_then(|entry| entry.finish_rendering(ME, with_code, at(2))).expect("a mail");
    let (sending, change) = queued.begin_sending(ME, at(3)).expect("a claim").parted();
    assert_eq!(change, None, "the email is sent from its entry");
    let failed = sending.finish_sending(ME, Outcome::Final(SendError::unknown(at(4), "?")), 0.0, at(4)).expect("an outcome");
    let Some(BodyChange::Store(body, _)) = failed.parted().1 else { panic!("no bodies") };
    assert_eq!(body.html, Some(format!("<p>{HIDDEN}")));
}

#[test]
fn a_mail_servers_reply_reveals_no_code() {
    let codes = Codes::of(&before().variables);
    let failure = SendError::new(at(1), "REJECTED", "refused").because(format!("550 spam: https://a.test/x?code={CODE}"));
    let Outcome::Final(failure) = Outcome::Final(failure).without(&codes) else { panic!("another outcome") };
    assert_eq!(failure.cause, format!("550 spam: https://a.test/x?code={HIDDEN}"));
    let told = OutboxEntry { failures: vec![SendError::new(at(1), "REJECTED", "x").because(CODE)], ..before() };
    assert_eq!(told.shown().failures[0].cause, HIDDEN);
}

#[test]
fn a_failed_email_of_an_earlier_version_hides_codes_and_can_be_resent() {
    let stage = Stage::RenderError { started_at: 1, at: 2, message: format!("no {CODE}") };
    let failed = OutboxEntry { stage, ..before() };
    let Stage::RenderError { message, .. } = &failed.shown().stage else { panic!("another stage") };
    assert_eq!(message, &format!("no {HIDDEN}"));
    let again = failed.apply(patch(json!({ "subject_source": "Again" })), at(10)).expect("an edit");
    assert_eq!((again.status(), &again.variables), (Status::Preparing, &before().variables));
}
