//! Parses the tokens on the command line.

use crate::args::ServeArgs;
use chicane_remote::{BadToken, BadTokens, Token, Tokens};
use chicane_store::RandomError;

/// A token that can't be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TokenError {
    #[error("{option}: {source}")]
    Invalid { option: &'static str, source: BadToken },
    #[error("can't create a token: {0}")]
    Random(#[from] RandomError),
    #[error(transparent)]
    Together(#[from] BadTokens),
}

/// A token of the simulator.
#[derive(Debug, Clone)]
pub(crate) struct RoleToken {
    pub(crate) token: Token,
    /// Whether the simulator made the token, because the person asked for `auto`. Such a token is
    /// printed. A token that a person chose is not printed, because the output may go to a log that
    /// others can read.
    made: bool,
}

impl RoleToken {
    /// The token for the printed addresses: the secret of a token that the simulator made, else an
    /// ellipsis.
    pub(crate) fn shown(&self) -> &str {
        if self.made { self.token.secret() } else { "…" }
    }
}

/// The tokens of all roles.
#[derive(Debug, Clone)]
pub(crate) struct RoleTokens {
    pub(crate) teacher: Option<RoleToken>,
    pub(crate) student: Option<RoleToken>,
    pub(crate) spectator: Option<RoleToken>,
}

impl RoleTokens {
    /// Parses the options of `chicane serve`. An empty text means no token, and `auto` creates a
    /// random token.
    pub(crate) fn parse(args: &ServeArgs) -> Result<RoleTokens, TokenError> {
        let tokens = RoleTokens {
            teacher: role_token("--token", args.token.as_deref())?,
            student: role_token("--student-token", args.student_token.as_deref())?,
            spectator: role_token("--spectator-token", args.spectator_token.as_deref())?,
        };
        let token = |of: &Option<RoleToken>| of.as_ref().map(|one| one.token.clone());
        Tokens::new(token(&tokens.teacher), token(&tokens.student), token(&tokens.spectator))?;
        Ok(tokens)
    }
}

fn role_token(option: &'static str, text: Option<&str>) -> Result<Option<RoleToken>, TokenError> {
    if text == Some("auto") {
        return Ok(Some(RoleToken { token: Token::random()?, made: true }));
    }
    let token = parse(option, text)?;
    if token.as_ref().is_some_and(Token::is_short) {
        tracing::warn!("{option} is short and may be guessed: use 12 or more random characters, or `auto`");
    }
    Ok(token.map(|token| RoleToken { token, made: false }))
}

/// Parses the value of `--cdn-token`. An empty text means no token.
pub(crate) fn cdn_token(text: Option<&str>) -> Result<Option<Token>, TokenError> {
    parse("--cdn-token", text)
}

fn parse(option: &'static str, text: Option<&str>) -> Result<Option<Token>, TokenError> {
    let token = text.filter(|text| !text.is_empty()).map(Token::parse).transpose();
    token.map_err(|source| TokenError::Invalid { option, source })
}
