//! Prints lines on standard output.

use std::fmt::Arguments;
use std::io::Write as _;

/// Prints a line. Drops the line if standard output is closed, as `| head` does.
pub(crate) fn line(text: Arguments<'_>) {
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}

/// Like `println!`, but does not panic when standard output is closed.
macro_rules! say {
    ($($argument:tt)*) => { $crate::say::line(format_args!($($argument)*)) };
}

pub(crate) use say;
