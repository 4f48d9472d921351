//! Schemas of what a reader gets in the form of its access type.

/// Not `oneOf`, as would be derived: what a server reads has all that a client reads, so it is of both forms.
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
