//! The mails that the service itself sends, as MiniJinja sources. An entry of the outbox refers to them until somebody edits it.

use crate::model::outbox::{Builtin, Source};

/// The sources that a mail is rendered from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sources<'a> {
    pub subject: &'a str,
    pub html: &'a str,
    /// Derived from the HTML when absent.
    pub text: Option<&'a str>,
}

/// MJML around every mail; `{{ content }}` stands for its body.
pub const THEME: &str = include_str!("templates/theme.mjml");

impl Builtin {
    fn sources(self) -> Sources<'static> {
        let (subject, html, text) = match self {
            Self::VerifyEmail => (
                "Verify your email at {{ project.display_name }}",
                include_str!("templates/verify-email.html"),
                include_str!("templates/verify-email.txt"),
            ),
            Self::SignIn => (
                "Sign in to {{ project.display_name }}: Your code is {{ variables.otp }}",
                include_str!("templates/sign-in.html"),
                include_str!("templates/sign-in.txt"),
            ),
            Self::ResetPassword => (
                "Reset your password at {{ project.display_name }}",
                include_str!("templates/reset-password.html"),
                include_str!("templates/reset-password.txt"),
            ),
        };
        Sources { subject, html, text: Some(text) }
    }
}

/// The sources of an entry: its own, and the built-in mail's where it has none.
pub fn sources(source: &Source) -> Sources<'_> {
    let builtin = source.builtin.map(Builtin::sources);
    Sources {
        subject: source.subject.as_deref().or(builtin.map(|builtin| builtin.subject)).unwrap_or_default(),
        html: source.html.as_deref().or(builtin.map(|builtin| builtin.html)).unwrap_or_default(),
        // An edited HTML body has no built-in text beside it.
        text: source.text.as_deref().or_else(|| builtin.filter(|_| source.html.is_none()).and_then(|builtin| builtin.text)),
    }
}
