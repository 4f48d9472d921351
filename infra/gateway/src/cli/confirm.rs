//! The question before a deletion.

use anyhow::{Context as _, bail};

/// Asks for the id of the thing that a command is to delete, unless `given` repeats it already.
pub(super) fn deletion(kind: &str, what: &str, id: &str, given: Option<String>) -> anyhow::Result<()> {
    let confirmed = match given {
        Some(again) => again,
        None => {
            eprint!("This deletes {what}. Type its id to confirm:  ");
            let mut line = String::new();
            std::io::stdin().read_line(&mut line).context("cannot read the id")?;
            line
        }
    };
    if confirmed.trim() != id {
        bail!("{:?} is not the id of the {kind}; nothing was deleted", confirmed.trim());
    }
    Ok(())
}
