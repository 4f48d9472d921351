//! Tracks which audit trails may have new entries.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;
use wire::id::ProjectId;

/// The projects whose trails may have new entries.
#[derive(Default)]
pub(super) struct Trails {
    pub(super) changed: Mutex<BTreeSet<ProjectId>>,
    pub(super) notify: Notify,
}

impl Trails {
    pub(super) fn add(&self, projects: BTreeSet<ProjectId>) {
        if !projects.is_empty() {
            self.changed.lock().unwrap_or_else(PoisonError::into_inner).extend(projects);
            self.notify.notify_one();
        }
    }
}
