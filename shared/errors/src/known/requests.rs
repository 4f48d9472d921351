//! Errors that any operation may return: about the form, size or number of requests, or failures of
//! the service.

macro_rules! requests {
    ($next:ident! $($before:tt)*) => { $next! { $($before)*

        /// There is no operation at this path.
        #[error("there is no operation at this path{0}")]
        #[hint("Check the path, which must not end with a slash; the OpenAPI document lists all paths.")]
        #[answer(NOT_FOUND, Sdks::None)]
        RouteNotFound(#[serde(skip)] PathSlip),

        /// The path exists, but does not support this method.
        #[error("the path does not support this method")]
        #[hint("Use one of the methods in the `Allow` header.")]
        #[answer(METHOD_NOT_ALLOWED, Sdks::None)]
        MethodNotAllowed,

        /// The body cannot be parsed: it is not valid JSON, or its content type is wrong or not
        /// supported.
        #[error("the body cannot be parsed: {0}")]
        #[hint("Send valid JSON with the header `content-type: application/json`.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        BodyParsingError(#[serde(skip)] Cow<'static, str>),

        /// The body is larger than the service accepts.
        #[error("the body is larger than {max_bytes} bytes")]
        #[hint("Send a smaller body; the limit is in `details`.")]
        #[answer(PAYLOAD_TOO_LARGE, Sdks::None)]
        BodyTooLarge { max_bytes: usize },

        /// The body is compressed or otherwise encoded, but the service does not decode bodies.
        #[error("the body is encoded ({content_encoding}), but the service does not decode bodies: send it without `content-encoding`")]
        #[hint("Send the body without `Content-Encoding`: switch off request compression in your HTTP client.")]
        #[answer(UNSUPPORTED_MEDIA_TYPE, Sdks::None)]
        UnsupportedContentEncoding { content_encoding: String },

        /// The request has unknown, missing or malformed fields; `details.problems` lists at most
        /// 50 of them.
        #[error("{message}")]
        #[hint("Correct the listed fields; the API reference lists the fields of each operation.")]
        #[answer(BAD_REQUEST, Sdks::All)]
        SchemaError { message: String, problems: Vec<Problem> },

        /// A header was sent twice with different values, or is not text.
        #[error("the header x-service-{header} or a synonym was sent twice with different values, or is not text")]
        #[hint("Send the header once; `X-Stack-…` and `X-Hexclave-…` are synonyms of `X-Service-…`.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        ConflictingHeaders { header: String },

        /// The cursor is malformed, or comes from another list or project.
        #[error("the cursor is malformed, or belongs to another list or project")]
        #[hint("Start with the first page, and send each `next_cursor` unchanged.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        InvalidCursor,

        /// The resource has changed since it was read.
        #[error("the resource has changed since it was read: read it again")]
        #[hint("Read the resource again, and repeat the change with the new `ETag`.")]
        #[answer(PRECONDITION_FAILED, Sdks::None)]
        PreconditionFailed,

        /// The data does not belong to the current user.
        #[error("the requested data does not belong to the current user")]
        #[hint("Client access is limited to the current user's data; use server access for other users' data.")]
        #[answer(FORBIDDEN, Sdks::None)]
        Forbidden,

        /// The caller sent too many requests of this kind in a short time.
        #[error("{0}")]
        #[hint("Wait for the number of seconds in `Retry-After`; the `RateLimit` headers describe the limit.")]
        #[answer(TOO_MANY_REQUESTS, Sdks::None)]
        RateLimited(Refusal),

        /// The service failed unexpectedly.
        #[error("the service failed unexpectedly; the service's log contains the reason under the request id")]
        #[hint("Repeat the request; if it keeps failing, search the log for the request id.")]
        #[answer(INTERNAL_SERVER_ERROR, Sdks::None)]
        InternalError,

        /// The service is overloaded or needs more time, or concurrent changes conflicted.
        #[error("the service is overloaded or needs more time, or concurrent changes conflicted: try again soon")]
        #[hint("Retry after the number of seconds in `Retry-After`.")]
        #[answer(SERVICE_UNAVAILABLE, Sdks::None)]
        ServiceUnavailable,

    } };
}
