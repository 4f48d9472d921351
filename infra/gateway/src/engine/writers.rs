//! Detects writes by other processes to the file of a running gateway, for example by commands such
//! as `project set` and `content publish`.
//!
//! Before a write to the database, the other process adds a byte to the file `gatelet.db-writers`
//! next to the database. The process holds a shared lock on this file until the write or the
//! process has ended.

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

/// A write that is announced to the gateway until this value is dropped.
pub(super) struct AnnouncedWrite(#[expect(dead_code, reason = "dropping the file releases its lock")] File);

/// Announces a write. Begin the write after this call.
pub(super) fn announce(database: &Path) -> Result<AnnouncedWrite> {
    let mut file = open(database)?;
    file.lock_shared()?;
    file.write_all(b"w")?;
    Ok(AnnouncedWrite(file))
}

/// The other processes that write to the database.
pub(super) struct Writers(File);

impl Writers {
    /// Watches the processes that write to a database. Only one process may watch a database at a
    /// time.
    pub(super) fn watch(database: &Path) -> Result<Self> {
        let file = open(database)?;
        file.set_len(0)?;
        Ok(Self(file))
    }

    /// The number of announced writes; `None` if the number cannot be read.
    pub(super) fn announced(&self) -> Option<u64> {
        self.0.metadata().ok().map(|file| file.len())
    }

    /// The number of announced writes if all of them have ended. Only one thread may call this at a
    /// time.
    pub(super) fn ended(&self) -> Option<u64> {
        self.0.try_lock().ok()?;
        let announced = self.announced();
        self.0.unlock().ok()?;
        announced
    }
}
