//! `docs/api/providers.md`: describes the catalog's entry for each provider.

use std::fmt::Write as _;

use model::provider::catalog::{self, ClientAuth, Identity, Provider, TokenCheck};

const HEAD: &str = "\
# Providers

Written by `cargo run -p infra -- render` from the catalog of providers. Providers differ from the
standards and from each other. This page lists these differences and the reasons for them.

Every flow requests the scopes of a sign-in. A flow that links an account, or requests additional
scopes (`provider_scope`), also requests a refresh token, because the app will call the provider's
API later. The column *plus* shows how the refresh token is requested. Only such a flow can make a
provider ask again for consent.

## Providers

| provider | scopes | parameters of a sign-in | plus | PKCE | client secret | whether a token is still accepted |
|---|---|---|---|---|---|---|
";

const OTHERS: &str = "
From any other OpenID issuer, Gatelet requests `openid email profile`. When an account is linked or
additional scopes are requested, it also requests `offline_access` with `prompt=consent` (OpenID
Connect Core §11), if the issuer lists this scope or the app names it. The client secret is sent in
the header, unless the discovery document lists only `client_secret_post`. The userinfo endpoint, if
the issuer has one, shows whether a token is still accepted.

## Why

";

const ENDING: &str = "
## Scopes

A token covers a scope if this scope was granted, under any of its names, or if it is included in a
granted scope. `offline_access` never counts as missing: it permits nothing by itself, and issuers
do not report it. If the list of granted scopes is empty, as with GitHub Apps, all requested scopes
count as granted.

| provider | includes | names |
|---|---|---|
";

const ISSUERS: &str = "
## OpenID issuers

Signatures of ID tokens are always verified: with the issuer's keys (RS256, RS384, RS512, PS256,
PS384, PS512, ES256, ES384, ES512, EdDSA), or with the client secret (HS256, HS384, HS512) if the
discovery document lists the algorithm. If none of the known keys verifies a token, the keys are
read again, at most every 30 seconds. So tokens signed with a new key are accepted if the key has a
new id, the id of an old key, or no id.

Gatelet accepts these variants, as OpenID Connect permits them:

- times with a fraction, a clock up to a minute behind, or any time ahead;
- a single audience with a different authorized party (`azp`), and several audiences if `azp` is the
  client;
- claims that are split between ID token and userinfo, and userinfo as a JWT that the issuer signed;
- a userinfo endpoint that responds with 401, 403 or 404: then only the claims of the ID token
  count;
- `given_name` and `family_name` in place of `name`;
- unknown fields, unknown keys, and values that do not matter, of any type.

Gatelet refuses what the specifications forbid: a wrong issuer or audience, a missing or wrong
nonce, an unsigned or encrypted token, header extensions (`crit`), a `sub` that is not a text, and
userinfo with a different `sub`. An address counts as verified only if claims about the same address
say so.

Microsoft's issuers for several tenants (`https://login.microsoftonline.com/common/v2.0`) name
`{tenantid}` in place of the tenant. Issuers of Azure AD B2C name a different URL of the same host.
In both cases, the issuer of a token must be that of the token's tenant (`tid`).
";

fn texts<T>(items: &[T], text: impl Fn(&T) -> String) -> String {
    items.iter().map(text).collect::<Vec<_>>().join(", ")
}

fn code(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("`{text}`") }
}

fn parameters(parameters: catalog::Parameters) -> String {
    texts(parameters, |(name, value)| format!("`{name}={value}`"))
}

fn check(provider: &Provider) -> String {
    match (provider.token_check, provider.identity) {
        (TokenCheck::Account, Identity::Api(api)) => format!("`{}` answers 401", path(api.url)),
        (TokenCheck::AccountError(code), Identity::Api(api)) => format!("`{}` answers 400 with the error {code}", path(api.url)),
        (TokenCheck::TokenInfo(url), _) => format!("`{url}` answers `invalid_token`"),
        _ => "cannot be asked".to_owned(),
    }
}

fn path(url: &str) -> &str {
    url.split('?').next().unwrap_or(url)
}

pub fn document() -> String {
    let mut document = HEAD.to_owned();
    for provider in catalog::all() {
        let offline = [code(provider.offline.scope), parameters(provider.offline.parameters)];
        let _ = writeln!(
            document,
            "| [`{}`]({}) | `{}` | {} | {} | {} | {} | {} |",
            provider.id,
            provider.docs,
            provider.scope,
            parameters(provider.sign_in),
            offline.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", "),
            if provider.takes_pkce { "yes" } else { "no" },
            if provider.client_auth == ClientAuth::Basic { "header" } else { "body" },
            check(provider),
        );
    }
    document.push_str(OTHERS);
    for provider in catalog::all() {
        document.push_str(&wrapped(&format!("- **{}**: {}", provider.id, provider.notes)));
    }
    document.push_str(ENDING);
    for provider in catalog::all() {
        let scopes = provider.scopes;
        let included = |(wider, others): &(&str, &'static [&'static str])| {
            let others: Vec<String> = others.iter().map(|scope| format!("`{scope}`")).collect();
            format!("`{wider}`: {}", others.join(", "))
        };
        let listed = scopes.includes.iter().map(included).collect::<Vec<_>>().join("; ");
        let derived = texts(scopes.narrower, |(part, other)| format!("`…{part}…`: `…{other}…`"));
        let prefixes = texts(scopes.prefixes, |prefix| format!("with or without `{prefix}`"));
        let aliases = texts(scopes.aliases, |(name, other)| format!("`{name}` is `{other}`"));
        let case = if scopes.ignores_case { "in any case" } else { "" };
        let join = |parts: &[&str]| parts.iter().filter(|text| !text.is_empty()).copied().collect::<Vec<_>>().join("; ");
        let (includes, names) = (join(&[&listed, &derived]), join(&[&prefixes, &aliases, case]));
        if !includes.is_empty() || !names.is_empty() {
            let _ = writeln!(document, "| `{}` | {includes} | {names} |", provider.id);
        }
    }
    document.push_str(ISSUERS);
    document
}

/// A list entry whose text is wrapped at 100 characters.
fn wrapped(text: &str) -> String {
    let (mut lines, mut line) = (String::new(), String::new());
    for word in text.split_whitespace() {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > 100 {
            lines.push_str(&line);
            lines.push('\n');
            "  ".clone_into(&mut line);
        } else if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines + &line + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_provider_has_its_line_its_reasons_and_its_documentation() {
        let document = document();
        for provider in catalog::all() {
            assert!(document.contains(&format!("| [`{}`](https://", provider.id)), "{}", provider.id);
            assert!(document.contains(&format!("- **{}**: ", provider.id)) && provider.notes.len() > 20, "{}", provider.id);
        }
        let prose = document.lines().filter(|line| !line.starts_with('|'));
        assert!(prose.map(|line| line.chars().count()).all(|length| length <= 100));
    }
}
