//! The syntax of each language, for the scanner.

/// The delimiters of a kind of string literal, and the rules for its content.
pub(super) struct Quote {
    pub(super) open: &'static str,
    pub(super) close: &'static str,
    /// Whether a backslash escapes the character after it.
    pub(super) escapes: bool,
    /// Whether the string may span several lines. If it may not, it ends with its line even if the
    /// closing delimiter is missing.
    pub(super) is_long: bool,
}

const fn short(quote: &'static str) -> Quote {
    Quote { open: quote, close: quote, escapes: true, is_long: false }
}

const fn long(quote: &'static str) -> Quote {
    Quote { open: quote, close: quote, escapes: true, is_long: true }
}

const fn raw(quote: &'static str) -> Quote {
    Quote { open: quote, close: quote, escapes: false, is_long: true }
}

/// The syntax of a language that is highlighted.
pub(super) struct Language {
    /// The markers that begin a comment of one line.
    pub(super) comment: &'static [&'static str],
    /// The markers around comments of several lines, if the language has such comments.
    pub(super) comments: Option<(&'static str, &'static str)>,
    /// Quotes that begin with the same character are ordered from the longest to the shortest.
    pub(super) quotes: &'static [Quote],
    /// The keywords, with spaces between them.
    pub(super) keywords: &'static str,
    /// The characters that begin a name, such as `$` for a variable.
    pub(super) sigils: &'static [char],
    /// The character that follows a key, if the language has keys.
    pub(super) after_key: Option<char>,
    pub(super) features: &'static [Feature],
}

/// Features that only some languages have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Feature {
    /// Keywords in upper or lower case.
    AnyCase,
    /// Types, recognized by the capital letter of their names.
    Types,
    /// Words without quotes; keywords, comments and strings do not begin within them.
    BareWords,
    /// Rust's raw strings, and its lifetimes, which look like the beginning of a character literal.
    Lifetimes,
    /// Colors such as `#0a5c5a`.
    Colours,
}

impl Language {
    pub(super) fn has(&self, feature: Feature) -> bool {
        self.features.contains(&feature)
    }
}

const PLAIN: Language = Language { comment: &[], comments: None, quotes: &[], keywords: "", sigils: &[], after_key: None, features: &[] };

const SLASHES: Option<(&str, &str)> = Some(("/*", "*/"));

static SCRIPT: Language = Language {
    comment: &["//"],
    comments: SLASHES,
    quotes: &[short("\""), short("'"), long("`")],
    keywords: "abstract as async await break case catch class const continue declare default delete do else enum export \
        extends false finally for from function if implements import in instanceof interface let new null of \
        private public readonly return satisfies static super switch this throw true try type typeof undefined \
        var void while yield",
    features: &[Feature::Types],
    sigils: &['@'],
    ..PLAIN
};

static RUST: Language = Language {
    comment: &["//"],
    comments: SLASHES,
    quotes: &[long("\"")],
    keywords: "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match \
        mod move mut pub ref return self static struct super trait true type unsafe use where while",
    features: &[Feature::Types, Feature::Lifetimes],
    ..PLAIN
};

static PYTHON: Language = Language {
    comment: &["#"],
    quotes: &[long("\"\"\""), long("'''"), short("\""), short("'")],
    keywords: "False None True and as assert async await break case class continue def del elif else except finally for \
        from global if import in is lambda match nonlocal not or pass raise return self try while with yield",
    features: &[Feature::Types],
    sigils: &['@'],
    ..PLAIN
};

static GO: Language = Language {
    comment: &["//"],
    comments: SLASHES,
    quotes: &[short("\""), short("'"), raw("`")],
    keywords: "any bool break byte case chan const continue default defer else error fallthrough false for func go goto \
        if import int int64 interface map nil package range return rune select string struct switch true type \
        var",
    features: &[Feature::Types],
    ..PLAIN
};

static SHELL: Language = Language {
    comment: &["#"],
    quotes: &[long("\""), raw("'")],
    keywords: "break case cd continue do done elif else esac exec exit export fi for function if in local return set \
        shift source sudo then trap unset until while",
    sigils: &['$'],
    features: &[Feature::BareWords],
    ..PLAIN
};

static JSON: Language =
    Language { comment: &["//"], comments: SLASHES, quotes: &[short("\"")], keywords: "false null true", after_key: Some(':'), ..PLAIN };

static YAML: Language = Language {
    comment: &["#"],
    quotes: &[long("\""), raw("'")],
    keywords: "false no null off on true yes",
    sigils: &['&', '*', '!'],
    after_key: Some(':'),
    features: &[Feature::BareWords],
    ..PLAIN
};

static TOML: Language = Language {
    comment: &["#"],
    quotes: &[long("\"\"\""), raw("'''"), short("\""), short("'")],
    keywords: "false true",
    after_key: Some('='),
    ..PLAIN
};

static CSS: Language = Language {
    comments: SLASHES,
    quotes: &[short("\""), short("'")],
    keywords: "and important inherit initial none not only unset",
    sigils: &['@'],
    after_key: Some(':'),
    features: &[Feature::Colours],
    ..PLAIN
};

static SQL: Language = Language {
    comment: &["--"],
    comments: SLASHES,
    quotes: &[raw("'"), raw("\"")],
    keywords: "add all alter and as asc begin between by case check commit constraint create default delete desc \
        distinct drop else end exists false foreign from full group having if in index inner insert into is join \
        key left like limit not null offset on or order outer primary references returning right rollback select \
        set table then true union unique update using values view when where with",
    features: &[Feature::AnyCase],
    ..PLAIN
};

static HTTP: Language = Language {
    quotes: &[short("\"")],
    keywords: "CONNECT DELETE GET HEAD HTTP OPTIONS PATCH POST PUT false null true",
    after_key: Some(':'),
    features: &[Feature::BareWords],
    ..PLAIN
};

/// The language with this name, in lower case, or with this file extension.
pub(super) fn find(name: &str) -> Option<&'static Language> {
    match name {
        "javascript" | "js" | "mjs" | "cjs" | "jsx" | "typescript" | "ts" | "tsx" => Some(&SCRIPT),
        "rust" | "rs" => Some(&RUST),
        "python" | "py" => Some(&PYTHON),
        "go" | "golang" => Some(&GO),
        "sh" | "bash" | "shell" | "zsh" | "console" => Some(&SHELL),
        "json" | "jsonc" | "json5" => Some(&JSON),
        "yaml" | "yml" => Some(&YAML),
        "toml" => Some(&TOML),
        "css" => Some(&CSS),
        "sql" => Some(&SQL),
        "http" => Some(&HTTP),
        _ => None,
    }
}
