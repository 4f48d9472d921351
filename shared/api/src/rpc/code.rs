//! The codes of errors that JSON-RPC 2.0 defines (§5.1).

/// The body is not JSON.
pub const PARSE_ERROR: i64 = -32700;
/// The body is JSON, but not a valid request.
pub const INVALID_REQUEST: i64 = -32600;
/// The method does not exist.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// The method does not accept the parameters.
pub const INVALID_PARAMS: i64 = -32602;
/// The service failed; the cause is in the log.
pub const INTERNAL_ERROR: i64 = -32603;
