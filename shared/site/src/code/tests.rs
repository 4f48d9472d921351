//! Tests with code of each language, and with hostile code.

use super::html::Kind;
use super::*;

const LANGUAGES: [&str; 17] =
    ["js", "ts", "rust", "python", "go", "sh", "json", "yaml", "toml", "html", "xml", "css", "sql", "diff", "http", "text", "brainfuck"];

/// The text of highlighted code, without the markup.
fn seen(html: &str) -> String {
    let mut text = String::new();
    for part in html.split('<') {
        text += part.split_once('>').map_or(part, |(_, text)| text);
    }
    let replaced = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#x27;", "'"), ("&amp;", "&")];
    replaced.iter().fold(text, |text, (from, to)| text.replace(from, to))
}

fn assert_has(language: &str, code: &str, parts: &[(Kind, &str)]) {
    let html = highlighted(language, code);
    assert_eq!(seen(&html), code, "{language}");
    for (kind, part) in parts {
        let element = format!("<span class=\"{}\">{}</span>", kind.class(), escape::markup(part));
        assert!(html.contains(&element), "{language}: {element} in {html}");
    }
}

#[test]
fn scripts_and_types_are_highlighted() {
    use Kind::{Comment, Keyword, Name, Value};
    let code = "// a `b`\nconst c: Map<string> = await f(`d ${e}`, 0.5, 'it\\'s'); /* \"g\n */ x.type";
    assert_has("ts", code, &[(Comment, "// a `b`"), (Keyword, "const"), (Name, "Map"), (Value, "`d ${e}`"), (Value, "0.5")]);
    assert_has("ts", code, &[(Value, "'it\\'s'"), (Comment, "/* \"g\n */")]);
    assert!(highlighted("ts", code).ends_with("x.type"));
    let code = "fn f<'a>(x: &'a str) -> Option<char> { let b = r#\"c \" d\"#; Some('\\'') /* e */ }";
    assert_has("rust", code, &[(Keyword, "fn"), (Name, "Option"), (Value, "r#\"c \" d\"#"), (Value, "'\\''"), (Comment, "/* e */")]);
    let code = "@app.get\ndef a(b: int) -> None:\n    \"\"\"c 'd'\n    \"\"\"\n    return {'e': 1}  # f";
    assert_has("py", code, &[(Name, "@app"), (Keyword, "def"), (Value, "\"\"\"c 'd'\n    \"\"\""), (Value, "'e'"), (Comment, "# f")]);
    assert_has("go", "func a() error { return nil } // b", &[(Keyword, "func"), (Keyword, "nil"), (Comment, "// b")]);
}

#[test]
fn data_and_commands_are_highlighted() {
    use Kind::{Comment, Keyword, Name, Value};
    let code = "export A=\"b $C\"; curl -d '{\"x\": 1}' \"$URL\" don't # e\necho f#g $HOME ${A:-x} $?";
    assert_has("sh", code, &[(Keyword, "export"), (Value, "\"b $C\""), (Value, "'{\"x\": 1}'"), (Comment, "# e"), (Name, "$HOME")]);
    assert_has("bash", code, &[(Name, "${A:-x}"), (Name, "$?")]);
    assert_has("json", "{\"a\": [\"b:\", 1.5e3, true]}", &[(Name, "\"a\""), (Value, "\"b:\""), (Value, "1.5e3"), (Keyword, "true")]);
    let code = "a-b: it's # c\nurl: https://x # \n- d: \"e\"\n  f: true";
    assert_has("yaml", code, &[(Name, "a-b"), (Comment, "# c"), (Name, "url"), (Value, "\"e\""), (Keyword, "true")]);
    assert_has("toml", "a.b = 'c' # d\n[e]\n", &[(Name, "a.b"), (Value, "'c'"), (Comment, "# d")]);
    let code = "SELECT a, 'it''s' FROM t WHERE b IS NOT NULL -- c";
    assert_has("sql", code, &[(Keyword, "SELECT"), (Value, "'it'"), (Keyword, "NULL"), (Comment, "-- c")]);
    let code = "POST /api HTTP/1.1\ncontent-type: application/json\n\n{\"a\": 1}";
    assert_has("http", code, &[(Keyword, "POST"), (Name, "content-type"), (Name, "\"a\"")]);
}

#[test]
fn pages_and_differences_are_highlighted() {
    use Kind::{Added, Comment, Keyword, Name, Removed, Value};
    let code = "<!-- a --><p class=\"b > c\" hidden>d &amp; e</p>";
    assert_has("html", code, &[(Comment, "<!-- a -->"), (Keyword, "p"), (Name, "class"), (Value, "\"b > c\""), (Name, "hidden")]);
    let code = "@media (x) { .a-b { color: #0a5c5a; margin: 1.5rem } } /* c */";
    assert_has("css", code, &[(Name, "@media"), (Name, "color"), (Value, "#0a5c5a"), (Value, "1.5rem"), (Comment, "/* c */")]);
    let code = "--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n same\n";
    assert_has("diff", code, &[(Comment, "--- a"), (Name, "@@ -1 +1 @@"), (Removed, "-old"), (Added, "+new")]);
}

#[test]
fn hostile_code_of_any_language_stays_text() {
    let hostile = [
        "</code></pre><script>alert(1)</script>",
        "\"</span><img src=x onerror='alert(1)'>",
        "'<svg/onload=alert(1)>",
        "<!-- <script>",
        "<a href='\"><script>'",
        "`${'</script>'}`",
        "/* </span> ",
        "r#\"<b>",
        "'\\u{<i>",
        "é'ü'ß\"ñ",
        "$ ${ ${a $",
        "# @ #\n@ & * !",
        "\\\n\\",
        "'\\",
        "0.\u{1f600} 1..2 9.",
        "<",
        "</",
        "<a b='",
        "",
    ];
    for language in LANGUAGES {
        for code in hostile {
            for code in [code.to_owned(), format!("a {code}\n{code}"), format!("\"{code}"), format!("x: {code}")] {
                let html = highlighted(language, &code);
                assert_eq!(seen(&html), code, "{language}");
                let tags = html.replace("</span>", "");
                let others = tags.split("<span class=\"").skip(1).filter(|rest| rest.chars().nth(1) != Some('"'));
                assert_eq!((others.count(), tags.matches('<').count()), (0, tags.matches("<span class=\"").count()), "{language}: {html}");
            }
        }
    }
}

#[test]
fn code_of_an_unknown_language_is_plain() {
    for language in ["", "text", "brainfuck", "\"><script>"] {
        let kind = CodeBlockKind::Fenced(language.into());
        let mut block = Block::new(&kind);
        block.push("if x == \"y\" { <z> }");
        let html = block.html("");
        assert!(!html.contains("<span") && !html.contains("<script") && html.contains("if x == &quot;y&quot; { &lt;z&gt; }"), "{html}");
    }
    let mut block = Block::new(&CodeBlockKind::Fenced("Rust,ignore title=x".into()));
    block.push("fn");
    let expected =
        "<div class=\"code\"><pre tabindex=\"0\"><code data-language=\"Rust,ignore\"><span class=\"k\">fn</span></code></pre>-</div>\n";
    assert_eq!(block.html("-"), expected);
}

#[test]
fn markup_multiplies_no_page() {
    for code in ["1 ".repeat(5000), "'' ".repeat(5000), "{".repeat(5000), "'".repeat(5001)] {
        for language in LANGUAGES {
            let html = highlighted(language, &code);
            assert!(html.len() <= MAX_GROWTH * code.len() + 1024, "{language}: {}", html.len());
            assert_eq!(seen(&html), code, "{language}");
        }
    }
}
