//! The vocabulary of names: refusals, errors, bounds and times have the same names everywhere,
//! types are nouns, and `of` is reserved for conversions.

use super::passages::{Source, sources};

const FOLDERS: [&str; 5] = ["shared", "functions", "infra", "events", "tests"];
/// Words that must not end the name of a type that is a refusal or an error.
const NEGATIVE: [&str; 10] =
    ["Refused", "Rejected", "Failed", "Failure", "Fault", "Unacceptable", "Untrusted", "Unusable", "Unread", "Malformed"];
/// Words that must not begin the name of a refusal or an error, followed by a noun.
const NEGATIVE_FIRST: [&str; 5] = ["Invalid", "Malformed", "NotA", "NotAn", "TooMany"];
const REFUSAL: &str = "Refusal, if a user is told no, or Error, if something broke";
/// Words that must not occur in the names of constants and constant parameters, and their
/// replacements.
const CONSTANTS: [(&[&str], &str); 6] = [
    (&["MOST", "LONGEST", "LARGEST", "HIGHEST"], "MAX"),
    (&["LEAST", "SHORTEST", "SMALLEST", "LOWEST"], "MIN"),
    (&["PATIENCE"], "TIMEOUT"),
    (&["ROUNDS", "TRIES"], "MAX_ATTEMPTS, or what is counted"),
    (&["REST", "PAUSE"], "COOLDOWN or BACKOFF"),
    (&["LIMIT"], "MAX_ and what is bounded"),
];
const NOUN: &str = "a noun that says what it is";
/// Names that end like a participle, but are nouns.
const NOUNS: [&str; 8] = ["Bed", "Deed", "Embed", "Feed", "Need", "Seed", "Speed", "Shed"];
/// Participles that do not end in `ed`.
const IRREGULAR: &str = "Begun Bought Broken Brought Built Caught Chosen Done Drawn Driven Forgotten Found Fought Frozen \
    Given Gone Got Grown Heard Held Hidden Kept Known Laid Learnt Led Left Lent Lost Made Meant Met \
    Overridden Paid Proven Put Said Seen Sent Shown Sold Spent Spoken Sprung Stolen Struck Sworn \
    Taken Taught Thought Thrown Told Torn Understood Won Worn Woven Written Wrung";

/// The name at the beginning of a text.
fn name(text: &str) -> &str {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default()
}

/// The replacement for the name of a type; `None` if the name is right.
fn instead_of_type(name: &str) -> Option<&'static str> {
    let is_word = !name.contains('_') && name.chars().filter(char::is_ascii_uppercase).count() == 1;
    let is_participle = name.ends_with("ed") && !NOUNS.contains(&name) || IRREGULAR.split(' ').any(|word| word == name);
    let is_noun = |rest: &str| rest.starts_with(|c: char| c.is_ascii_uppercase());
    let is_negative =
        NEGATIVE.iter().any(|word| name.ends_with(word)) || NEGATIVE_FIRST.iter().any(|word| name.strip_prefix(word).is_some_and(is_noun));
    if is_negative { Some(REFUSAL) } else { (is_word && is_participle).then_some(NOUN) }
}

fn instead_of_constant(name: &str) -> Option<&'static str> {
    // A limit is a bound only as the last word; elsewhere in a name, it is a rule for rates.
    let is_bound = |word: &str| word != "LIMIT" || name.ends_with("_LIMIT");
    let is_in = |words: &[&str]| name.split('_').any(|part| words.contains(&part) && is_bound(part));
    CONSTANTS.iter().find(|(words, _)| is_in(words)).map(|(_, instead)| *instead)
}

/// Whether a signature that begins with `of` is that of a conversion: a pure function without a
/// receiver that returns the type it is defined on.
fn converts(signature: &str) -> bool {
    let mut depth = 0;
    let end = signature.find(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ')' && depth == 0
    });
    let Some((parameters, answer)) = end.and_then(|end| signature.split_at_checked(end)) else { return false };
    !parameters.contains("self") && answer.split(['{', ';']).next().is_some_and(|answer| answer.contains("Self"))
}

/// The definitions in a source file whose names contain a wrong word: the line, the name, and the
/// replacement.
fn findings(text: &str) -> Vec<(usize, &str, &'static str)> {
    let mut found = Vec::new();
    let mut start = 0;
    for (index, line) in text.lines().enumerate() {
        let (code, rest) = (line.trim_start(), &text[start..]);
        start += line.len() + 1;
        if code.starts_with("//") {
            continue;
        }
        let mut add = |name, instead: Option<&'static str>| found.extend(instead.map(|instead| (index + 1, name, instead)));
        let item = match code.strip_prefix("pub") {
            Some(item) if item.starts_with('(') => item.split_once(") ").map_or(item, |(_, item)| item),
            Some(item) => item.trim_start(),
            None => code,
        };
        let is_alias = item.starts_with("type ") && !line.starts_with(' ');
        if is_alias || ["struct ", "enum ", "trait ", "union "].iter().any(|keyword| item.starts_with(keyword)) {
            let name = item.split_once(' ').map_or("", |(_, item)| name(item));
            add(name, instead_of_type(name));
        }
        for (at, keyword) in code.match_indices("const ").chain(code.match_indices("static ")) {
            let is_definition = at == 0 || code[..at].ends_with([' ', '<', '(']) && !code[..at].contains('"');
            if is_definition {
                let name = name(&code[at + keyword.len()..]);
                add(name, instead_of_constant(name));
            }
        }
        let of = item.split_once("fn of").filter(|(before, after)| !before.contains('"') && after.starts_with(['(', '<']));
        if let Some((before, _)) = of {
            let is_conversion = !before.contains("async") && rest.split_once("fn ").is_some_and(|(_, signature)| converts(signature));
            add("of", (!is_conversion).then_some("new, from_…, parse or a verb: `of` is for conversions"));
        }
    }
    found
}

#[test]
fn each_thing_has_one_name_in_the_code() {
    let is_code = |source: &&Source| source.ending() == "rs" && FOLDERS.iter().any(|folder| source.path.starts_with(folder));
    let sources = sources();
    let lines: Vec<String> = sources
        .iter()
        .filter(is_code)
        .flat_map(|source| findings(&source.text).into_iter().map(move |finding| (source, finding)))
        .map(|(source, (line, name, instead))| format!("{}:{line}: {name}: use {instead}", source.path.display()))
        .collect();
    assert!(lines.is_empty(), "{} names use another word than the rest of the code:\n{}", lines.len(), lines.join("\n"));
}

#[test]
fn wrong_words_in_definitions_are_found() {
    let names = |text: &'static str| findings(text).into_iter().map(|(line, name, _)| (line, name)).collect::<Vec<_>>();
    assert_eq!(
        names("pub struct Told;\n/// enum Kept\npub(crate) enum Held<T> {\n    trait Asked {"),
        [(1, "Told"), (3, "Held"), (4, "Asked")]
    );
    assert_eq!(names("type Found = u8;\nenum SendFault {\nstruct Refused(u8);"), [(1, "Found"), (2, "SendFault"), (3, "Refused")]);
    let negative = "struct InvalidEmail;\nenum NotAnId {\nstruct NotALine;\nstruct TooManyKeys;\nstruct SendFailure;";
    let found = [(1, "InvalidEmail"), (2, "NotAnId"), (3, "NotALine"), (4, "TooManyKeys"), (5, "SendFailure")];
    assert_eq!(names(negative), found);
    assert_eq!(names("struct Notation;\nstruct NotAgain;\nstruct NotMe;\nstruct Invalidation;\n    InvalidEmail,"), []);
    let right = "struct Need;\nstruct Feed;\nstruct CreatedJson;\nenum Refusal {\n    Refused,\n    type Failed = u8;\nlet x = Told;";
    assert_eq!(names(right), []);
    let bounds =
        "pub const MOST_BYTES: u8 = 1;\nstruct X<const LEAST: u8>;\n    const ROUNDS: u8 = 2;\nstatic REST: u8 = 3;\nuse PATIENCE;";
    assert_eq!(names(bounds), [(1, "MOST_BYTES"), (2, "LEAST"), (3, "ROUNDS"), (4, "REST")]);
    assert_eq!(names("const PAUSE: u8 = 1;\nconst BODY_LIMIT: u8 = 1;"), [(1, "PAUSE"), (2, "BODY_LIMIT")]);
    assert_eq!(
        names(
            "const MAX_BYTES: u8 = 1;\nconst LIMIT: u8 = 1;\nconst LIMIT_VARIABLE: u8 = 1;\nconst INTEREST: u8 = 1;\nconst ENTRIES: u8 = 1;"
        ),
        []
    );
    let wrong =
        "pub async fn of(x: u8) -> Self {\n    fn of(&self) -> Self {\nfn of(x: u8) -> u8 {\npub(super) fn of<T>(\n    x: T,\n) -> u8 {";
    assert_eq!(names(wrong), [(1, "of"), (2, "of"), (3, "of"), (4, "of")]);
    assert_eq!(names("pub const fn of(\n    x: u8,\n) -> Result<Option<Self>, Error> {\n    fn of(x: u8) -> Self {\nfn offer() {}"), []);
}
