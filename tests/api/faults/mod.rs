//! A table that fails: what passes is overcome, what does not is said plainly, and nothing is ever half done.

mod operations;
mod retries;
