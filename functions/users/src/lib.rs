//! Users and their contact channels.
