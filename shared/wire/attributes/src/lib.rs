//! Attributes for requests with optional fields, and for stored items and responses that omit
//! absent fields.

use proc_macro::TokenStream;
use quote::ToTokens as _;
use syn::{Attribute, Data, DeriveInput, Expr, Field, GenericArgument, PathArguments, PathSegment, Type, parse_macro_input, parse_quote};

/// Types that are parsed from another type, which the documentation shows instead. The types are
/// listed here because an attribute macro sees only the names of types.
const READ_FROM: [(&str, &str); 6] = [
    ("AtMillis", "i64"),
    ("Metadata", "serde_json::Value"),
    ("ProfileImage", "String"),
    ("Scopes", "Vec<String>"),
    ("UserRef", "String"),
    ("Variables", "Object"),
];

/// Makes the fields of type `Option`, `Change` or `Flag` optional in a request: unlike `serde`,
/// `deserr` requires every field without `#[deserr(default)]`. In the `ToSchema` schema, these
/// fields have the type that the request contains, unless they have a `value_type` of their own.
/// Other fields with a default are not required in the schema. Put the attribute before the
/// derives.
#[proc_macro_attribute]
pub fn optional(_: TokenStream, item: TokenStream) -> TokenStream {
    let has_schema = |item: &DeriveInput| item.attrs.iter().any(|attribute| mentions(attribute, "derive", "ToSchema"));
    each_field(item, |item, field| {
        let may_be_absent = |name: &&PathSegment| ["Option", "Change", "Flag"].iter().any(|one| name.ident == one);
        let Some(name) = name(&field.ty).filter(may_be_absent) else {
            let has_default = field.attrs.iter().any(|attribute| mentions(attribute, "deserr", "default"));
            return if has_default && has_schema(item) { vec![parse_quote!(#[schema(required = false)])] } else { Vec::new() };
        };
        let has_type = field.attrs.iter().any(|attribute| mentions(attribute, "schema", "value_type"));
        let schema = if has_schema(item) && !has_type { schema(name) } else { None };
        schema.into_iter().chain([parse_quote!(#[deserr(default)])]).collect()
    })
}

/// Whether an attribute with this name contains this word.
fn mentions(attribute: &Attribute, name: &str, word: &str) -> bool {
    attribute.path().is_ident(name) && attribute.meta.to_token_stream().to_string().contains(word)
}

/// The schema of a field that may be absent, if this schema differs from that of the field's type.
fn schema(outer: &PathSegment) -> Option<Attribute> {
    if outer.ident == "Flag" {
        return Some(parse_quote!(#[schema(value_type = Option<bool>)]));
    }
    let inner = argument(outer)?;
    let name = name(inner)?;
    if let Some(read) = READ_FROM.iter().find(|(value, _)| name.ident == value) {
        let read: Type = syn::parse_str(read.1).ok()?;
        return Some(parse_quote!(#[schema(value_type = Option<#read>)]));
    }
    match name.ident.to_string().as_str() {
        "Param" => argument(name).map(|read| parse_quote!(#[schema(value_type = Option<#read>)])),
        "Limit" => constants(name).nth(1).map(|most| parse_quote!(#[schema(value_type = Option<u16>, minimum = 1, maximum = #most)])),
        _ => (outer.ident == "Change").then(|| parse_quote!(#[schema(value_type = Option<#inner>)])),
    }
}

/// Omits the fields of type `Option` that are `None`, and serializes fields of type `Timestamp` as
/// milliseconds since the Unix epoch. A field with a `serde` attribute of its own stays as it is.
/// Put the attribute before serde's derives.
#[proc_macro_attribute]
pub fn sparse(_: TokenStream, item: TokenStream) -> TokenStream {
    each_field(item, |_, field| {
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

/// The struct, with attributes added to each field.
fn each_field<A: IntoIterator<Item = Attribute>>(item: TokenStream, attributes: impl Fn(&DeriveInput, &Field) -> A) -> TokenStream {
    let mut item = parse_macro_input!(item as DeriveInput);
    let before = item.clone();
    if let Data::Struct(data) = &mut item.data {
        for field in &mut data.fields {
            field.attrs.extend(attributes(&before, field));
        }
    }
    item.into_token_stream().into()
}

/// The last segment of a type's path, such as `Option<u8>`.
fn name(of: &Type) -> Option<&PathSegment> {
    let Type::Path(path) = of else { return None };
    path.path.segments.last()
}

/// The generic arguments of a type.
fn arguments(of: &PathSegment) -> impl Iterator<Item = &GenericArgument> {
    let PathArguments::AngleBracketed(arguments) = &of.arguments else { return None.into_iter().flatten() };
    Some(&arguments.args).into_iter().flatten()
}

/// The first type among the generic arguments.
fn argument(of: &PathSegment) -> Option<&Type> {
    arguments(of).find_map(|argument| if let GenericArgument::Type(inner) = argument { Some(inner) } else { None })
}

/// The constants among the generic arguments.
fn constants(of: &PathSegment) -> impl Iterator<Item = Expr> {
    arguments(of).filter_map(|argument| match argument {
        GenericArgument::Const(value) => Some(value.clone()),
        GenericArgument::Type(name) => Some(parse_quote!(#name)),
        _ => None,
    })
}
