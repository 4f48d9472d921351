//! A model of codes and links from emails, invitations, second factors, authorization codes and
//! first proofs of an address, which may be used only once; of sessions with their refresh tokens;
//! and of claims of addresses. It is checked for every order in which the calls of three
//! clients may reach the table.
//!
//! Its transitions are those of the code. A client's request runs through the service's own router,
//! handler, rules and store, including the store's retries. The model decides which client's call
//! to the table is executed next, and whether the response arrives. The engine behind the gateway
//! computes the effect of a call from the expressions that the code wrote. So the model cannot
//! diverge from the code, and new conditions become part of it automatically.
//!
//! A state is the table, and the responses of the table that each client has received: the same
//! responses lead to the same calls ([`service`]). `stateright` visits each reachable state, and
//! checks the rules in it. A client may stop at any state, so crashes between two calls need no
//! separate steps, and neither do repeated requests: they are two clients with the same request.
//!
//! [`broken`] removes the conditions of the writes one by one, and expects a broken rule for each,
//! except for those that it lists with a reason.
//!
//! Not covered: more than three clients, more than one lost response per run, single writes that
//! arrive after their client has repeated them, and calls that a request no longer waits for. The
//! clock stands still, so nothing expires. Limits are off, as they are counters rather than
//! single-use items. Calls to providers and the second factor's secrets are outside of the table;
//! their flows are modeled from their first write to the table on.
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
