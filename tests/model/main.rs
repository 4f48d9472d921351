//! A model of what is used once, checked in every order in which three clients may reach the table: codes of emails, invitations, second
//! factors, authorization codes, refresh tokens and their sessions, first proofs of an address, and claims of addresses.
//!
//! Its transitions are those of the code. A client's request runs through the service's own router, handler, rules and store, and through
//! the retries of the store; what the model decides is whose call of the table is made next, and whether its answer arrives. What a call
//! does is computed by the engine behind the gateway, from the very expressions that the code wrote. So there is nothing here that could
//! say something else than the code, and a new condition is part of the model when it is part of the code.
//!
//! A state is the table, and for each client the answers of the table that it has had: the same answers lead to the same calls
//! ([`service`]). `stateright` visits each state that can be reached, and checks the rules in it. A client may stop at any state, so
//! that one that crashes between two calls needs no step of its own, and neither does one that sends its request again: it is two
//! clients that send the same.
//!
//! [`broken`] takes the conditions of the writes away one by one, and wants to see a rule broken for each.
//!
//! What is not covered: more than three clients, and more than one answer that is lost in a run. Time stands still, so nothing expires.
//! A single write that arrives at the table after its client has sent it again, and calls that a request no longer waits for. Limits are
//! off, as they are counters and no single use. The calls to providers and the second factor's secrets come from outside of the table,
//! and their flows are modelled from the point where they have left something in it.
//!
//! `cargo test -p tests --test model -- --nocapture` shows how many states there are.
#![expect(clippy::unwrap_used, reason = "a test ends where something is missing")]

mod broken;
mod call;
mod check;
mod explored;
mod rules;
mod scenarios;
mod service;
mod services;
mod table;
