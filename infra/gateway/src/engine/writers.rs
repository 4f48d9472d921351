//! Writes by other processes to the file of a running gateway: commands such as `project set` and
//! `content publish` work on it while the gateway runs.
//!
//! Before each such write, the file `gatelet.db-writers` next to the database grows by a byte, and
//! the writer holds a shared lock on it until the write or the process has ended.

use std::fs::{File, OpenOptions};
use std::io::{Result, Write as _};
use std::path::{Path, PathBuf};

use crate::data::private;

fn file_of(database: &Path) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push("-writers");
    path.into()
}

fn open(database: &Path) -> Result<File> {
    private(&file_of(database), OpenOptions::new().append(true))
}

/// A write announced to the gateway, until this value is dropped.
pub(super) struct AnnouncedWrite(#[expect(dead_code, reason = "dropping the file releases its lock")] File);

/// Announces a write, which must not begin before this call.
pub(super) fn announce(database: &Path) -> Result<AnnouncedWrite> {
    let mut file = open(database)?;
    file.lock_shared()?;
    file.write_all(b"w")?;
    Ok(AnnouncedWrite(file))
}

/// The other processes that write.
pub(super) struct Writers(File);

impl Writers {
    /// Watches the writers to a database. Only one process may do this at a time.
    pub(super) fn watch(database: &Path) -> Result<Self> {
        let file = open(database)?;
        file.set_len(0)?;
        Ok(Self(file))
    }

    /// The number of announced writes; `None` if it cannot be read.
    pub(super) fn announced(&self) -> Option<u64> {
        self.0.metadata().ok().map(|file| file.len())
    }

    /// The number of announced writes, if all have ended. Must not be called by several threads at
    /// a time.
    pub(super) fn ended(&self) -> Option<u64> {
        self.0.try_lock().ok()?;
        let announced = self.announced();
        self.0.unlock().ok()?;
        announced
    }
}
