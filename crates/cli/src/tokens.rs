//! Tokens of the command line.

use chicane_remote::Token;

/// A token that can't be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TokenError {
    #[error("{option}: {reason}")]
    Invalid { option: &'static str, reason: String },
    #[error("can't create a token: {0}")]
    Random(String),
}

/// The value of `--token`. An empty text counts as no token, and `auto` as a random one.
pub(crate) fn simulator_token(text: Option<&str>) -> Result<Option<Token>, TokenError> {
    match text {
        Some("auto") => Token::random().map(Some).map_err(|e| TokenError::Random(e.to_string())),
        text => parse("--token", text),
    }
}

/// The value of `--cdn-token`. An empty text counts as no token.
pub(crate) fn cdn_token(text: Option<&str>) -> Result<Option<Token>, TokenError> {
    parse("--cdn-token", text)
}

fn parse(option: &'static str, text: Option<&str>) -> Result<Option<Token>, TokenError> {
    let token = text.filter(|text| !text.is_empty()).map(Token::parse).transpose();
    token.map_err(|e| TokenError::Invalid { option, reason: e.to_string() })
}
