//! The secret of a simulator or a CDN.

use chicane_store::RandomError;

const MIN_LENGTH: usize = 8;
const MAX_LENGTH: usize = 256;
/// Tokens shorter than this are accepted with a warning.
const SHORT_LENGTH: usize = 12;

/// A secret that gives access to a simulator or a CDN. Requests carry it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

// `Debug` hides the secret, because its output ends up in logs.
impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

/// The text is not a valid token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a token has 8 to 256 letters, digits, - _ . or ~")]
pub struct BadToken;

impl Token {
    /// Checks a token that a person chose. All permitted characters can be used in a cookie and in
    /// a URL.
    pub fn parse(text: &str) -> Result<Token, BadToken> {
        let is_allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'~');
        if (MIN_LENGTH..=MAX_LENGTH).contains(&text.len()) && text.bytes().all(is_allowed) {
            return Ok(Token(text.to_owned()));
        }
        Err(BadToken)
    }

    /// Creates a token of 128 random bits.
    pub fn random() -> Result<Token, RandomError> {
        chicane_store::random_hex().map(Token)
    }

    /// Whether the token is so short that its owner should choose a longer one.
    pub fn is_short(&self) -> bool {
        self.0.len() < SHORT_LENGTH
    }

    /// The secret as text.
    pub fn secret(&self) -> &str {
        &self.0
    }

    /// Whether `text` is the secret. The comparison takes the same time for every wrong text of the
    /// same length, so that its duration reveals nothing about the secret.
    pub fn matches(&self, text: &str) -> bool {
        let (a, b) = (self.0.as_bytes(), text.as_bytes());
        a.len() == b.len() && a.iter().zip(b).fold(0, |all, (x, y)| all | (x ^ y)) == 0
    }
}
