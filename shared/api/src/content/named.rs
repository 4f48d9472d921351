//! Path parameters and queries of the content API.

use std::convert::Infallible;
use std::marker::PhantomData;

use axum::extract::{FromRequestParts, Path};
use axum::response::Redirect;
use flows::App;
use http::request::Parts;
use serde::de::DeserializeOwned;
use url::form_urlencoded;
use utoipa::ToSchema;

use crate::content::error::Problem;
use crate::http::describe::{Describe, Description, SchemaParts};

/// Path parameters that name a resource.
pub trait NamedResource {
    /// The problem if no resource has this name.
    const PROBLEM: Problem;
}

/// The parsed parameters of a path. Names are never rejected as malformed: a name that is not
/// UTF-8, for example, is just not found.
#[derive(Debug)]
pub struct ContentPath<T>(pub T);

impl<T: DeserializeOwned + NamedResource + Send> FromRequestParts<App> for ContentPath<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let path = Path::from_request_parts(parts, app).await;
        path.map(|Path(path)| Self(path)).map_err(|_| T::PROBLEM)
    }
}

impl<T: ToSchema> Describe for ContentPath<T> {
    fn describe(description: &mut Description) {
        description.path = Some(SchemaParts::of::<T>());
    }
}

/// The only query parameter of an operation: a whole number.
pub trait NumberParameter: ToSchema {
    /// The name of the parameter.
    const NAME: &'static str;
    /// The smallest number that changes the response; links leave the parameter out instead of
    /// using a smaller number.
    const MIN: usize;
    /// The last segment of the path, without a query.
    const PATH: &'static str;
}

/// The number in the query of a request. An invalid query is not an error for public content, and
/// unknown parameters are ignored.
#[derive(Debug)]
pub enum ContentNumber<T> {
    /// The number; `None` if the query does not have the parameter.
    Canonical(Option<usize>, PhantomData<T>),
    /// The parameter does not have the form used in our links: for example, it is not a number,
    /// appears twice or has leading zeros. Caches store each of the countless variants separately,
    /// so redirect to the path without a query instead of reading the table.
    Other,
}

impl<T: NumberParameter> ContentNumber<T> {
    /// The number, or the redirect to the path without a query. The redirect is relative because
    /// the site may be served below a path, and at several addresses.
    pub fn canonical(self) -> Result<Option<usize>, Redirect> {
        match self {
            Self::Canonical(number, _) => Ok(number),
            Self::Other => Err(Redirect::temporary(T::PATH)),
        }
    }

    fn of(query: &str) -> Self {
        let name = |pair: &str| form_urlencoded::parse(pair.as_bytes()).next().is_some_and(|(name, _)| name == T::NAME);
        let mut pairs = query.split('&').filter(|pair| name(pair));
        let (first, second) = (pairs.next(), pairs.next());
        let Some(pair) = first else { return Self::Canonical(None, PhantomData) };
        let number = pair.strip_prefix(T::NAME).and_then(|rest| rest.strip_prefix('=')?.parse().ok());
        match number {
            Some(number) if second.is_none() && number >= T::MIN && pair == format!("{}={number}", T::NAME) => {
                Self::Canonical(Some(number), PhantomData)
            }
            _ => Self::Other,
        }
    }
}

impl<T: NumberParameter + Send> FromRequestParts<App> for ContentNumber<T> {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        Ok(Self::of(parts.uri.query().unwrap_or_default()))
    }
}

impl<T: ToSchema> Describe for ContentNumber<T> {
    fn describe(description: &mut Description) {
        description.query = Some(SchemaParts::of::<T>());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(ToSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Pages {
        page: Option<String>,
    }

    impl NumberParameter for Pages {
        const NAME: &'static str = "page";
        const MIN: usize = 2;
        const PATH: &'static str = "blog";
    }

    #[test]
    fn a_number_has_one_form() {
        let number = |query: &str| match ContentNumber::<Pages>::of(query) {
            ContentNumber::Canonical(number, _) => Ok(number),
            ContentNumber::Other => Err(()),
        };
        for query in ["page=2", "x=1&page=2", "page=2&x", "&page=2&"] {
            assert_eq!(number(query), Ok(Some(2)), "{query}");
        }
        for query in ["", "x", "pages=2", "Page=2", "page%20=2", "%ff=1"] {
            assert_eq!(number(query), Ok(None), "{query}");
        }
        for query in ["page", "page=", "page=x", "page=1", "page=0", "page=-2", "page=02", "page=+2", "page=%32", "p%61ge=2", "page=2.0"] {
            assert_eq!(number(query), Err(()), "{query}");
        }
        for query in ["page=2&page=2", "page=x&page=2", "page=2&p%61ge=3", "page=2%20", "page=18446744073709551616"] {
            assert_eq!(number(query), Err(()), "{query}");
        }
    }
}
