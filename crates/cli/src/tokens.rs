//! Parses the tokens on the command line.

use chicane_remote::{BadToken, Token};
use chicane_store::RandomError;

/// A token that can't be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TokenError {
    #[error("{option}: {source}")]
    Invalid { option: &'static str, source: BadToken },
    #[error("can't create a token: {0}")]
    Random(#[from] RandomError),
}

/// The value of `--token`. An empty text counts as no token. For `auto` a random token is made.
pub(crate) fn simulator_token(text: Option<&str>) -> Result<Option<Token>, TokenError> {
    match text {
        Some("auto") => Ok(Some(Token::random()?)),
        text => parse("--token", text),
    }
}

/// The value of `--cdn-token`. An empty text counts as no token.
pub(crate) fn cdn_token(text: Option<&str>) -> Result<Option<Token>, TokenError> {
    parse("--cdn-token", text)
}

fn parse(option: &'static str, text: Option<&str>) -> Result<Option<Token>, TokenError> {
    let token = text.filter(|text| !text.is_empty()).map(Token::parse).transpose();
    token.map_err(|source| TokenError::Invalid { option, source })
}
