//! Asks for confirmation before a deletion.

use std::io::{IsTerminal as _, stdin};

use anyhow::{Context as _, bail};

/// Requires the id of the item to delete, in `given` or typed at the prompt. Fails if the ids
/// differ.
pub(super) fn deletion(kind: &str, what: &str, id: &str, given: Option<String>) -> anyhow::Result<()> {
    let confirmed = match given {
        Some(again) => again,
        None => typed(what)?,
    };
    match confirmed.trim() {
        again if again == id => Ok(()),
        "" => bail!("nothing was deleted: type the id of the {kind}, or pass the id with --confirm"),
        other => bail!("{other:?} is not the id of the {kind}; nothing was deleted"),
    }
}

/// Reads a line from standard input; on a terminal, prints a prompt first.
fn typed(what: &str) -> anyhow::Result<String> {
    if stdin().is_terminal() {
        eprint!("This deletes {what}. To confirm the deletion, type the id: ");
    }
    let mut line = String::new();
    stdin().read_line(&mut line).context("cannot read the id from standard input")?;
    Ok(line)
}
