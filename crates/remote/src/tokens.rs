//! The tokens of a simulator. Each token has a role.

use crate::Token;
use chicane_wire::Role;

/// The tokens that give access to a simulator. A simulator that needs no token has no value of this
/// type.
#[derive(Debug, Clone)]
pub struct Tokens(Vec<(Role, Token)>);

/// The tokens can't be used together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadTokens {
    /// A student or spectator has a token, but the teacher has none.
    #[error(
        "--{}-token restricts access only if the teacher has a token: add --token auto, or one of your own",
        .0.name()
    )]
    NoTeacher(Role),
    /// Two roles have the same token.
    #[error("the tokens of {} and {} are equal: every role needs a token of its own", .0.name(), .1.name())]
    Equal(Role, Role),
}

impl Tokens {
    /// The tokens of all roles. `None` if no role has a token.
    pub fn new(
        teacher: Option<Token>,
        student: Option<Token>,
        spectator: Option<Token>,
    ) -> Result<Option<Tokens>, BadTokens> {
        let given = [(Role::Teacher, teacher), (Role::Student, student), (Role::Spectator, spectator)];
        let all: Vec<(Role, Token)> =
            given.into_iter().filter_map(|(role, token)| Some((role, token?))).collect();
        match all.first() {
            None => return Ok(None),
            Some((Role::Teacher, _)) => {}
            Some((role, _)) => return Err(BadTokens::NoTeacher(*role)),
        }
        for (k, (role, token)) in all.iter().enumerate() {
            if let Some((other, _)) = all[k + 1..].iter().find(|(_, other)| other == token) {
                return Err(BadTokens::Equal(*role, *other));
            }
        }
        Ok(Some(Tokens(all)))
    }

    /// The role of the token `text`. `None` if the token is wrong. The text is always compared with
    /// every token, so that the duration does not depend on which token it equals.
    pub fn role(&self, text: &str) -> Option<Role> {
        let matching = |(role, token): &(Role, Token)| token.matches(text).then_some(*role);
        self.0.iter().map(matching).fold(None, Option::or)
    }

    /// The token of a role. `None` if the role has no token.
    pub fn of(&self, role: Role) -> Option<&Token> {
        self.0.iter().find(|(own, _)| *own == role).map(|(_, token)| token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(text: &str) -> Option<Token> {
        Some(Token::parse(text).expect("a token"))
    }

    #[test]
    fn each_token_has_its_role() {
        let all = Tokens::new(token("teacher-1"), token("student-1"), token("spectator-1"));
        let all = all.expect("valid").expect("tokens");
        assert_eq!(all.role("teacher-1"), Some(Role::Teacher));
        assert_eq!(all.role("student-1"), Some(Role::Student));
        assert_eq!(all.role("spectator-1"), Some(Role::Spectator));
        for wrong in ["", "teacher-", "teacher-2", "STUDENT-1"] {
            assert_eq!(all.role(wrong), None, "{wrong}");
        }
        assert!(Tokens::new(None, None, None).expect("valid").is_none());
    }

    #[test]
    fn equal_tokens_and_a_missing_teacher_are_refused() {
        let equal = Tokens::new(token("same-token"), None, token("same-token")).expect_err("refused");
        assert_eq!(
            equal.to_string(),
            "the tokens of teacher and spectator are equal: every role needs a token of its own"
        );
        let alone = Tokens::new(None, token("student-1"), None).expect_err("refused").to_string();
        assert!(alone.starts_with("--student-token ") && alone.contains("--token auto"), "{alone}");
    }
}
