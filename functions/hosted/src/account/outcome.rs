//! The action that a form requests, and the outcome.

use crate::answer::Answer;
use crate::visit::call::Reply;
use crate::visit::fields::Fields;

/// The action that a button requests, such as `sessions.end:0198…`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Action {
    pub(super) section: String,
    pub(super) verb: String,
    /// The id of the item of the action. The id is empty if there is no item.
    pub(super) id: String,
}

impl Action {
    pub(super) fn of(form: &Fields) -> Self {
        let (name, id) = form.text("action").split_once(':').unwrap_or((form.text("action"), ""));
        let (section, verb) = name.split_once('.').unwrap_or((name, ""));
        Self { section: section.to_owned(), verb: verb.to_owned(), id: id.to_owned() }
    }
}

/// The outcome of submitting a form.
pub(super) enum Outcome {
    /// The form requests no change.
    Nothing,
    /// The change was made. The value names the text in `account.done` that is shown.
    Done(&'static str),
    /// An operation refused the change.
    Refusal(Reply),
    /// The visitor has to correct an input that no operation checks.
    Mistake(String),
    /// A separate document or a file.
    Answer(Answer),
}

impl Outcome {
    /// The outcome of a change: [`Self::Done`] with `text` if the operation succeeded.
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
