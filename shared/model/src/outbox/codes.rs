//! Codes that emails of the outbox carry: the links and codes by which accounts are reset, signed in to, verified, joined, released and
//! given back. Whoever reads the outbox must not have them, whatever key they read it with.
//!
//! The entry has each such variable twice: sealed in `codes`, which only the worker that sends opens, and in `variables` with [`HIDDEN`] in
//! place of the code. The copy of the email that the table keeps and the API shows is rendered from `variables`. The sealed codes are
//! deleted once the email has been sent, or will never be.
//!
//! Entries of the version before have their codes in clear, in their variables and in what was rendered from them. They are sent as they
//! are; answers have the codes replaced, and so has the table once they have come to their end.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::{Map, Value};
use url::Url;

use crate::code::{self, Code};
use crate::outbox::{OutboxEntry, Stage};

/// What stands for a code.
pub const HIDDEN: &str = "••••••";

/// The variables that carry codes; an email of ours has some of them.
pub const LINK: &str = "link";
pub const NOT_ME_LINK: &str = "not_me_link";
pub const OTP: &str = "otp";

/// A variable that carries a code.
pub struct Coded {
    pub name: &'static str,
    /// What the recipient gets.
    pub value: String,
    /// What everybody else sees.
    pub shown: String,
}

impl Coded {
    /// A link that has the code among its parameters.
    pub fn link(name: &'static str, url: impl Into<String>, code: &Code) -> Self {
        let value = url.into();
        Self { name, shown: value.replace(code.text(), HIDDEN), value }
    }

    /// The part of a code that people type.
    pub fn typed(name: &'static str, code: &Code) -> Self {
        Self { name, value: code.typed(), shown: HIDDEN.to_owned() }
    }
}

/// What the variable of an entry is sealed for.
pub fn owner(project: &str, entry: &str, variable: &str) -> String {
    format!("mail/{project}/{entry}/{variable}")
}

/// Codes in clear, to be found in other texts. The longest first: what is typed is the beginning of a code, of which nothing must be left.
#[derive(Default, PartialEq, Eq)]
pub struct Codes(Vec<String>);

impl Codes {
    /// The codes among the variables of an email of ours.
    pub fn of(variables: &Map<String, Value>) -> Self {
        let texts = [LINK, NOT_ME_LINK, OTP].into_iter().filter_map(|name| Some((name, variables.get(name)?.as_str()?)));
        texts.filter_map(|(name, text)| if name == OTP { typed(text) } else { in_link(text) }).collect()
    }

    /// The code of a link.
    pub(crate) fn of_link(url: &str) -> Self {
        in_link(url).into_iter().collect()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text with what stands for each code in its place, in whatever case the code is written.
    pub fn hide(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, code| without(&text, code))
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

fn in_link(text: &str) -> Option<String> {
    let url = Url::parse(text).ok()?;
    let (_, code) = url.query_pairs().find(|(name, _)| name == "code")?;
    (code.len() == code::LENGTH).then(|| code.into_owned())
}

fn without(text: &str, code: &str) -> String {
    // Positions are the same in both, as only ASCII letters change.
    let (lower, code) = (text.to_ascii_lowercase(), code.to_ascii_lowercase());
    let (mut shown, mut from) = (String::with_capacity(text.len()), 0);
    for (at, _) in lower.match_indices(&code) {
        shown.push_str(&text[from..at]);
        shown.push_str(HIDDEN);
        from = at + code.len();
    }
    shown + &text[from..]
}

impl OutboxEntry {
    /// Whether it takes codes of ours to its recipient.
    pub fn carries_codes(&self) -> bool {
        self.codes.as_ref().is_some_and(|codes| !codes.is_empty()) || !self.clear_codes().is_empty()
    }

    /// The codes that an entry of the version before has in clear.
    pub fn clear_codes(&self) -> Codes {
        let is_of_before = self.codes.is_none() && self.source.builtin.is_some();
        if is_of_before { Codes::of(&self.variables) } else { Codes::default() }
    }

    /// The entry as everybody but its recipient may see it.
    pub fn shown(&self) -> Cow<'_, Self> {
        // Whoever has the link to unsubscribe refuses emails in their recipient's name. It is in what was rendered alone.
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

    /// Replaces the variables. One that is what answers show in place of a code keeps the code; any other is the caller's own.
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

    /// Forgets the codes of a mail that has gone out, or never will.
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
