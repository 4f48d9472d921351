//! The kinds of tokens in code, and their markup.

use crate::escape;

/// A kind of code token, shown in a separate color.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Comment,
    Keyword,
    /// A string, a number or a color such as `#0a5c5a`.
    Value,
    /// A type, a key, an attribute, or a name with a mark, as in `$HOME` and `@media`; in a diff,
    /// the heading of a hunk.
    Name,
    /// An added line of a diff.
    Added,
    /// A removed line of a diff.
    Removed,
}

impl Kind {
    /// The CSS class of the elements of this kind.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Comment => "c",
            Self::Keyword => "k",
            Self::Value => "v",
            Self::Name => "n",
            Self::Added => "a",
            Self::Removed => "r",
        }
    }
}

/// Highlighted code as HTML.
#[derive(Default)]
pub(super) struct Html(pub(super) String);

impl Html {
    pub(super) fn push(&mut self, kind: Option<Kind>, text: &str) {
        let escaped = escape::markup(text);
        match kind.filter(|_| !text.is_empty()) {
            Some(kind) => {
                for part in ["<span class=\"", kind.class(), "\">", &escaped, "</span>"] {
                    self.0.push_str(part);
                }
            }
            None => self.0.push_str(&escaped),
        }
    }
}
