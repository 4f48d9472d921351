//! What a form asks for, and how it ends.

use crate::answer::Answer;
use crate::visit::call::Reply;
use crate::visit::fields::Fields;

/// What a button asks for, such as `sessions.end:0198…`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Action {
    pub(super) section: String,
    pub(super) verb: String,
    /// The id of what it concerns; empty if there is none.
    pub(super) id: String,
}

impl Action {
    pub(super) fn of(form: &Fields) -> Self {
        let (name, id) = form.text("action").split_once(':').unwrap_or((form.text("action"), ""));
        let (section, verb) = name.split_once('.').unwrap_or((name, ""));
        Self { section: section.to_owned(), verb: verb.to_owned(), id: id.to_owned() }
    }
}

/// How a form ends.
pub(super) enum Outcome {
    /// Nothing was asked for but the page.
    Nothing,
    /// The change is made; the page says this text of `account.done`.
    Done(&'static str),
    /// An operation refused.
    Refusal(Reply),
    /// The visitor has to mend something that no operation checks.
    Mistake(String),
    /// A document of its own, or a file.
    Answer(Answer),
}

impl Outcome {
    /// The outcome of a change: `text` if the operation made it.
    pub(super) fn of(reply: Reply, text: &'static str) -> Self {
        if reply.error().is_none() { Self::Done(text) } else { Self::Refusal(reply) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action(text: &str) -> [String; 3] {
        let Action { section, verb, id } = Action::of(&Fields::default().with("action", text));
        [section, verb, id]
    }

    #[test]
    fn an_action_has_a_section_a_verb_and_an_id() {
        assert_eq!(action("sessions.end:a.b:c"), ["sessions", "end", "a.b:c"]);
        assert_eq!(action("keys.create"), ["keys", "create", ""]);
        assert_eq!(action("nothing"), ["nothing", "", ""]);
        assert_eq!(action(""), ["", "", ""]);
    }
}
