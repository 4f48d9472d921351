//! Sets of sign-up rules that would take a long time to evaluate without a budget.

use model::sign_up::rule::SignUpRule;
use serde_json::json;

/// The maximum length of a condition, in bytes.
const MAX: usize = 2048;
/// The letters that long patterns consist of.
const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz";

/// The longest address that can be written. The address consists of a single letter where possible.
pub fn longest_address() -> String {
    let domain = [vec!["a".repeat(60); 2].join("."), "a".repeat(55), "test".to_owned()].join(".");
    let address = format!("{}@{domain}", "a".repeat(64));
    assert!(address.len() > 245 && address.len() <= 256);
    address
}

/// A condition that contains as many copies of a part as fit, joined by `separator`.
fn filled(part: impl Fn(usize) -> String, separator: &str, around: impl Fn(&str) -> String) -> String {
    let parts: Vec<String> = (0..MAX).map(part).collect();
    let of = |count: usize| around(&parts[..count].join(separator));
    let counts: Vec<usize> = (1..MAX).collect();
    let fitting = counts.partition_point(|count| of(*count).len() <= MAX);
    of(fitting.max(1))
}

/// Conditions of each expensive kind. `number` makes the regular expressions unique to a rule.
fn conditions(number: usize) -> Vec<(String, String)> {
    pattern_conditions(number).into_iter().chain(many_pattern_conditions(number)).chain(value_conditions()).collect()
}

fn matches(pattern: &str) -> String {
    format!(r#"email.matches("{pattern}")"#)
}

/// Conditions that repeat a regular expression as often as it fits.
fn pattern_conditions(number: usize) -> Vec<(String, String)> {
    let mut conditions = Vec::new();
    let mut add = |what: &str, condition: String| conditions.push((what.to_owned(), condition));
    for pattern in [
        "a{1900}",
        "(a|b|c|d|e|f){200}",
        "(a*)*b",
        "((a*)*)*b",
        "(a?){300}a{300}",
        "[a-z0-9]{400}",
        "(?i)[a-y]*[b-z]*[a-x]*[c-z]*",
        ".*a.*a.*a.*a.*a.*a.*b",
        "(x+x+)+y",
        "(a|aa)+$",
        "()()()()()()()()()()()()()()()()a",
        "(((((((((((((((((((a)))))))))))))))))))",
        "(?:){4000000000}",
        "(a{0}){4000000000}",
        "a{0}{4000000000}",
        "[^@]{1,64}@[^@]{1,250}",
    ] {
        add(pattern, filled(|part| matches(&format!("{pattern}{number}_{part}")), " || ", str::to_owned));
        add(
            &format!("{pattern} of the domain"),
            filled(|part| format!(r#"emailDomain.matches("{number}_{part}{pattern}")"#), "||", str::to_owned),
        );
    }
    conditions
}

/// Conditions that consist of many regular expressions or of padded regular expressions.
fn many_pattern_conditions(number: usize) -> Vec<(String, String)> {
    let mut conditions = Vec::new();
    let mut add = |what: &str, condition: String| conditions.push((what.to_owned(), condition));
    add("groups", filled(|_| "(a)".to_owned(), "", matches));
    add("alternatives", filled(|part| format!("{number}a{part}"), "|", matches));
    add("classes", filled(|_| "[acegikmoqsuwy]".to_owned(), "", matches));
    add("patterns of a list", filled(|part| format!("'{part}a*b'"), ",", |list| format!("[{list}].exists(p, email.matches(p))")));
    add("patterns of the address", filled(|_| "email.matches(email)".to_owned(), "||", str::to_owned));
    add("a long pattern", filled(|part| LETTERS[part % 26..][..1].to_owned(), "", |text| matches(&format!("{number}{text}"))));
    add("many short patterns", filled(|part| matches(&format!("{number}_{part}")), "||", str::to_owned));
    add("many invalid patterns", filled(|part| matches(&format!("{number}_{part}(")), "||", str::to_owned));
    add("an invalid pattern", filled(|_| "(a".to_owned(), "|", |text| matches(&format!("{number}{text}"))));
    add("nested groups", filled(|_| "(".to_owned(), "", |open| matches(&format!("{number}{open}a{}", ")".repeat(open.len())))));
    add(
        "costly patterns of a list",
        filled(|_| "'(a?){9}(a?){9}b'".to_owned(), ",", |list| format!("[{list}].exists(p, email.matches(p))")),
    );
    add("numbers", filled(|_| "string(1e308)".to_owned(), "+", |sum| format!("{sum} == ''")));
    conditions
}

/// Conditions that consist of calls, lists, macros and nesting.
fn value_conditions() -> Vec<(String, String)> {
    let mut conditions = Vec::new();
    let mut add = |what: &str, condition: String| conditions.push((what.to_owned(), condition));
    add("sums", filled(|_| "email".to_owned(), "+", |sum| format!("{sum} == ''")));
    add("sums in a list", filled(|_| "x".to_owned(), "+", |sum| format!("[email, email, email].all(x, {sum} != '')")));
    add("a long list of long values", filled(|_| "email".to_owned(), ",", |list| format!("[{list}].map(x, x + x + x) == []")));
    add("searches", filled(|_| "(email+email).contains(email+'b')".to_owned(), "||", str::to_owned));
    add("maps", filled(|part| format!("'{part}': email"), ",", |map| format!("{{{map}}} == {{{map}}}")));
    add("lists of lists", filled(|_| "[[email]]".to_owned(), ",", |list| format!("[{list}] == [{list}]")));
    add("macros beside each other", filled(|_| "[1,2,3].all(x,x>0)".to_owned(), "&&", str::to_owned));
    add("a long list", filled(|_| "1".to_owned(), ",", |list| format!("[{list}].map(x, x) == []")));
    add("a filter of a long list", filled(|_| "1".to_owned(), ",", |list| format!("[{list}].filter(x, x > 0) == []")));
    add("a search in a long list", filled(|_| "1".to_owned(), ",", |list| format!("[{list}].exists(x, [x, x] == [2])")));
    add("a count of a long list", filled(|_| "email".to_owned(), ",", |list| format!("[{list}].exists_one(x, x + x == email)")));
    add("the keys of a map", filled(|part| format!("{part}: 1"), ",", |map| format!("{{{map}}}.all(x, string(x) != email)")));
    add("members", filled(|_| "email in [email,email]".to_owned(), "||", str::to_owned));
    add("a chain of calls", filled(|_| ".b()".to_owned(), "", |calls| format!("email{calls} == ''")));
    add("a short chain of calls", filled(|_| "x".to_owned(), "+", |sum| format!("({sum}).b().b().b().b() == ''")));
    add("nested calls", filled(|_| "f(".to_owned(), "", |calls| format!("{calls}1{}", ")".repeat(calls.len() / 2))));
    add("nested lists of calls", filled(|_| "x".to_owned(), "+", |sum| format!("[f([f([f([f([f([f({sum})])])])])])] == []")));
    add("nested macros", filled(|_| "[1].all(x,".to_owned(), "", |all| format!("{all}true{}", ")".repeat(all.len() / 10))));
    add("conditionals", filled(|_| "a?a:".to_owned(), "", |all| format!("{all}a")));
    add("small macros", filled(|_| "[].all(x,x)".to_owned(), "&&", str::to_owned));
    add("an unclosed text", filled(|_| "a".to_owned(), "+", |sum| format!("{sum}'")));
    add("calls", filled(|_| "f(a)".to_owned(), "||", str::to_owned));
    add("unclosed lists", filled(|_| "[".to_owned(), "", str::to_owned));
    add("depth", filled(|_| "!".to_owned(), "", |nots| format!("{nots}true")));
    add("parentheses", filled(|_| "(".to_owned(), "", |open| format!("{open}true")));
    conditions
}

/// Sets of fifty rules. There is one set for each kind, and one set with all kinds.
pub fn sets() -> Vec<(String, Vec<SignUpRule>)> {
    let all: Vec<_> = (0..50).map(conditions).collect();
    let kinds = &all[0];
    let of_kind = |kind: usize| all.iter().enumerate().map(|(number, kinds)| rule(number, &kinds[kind].1)).collect();
    let mut sets: Vec<_> = kinds.iter().enumerate().map(|(kind, (what, _))| (what.clone(), of_kind(kind))).collect();
    let mixed = kinds.iter().take(50).enumerate().map(|(number, (_, condition))| rule(number, condition)).collect();
    sets.push(("all kinds".to_owned(), mixed));
    sets
}

fn rule(number: usize, condition: &str) -> SignUpRule {
    let action = json!({ "type": "log" });
    let rule = json!({ "id": format!("r{number}"), "enabled": true, "priority": 0, "condition": condition, "action": action });
    serde_json::from_value(rule).unwrap()
}
