//! Schemas of response bodies whose form depends on the caller.

/// The schema uses `anyOf` instead of the derived `oneOf`. A body in the server form also matches
/// the schema of the client form, because the body contains all fields of the client form.
#[macro_export]
macro_rules! either {
    ($view:ident, $client:ident, $server:ident, $description:literal) => {
        impl utoipa::PartialSchema for $view {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                utoipa::openapi::schema::AnyOfBuilder::new()
                    .item(utoipa::openapi::Ref::from_schema_name(<$client as utoipa::ToSchema>::name()))
                    .item(utoipa::openapi::Ref::from_schema_name(<$server as utoipa::ToSchema>::name()))
                    .description(Some($description))
                    .into()
            }
        }

        impl utoipa::ToSchema for $view {
            fn schemas(schemas: &mut Vec<(String, utoipa::openapi::RefOr<utoipa::openapi::Schema>)>) {
                schemas.extend([
                    (<$client as utoipa::ToSchema>::name().into_owned(), <$client as utoipa::PartialSchema>::schema()),
                    (<$server as utoipa::ToSchema>::name().into_owned(), <$server as utoipa::PartialSchema>::schema()),
                ]);
                <$client as utoipa::ToSchema>::schemas(schemas);
                <$server as utoipa::ToSchema>::schemas(schemas);
            }
        }
    };
}

pub(crate) use either;
