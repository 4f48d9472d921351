//! The attribute of requests with optional fields.

use proc_macro::TokenStream;
use quote::ToTokens as _;
use syn::{Data, DeriveInput, Type, parse_macro_input, parse_quote};

/// Lets a request leave out the fields of type `Option` or `Change`: unlike `serde`, `deserr`
/// requires every field without `#[deserr(default)]`. Stands before `#[derive(Deserr)]`.
#[proc_macro_attribute]
pub fn optional(_: TokenStream, item: TokenStream) -> TokenStream {
    let mut item = parse_macro_input!(item as DeriveInput);
    if let Data::Struct(data) = &mut item.data {
        for field in data.fields.iter_mut().filter(|field| may_be_absent(&field.ty)) {
            field.attrs.push(parse_quote!(#[deserr(default)]));
        }
    }
    item.into_token_stream().into()
}

fn may_be_absent(of: &Type) -> bool {
    let Type::Path(path) = of else { return false };
    path.path.segments.last().is_some_and(|last| last.ident == "Option" || last.ident == "Change")
}
