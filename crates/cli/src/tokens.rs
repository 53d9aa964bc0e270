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

/// Parses the value of `--token`. An empty text means no token, and `auto` creates a random token.
pub(crate) fn simulator_token(text: Option<&str>) -> Result<Option<Token>, TokenError> {
    match text {
        Some("auto") => Ok(Some(Token::random()?)),
        text => parse("--token", text),
    }
}

/// Parses the value of `--cdn-token`. An empty text means no token.
pub(crate) fn cdn_token(text: Option<&str>) -> Result<Option<Token>, TokenError> {
    parse("--cdn-token", text)
}

fn parse(option: &'static str, text: Option<&str>) -> Result<Option<Token>, TokenError> {
    let token = text.filter(|text| !text.is_empty()).map(Token::parse).transpose();
    token.map_err(|source| TokenError::Invalid { option, source })
}
