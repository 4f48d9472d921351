//! Attacks on accounts: each is replayed as it once succeeded, and must be refused for the right reason.

mod ended_sessions;
