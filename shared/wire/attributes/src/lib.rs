//! The attributes of requests with optional fields, and of stored items and answers that leave out
//! what they lack.

use proc_macro::TokenStream;
use quote::ToTokens as _;
use syn::{Attribute, Data, DeriveInput, Field, GenericArgument, PathArguments, PathSegment, Type, parse_macro_input, parse_quote};

/// Lets a request leave out the fields of type `Option` or `Change`: unlike `serde`, `deserr`
/// requires every field without `#[deserr(default)]`. Stands before `#[derive(Deserr)]`.
#[proc_macro_attribute]
pub fn optional(_: TokenStream, item: TokenStream) -> TokenStream {
    each_field(item, |field| {
        let may_be_absent = name(&field.ty).is_some_and(|name| name.ident == "Option" || name.ident == "Change");
        may_be_absent.then(|| parse_quote!(#[deserr(default)]))
    })
}

/// Leaves out the fields of type `Option` that are `None`, and writes fields of type `Timestamp` as
/// milliseconds since the Unix epoch. A field with a `serde` attribute of its own stays as it is.
/// Stands before the derives of `serde`.
#[proc_macro_attribute]
pub fn sparse(_: TokenStream, item: TokenStream) -> TokenStream {
    each_field(item, |field| {
        if field.attrs.iter().any(|attribute| attribute.path().is_ident("serde")) {
            return None;
        }
        let name = name(&field.ty)?;
        let is_time = |name: &PathSegment| name.ident == "Timestamp";
        match argument(name) {
            Some(inner) if name.ident == "Option" && self::name(inner).is_some_and(is_time) => Some(parse_quote!(
                #[serde(default, skip_serializing_if = "Option::is_none", with = "jiff::fmt::serde::timestamp::millisecond::optional")]
            )),
            Some(_) if name.ident == "Option" => Some(parse_quote!(#[serde(default, skip_serializing_if = "Option::is_none")])),
            None if is_time(name) => Some(parse_quote!(#[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")])),
            _ => None,
        }
    })
}

/// The struct with one more attribute at each field that `attribute` gives one.
fn each_field(item: TokenStream, attribute: impl Fn(&Field) -> Option<Attribute>) -> TokenStream {
    let mut item = parse_macro_input!(item as DeriveInput);
    if let Data::Struct(data) = &mut item.data {
        for field in &mut data.fields {
            field.attrs.extend(attribute(field));
        }
    }
    item.into_token_stream().into()
}

/// The last segment of a type's path, such as `Option<u8>`.
fn name(of: &Type) -> Option<&PathSegment> {
    let Type::Path(path) = of else { return None };
    path.path.segments.last()
}

/// The first type between the angle brackets.
fn argument(of: &PathSegment) -> Option<&Type> {
    let PathArguments::AngleBracketed(arguments) = &of.arguments else { return None };
    arguments.args.iter().find_map(|argument| if let GenericArgument::Type(inner) = argument { Some(inner) } else { None })
}
