//! All emails are added to the outbox through the gate, which counts recipients.

use std::path::Path;

use crate::passages;

/// The functions that add outbox entries.
const WRITERS: [&str; 3] = ["outbox::create(", "outbox::create_decoy(", ".create_broadcast("];
/// The only module that may call these functions. The store writes the entries of a broadcast,
/// after the gate has admitted the broadcast.
const GATE: &str = "shared/flows/src/email/gate.rs";
/// The function that sends an email without the outbox.
const SENDER: &str = ".try_send(";

/// The sources of all code that runs except the store: operations, workers, flows and gateway.
fn sources() -> Vec<(String, String)> {
    let is_run = |path: &str| {
        let folders = ["functions/", "shared/flows/", "shared/api/", "infra/gateway/"];
        Path::new(path).extension().is_some_and(|extension| extension == "rs") && folders.iter().any(|folder| path.starts_with(folder))
    };
    let sources = passages::sources().into_iter().map(|source| (source.path.display().to_string(), source.text));
    sources.filter(|(path, _)| is_run(path)).collect()
}

#[test]
fn only_the_gate_adds_emails_to_the_outbox() {
    let sources = sources();
    assert!(sources.len() > 300, "{}", sources.len());
    for (path, source) in sources.iter().filter(|(path, _)| path != GATE) {
        for writer in WRITERS {
            assert!(!source.contains(writer), "{path} adds an email to the outbox past {GATE}");
        }
        // If a function were imported, its calls would not be noticed.
        let imports = |line: &str| line.starts_with("use store::") && line.contains("outbox::") && line.contains("create");
        assert!(!source.lines().any(imports), "{path} imports a function that adds emails");
    }
    let gate = &sources.iter().find(|(path, _)| path == GATE).unwrap().1;
    assert!(WRITERS.iter().all(|writer| gate.contains(writer)));
}

#[test]
fn an_operation_that_sends_by_itself_counts_the_recipient() {
    let senders = sources().into_iter().filter(|(path, source)| path.starts_with("functions/") && source.contains(SENDER));
    let uncounted: Vec<_> = senders.clone().filter(|(_, source)| !source.contains("count_recipient(")).map(|(path, _)| path).collect();
    assert_eq!((senders.count(), uncounted), (1, Vec::<String>::new()));
}
