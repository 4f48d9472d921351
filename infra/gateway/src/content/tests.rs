//! What an author may write, and what is refused with its file and line.
