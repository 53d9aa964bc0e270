//! Colours of messages on a terminal.
//!
//! The rules are similar to those of clap for help texts. The first rule that applies decides:
//!
//! - `NO_COLOR` turns colours off, unless it is empty.
//! - `CLICOLOR_FORCE` turns colours on, unless it is empty or 0.
//! - Otherwise an output has colours if all of these hold: the output is a terminal, `CLICOLOR` is
//!   not 0, and `TERM` is neither missing, nor empty, nor `dumb`.

use clap::builder::styling::{AnsiColor, Style, Styles};
use std::fmt;
use std::io::IsTerminal;

/// The styles of the help.
pub(crate) const HELP: Styles = Styles::styled()
    .header(AnsiColor::Yellow.on_default().bold())
    .usage(AnsiColor::Yellow.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// The meaning of a piece of text. It decides the colour of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// A success.
    Good,
    /// A possible problem.
    Warning,
    /// A failure.
    Bad,
    /// A headline.
    Head,
    /// The name of a command or option.
    Name,
}

impl Tone {
    fn style(self) -> Style {
        match self {
            Tone::Good => AnsiColor::Green.on_default(),
            Tone::Warning => AnsiColor::Yellow.on_default().bold(),
            Tone::Bad => AnsiColor::Red.on_default().bold(),
            Tone::Head => *HELP.get_header(),
            Tone::Name => *HELP.get_literal(),
        }
    }

    /// Returns the text with the escape sequences for this meaning. If `coloured` is false, returns
    /// the text without escape sequences.
    pub(crate) fn paint(self, text: impl fmt::Display, coloured: bool) -> String {
        let style = self.style();
        if coloured { format!("{style}{text}{style:#}") } else { text.to_string() }
    }
}

/// Whether standard error shows colours.
pub(crate) fn on_stderr() -> bool {
    allowed(std::io::stderr().is_terminal(), |name| std::env::var(name).ok())
}

/// Whether standard output shows colours.
pub(crate) fn on_stdout() -> bool {
    allowed(std::io::stdout().is_terminal(), |name| std::env::var(name).ok())
}

/// Prints a warning to standard error.
pub(crate) fn warn(text: impl fmt::Display) {
    eprintln!("{} {text}", Tone::Warning.paint("warning:", on_stderr()));
}

fn allowed(terminal: bool, variable: impl Fn(&str) -> Option<String>) -> bool {
    let set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    if set("NO_COLOR") {
        return false;
    }
    if variable("CLICOLOR_FORCE").is_some_and(|value| !value.is_empty() && value != "0") {
        return true;
    }
    let plain = variable("CLICOLOR").is_some_and(|value| value == "0");
    terminal && !plain && variable("TERM").is_some_and(|term| !term.is_empty() && term != "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coloured(terminal: bool, variables: &[(&str, &str)]) -> bool {
        allowed(terminal, |name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn a_pipe_a_dumb_terminal_and_no_color_get_plain_text() {
        let xterm = ("TERM", "xterm-256color");
        assert!(coloured(true, &[xterm]));
        assert!(coloured(true, &[xterm, ("NO_COLOR", "")]), "an empty NO_COLOR does not count");
        assert!(coloured(false, &[("CLICOLOR_FORCE", "1")]));
        for (terminal, variables) in [
            (false, &[xterm][..]),
            (true, &[]),
            (true, &[("TERM", "dumb")]),
            (true, &[xterm, ("NO_COLOR", "1")]),
            (true, &[xterm, ("CLICOLOR", "0")]),
            (false, &[xterm, ("CLICOLOR_FORCE", "0")]),
            (true, &[xterm, ("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]),
        ] {
            assert!(!coloured(terminal, variables), "{terminal} {variables:?}");
        }
    }

    #[test]
    fn painted_text_ends_its_colour() {
        assert_eq!(Tone::Bad.paint("x", false), "x");
        let red = Tone::Bad.paint("x", true);
        assert!(red.starts_with("\x1b[") && red.contains('x') && red.ends_with("\x1b[0m"), "{red:?}");
    }
}
