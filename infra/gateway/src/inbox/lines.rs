//! Reads the inbox of older versions: two files of JSON lines, `older.jsonl` and then
//! `newest.jsonl`. When a gateway with an inbox database starts, it imports and removes these
//! files.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, ErrorKind};
use std::path::Path;

use email::send::Sender;
use serde::Deserialize;

const FILES: [&str; 2] = ["older.jsonl", "newest.jsonl"];

/// An email as it is stored in a line.
#[derive(Deserialize)]
pub(super) struct Line {
    pub(super) id: String,
    pub(super) to: Vec<String>,
    from: String,
    pub(super) subject: String,
    text: String,
    html: String,
    pub(super) sent_at_millis: i64,
    pub(super) outbox_id: String,
}

impl Line {
    pub(super) fn text(&self) -> Option<&str> {
        Some(self.text.as_str()).filter(|text| !text.is_empty())
    }

    pub(super) fn html(&self) -> Option<&str> {
        Some(self.html.as_str()).filter(|html| !html.is_empty())
    }

    /// The sender, parsed from `"Name" <address>` or from a bare address.
    pub(super) fn sender(&self) -> Sender {
        let (name, address) = self.from.rsplit_once(" <").unwrap_or(("", &self.from));
        Sender { name: name.trim_matches('"').to_owned(), address: address.trim_end_matches('>').to_owned() }
    }
}

/// The emails in a folder, oldest first. If a crash left the last line incomplete, skips it: its
/// email was never reported as sent.
pub(super) fn read(folder: &Path) -> io::Result<Vec<Line>> {
    let mut all = Vec::new();
    for name in FILES {
        let file = match File::open(folder.join(name)) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        for line in BufReader::new(file).split(b'\n') {
            let Ok(line) = serde_json::from_slice(&line?) else { break };
            all.push(line);
        }
    }
    Ok(all)
}

/// Removes the files. Also removes the folder if it is then empty.
pub(super) fn remove(folder: &Path) -> io::Result<()> {
    for name in FILES {
        absent_is_fine(std::fs::remove_file(folder.join(name)))?;
    }
    match std::fs::remove_dir(folder) {
        Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => Ok(()),
        removed => absent_is_fine(removed),
    }
}

fn absent_is_fine(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
