//! A rate: a quota per window of time.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

/// A quota per window, written as `60/600`: 60 requests in 600 seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// The number of requests permitted per window, at least 1.
    pub quota: u32,
    pub(crate) window: NonZeroU32,
}

/// The text is not a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be `REQUESTS/SECONDS`, such as 60/600")]
pub struct RateError;

impl Rate {
    /// Makes a rate; `window` is in seconds, at least 1.
    pub const fn new(quota: u32, window: u32) -> Self {
        Self { quota, window: NonZeroU32::MIN.saturating_add(window.saturating_sub(1)) }
    }

    /// The length of the window in seconds, at least 1.
    pub const fn window(self) -> u32 {
        self.window.get()
    }
}

impl FromStr for Rate {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Self, RateError> {
        let (quota, window) = text.split_once('/').ok_or(RateError)?;
        let number = |text: &str| text.trim().parse::<u32>().ok().filter(|number| *number > 0).ok_or(RateError);
        Ok(Self::new(number(quota)?, number(window)?))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.quota, self.window)
    }
}
