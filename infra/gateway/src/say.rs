//! Lines on standard output.

use std::fmt::Arguments;
use std::io::Write as _;

/// Prints a line. Whoever closed standard output, as `| head` does, wants to read no more, which is no reason to end.
pub(crate) fn line(text: Arguments<'_>) {
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}

/// `println!` that does not panic when nobody reads.
macro_rules! say {
    ($($argument:tt)*) => { $crate::say::line(format_args!($($argument)*)) };
}

pub(crate) use say;
