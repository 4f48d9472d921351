//! The callback paths of OAuth providers.

use percent_encoding::percent_decode_str;
use url::Url;

/// Whether this URL is the callback URL for OAuth providers in a deployment of this service. The
/// operation at the callback URL sends the code in the query to the provider named in the path,
/// which may be a provider of any project. If an app used this URL as its own callback URL, that
/// provider would receive the app's codes.
///
/// The host and a path prefix are ignored, because a deployment can be reached at several hosts,
/// with or without a prefix. URLs that a proxy might normalize to the callback URL also match.
pub(crate) fn is_of_providers(url: &Url) -> bool {
    let path = percent_decode_str(url.path()).decode_utf8_lossy().to_lowercase();
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()),
            segment => segments.push(segment),
        }
    }
    segments.windows(5).any(|part| part[0] == "api" && part[2..] == ["auth", "oauth", "callback"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_providers_callback_is_recognized() {
        let is_of_providers = |path: &str| is_of_providers(&Url::parse(&format!("https://auth.example.com{path}")).expect("a URL"));
        for path in [
            "/api/v1/auth/oauth/callback/evil?state=s",
            "/api/latest/auth/oauth/callback/evil",
            "/prod/api/v1/auth/oauth/callback/evil/",
            "//api/v1//auth/oauth/callback/evil",
            "/api/v1/auth/./oauth/x/../callback/evil",
            "/api/v1/%61uth/oauth%2Fcallback/evil",
            "/API/V1/Auth/OAuth/Callback/evil",
            "/api/v1/auth/oauth/x%2F..%2Fcallback/evil",
            "/api/v1/auth/oauth%2F.%2Fcallback/evil",
        ] {
            assert!(is_of_providers(path), "{path}");
        }
        for path in ["/", "/handler/oauth-callback", "/api/auth/oauth/callback/github", "/auth/oauth/callback", "/api/v1/auth/callback"] {
            assert!(!is_of_providers(path), "{path}");
        }
    }
}
