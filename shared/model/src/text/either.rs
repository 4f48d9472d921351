//! Schemas of response bodies whose form depends on the caller's access level.

/// Uses `anyOf` rather than the derived `oneOf`: the server form contains all fields of the client
/// form, so it matches both schemas.
macro_rules! either {
    ($view:ident, $client:ident, $server:ident, $description:literal) => {
        impl utoipa::PartialSchema for $view {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                utoipa::openapi::schema::AnyOfBuilder::new()
                    .item(utoipa::openapi::Ref::from_schema_name($client::name()))
                    .item(utoipa::openapi::Ref::from_schema_name($server::name()))
                    .description(Some($description))
                    .into()
            }
        }

        impl utoipa::ToSchema for $view {
            fn schemas(schemas: &mut Vec<(String, utoipa::openapi::RefOr<utoipa::openapi::Schema>)>) {
                schemas.extend([
                    ($client::name().into_owned(), <$client as utoipa::PartialSchema>::schema()),
                    ($server::name().into_owned(), <$server as utoipa::PartialSchema>::schema()),
                ]);
                $client::schemas(schemas);
                $server::schemas(schemas);
            }
        }
    };
}

pub(crate) use either;
