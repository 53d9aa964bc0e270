//! Ids of sounds: `a` and a number, such as `a1`.

use super::super::error::RobotError;
use chicane_host::driver::Refused;
use chicane_wire::ErrorCode;

/// The number in the id of a sound.
pub(super) fn number_of(id: &str) -> Result<u64, RobotError> {
    let digits =
        id.strip_prefix('a').filter(|d| d.bytes().all(|b| b.is_ascii_digit()) && !d.starts_with('0'));
    digits.and_then(|digits| digits.parse().ok()).ok_or_else(|| no_such_sound(id))
}

/// The error response if a command for the sound `id` is refused, by the robot or for another
/// reason.
pub(super) fn refused(refused: Refused, id: &str) -> RobotError {
    match refused {
        Refused::ByRobot(chicane_robot::Refusal::NoSuchSound) => no_such_sound(id),
        other => other.into(),
    }
}

fn no_such_sound(id: &str) -> RobotError {
    let text = format!("no sound {id:.40} plays; GET /audio lists the playing sounds");
    RobotError::new(ErrorCode::NoSuchSound, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_the_letter_a_and_a_number() {
        assert_eq!(number_of("a1"), Ok(1));
        assert_eq!(number_of("a120"), Ok(120));
        for id in ["", "a", "1", "b1", "a0", "a01", "a+1", "a1 ", "a99999999999999999999"] {
            assert!(number_of(id).is_err(), "{id:?}");
        }
    }
}
