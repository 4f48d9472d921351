//! The project as an OpenID provider.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | client | `P#<P>` | `OAUTHCLIENT#<client>` | read with the project; one Query lists all |
//! | number of clients | `P#<P>` | `OAUTHCLIENTS` | 1 unit more to create or delete a client |
//! | resource | `P#<P>` | `OAUTHRESOURCE#<id>` | the id follows from the identifier; 1 unit to read for each resource that a request names |
//! | number of resources | `P#<P>` | `OAUTHRESOURCES` | 1 unit more to create or delete a resource |
//! | mark of an unused registered client | `P#<P>` | `OAUTHUNUSED#<client>` | 1 unit more to register, and when the first user signs in; expires by TTL |
//! | fetch of a client's metadata document | `N#<P>#<client>` | `FETCH` | 2 units for each fetch; expires by TTL |
//! | grant | `U#<P>#<user>` | `GRANT#<id>` | the id follows from the client; one Query lists a user's grants |
//! | authorization request of a client | `N#<P>#<digest of the name>` | `REQUEST` | 1 unit for each KB to write; expires by TTL |
//! | pushed authorization request | `N#<P>#<digest of the name>` | `PUSHED` | 1 unit for each KB to write, and to take; expires by TTL |
//! | authorization code of a client | `A#<P>#<digest>` | `CLIENT` | 1 unit to write, and 2 to redeem, with the session; expires by TTL |
//!
//! A session of a client is stored like any session ([`crate::session`]), with the state of its
//! refresh token. Ending a grant is one write: the grant's sessions contain the serial of the
//! grant, and stop working once the grant is deleted.

mod client;
mod code;
pub mod described;
pub mod grant;
mod request;
pub mod resource;
pub mod session;

pub use client::{ClientRow, client_key};
pub use code::code_key;
pub use grant::grant_key;
pub use request::request_key;
pub use resource::resource_key;
