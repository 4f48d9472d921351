//! Tests the search for the nearest route with the routes of the service.

use http::Method;

use crate::nearest::nearest;
use crate::routes::routes;

fn found(method: &Method, path: &str) -> Option<String> {
    nearest(routes(), method, path).map(|route| format!("{} {}", route.verb.name(), route.path))
}

#[test]
fn a_slip_in_a_path_leads_to_the_route_that_was_meant() {
    for (path, expected) in [
        ("/api/v1/user", "/api/v1/users"),
        ("/api/v1/user/me", "/api/v1/users/me"),
        ("/api/v1/usr/me", "/api/v1/users/me"),
        ("/users/me", "/api/v1/users/me"),
        ("/v1/users/me", "/api/v1/users/me"),
        ("/api/v2/users/me", "/api/v1/users/me"),
        ("/API/V1/Users/Me", "/api/v1/users/me"),
        ("/api/v1/me", "/api/v1/users/me"),
        ("/api/v1//users//me", "/api/v1/users/me"),
        ("/api/v1/team/7f3c2a4e-3f5b-4d0e-9a56-0f1f6c8f3d21", "/api/v1/teams/{team_id}"),
        ("/api/v1/contact_channels", "/api/v1/contact-channels"),
        ("/api/v1/contactChannels", "/api/v1/contact-channels"),
        ("/api/v1/sessions", "/api/v1/auth/sessions"),
        ("/blogs/hello", "/blog/{slug}"),
    ] {
        assert_eq!(found(&Method::GET, path).as_deref(), Some(format!("GET {expected}").as_str()), "{path}");
    }
    for method in [Method::POST, Method::GET] {
        let expected = "POST /api/v1/auth/password/sign-in";
        assert_eq!(found(&method, "/api/v1/auth/password/signin").as_deref(), Some(expected), "{method}");
    }
    assert_eq!(found(&Method::PATCH, "/api/v1/user/x").as_deref(), Some("PATCH /api/v1/users/{user_id}"), "the method decides");
}

#[test]
fn other_paths_lead_nowhere() {
    let long = format!("/api/v1/{}", "users/".repeat(10_000));
    let word = format!("/api/v1/{}", "u".repeat(60_000));
    let parameters = "/api/v1/foo/bar";
    for path in ["/api/v1/nothing", parameters, "//x", "/", "", "/api/v1/users/me/x/y/z", "/wp-login.php/x", &long, &word, "/äöü/é"] {
        assert_eq!(found(&Method::GET, path), None, "{}", &path[..path.len().min(40)]);
    }
}

#[test]
fn every_route_is_the_nearest_to_itself() {
    for route in routes().iter().filter(|route| route.path != "/" && !route.path.starts_with("/{")) {
        let path = route.path.replace(['{', '}'], "");
        let found = found(&Method::from_bytes(route.verb.name().as_bytes()).expect("a method"), &path);
        assert_eq!(found, Some(format!("{} {}", route.verb.name(), route.path)));
    }
}
