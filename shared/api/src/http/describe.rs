//! Descriptions of operations, derived from the types of their handlers' arguments and results. The
//! API document and the contract tests use these descriptions. No Lambda contains this code.

use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};
use wire::level::Level;

/// A schema and the schemas it refers to.
#[derive(Clone)]
pub struct SchemaParts {
    /// The name of the type in the API document.
    pub name: String,
    /// The schema.
    pub schema: RefOr<Schema>,
    /// The schemas it refers to, by name.
    pub components: Vec<(String, RefOr<Schema>)>,
}

impl SchemaParts {
    /// The schema of a type.
    pub fn of<T: ToSchema>() -> Self {
        let mut components = Vec::new();
        T::schemas(&mut components);
        Self { name: T::name().into_owned(), schema: T::schema(), components }
    }
}

/// The description of an operation, derived from its handler's types.
#[derive(Clone, Default)]
pub struct Description {
    /// The minimum access level; absent if the operation does not require one.
    pub level: Option<Level>,
    /// Whether the operation counts what clients read ([`model::limit::Limit::Read`]).
    pub counts_reads: bool,
    /// Whether the operation parses the path, query or body with a schema, and can therefore reject
    /// the request.
    pub reads_input: bool,
    /// The path parameters.
    pub path: Option<SchemaParts>,
    /// The query parameters.
    pub query: Option<SchemaParts>,
    /// The body of the request.
    pub body: Option<SchemaParts>,
    /// The body of the response, if it is JSON.
    pub answer: Option<SchemaParts>,
    /// The media type of the response, if it is not JSON. The media types of documents are listed
    /// in the routes instead.
    pub text: Option<&'static str>,
    /// The status of a successful response, if it is not 200.
    pub status: Option<u16>,
    /// Whether a successful response contains the resource's version as its `ETag`.
    pub has_version: bool,
    /// Whether the operation evaluates `If-Match`, so that the precondition can fail.
    pub takes_version: bool,
}

/// The type of a handler's argument or result.
pub trait Describe {
    /// Adds what the type contributes to the operation's description.
    fn describe(description: &mut Description);
}

/// A handler, as described by the types of its arguments and its result.
pub trait Signature<T> {
    /// The description of the operation.
    fn describe() -> Description;
}

macro_rules! signature {
    ($($argument:ident),*) => {
        impl<F, Fut, M, R, $($argument),*> Signature<(M, $($argument,)*)> for F
        where
            F: FnOnce($($argument),*) -> Fut,
            Fut: Future<Output = R>,
            R: Describe,
            $($argument: Describe,)*
        {
            fn describe() -> Description {
                let mut description = Description::default();
                $($argument::describe(&mut description);)*
                R::describe(&mut description);
                description
            }
        }
    };
}

signature!(A);
signature!(A, B);
signature!(A, B, C);
signature!(A, B, C, D);
signature!(A, B, C, D, E);

impl<S> Describe for axum::extract::State<S> {
    fn describe(_: &mut Description) {}
}

impl Describe for http::Method {
    fn describe(_: &mut Description) {}
}

impl Describe for http::HeaderMap {
    fn describe(_: &mut Description) {}
}

impl<T: Describe, E> Describe for Result<T, E> {
    fn describe(description: &mut Description) {
        T::describe(description);
    }
}

impl Describe for axum::response::Response {
    fn describe(_: &mut Description) {}
}
