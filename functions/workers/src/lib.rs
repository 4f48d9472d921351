//! Functions without a route: the steps of the outbox.
