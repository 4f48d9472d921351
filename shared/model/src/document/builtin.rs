//! The emails that the service itself sends, as MiniJinja sources with fixed ids, and the default
//! theme of all projects. A project's own document with the same id overrides the built-in one. A
//! new outbox entry refers to the built-in email instead of containing the sources. Sources that
//! are set in the entry, such as edited ones, take precedence.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use strum::VariantArray;
use uuid::{Uuid, uuid};
use wire::id::DocumentId;
use wire::problem::Problems;

use crate::document::theme::DEFAULT_THEME;
use crate::document::{DocumentKind, DocumentPatch, MailDocument};
use crate::email::category::Category;

/// The sources of an email's bodies, in HTML and as text.
macro_rules! bodies {
    ($name:literal) => {
        [include_str!(concat!("templates/", $name, ".html")), include_str!(concat!("templates/", $name, ".txt"))]
    };
}

/// An email that the service itself sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, VariantArray)]
#[serde(rename_all = "kebab-case")]
pub enum Builtin {
    /// Verifies an address.
    VerifyEmail,
    /// A sign-in, with a link or a code to type.
    SignIn,
    /// Resets a password.
    ResetPassword,
    /// Invites to a team.
    TeamInvitation,
    /// An invitation to sign in, without a code.
    SignInInvitation,
    /// A report of a sign-in from a place that is new to the account.
    NewSignIn,
    /// A message to the owner of an address: someone else created an account with the address, and
    /// the account is now the owner's.
    AccountClaimed,
    /// A report that the account's password was disabled after too many wrong attempts.
    PasswordClosed,
    /// A report of a change to how a user signs in, or to the user's API keys.
    AccountChanged,
}

/// The sources that an email is rendered from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sources<'a> {
    /// MiniJinja source of the subject.
    pub subject: &'a str,
    /// MiniJinja source of the body, in HTML or MJML.
    pub html: &'a str,
    /// MiniJinja source of the text body; derived from the HTML if absent.
    pub text: Option<&'a str>,
}

/// The source of the default theme: MJML in which `{{ content }}` stands for the body of the email.
pub const THEME: &str = include_str!("templates/theme.mjml");

impl DocumentPatch {
    /// The template with the change applied; fails if the HTML source is given twice. The built-in
    /// text body matches the built-in HTML, so new HTML replaces both, unless the change sets a
    /// text.
    pub fn apply_to_template(self, mut template: MailDocument, now: Timestamp) -> Result<MailDocument, Problems> {
        let has_html = self.html_source.is_some() || self.tsx_source.is_some();
        if has_html && document(DocumentKind::Template, template.id).is_some_and(|ours| ours.text == template.text) {
            template.text = None;
        }
        self.apply(template, now)
    }
}

impl Builtin {
    /// Every built-in email.
    pub const ALL: &[Self] = <Self as VariantArray>::VARIANTS;

    /// The id and the name of the email's template, and the email's subject and bodies. Published
    /// SDKs contain the first five ids.
    #[rustfmt::skip]
    fn row(self) -> (Uuid, &'static str, &'static str, [&'static str; 2]) {
        match self {
            Self::VerifyEmail => (uuid!("e7d009ce-8d47-4528-b245-5bf119f2ffa3"), "Email verification", "Verify your email at {{ project.display_name }}", bodies!("verify-email")),
            Self::SignIn => (uuid!("822687fe-8d0a-4467-a0d1-416b6e639478"), "Sign-in code and link", "Sign in to {{ project.display_name }}: Your code is {{ variables.otp }}", bodies!("sign-in")),
            Self::ResetPassword => (uuid!("a70fb3a4-56c1-4e42-af25-49d25603abd0"), "Password reset", "Reset your password at {{ project.display_name }}", bodies!("reset-password")),
            Self::TeamInvitation => (uuid!("e84de395-2076-4831-9c19-8e9a96a868e4"), "Team invitation", "Join {{ variables.team_display_name }} at {{ project.display_name }}", bodies!("team-invitation")),
            Self::SignInInvitation => (uuid!("066dd73c-36da-4fd0-b6d6-ebf87683f8bc"), "Sign-in invitation", "You are invited to {{ project.display_name }}", bodies!("sign-in-invitation")),
            Self::NewSignIn => (uuid!("5c8c2f1e-64a7-4a0e-9d4b-0b6f3a1d7e52"), "New sign-in", "New sign-in to {{ project.display_name }}", bodies!("new-sign-in")),
            Self::AccountClaimed => (uuid!("0d3b7c64-9a1e-4f25-8b6d-2c5e7f90a184"), "Account claimed", "Your account at {{ project.display_name }}", bodies!("account-claimed")),
            Self::PasswordClosed => (uuid!("c2a9d7be-31f0-4c55-8a1c-6f2e4d9b7a03"), "Too many wrong passwords", "Too many wrong passwords at {{ project.display_name }}", bodies!("password-closed")),
            Self::AccountChanged => (uuid!("7f3e5b90-2c84-4d16-9ab7-e1d05c6f8243"), "Account changed", "Your account at {{ project.display_name }} was changed", bodies!("account-changed")),
        }
    }

    /// The id of the email's template.
    pub fn id(self) -> Uuid {
        self.row().0
    }

    /// The built-in email of a template; `None` for a project's own template.
    pub fn of(template: DocumentId) -> Option<Self> {
        Self::ALL.iter().copied().find(|mail| template == mail.id().into())
    }

    /// The name of the email's template.
    pub fn display_name(self) -> &'static str {
        self.row().1
    }

    /// Sample values of the email's variables, for previews.
    pub fn sample_variables(self) -> Value {
        let link = "https://app.example.com/handler?code=2h7bkqm4x8r1tz6w0c5vjn9pd3yfgs2a7hekb4mq8xr1t";
        match self {
            Self::PasswordClosed => json!({
                "time": "1 January 2026, 12:00 UTC",
                "address": "203.0.113.7",
                "place": "Lisbon, PT",
            }),
            Self::NewSignIn => json!({
                "time": "1 January 2026, 12:00 UTC",
                "address": "203.0.113.7",
                "place": "Lisbon, PT",
                "not_me_link": link,
            }),
            Self::AccountChanged => json!({
                "time": "1 January 2026, 12:00 UTC",
                "address": "203.0.113.7",
                "place": "Lisbon, PT",
                "changes": [{ "kind": "address-added", "detail": "ada@example.com" }],
                "is_last": false,
                "not_me_link": link,
            }),
            Self::AccountClaimed => json!({ "email": "ada@example.com", "has_password": false }),
            Self::VerifyEmail => json!({ "link": link, "otp": "2H7BKQ", "email": "ada@example.com", "not_me_link": link }),
            Self::TeamInvitation => json!({ "link": link, "email": "ada@example.com", "team_display_name": "Analytical Engines" }),
            Self::SignInInvitation => json!({ "link": "https://app.example.com/welcome", "email": "ada@example.com" }),
            _ => json!({ "link": link, "otp": "2H7BKQ", "email": "ada@example.com" }),
        }
    }

    /// The email's MiniJinja sources.
    pub fn sources(self) -> Sources<'static> {
        let (_, _, subject, [html, text]) = self.row();
        Sources { subject, html, text: Some(text) }
    }

    fn document(self) -> MailDocument {
        let Sources { subject, html, text } = self.sources();
        let name = self.display_name();
        MailDocument { subject: subject.to_owned(), text: text.map(str::to_owned), ..ours(self.id(), name, html) }
    }
}

fn ours(id: Uuid, name: &str, html: &str) -> MailDocument {
    MailDocument {
        id: DocumentId::from(id),
        display_name: name.to_owned(),
        subject: String::new(),
        html: html.to_owned(),
        text: None,
        theme: None,
        category: Category::Transactional,
        created_at: Timestamp::UNIX_EPOCH,
        updated_at: Timestamp::UNIX_EPOCH,
        sent_at: None,
    }
}

/// The built-in documents of a kind, which a project may override.
pub fn documents(kind: DocumentKind) -> Vec<MailDocument> {
    match kind {
        DocumentKind::Template => Builtin::ALL.iter().copied().map(Builtin::document).collect(),
        DocumentKind::Theme => vec![ours(DEFAULT_THEME, "Plain", THEME)],
        DocumentKind::Draft => Vec::new(),
    }
}

/// The built-in document with this id.
pub fn document(kind: DocumentKind, id: DocumentId) -> Option<MailDocument> {
    documents(kind).into_iter().find(|document| document.id == id)
}
