//! `GATELET_LOG`: selects what the gateway logs to standard error.

use anyhow::{anyhow, bail};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::EnvFilter;
use wire::environment::variable;

const NAME: &str = "GATELET_LOG";
const DEFAULT: &str = "warn,dynoxide=error";
const EXPECTED: &str = "expected off, error, warn, info, debug or trace, or levels for individual modules, as in warn,gateway=debug";

pub(super) fn install() -> anyhow::Result<()> {
    let text = variable(NAME);
    let filter = filter(text.as_deref().unwrap_or(DEFAULT))?;
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    Ok(())
}

/// Parses log levels for all modules or for single modules. A word without `=` must be a level:
/// `EnvFilter` would take an unknown word for a module's name, but such a word is more likely a
/// misspelled level.
fn filter(text: &str) -> anyhow::Result<EnvFilter> {
    let directives: Vec<&str> = text.split(',').map(str::trim).collect();
    for &directive in &directives {
        let level = directive.rsplit_once('=').map_or(directive, |(_, level)| level);
        if level.is_empty() || level.parse::<LevelFilter>().is_err() {
            bail!("{NAME}: {level:?} is not a level; {EXPECTED}");
        }
    }
    EnvFilter::try_new(directives.join(",")).map_err(|error| anyhow!("{NAME}: {error}; {EXPECTED}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_accepted_and_other_words_rejected() {
        for text in ["info", "WARN", "off", "warn,dynoxide=error", "gateway=debug, store=trace"] {
            assert!(filter(text).is_ok(), "{text}");
        }
        for text in ["bogus", "info,bogus", "gateway=loud", "info,", "gateway"] {
            assert!(filter(text).unwrap_err().to_string().contains(EXPECTED), "{text}");
        }
    }
}
