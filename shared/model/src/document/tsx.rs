//! Recognises sources of emails in TSX, which published SDKs can send but Gatelet cannot render.

/// Whether a line is or begins an import or export statement (ECMAScript, Modules; also the types
/// that TypeScript exports). A sentence that begins with `import` or `export` usually is not one.
pub(super) fn is_statement(line: &str) -> bool {
    let line = line.trim_end();
    match (line.strip_prefix("import "), line.strip_prefix("export ")) {
        (Some(rest), _) => is_import(rest.trim_end_matches(';')),
        (_, Some(rest)) => is_export(rest),
        _ => false,
    }
}

fn is_import(rest: &str) -> bool {
    let quotes = ['"', '\''];
    let names_module = rest.ends_with(quotes) && (rest.starts_with(quotes) || rest.contains(" from "));
    names_module || rest.starts_with("* as ") || is_list(rest)
}

fn is_export(rest: &str) -> bool {
    let value = rest.strip_prefix("default ");
    let is_value = value.is_some_and(|value| value.starts_with('(') || is_list(value) || is_name(value));
    let declaration = value.unwrap_or(rest);
    let declares = |words: &[&str], mark: char| words.iter().any(|word| declaration.strip_prefix(word).is_some_and(|it| it.contains(mark)));
    is_value
        || is_list(rest)
        || rest.starts_with("* ") && rest.contains("from ")
        || declares(&["const ", "let ", "var ", "type "], '=')
        || declares(&["function", "async "], '(')
        || declares(&["class ", "abstract class ", "interface ", "enum "], '{')
}

/// Whether a text begins with a list in braces, rather than with a delimiter of MiniJinja.
fn is_list(text: &str) -> bool {
    text.strip_prefix('{').is_some_and(|rest| !rest.starts_with(['{', '%', '#']))
}

/// Whether a text is one name with the semicolon that ends a statement.
fn is_name(text: &str) -> bool {
    text.strip_suffix(';').is_some_and(|name| name.chars().all(|letter| letter.is_alphanumeric() || letter == '_' || letter == '$'))
}

#[cfg(test)]
mod tests {
    use super::is_statement;

    #[test]
    fn statements_of_modules_are_recognised() {
        for line in [
            "import \"./styles.css\";",
            "import 'server-only'",
            "import React from \"react\";",
            "import * as React from 'react'",
            "import { Html, Body } from '@react-email/components';",
            "import {",
            "import type { Props } from \"./props\";",
            "export { a };",
            "export * from \"./other\";",
            "export default EmailTemplate;",
            "export default () => <p/>;",
            "export default function Email() {",
            "export function EmailTemplate({ user }: Props<typeof schema>) {",
            "export async function load() {",
            "export const variablesSchema = type({",
            "export const Subject: string = 'x';",
            "export type Props = {",
            "export class Email extends Component {",
        ] {
            assert!(is_statement(line), "{line}");
        }
    }

    #[test]
    fn sentences_are_not_taken_for_statements() {
        for line in [
            "import your data from \"Settings\" at any time.",
            "import from the old system",
            "import {{ variables.count }} contacts",
            "import {% if x %}a{% endif %}",
            "export your data",
            "export default settings as a file",
            "export {{ variables.what }} from the console",
            "export class lists to a file",
            "export const",
            "  import { a } from 'b'",
            "important: read this",
            "",
        ] {
            assert!(!is_statement(line), "{line}");
        }
    }
}
