//! A model of everything that can be used only once (codes and links from emails, invitations,
//! second factors, authorization codes, first proofs of an address), of sessions with their refresh
//! tokens, and of claims of addresses. It is checked for every order of three clients' calls to the
//! table.
//!
//! It has the same transitions as the code. A request runs through the service's own router,
//! handler, rules and store, retries included. The model picks the next call to execute, and
//! decides whether the response arrives. The engine behind the gateway computes a call's effect
//! from the code's own expressions. So the model cannot diverge from the code, and includes new
//! conditions automatically.
//!
//! A state consists of the table and of each client's responses from it, because the same responses
//! lead to the same calls ([`service`]). `stateright` visits each reachable state and checks the
//! rules in it. A client may stop in any state, so crashes between two calls need no separate
//! steps. Nor do repeated requests, which are two clients with the same request.
//!
//! [`broken`] removes the conditions of writes one by one and expects each removal to break a rule,
//! apart from a list of exceptions with reasons.
//!
//! Not covered: more than three clients, more than one lost response per run, single writes that
//! arrive after their repetition, and calls that a request no longer waits for. The clock stands
//! still, so nothing expires. Limits are off, because they are counters, not single-use items.
//! Calls to providers and the second factor's secrets are outside the table; their flows are
//! modeled from their first write to the table.
//!
//! `cargo test -p tests --test model -- --nocapture` prints the number of states.
#![expect(clippy::unwrap_used, reason = "a test fails if something is missing")]

mod broken;
mod call;
mod check;
mod explored;
mod rules;
mod scenarios;
mod service;
mod services;
mod table;
