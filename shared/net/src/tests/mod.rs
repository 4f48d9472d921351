//! Tests of whole calls, from the request to the connection.

mod attempts;
mod pool;
mod tunnel;
