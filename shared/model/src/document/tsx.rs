//! Recognizes email sources in TSX, which published SDKs can send but Gatelet cannot render.
//!
//! A source is a module if an import or export declaration (ECMAScript, Modules; also TypeScript's)
//! occurs where a statement can begin. A statement can begin at the start of the source or of a
//! line, or after another statement. Line breaks, indentation and comments do not matter. A
//! sentence that begins with `import` or `export` is usually not a declaration. Code in `<pre>`,
//! `<code>` or `<script>` is ignored.

use std::sync::LazyLock;

use regex_lite::Regex;

/// How many possible starts of a declaration are examined, and how many bytes after each start;
/// these limits bound the work for any source.
const MAX_PLACES: usize = 200;
const MAX_DECLARATION: usize = 1000;
/// How many characters before a declaration are searched for decorators.
const MAX_DECORATORS: usize = 200;

/// The message about a source that is a module.
pub const PROBLEM: &str = "looks like TSX (it has an import or export declaration): send a MiniJinja template in HTML or MJML";

/// A name, which may contain any character outside ASCII.
const NAME: &str = r"[A-Za-z0-9_$\x{80}-\x{10ffff}]+";
/// The name of a module. A module's name does not contain blanks, unlike many quoted phrases in
/// prose.
const STRING: &str = r#"(?:"[^"\s]*"|'[^'\s]*')"#;
/// A list in braces that is not a delimiter of MiniJinja.
const LIST: &str = r"\{[^{}%#.]*\}";
/// The end of a declaration after a module's string or the attributes of that module.
const END: &str = r"[ ]*(?:[;}\n]|(?:with|assert)\s*\{(?:[^{%#]|$)|$)";

/// A declaration or, after `\x02` at the start of the source, another statement of a module.
static DECLARATION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let others = format!(r"(?:{LIST}|\*\s*as\s+{NAME})");
    let module = format!(r"{STRING}{END}");
    // Without a semicolon, only component names count, because any other word could be the end of a
    // sentence.
    let ended = r"(?:[ ]*;[ ]*(?:\n|$|import\b|export\b|const\b|function\b))";
    let name = format!(r"(?:{NAME}{ended}|[A-Z][A-Za-z0-9_$]*[ ]*(?:\n|$))");
    let call = format!(r"(?:{NAME}\s*=>|{NAME}(?:\.{NAME})*(?:<[^<>/]*>)?\()");
    let parenthesis = format!(r"\((?:\s*(?:[<\[()\n{{]|async\b|{NAME}\s*[:?=])|[^()]*\)\s*(?:=>|;))");
    let made = format!(r"(?:await\s+{NAME}|new\s+[A-Z]|{NAME}\s+(?:as|satisfies)\s[^;\n]*;[ ]*(?:\n|$))");
    let value = format!(r"(?:[\[<`]|{STRING}[ ]*(?:[;\n]|$)|{parenthesis}|\{{(?:[^{{%#]|$)|async\s*\(|{call}|{made}|{name})");
    let function = format!(r"(?:async\s+)?function\b\s*\*?\s*(?:{NAME}\s*)?");
    let body = r"\{(?:[^{%#]|$)";
    let heritage = r"(?:<[^<>{}/]*>\s*)?(?:\b(?:extends|implements)\b[^{};]*)?";
    let class = format!(r"(?:abstract\s+)?(?:class|interface|enum|namespace|module)\b\s*(?:{NAME}\s*)?{heritage}{body}");
    let decorators = format!(r"(?:@{NAME}(?:\.{NAME})*(?:\([^()]*\))?\s*)*");
    let bound = format!(r"(?:{NAME}(?:\s*,\s*{NAME})*\s*[:=;]|\{{[^{{%#][^=]*=|\[[^=]*=)");
    let variable = format!(r"(?:(?:const|let|var)\b\s*{bound}|type\b\s*{NAME}\s*(?:<[^<>/]*>\s*)?=|const\s+enum\s+{NAME}\s*{body})");
    let forms = [
        format!(r"import\s*{module}"),
        format!(r"import(?:\s+(?:type|defer|source)\b)?(?:\s+{NAME}(?:\s*,\s*{others}|\s)|\s*{others})\s*from\s*{module}"),
        format!(r"(?:export\s+)?import\s+(?:type\s+)?{NAME}\s*=\s*{NAME}"),
        format!(r"export(?:\s+type)?\s*{LIST}\s*(?:from\s*{STRING}\s*)?(?:[;}}\n]|$)"),
        format!(r"export(?:\s+type)?\s*\*\s*(?:as\s+(?:{NAME}|{STRING})\s+)?from\s*{module}"),
        format!(r"export\s+default\b\s*{value}"),
        format!(r"export\s+(?:default\s+)?(?:declare\s+)?(?:{function}[(<]|{decorators}{class})"),
        format!(r"export\s+(?:declare\s+)?{variable}"),
        r"export\s*=|export\s+as\s+namespace\b".to_owned(),
        format!(r"(?:module\.exports(?:\.{NAME})?|exports\.{NAME})\s*="),
        format!(r#"\x02(?:["']use (?:client|server|strict)["']|{function}\([^()]*\)\s*{body}|(?:const|let|var)\s+{NAME}\s*[:=])"#),
    ];
    // The expression is constant, and a test compiles it.
    Regex::new(&format!("^(?:{})", forms.join("|"))).ok()
});

/// Whether a source is a module.
pub fn is_module(source: &str) -> bool {
    let Some(declaration) = DECLARATION.as_ref() else { return false };
    let text = plain(source);
    let is_declaration = |place: &str| {
        let end = place.char_indices().map(|(at, _)| at).find(|at| *at >= MAX_DECLARATION).unwrap_or(place.len());
        declaration.is_match(&place[..end])
    };
    is_declaration(&format!("\x02{}", text.trim_start())) || statements(&text).take(MAX_PLACES).any(is_declaration)
}

/// The text without comments and code samples, with a space for each blank and `\n` for the end of
/// each line (ECMAScript, White Space and Line Terminators).
fn plain(source: &str) -> String {
    let normal = |letter: char| match letter {
        '\n' | '\r' | '\u{2028}' | '\u{2029}' => '\n',
        '\u{feff}' => ' ',
        blank if blank.is_whitespace() => ' ',
        other => other,
    };
    let text: String = without_spans(source).chars().map(normal).collect();
    text.split('\n').map(without_comment).collect::<Vec<_>>().join("\n")
}

/// The text with a space in place of each comment in `<!-- -->` or `/* */`, each code sample and
/// each script, because emails use scripts for data. Unclosed spans are kept.
fn without_spans(source: &str) -> String {
    let mut spans = vec![("<!--", "-->"), ("/*", "*/"), ("<pre", "</pre>"), ("<code", "</code>"), ("<script", "</script>")];
    let lower = source.to_ascii_lowercase();
    let (mut text, mut kept, mut at) = (String::with_capacity(source.len()), 0, 0);
    while let Some(found) = lower[at..].find(['<', '/']) {
        let start = at + found;
        at = start + 1;
        let opens = |(open, _): &(&str, &str)| {
            let after = lower[start..].strip_prefix(open);
            // `<Preview>` is not `<pre>`.
            after.is_some_and(|after| !open.ends_with(char::is_alphabetic) || !after.starts_with(char::is_alphanumeric))
        };
        let Some(position) = spans.iter().position(opens) else { continue };
        let (open, close) = spans[position];
        match lower[start + open.len()..].find(close) {
            Some(length) => {
                text.push_str(&source[kept..start]);
                text.push(' ');
                kept = start + open.len() + length + close.len();
                at = kept;
            }
            // If this opening is not closed, later openings of this kind are not closed either.
            None => drop(spans.remove(position)),
        }
    }
    text.push_str(&source[kept..]);
    text
}

/// A line without its trailing comment. Slashes start a comment only at the start of the line,
/// after a blank or after a list marker, so the slashes of a URL do not.
fn without_comment(line: &str) -> &str {
    let begins = |at: &usize| line[..*at].chars().next_back().is_none_or(|before| " ;,{(".contains(before));
    let comment = line.match_indices("//").map(|(at, _)| at).find(begins);
    comment.map_or(line, |at| &line[..at])
}

/// The rest of the text from each position where a statement can begin with a declaration's
/// keyword, which decorators may precede.
fn statements(text: &str) -> impl Iterator<Item = &str> {
    let begins = |at: &usize| {
        let before = text[..*at].trim_end_matches(' ');
        // `@import` is CSS.
        let may_follow = text[..*at].ends_with([' ', ')']);
        before.is_empty() || before.ends_with(['\n', ';', '}']) || may_follow && ends_with_decorators(before)
    };
    let words = ["import", "export", "module.exports"].into_iter().flat_map(|word| text.match_indices(word).map(|(at, _)| at));
    words.filter(begins).map(|at| &text[at..])
}

/// Whether the last statement of a text is short and begins with a decorator.
fn ends_with_decorators(before: &str) -> bool {
    let start = before.char_indices().rev().map(|(at, _)| at).take(MAX_DECORATORS).last().unwrap_or_default();
    let end = before[start..].rfind(['\n', ';', '}']).map(|end| start + end + 1);
    let statement = end.or(Some(0).filter(|_| start == 0)).map(|start| &before[start..]);
    statement.is_some_and(|statement| statement.trim_start_matches(' ').starts_with('@'))
}

#[cfg(test)]
mod tests {
    use super::{DECLARATION, is_module};

    const DECLARATIONS: [&str; 59] = [
        "import \"./styles.css\";",
        "import 'server-only'",
        "import React from \"react\";",
        "import React from \"react\"",
        "import * as React from 'react'",
        "import { Html, Body } from '@react-email/components';",
        "import {Html} from \"x\"",
        "import{Html}from\"x\"",
        "import*as React from'react'",
        "import React, { useState } from \"react\";",
        "import React, * as All from \"react\";",
        "import type { Props } from \"./props\";",
        "import { type Props, \"a-b\" as c } from \"./props\";",
        "import type Props from \"./props\";",
        "import Größe from \"./größe\";",
        "import data from \"./data.json\" with { type: \"json\" };",
        "import fs = require(\"fs\");",
        "import {\n  Html,\n  // the body\n  Body, /* and\n the rest */\n} from 'x';",
        "import\n  React\nfrom\n  \"react\"",
        "export { a };",
        "export {}",
        "export { a as default } from \"./a\";",
        "export * from \"./other\";",
        "export * as other from './other'",
        "export type { Props } from \"./props\";",
        "export default EmailTemplate;",
        "export default EmailTemplate",
        "export default memo(EmailTemplate)",
        "export default React.memo(EmailTemplate);",
        "export default () => <p/>;",
        "export default props => <p/>",
        "export default async () => <p/>",
        "export default <p/>",
        "export default{ a: 1 }",
        "export default function Email() {",
        "export default function() {}",
        "export default class extends Component {",
        "export function EmailTemplate({ user }: Props<typeof schema>) {",
        "export async function* load() {",
        "export const variablesSchema = type({",
        "export const { a, b } = load();",
        "export type Props = {",
        "export abstract class Email extends Component {",
        "export enum Kind { A }",
        "export default (props: { click: () => void }) => <p/>;",
        "export default ({ name }) => (\n  <p/>\n)",
        "export default (\n  <Html/>\n);",
        "export default (Email);",
        "export default new Email();",
        "export default await load();",
        "export default EmailTemplate satisfies Template<Props>;",
        "export default template as unknown as Template;",
        "import data from './data.json' assert {type: 'json'}",
        "exports.default = EmailTemplate;",
        "export default (a = f()) => <p/>",
        "@observer export class Email {",
        "@observer @inject(\"store\") export default class extends Component {",
        "export @observer class Email {",
        "export default @styled.with(theme) class Email extends Component {",
    ];

    const LAYOUTS: [(&str, &str); 12] = [
        ("", ""),
        (" ", "\n"),
        ("\t\t", ""),
        ("\n\n\n  ", "\n"),
        ("\u{feff}", ""),
        ("\u{a0}\u{2003}", ""),
        ("// an email\r\n    ", "\r\n"),
        ("/* an email */ ", ""),
        ("<!-- an email -->", ""),
        ("const a = 1; ", ""),
        ("function a() { return 1 }", " "),
        ("<p>Hello</p>\u{2028} ", ""),
    ];

    #[test]
    fn a_module_is_recognised_however_it_is_laid_out() {
        assert!(DECLARATION.is_some());
        for declaration in DECLARATIONS {
            for (before, after) in LAYOUTS {
                let source = format!("{before}{declaration}{after}");
                assert!(is_module(&source), "{source:?}");
            }
            assert!(is_module(&declaration.replace('\n', "\r\n")), "{declaration}");
        }
        for source in [
            "\"use client\";\nconst Email = () => <p/>;",
            "  'use strict'\n",
            "const Email = () => <p>Hello</p>;\nmodule.exports = Email;",
            "function Email() {\n  return <p/>;\n}\n",
            "\nconst a = <Preview>1</Preview>;\nexport default Email;\nconst b = <pre>2</pre>;",
        ] {
            assert!(is_module(source), "{source}");
        }
    }

    #[test]
    fn sentences_and_samples_of_code_are_no_module() {
        for source in [
            "",
            "<p>Hello {{ user.display_name }}</p>",
            "import your data from \"Settings\" at any time.",
            "import from the old system",
            "import \"Settings\" first",
            "import contacts from \"Google Contacts\"\n or another service",
            "import contacts from 'Outlook' with one click",
            "import contacts from 'Outlook' with {{ product.name }}",
            "exports = 12\nimports = 7",
            "export default (recommended) settings",
            "export default \"CSV\" files",
            "<script type=\"module\">\nimport { a } from 'b';\n</script>",
            "import {{ variables.count }} contacts",
            "import {% if x %}a{% endif %}",
            "important: read this",
            "export your data",
            "export default settings as a file",
            "export default settings",
            "export {{ variables.what }} from the console",
            "export {% for a in b %}{{ a }}{% endfor %}",
            "export class lists to a file",
            "export const",
            "export type and format",
            "export function by function (slowly)",
            "Please import { a } from 'b' into your app",
            "<p>import { a } from 'b'</p>",
            "<pre>\nimport { a } from 'b'\nexport default a;\n</pre>",
            "<p><code>\n  export const a = 1;\n</code></p>",
            "<!--\nimport { a } from 'b'\n-->",
            "<style>\n@import url(\"a.css\");\n@import \"b.css\";\n</style>",
            "<a href=\"https://example.com//import\">x</a>",
            "@import url(\"a.css\");",
            "@ada exports data",
        ] {
            for (before, after) in [("", ""), ("<p>\n  ", "\n</p>"), ("{% if a %}", "{% endif %}"), ("<p>A; ", "</p>")] {
                let source = format!("{before}{source}{after}");
                assert!(!is_module(&source), "{source}");
            }
        }
    }

    #[test]
    fn many_beginnings_of_declarations_take_bounded_work() {
        for beginning in [
            "\nexport const[",
            "\nimport a,{b,",
            "\nexport class a extends b",
            "\n<pre",
            "\n/*",
            "\n//",
            "<!---->/",
            "import ",
            "@a export ",
        ] {
            assert!(!is_module(&beginning.repeat(20_000)), "{beginning}");
        }
    }
}
