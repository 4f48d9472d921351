//! Rendering, including hostile templates.

use model::document::builtin::{self, Builtin};

use super::*;

fn context(variables: &Json) -> Context {
    let project = ProjectContext { id: "p".to_owned(), display_name: "Notes & Co".to_owned(), logo_url: None };
    Context { project, variables: variables.as_object().cloned().unwrap_or_default(), ..Context::default() }
}

/// The sources and the context of one email.
#[derive(Clone)]
struct Job {
    subject: String,
    html: String,
    text: Option<String>,
    theme: Option<String>,
    context: Context,
}

fn render(job: &Job) -> Rendering {
    let Job { subject, html, text, theme, context } = job.clone();
    let mut rendering = None;
    render_each(&Sources { subject, html, text, theme }, &[context], |done| {
        rendering = Some(done);
        Ok::<_, ()>(())
    })
    .expect("an answer");
    rendering.expect("an answer")
}

fn own(html: &str, theme: bool) -> Job {
    Job {
        subject: "Hi".to_owned(),
        html: html.to_owned(),
        text: None,
        theme: theme.then(|| builtin::THEME.to_owned()),
        context: context(&Json::Null),
    }
}

fn builtin_job(mail: Builtin) -> Job {
    let sources = mail.sources();
    Job {
        subject: sources.subject.to_owned(),
        html: sources.html.to_owned(),
        text: sources.text.map(str::to_owned),
        theme: Some(builtin::THEME.to_owned()),
        context: context(&mail.sample_variables()),
    }
}

fn error(job: &Job) -> String {
    render(job).expect_err("an error")
}

#[test]
fn a_sign_in_email_has_the_code_and_the_link() {
    let (subject, html, text) = render(&builtin_job(Builtin::SignIn)).expect("an email");
    assert_eq!(subject, "Sign in to Notes & Co: Your code is 2H7BKQ");
    let html = html.unwrap_or_default();
    assert!(html.contains("2H7BKQ</p>") && html.contains("?code=2h7bkq") && html.contains("Notes &amp; Co"));
    assert!(text.unwrap_or_default().contains("?code=2h7bkq"));
}

#[test]
fn every_built_in_email_renders_and_loads_nothing_external() {
    for &mail in Builtin::ALL {
        let (subject, html, text) = render(&builtin_job(mail)).unwrap_or_else(|error| panic!("{mail:?}: {error}"));
        let html = html.unwrap_or_default();
        assert!(subject.contains("Notes & Co") && !text.unwrap_or_default().contains('<'), "{mail:?}");
        for loading in ["<img", "<link", "@import", "url(", "<script"] {
            assert!(!html.contains(loading), "{mail:?} loads something by {loading}");
        }
    }
}

#[test]
fn values_are_escaped_in_html_but_not_in_the_subject() {
    let job = Job { subject: "{{ variables.x }}".to_owned(), ..own("<p>{{ variables.x }}</p>", false) };
    let (subject, html, _) = render(&Job { context: context(&serde_json::json!({ "x": "<b>\n&" })), ..job }).expect("an email");
    assert_eq!(subject, "<b> &");
    assert_eq!(html.as_deref(), Some("<p>&lt;b&gt;\n&amp;</p>"));
}

#[test]
fn the_subject_is_always_one_line() {
    for line_end in ["\r\n", "\n", "\r", "\u{2028}", "\u{85}", "\0", "\u{b}"] {
        let x = format!("Hi{line_end}Bcc: eve@example.com");
        let job = Job { subject: "{{ variables.x }}".to_owned(), context: context(&serde_json::json!({ "x": x })), ..own("", false) };
        let (subject, ..) = render(&job).expect("an email");
        assert!(!subject.chars().any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{85}')), "{subject:?}");
    }
}

#[test]
fn a_name_cannot_break_out_of_its_quotes_or_its_line() {
    assert_eq!(quoted_name("Ada\"\r\nBcc: eve@example.com\\"), "\"AdaBcc: eve@example.com\"");
}

#[test]
fn an_undefined_variable_is_an_error_that_names_its_line() {
    let error = error(&own("<p>\n{{ variables.nobody }}</p>", false));
    assert!(error.starts_with("body.html in line 2: "), "{error}");
    assert!(self::error(&Job { subject: "{{ nothing }}".to_owned(), ..own("", false) }).starts_with("subject in line 1: "));
}

#[test]
fn mjml_html_and_whole_documents_are_distinguished() {
    let mjml = own("<mjml><mj-body><mj-section><mj-column><mj-text>Hello</mj-text></mj-column></mj-section></mj-body></mjml>", true);
    let (_, html, text) = render(&mjml).expect("an email");
    assert!(html.unwrap_or_default().contains("<table") && text.unwrap_or_default().contains("Hello"));
    let (_, html, _) = render(&own("<p>Hello<br>you", true)).expect("an email");
    assert!(html.unwrap_or_default().contains("<p>Hello<br>you"));
    let (_, html, _) = render(&own("<!DOCTYPE html><p>x", true)).expect("an email");
    assert_eq!(html.as_deref(), Some("<!DOCTYPE html><p>x"));
}

#[test]
fn what_precedes_the_first_element_does_not_change_how_a_template_is_read() {
    let mjml = "<mjml><mj-body><mj-section><mj-column><mj-text>Hello</mj-text></mj-column></mj-section></mj-body></mjml>";
    let before = ["\u{feff}", " \n", "<!-- ours -->\n", "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", "<!DOCTYPE mjml>", "{# ours #}\n"];
    for before in before {
        let (_, html, text) = render(&own(&format!("{before}{mjml}"), true)).unwrap_or_else(|error| panic!("{before}: {error}"));
        assert!(html.unwrap_or_default().contains("<table") && text.unwrap_or_default().contains("Hello"), "{before}");
        let theme = mjml.replace("Hello", "{{ content }}");
        let job = Job { theme: Some(format!("{before}{theme}")), ..own("<p>Hi", false) };
        let (_, html, _) = render(&job).unwrap_or_else(|error| panic!("{before}: {error}"));
        assert!(html.unwrap_or_default().contains("<table"), "{before}");
    }
    for before in ["\u{feff}", "<!-- ours -->", "<?xml version=\"1.0\"?>"] {
        let whole = format!("{before}<!DOCTYPE html><p>x");
        let (_, html, _) = render(&own(&whole, true)).expect("an email");
        assert_eq!(html.as_deref(), Some(whole.as_str()), "a whole document gets no theme");
    }
}

#[test]
fn a_theme_of_html_or_mjml_wraps_the_body_and_shows_it_once() {
    let themed =
        |theme: &str| render(&Job { theme: Some(theme.to_owned()), ..own("<p>Hello", false) }).map(|(_, html, _)| html.unwrap_or_default());
    assert_eq!(themed("<i>{{ subject }}: {{ content }}</i>").as_deref(), Ok("<i>Hi: <p>Hello</i>"));
    let mjml = "<mjml><mj-body><mj-section><mj-column><mj-text>{{ content }}</mj-text></mj-column></mj-section></mj-body></mjml>";
    assert!(themed(mjml).is_ok_and(|html| html.contains("<p>Hello")));
    assert!(themed("nothing").is_err_and(|error| error.contains("0 times")));
    assert!(themed("{{ content }}{{ content }}").is_err_and(|error| error.contains("2 times")));
}

#[test]
fn an_email_with_an_unsubscribe_link_has_it_in_both_parts() {
    let mut job = own("<p>Hello", true);
    job.context.unsubscribe_link = Some("https://a.test/u?code=1&x=2".to_owned());
    let (_, html, text) = render(&job).expect("an email");
    assert!(html.unwrap_or_default().contains("https://a.test/u?code=1&amp;x=2"));
    assert!(text.unwrap_or_default().contains("https://a.test/u?code=1&x=2"));
}

#[test]
fn a_template_can_neither_loop_nor_grow_forever() {
    let loops = [
        "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{% for a in [1] recursive %}{{ loop([1]) }}{% endfor %}",
        "{{ range(1000000000)|list }}",
        "{{ 'x' * 1000000000 }}",
        "{{ [1] * 1000000000 }}",
    ];
    for source in loops {
        let error = error(&own(source, false));
        assert!(error.starts_with("body.html"), "{source}: {error}");
    }
    let job = own("{% for a in range(5000) %}{{ variables.x }}{% endfor %}", false);
    let error = error(&Job { context: context(&serde_json::json!({ "x": "y".repeat(1000) })), ..job });
    assert!(error.contains("larger than"), "{error}");
}

#[test]
fn a_template_cannot_access_files_or_other_templates() {
    for source in ["{% include '/etc/passwd' %}", "{% import 'subject' as s %}", "{% extends 'theme.html' %}", "{% from 'x' import y %}"] {
        assert!(render(&own(source, true)).is_err(), "{source}");
    }
}

#[test]
fn emails_rendered_together_equal_those_rendered_alone() {
    let bodies = [
        ("<p>{{ variables.x }}</p>", true),
        ("<p>{{ variables.x }}</p>", false),
        ("<mjml><mj-body><mj-section><mj-column><mj-text>{{ variables.x }}</mj-text></mj-column></mj-section></mj-body></mjml>", true),
        ("{% if variables.x == 'b' %}{{ nothing }}{% endif %}<p>Hello", true),
    ];
    for (html, theme) in bodies {
        let job = own(html, theme);
        let contexts: Vec<Context> = ["a", "a", "b", "c"]
            .iter()
            .map(|x| Context { unsubscribe_link: (*x == "c").then(|| "https://x/y".to_owned()), ..context(&serde_json::json!({ "x": x })) })
            .collect();
        let sources = Sources { subject: job.subject.clone(), html: html.to_owned(), text: None, theme: job.theme.clone() };
        let mut together = Vec::new();
        render_each(&sources, &contexts, |rendering| {
            together.push(rendering);
            Ok::<_, ()>(())
        })
        .expect("answers");
        let alone: Vec<Rendering> = contexts.iter().map(|context| render(&Job { context: context.clone(), ..job.clone() })).collect();
        assert_eq!(together, alone);
        assert_eq!(together[0], together[1]);
        assert_ne!(together[1], together[2]);
    }
}

#[test]
fn the_derived_text_reads_like_the_page() {
    let html = "<head><title>no</title><style>p { color: red }</style></head><h1>Plan</h1><p>See <a href=\"https://a.test/x?a=1&amp;b=2\">the\n page</a> &amp; \
                come.</p><ul class=\"a\"><li>One</li><LI style=\"x\">Two</LI></ul><!-- <li> --><p><a href=\"https://a.test/\">https://a.test/</a></p>";
    let (_, _, text) = render(&own(html, false)).expect("an email");
    let text = text.unwrap_or_default();
    assert_eq!(text.trim(), "Plan\n\nSee the page (https://a.test/x?a=1&b=2) & come.\n\n* One\n* Two\n\nhttps://a.test/");
}

/// A user with the name `name`, or without a name.
fn called(name: Option<&str>) -> UserContext {
    UserContext { id: "u".to_owned(), display_name: name.map(str::to_owned), primary_email: None }
}

fn to(user: Option<UserContext>, source: &str) -> Job {
    let mut job = own(source, false);
    job.context.user = user;
    job
}

#[test]
fn a_missing_name_is_empty_or_the_templates_default() {
    let cases = [
        ("Hello {{ user.display_name }}!", "Hello !", "Hello Ada!"),
        ("Hello {{ user.display_name or 'there' }}!", "Hello there!", "Hello Ada!"),
        ("Hello {{ user.display_name | default('there') }}!", "Hello there!", "Hello Ada!"),
        ("Hello {{ user.display_name | d('there') }}!", "Hello there!", "Hello Ada!"),
        ("Hello {{ user.display_name | default('there', true) }}!", "Hello there!", "Hello Ada!"),
        ("Hello{% if user.display_name %} {{ user.display_name }}{% endif %}!", "Hello!", "Hello Ada!"),
    ];
    for (source, nameless, named) in cases {
        for (user, expected) in [(None, nameless), (Some(called(None)), nameless), (Some(called(Some("Ada"))), named)] {
            let (_, html, text) = render(&to(user.clone(), source)).unwrap_or_else(|error| panic!("{source} for {user:?}: {error}"));
            assert_eq!((html.as_deref(), text.as_deref()), (Some(expected), Some(expected)), "{source} for {user:?}");
        }
    }
    let asks = "{% if user %}user{% else %}nobody{% endif %}";
    assert_eq!(render(&to(None, asks)).expect("an email").1.as_deref(), Some("nobody"));
    assert_eq!(render(&to(Some(called(None)), asks)).expect("an email").1.as_deref(), Some("user"));
}

#[test]
fn every_built_in_email_renders_for_a_user_without_a_name() {
    for &mail in Builtin::ALL {
        for user in [None, Some(called(None))] {
            let job = builtin_job(mail);
            let (subject, html, text) = render(&Job { context: Context { user, ..job.context.clone() }, ..job }).expect("an email");
            assert!(![subject, html.unwrap_or_default(), text.unwrap_or_default()].iter().any(|part| part.contains("None")), "{mail:?}");
        }
    }
}

#[test]
fn an_undefined_variable_is_reported_with_its_line_and_a_suggestion() {
    let cases = [
        ("<p>\n{{ user.dispay_name }}", "body.html in line 2: undefined variable `user.dispay_name`; did you mean `user.display_name`?"),
        ("{{ usr.display_name }}", "body.html in line 1: undefined variable `usr.display_name`; did you mean `user`?"),
        ("{{ variables.nobody }}", "body.html in line 1: undefined variable `variables.nobody`"),
        (
            "{{ project.displayname | upper }}",
            "body.html in line 1: undefined variable `project.displayname`; did you mean `project.display_name`?",
        ),
        ("{% if variables.x %}{% endif %}", "body.html in line 1: undefined variable `variables.x`"),
        ("{% for x in variables.items %}{% endfor %}", "body.html in line 1: undefined variable `variables.items`"),
    ];
    for (source, expected) in cases {
        for user in [None, Some(called(None)), Some(called(Some("Ada")))] {
            assert_eq!(error(&to(user, source)), expected);
        }
    }
    assert_eq!(error(&Job { subject: "{{ nothing }}".to_owned(), ..own("", false) }), "subject in line 1: undefined variable `nothing`");
    let inner = error(&own("{% for x in [{}] %}\n{{ x.y }}{% endfor %}", false));
    assert!(inner.starts_with("body.html in line 2: undefined"), "{inner}");
}

#[test]
fn the_unsubscribe_link_is_added_to_html_that_lacks_it() {
    let mjml = "<mjml><mj-body><mj-section><mj-column><mj-text>Hello{0}</mj-text></mj-column></mj-section></mj-body></mjml>";
    let own_link = "<a href=\"{{ unsubscribe_link }}\">No more</a>";
    let page = "<!doctype html><html><body>Hello{0}</BODY></html>";
    for (source, theme) in [(mjml, true), (page, true), ("<p>Hello{0}", true), ("<p>Hello{0}", false)] {
        for own_link in ["", own_link] {
            let mut job = own(&source.replace("{0}", own_link), theme);
            job.context.unsubscribe_link = Some("https://a.test/u?code=1&x=2".to_owned());
            let (_, html, _) = render(&job).expect("an email");
            let html = html.unwrap_or_default();
            let links = html.matches("https://a.test/u?code=1&amp;x=2").count();
            assert_eq!(links, if theme && source.starts_with("<p>") && !own_link.is_empty() { 2 } else { 1 }, "{source}: {html}");
            assert!(
                !html.to_lowercase().contains("</body>") || html.to_lowercase().rfind("unsubscribe") < html.to_lowercase().rfind("</body>")
            );
        }
    }
}

fn with_placeholders(variables: &Json, source: &str) -> Rendering {
    let mut job = own(source, false);
    job.context = Context { has_placeholders: true, ..context(variables) };
    render(&job)
}

#[test]
fn a_variable_without_a_value_has_a_placeholder() {
    let known = serde_json::json!({ "known": "value", "list": [] });
    for (source, expected) in [
        ("{{ variables.known }} {{ variables.list | length }}", "value 0"),
        ("{{ variables.name }}, {{ variables.name.first | title }}", "name, First"),
        ("{% for a in variables.rows %}{% for b in a.cells %}{{ b }}{% endfor %}{% endfor %}", "cells"),
        ("{{ variables.rows[0].id }} {{ variables.rows | join(', ') }} {{ variables.rows | length }}", "id rows 1"),
        ("{{ variables.name | default('nobody') }} {{ variables.known | default('nobody') }}", "nobody value"),
        ("{% if variables.name == 'x' %}x{% elif variables.name %}some{% endif %}", "some"),
        ("{{ variables | length }}", "2"),
    ] {
        let (_, html, _) = with_placeholders(&known, source).unwrap_or_else(|error| panic!("{source}: {error}"));
        assert_eq!(html.as_deref(), Some(expected), "{source}");
    }
}

#[test]
fn placeholders_hide_no_other_mistakes() {
    for (source, expected) in [
        ("{{ name }}", "undefined variable `name`"),
        ("{{ user.name }}", "undefined"),
        ("{{ has_placeholders }}", "undefined"),
        ("{{ variables.known.name }}", "undefined variable `variables.known.name`"),
        ("{{ variables.name | nothing }}", "unknown filter"),
        ("{{ variables.price | round }}", "invalid operation"),
        ("{{ variables.name() }}", "body.html in line 1"),
    ] {
        let error = with_placeholders(&serde_json::json!({ "known": "value" }), source).expect_err(source);
        assert!(error.contains(expected), "{source}: {error}");
    }
}
