//! Users and their contact channels.

mod contact_channel_verify;
mod me_read;
