//! A model of four things: everything that can be used only once (codes and links from emails,
//! invitations, second factors, authorization codes, first proofs of an address), sessions with
//! their refresh tokens, claims of addresses, and the grants of OAuth clients. The model is checked
//! for every possible order of the calls that three clients make to the table.
//!
//! The model has the same transitions as the code. A request runs through the router, the handlers,
//! the rules and the store of the service, including retries. The model picks the call to execute
//! next, and decides whether the response arrives. The gateway's engine computes the effect of a
//! call from the expressions in the code. The model therefore cannot diverge from the code, and
//! includes new conditions automatically.
//!
//! A state consists of the table and of the responses that each client has got from it, because the
//! same responses lead to the same calls ([`service`]). `stateright` visits every state that can be
//! reached, and checks the rules in it. A client may stop in any state, so there are no separate
//! steps for crashes between two calls. There are also no steps for repeated requests, because
//! these are two clients with the same request.
//!
//! [`broken`] removes the conditions of writes one by one, and expects each removal to break a
//! rule. Exceptions are listed with reasons.
//!
//! The model does not cover more than three clients, more than one lost response per run, single
//! writes that arrive after they have been repeated, and calls that a request no longer waits for.
//! The clock is stopped, so that nothing expires. Limits are off, because they are counters rather
//! than single-use items. Calls to providers and the secrets of second factors are not in the
//! table, so their flows are modeled from their first write to the table.
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
