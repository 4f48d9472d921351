//! Writes by other processes to the file of a running gateway: commands such as `project set` and
//! `content publish` work beside it.
//!
//! The file `gatelet.db-writers` beside the database grows by a byte before each such write, and
//! the writer holds a shared lock on it until the write has ended. The lock also ends with the
//! writer.

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

/// A write that is announced to the gateway, until this value is dropped.
pub(super) struct Announced(#[expect(dead_code, reason = "dropping the file releases its lock")] File);

/// Announces a write. It must not begin earlier.
pub(super) fn announce(database: &Path) -> Result<Announced> {
    let mut file = open(database)?;
    file.lock_shared()?;
    file.write_all(b"w")?;
    Ok(Announced(file))
}

/// The writers beside this process.
pub(super) struct Writers(File);

impl Writers {
    /// Watches the writers to a database. Only one process may do this at a time.
    pub(super) fn watch(database: &Path) -> Result<Self> {
        let file = open(database)?;
        file.set_len(0)?;
        Ok(Self(file))
    }

    /// The number of writes that were announced; `None` if it cannot be read.
    pub(super) fn announced(&self) -> Option<u64> {
        self.0.metadata().ok().map(|file| file.len())
    }

    /// The number of writes that were announced, if all of them have ended. Must not be called by
    /// several threads at a time.
    pub(super) fn ended(&self) -> Option<u64> {
        self.0.try_lock().ok()?;
        let announced = self.announced();
        self.0.unlock().ok()?;
        announced
    }
}
