//! Codes in the emails of the outbox, either in links or to be typed. With a code, recipients can
//! sign in, verify an address, reset a password, join a team, undo changes to an account, or remove
//! their address from someone else's account. Readers of the outbox must never see codes, whatever
//! the reader's access level.
//!
//! For each variable with a code, `variables` contains the value with [`HIDDEN`] in place of the
//! code. The code itself is sealed in `codes`, for the worker that sends the email. The copy of an
//! email in the table and the API is rendered from `variables`. The sealed codes are deleted once
//! the email has been sent or skipped.
//!
//! Entries from earlier versions contain plaintext codes, both in their variables and in the texts
//! rendered from the variables. The emails of these older entries are sent unchanged. API responses
//! mask these codes. In the table, these codes are masked once this version stores the entry as
//! sent or skipped.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::{Map, Value};
use url::Url;

use crate::code::{self, Code};
use crate::outbox::{OutboxEntry, Stage};

/// The mask shown in place of a code.
pub const HIDDEN: &str = "••••••";

/// The name of the variable with the link that the recipient opens. The link contains a code,
/// except in a sign-in invitation.
pub const LINK: &str = "link";
/// The name of the variable with the "This wasn't me" link or, in an email that verifies an
/// address, with the link that removes the address from the account.
pub const NOT_ME_LINK: &str = "not_me_link";
/// The name of the variable with the code to type.
pub const OTP: &str = "otp";

/// A variable that contains a code.
pub struct CodeVariable {
    /// The variable's name.
    pub name: &'static str,
    /// The code, which replaces the mask in the value for the recipient ([`value`]).
    pub code: String,
    /// The value for everyone other than the recipient.
    pub shown: String,
}

/// The value of a variable for the recipient, made from the value that others see (`shown`) and the
/// sealed text. The sealed text is the code or, in an entry from an earlier version, possibly the
/// entire link.
pub fn value(shown: &str, sealed: &str) -> String {
    let is_link = sealed.contains(':');
    if is_link { sealed.to_owned() } else { shown.replace(HIDDEN, sealed) }
}

impl CodeVariable {
    /// A link with the code in its query.
    pub fn link(name: &'static str, url: impl Into<String>, code: &Code) -> Self {
        Self { name, code: code.text().to_owned(), shown: url.into().replace(code.text(), HIDDEN) }
    }

    /// A variable with the typed part of a code.
    pub fn typed(name: &'static str, code: &Code) -> Self {
        Self { name, code: code.typed(), shown: HIDDEN.to_owned() }
    }
}

/// The owner under which a variable of an entry is sealed.
pub fn owner(project: &str, entry: &str, variable: &str) -> String {
    format!("mail/{project}/{entry}/{variable}")
}

/// Plaintext codes to mask in texts, longest first. The typed part is a prefix of the whole code,
/// so masking the typed part first would leave the rest of the code visible.
#[derive(Default, PartialEq, Eq)]
pub struct Codes(Vec<String>);

impl Codes {
    /// The codes among the variables of a built-in email.
    pub fn of(variables: &Map<String, Value>) -> Self {
        let texts = [LINK, NOT_ME_LINK, OTP].into_iter().filter_map(|name| Some((name, variables.get(name)?.as_str()?)));
        texts.filter_map(|(name, text)| if name == OTP { typed(text) } else { in_link(text) }).collect()
    }

    /// The code in a link.
    pub(crate) fn from_link(url: &str) -> Self {
        in_link(url).into_iter().collect()
    }

    /// Whether the set of codes is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Masks every code in a text, regardless of case.
    pub fn hide(&self, text: &str) -> String {
        self.replace(text, HIDDEN)
    }

    /// Replaces every code in a text with `mark`, regardless of case.
    pub(crate) fn replace(&self, text: &str, mark: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, code| without(&text, code, mark))
    }
}

impl FromIterator<String> for Codes {
    fn from_iter<I: IntoIterator<Item = String>>(codes: I) -> Self {
        let mut codes: Vec<String> = codes.into_iter().collect();
        codes.sort_by_key(|code| Reverse(code.len()));
        Self(codes)
    }
}

fn typed(text: &str) -> Option<String> {
    (text.len() == code::TYPED && text.chars().all(|c| c.is_ascii_alphanumeric())).then(|| text.to_owned())
}

/// The code in a link, if the text is a link with a code.
pub(crate) fn in_link(text: &str) -> Option<String> {
    let url = Url::parse(text).ok()?;
    let (_, code) = url.query_pairs().find(|(name, _)| name == "code")?;
    (code.len() == code::LENGTH).then(|| code.into_owned())
}

fn without(text: &str, code: &str, mark: &str) -> String {
    // Only ASCII letters change, so byte positions in both texts are the same.
    let (lower, code) = (text.to_ascii_lowercase(), code.to_ascii_lowercase());
    let (mut shown, mut from) = (String::with_capacity(text.len()), 0);
    for (at, _) in lower.match_indices(&code) {
        shown.push_str(&text[from..at]);
        shown.push_str(mark);
        from = at + code.len();
    }
    shown + &text[from..]
}

impl OutboxEntry {
    /// Whether the entry contains sealed codes. An email with sealed codes is rendered again for
    /// sending, because its stored bodies do not contain the codes.
    pub fn has_sealed_codes(&self) -> bool {
        self.codes.as_ref().is_some_and(|codes| !codes.is_empty())
    }

    /// Whether the entry contains codes that this service issued, sealed or in plaintext.
    pub fn carries_codes(&self) -> bool {
        self.has_sealed_codes() || !self.clear_codes().is_empty()
    }

    /// The plaintext codes in the variables of an entry from an earlier version; empty for other
    /// entries.
    pub fn clear_codes(&self) -> Codes {
        let is_of_before = self.codes.is_none() && self.source.builtin.is_some();
        if is_of_before { Codes::of(&self.variables) } else { Codes::default() }
    }

    /// The entry as shown to anyone other than the recipient.
    pub fn shown(&self) -> Cow<'_, Self> {
        // The unsubscribe link must be masked too, because anyone who has it can unsubscribe the
        // recipient. The unsubscribe link occurs only in rendered text.
        let unsubscribe = self.rendered.as_ref().and_then(|mail| in_link(mail.unsubscribe_url.as_deref()?));
        let hidden: Codes = self.clear_codes().0.into_iter().chain(unsubscribe).collect();
        if hidden.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut entry = self.clone();
        for value in entry.variables.values_mut() {
            if let Value::String(text) = value {
                *text = hidden.hide(text);
            }
        }
        for failure in &mut entry.failures {
            failure.cause = hidden.hide(&failure.cause);
        }
        if let Stage::RenderError { message, .. } | Stage::ServerError { message, .. } = &mut entry.stage {
            *message = hidden.hide(message);
        }
        if let Some(mail) = &mut entry.rendered {
            mail.subject = hidden.hide(&mail.subject);
            for body in [&mut mail.html, &mut mail.text].into_iter().flatten() {
                *body = hidden.hide(body);
            }
        }
        Cow::Owned(entry)
    }

    /// Replaces the variables. A value that equals the masked value keeps its code; any other value
    /// replaces the code.
    pub(crate) fn replace_variables(&mut self, mut variables: Map<String, Value>) {
        let shown = self.shown().into_owned().variables;
        let is_kept = |name: &str, variables: &Map<String, Value>| variables.get(name).is_some_and(|new| shown.get(name) == Some(new));
        if let Some(codes) = &mut self.codes {
            codes.retain(|name, _| is_kept(name, &variables));
        }
        for (name, value) in &self.variables {
            if is_kept(name, &variables) {
                variables.insert(name.clone(), value.clone());
            }
        }
        self.variables = variables;
    }

    /// Deletes the codes of an email that was sent or skipped. A failed email keeps its codes,
    /// because the email can be sent again after an edit.
    pub(crate) fn forget_codes(&mut self) {
        if !matches!(self.stage, Stage::Sent { .. } | Stage::Skipped { .. }) {
            return;
        }
        if let Some(codes) = &mut self.codes {
            codes.clear();
        } else if !self.clear_codes().is_empty() {
            *self = self.shown().into_owned();
            self.codes = Some(BTreeMap::new());
        }
    }
}
