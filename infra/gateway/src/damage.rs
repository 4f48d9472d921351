//! Detects whether a database file is damaged before anything is written to it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

/// The maximum size, in bytes, of a file that is checked completely at each start. Checking such a
/// file takes milliseconds.
const CHECKED: u64 = 4 << 20;
/// How long another process may keep the file locked.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The damage of a database that cannot be used, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[error(
    "the database {} is damaged ({reason}) and was left unchanged: restore the folder from a copy, or move {name}, {name}-wal and \
     {name}-shm elsewhere to start without them; `sqlite3 {name} .recover` may still read some of it",
    path.display()
)]
pub struct Damage {
    path: PathBuf,
    name: String,
    reason: String,
}

impl Damage {
    fn new(path: &Path, reason: String) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self { path: path.to_owned(), name, reason }
    }

    /// The damage of a file that has lost all content.
    pub(crate) fn empty(path: &Path) -> Self {
        Self::new(path, "it is empty".to_owned())
    }
}

/// Rejects a file in which [`check`] finds damage. Accepts a file that cannot be opened for another
/// reason: the code that opens it later reports the reason.
pub(crate) fn examine(path: &Path) -> Result<(), Damage> {
    match check(path) {
        Ok(found) if found == "ok" => Ok(()),
        // SQLite's report begins with a heading, and its last line names the damage.
        Ok(found) => Err(Damage::new(path, found.lines().last().unwrap_or_default().to_owned())),
        Err(error) => match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => Err(Damage::new(path, error.to_string())),
            _ => Ok(()),
        },
    }
}

/// The result of `SQLite`'s check of a file: `ok`, or the first damage found. The file is opened
/// read-only. In a file larger than [`CHECKED`], only the schema is read.
fn check(path: &Path) -> rusqlite::Result<String> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(TIMEOUT)?;
    connection.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()))?;
    if path.metadata().is_ok_and(|file| file.len() > CHECKED) {
        return Ok("ok".to_owned());
    }
    connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
}
