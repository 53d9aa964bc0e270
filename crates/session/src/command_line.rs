//! Finds the programs that a shell command line starts, so that a box can show their interpreters.
//! The search is simple and can miss a program. If a missed program is outside the folders of the
//! system, the shell in the box reports it as not found.

/// Words that are followed by a command: shell keywords and programs that run another program.
const PREFIXES: [&str; 17] = [
    "env", "exec", "time", "nohup", "command", "nice", "stdbuf", "timeout", "setsid", "!", "{", "if", "then",
    "else", "while", "do", "until",
];

/// A part of a command line.
enum Token {
    Word(String),
    /// An operator that ends a simple command, such as `;`, `&&` or a line end.
    End,
}

/// The first word of each simple command, without assignments and words such as `env` or `time`.
pub(crate) fn programs(command: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut searching = true;
    let mut after_prefix = false;
    for token in tokens(command) {
        match token {
            Token::End => (searching, after_prefix) = (true, false),
            Token::Word(word) if searching => {
                let is_argument =
                    after_prefix && (word.starts_with('-') || word.starts_with(|c: char| c.is_ascii_digit()));
                if PREFIXES.contains(&word.as_str()) {
                    after_prefix = true;
                } else if !is_assignment(&word) && !is_argument {
                    found.push(word);
                    searching = false;
                }
            }
            Token::Word(_) => {}
        }
    }
    found
}

/// Whether a word is an assignment such as `NAME=value`.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

fn tokens(command: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = command.chars();
    while let Some(c) = characters.next() {
        match c {
            '\'' | '"' => {
                let text = word.get_or_insert_default();
                while let Some(inner) = characters.next().filter(|inner| *inner != c) {
                    let escaped = c == '"' && inner == '\\';
                    text.extend(if escaped { characters.next() } else { Some(inner) });
                }
            }
            '\\' => word.get_or_insert_default().extend(characters.next().filter(|next| *next != '\n')),
            ';' | '&' | '|' | '\n' | '(' | ')' => {
                tokens.extend(word.take().map(Token::Word));
                tokens.push(Token::End);
            }
            c if c.is_whitespace() => tokens.extend(word.take().map(Token::Word)),
            c => word.get_or_insert_default().push(c),
        }
    }
    tokens.extend(word.map(Token::Word));
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_of_every_simple_command_is_found() {
        for (command, expected) in [
            ("python3 x.py", &["python3"][..]),
            ("cd a && python3 x.py", &["cd", "python3"]),
            ("env A=1 -i python3 x.py; ./run.sh", &["python3", "./run.sh"]),
            ("A=1 B='x y' /opt/conda/bin/python -c 'a; b'", &["/opt/conda/bin/python"]),
            ("timeout -k 1 5 .venv/bin/python x | tee \"a;b\"", &[".venv/bin/python", "tee"]),
            ("if true; then exec 'my program' a\\ b; fi", &["true", "my program", "fi"]),
            ("(cat x)\nsleep 1 & wait", &["cat", "sleep", "wait"]),
            ("", &[]),
            ("'unfinished", &["unfinished"]),
        ] {
            assert_eq!(programs(command), expected, "{command}");
        }
    }
}
