//! What an operation's handler says of itself by the types of its arguments and answer, for the API document and the contract tests.
//! Nothing here is linked into a Lambda.

use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};
use wire::level::Level;

/// A schema with those it refers to.
#[derive(Clone)]
pub struct Described {
    pub name: String,
    pub schema: RefOr<Schema>,
    pub components: Vec<(String, RefOr<Schema>)>,
}

impl Described {
    pub fn of<T: ToSchema>() -> Self {
        let mut components = Vec::new();
        T::schemas(&mut components);
        Self { name: T::name().into_owned(), schema: T::schema(), components }
    }
}

/// What is known of an operation from its handler.
#[derive(Clone, Default)]
pub struct Description {
    /// The least access that it takes; absent when it takes none.
    pub level: Option<Level>,
    /// Whether it reads path, query or body by a schema, which may refuse them.
    pub reads_input: bool,
    pub path: Option<Described>,
    pub query: Option<Described>,
    pub body: Option<Described>,
    pub answer: Option<Described>,
    /// The media type of an answer that is text.
    pub text: Option<&'static str>,
    /// The status of success, when it is not 200.
    pub status: Option<u16>,
}

/// A type of an argument or an answer of a handler.
pub trait Describe {
    fn describe(description: &mut Description);
}

/// A handler, by the types of its arguments and answer.
pub trait Signature<T> {
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
