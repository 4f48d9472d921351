//! The time limits for the phases of a connection.

use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Timeouts {
    /// How long the header of a request may take from its first byte or, for the first request of a
    /// connection, from the start of the connection.
    pub(super) header: Duration,
    /// How long the body of a request may take after the header.
    pub(super) body: Duration,
    /// How long a connection may be idle between two requests, or make no progress while a response
    /// is being written.
    pub(super) idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { header: Duration::from_secs(10), body: Duration::from_secs(30), idle: Duration::from_secs(75) }
    }
}

impl Timeouts {
    /// The timeouts of this process. Tests set shorter timeouts for headers, bodies and idle
    /// connections, in seconds, with `GATELET_TIMEOUTS=1,3600,3600`. Release builds ignore this
    /// variable.
    pub(crate) fn from_environment() -> Self {
        if cfg!(debug_assertions)
            && let Some(text) = wire::environment::variable("GATELET_TIMEOUTS")
            && let Some(timeouts) = Self::parse(&text)
        {
            return timeouts;
        }
        Self::default()
    }

    fn parse(text: &str) -> Option<Self> {
        let mut seconds = text.split(',').map(|part| part.parse().ok().map(Duration::from_secs));
        Some(Self { header: seconds.next()??, body: seconds.next()??, idle: seconds.next()?? })
    }
}
