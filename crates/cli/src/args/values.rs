//! Parsers for the values of options.

use super::grade::Seeds;
use chicane_world::Bounds;
use glam::DVec2;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Why an option does not accept a value. clap adds the value and the option to the error text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum ValueError {
    #[error("must be a command of 1 to 1000 characters")]
    Command,
    #[error("must be a number of seconds from 1 to 3600")]
    TimeLimit,
    #[error("must be a number of seconds from 1 to 86400")]
    WallLimit,
    #[error("must be a number of hours from 0.1 to 720")]
    Hours,
    #[error("must be a name of at most {} characters", chicane_leaderboard::MAX_NAME)]
    ShownName,
    #[error("must be a name of at most 200 characters without control characters")]
    StudentName,
    #[error("must be a speed from 0.1 to 3 m/s")]
    LapSpeed,
    #[error("must be a factor from 0.05 to 100, or 0")]
    SpeedFactor,
    #[error("must be two numbers, such as 8x6")]
    FieldSize,
    #[error("must be 1 to 100 numbers from 0 to 9007199254740991, such as 1-3 or 1,5,9")]
    Seeds,
    #[error("must be a host name without a port, such as lab.example.org")]
    HostName,
    #[error("must be a web address, such as https://example.org/worlds")]
    WebAddress,
    #[error("must be four numbers of metres with X0 < X1 and Y0 < Y1, such as 0,0,5,4")]
    PrintArea,
    #[error("must be a name of 1 to 100 letters, digits, dashes and underscores")]
    WorldAlias,
    #[error("must be an origin without a path, such as https://app.foxglove.dev")]
    Origin,
    #[error("must be the origin of a page, without a path, such as http://localhost:3000")]
    PageOrigin,
}

pub(super) fn student_command(text: &str) -> Result<String, ValueError> {
    if text.trim().is_empty() || text.chars().count() > 1000 || text.contains('\0') {
        return Err(ValueError::Command);
    }
    Ok(text.to_owned())
}

pub(super) fn time_limit(text: &str) -> Result<f64, ValueError> {
    number_in(text, 1.0..=3600.0).ok_or(ValueError::TimeLimit)
}

pub(super) fn wall_limit(text: &str) -> Result<f64, ValueError> {
    number_in(text, 1.0..=86_400.0).ok_or(ValueError::WallLimit)
}

pub(super) fn hours(text: &str) -> Result<f64, ValueError> {
    number_in(text, 0.1..=720.0).ok_or(ValueError::Hours)
}

pub(super) fn student_name(text: &str) -> Result<String, ValueError> {
    if text.trim().is_empty() || text.chars().count() > 200 || text.chars().any(char::is_control) {
        return Err(ValueError::StudentName);
    }
    Ok(text.to_owned())
}

/// Accepts a name that is not empty, has no control characters and is short enough for the
/// leaderboard. The leaderboard itself refuses further characters, such as `<`.
pub(super) fn shown_name(text: &str) -> Result<String, ValueError> {
    if text.chars().count() > chicane_leaderboard::MAX_NAME {
        return Err(ValueError::ShownName);
    }
    student_name(text)
}

/// Largest number of seeds in a plan.
const MAX_SEEDS: usize = 100;

/// Accepts numbers and ranges, separated by commas, such as `1-3,7`.
pub(super) fn seeds(text: &str) -> Result<Seeds, ValueError> {
    let number =
        |text: &str| text.trim().parse::<u64>().ok().filter(|seed| *seed < 1 << 53).ok_or(ValueError::Seeds);
    let mut all = BTreeSet::new();
    for part in text.split(',') {
        let (first, last) = match part.split_once('-') {
            Some((first, last)) => (number(first)?, number(last)?),
            None => (number(part)?, number(part)?),
        };
        if last < first || last - first >= MAX_SEEDS as u64 {
            return Err(ValueError::Seeds);
        }
        all.extend(first..=last);
    }
    if all.len() > MAX_SEEDS { Err(ValueError::Seeds) } else { Ok(Seeds(all.into_iter().collect())) }
}

pub(super) fn lap_speed(text: &str) -> Result<f64, ValueError> {
    number_in(text, 0.1..=3.0).ok_or(ValueError::LapSpeed)
}

pub(super) fn speed_factor(text: &str) -> Result<f64, ValueError> {
    let unlimited = number_in(text, 0.0..=0.0);
    unlimited.or_else(|| number_in(text, 0.05..=100.0)).ok_or(ValueError::SpeedFactor)
}

pub(super) fn field_size(text: &str) -> Result<[f64; 2], ValueError> {
    let sides = text.split_once('x').and_then(|(w, h)| Some([w.parse().ok()?, h.parse().ok()?]));
    sides.ok_or(ValueError::FieldSize)
}

/// Largest absolute coordinate of an area to print, in metres.
const MAX_AREA_M: f64 = 1e6;

pub(super) fn print_area(text: &str) -> Result<Bounds, ValueError> {
    let numbers = text.split(',').map(|n| number_in(n.trim(), -MAX_AREA_M..=MAX_AREA_M));
    let Some([x0, y0, x1, y1]) =
        numbers.collect::<Option<Vec<_>>>().and_then(|n| <[f64; 4]>::try_from(n).ok())
    else {
        return Err(ValueError::PrintArea);
    };
    if x0 >= x1 || y0 >= y1 {
        return Err(ValueError::PrintArea);
    }
    Ok(Bounds { min: DVec2::new(x0, y0), max: DVec2::new(x1, y1) })
}

pub(super) fn world_alias(text: &str) -> Result<String, ValueError> {
    let name = text.strip_suffix(".world").unwrap_or(text);
    let is_allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
    if !(1..=100).contains(&name.len()) || !name.bytes().all(is_allowed) {
        return Err(ValueError::WorldAlias);
    }
    Ok(name.to_owned())
}

fn number_in(text: &str, range: RangeInclusive<f64>) -> Option<f64> {
    text.parse().ok().filter(|number| range.contains(number))
}

pub(super) fn host_name(text: &str) -> Result<String, ValueError> {
    let is_allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_');
    if text.is_empty() || !text.bytes().all(is_allowed) {
        return Err(ValueError::HostName);
    }
    Ok(text.to_ascii_lowercase())
}

/// Accepts an origin as browsers send it: a scheme and a host, with a port if there is one. The
/// host may be empty, as in `file://`. `null` is not accepted, because any site can open a page
/// with that origin.
pub(super) fn origin(text: &str) -> Result<String, ValueError> {
    let Some((scheme, host)) = text.split_once("://") else { return Err(ValueError::Origin) };
    let in_scheme = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.');
    let in_host = |b: u8| b.is_ascii_graphic() && !matches!(b, b'/' | b'?' | b'#' | b'@');
    if scheme.is_empty() || !scheme.bytes().all(in_scheme) || !host.bytes().all(in_host) {
        return Err(ValueError::Origin);
    }
    Ok(text.to_owned())
}

/// Accepts the origin of a page, and returns it as browsers send it: in lower case, without a slash
/// at the end, and without the default port of the scheme.
pub(super) fn page_origin(text: &str) -> Result<String, ValueError> {
    let text = text.strip_suffix('/').unwrap_or(text).to_ascii_lowercase();
    let (scheme, host) = text.split_once("://").ok_or(ValueError::PageOrigin)?;
    let usual_port = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => return Err(ValueError::PageOrigin),
    };
    let host = host.strip_suffix(usual_port).unwrap_or(host);
    // The origin becomes a part of the header `Content-Security-Policy` (`frame-ancestors`).
    // Another character, such as `;`, could add a directive to this header.
    let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b':' | b'[' | b']');
    if host.is_empty() || host.starts_with(':') || !host.bytes().all(fits) {
        return Err(ValueError::PageOrigin);
    }
    Ok(format!("{scheme}://{host}"))
}

/// Accepts an HTTP or HTTPS address and removes slashes at its end.
pub(super) fn web_address(text: &str) -> Result<String, ValueError> {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    match rest {
        Some(rest) if !rest.is_empty() && !text.contains(char::is_whitespace) => {
            Ok(text.trim_end_matches('/').to_owned())
        }
        _ => Err(ValueError::WebAddress),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_numbers_and_ranges() {
        for (text, expected) in [("7", vec![7]), ("1-3", vec![1, 2, 3]), ("5, 1-2,2", vec![1, 2, 5])] {
            assert_eq!(seeds(text), Ok(Seeds(expected)));
        }
        for bad in ["", "a", "3-1", "1-", "-1", "0-100", "9007199254740992", "1,,2"] {
            assert_eq!(seeds(bad), Err(ValueError::Seeds), "{bad}");
        }
    }

    #[test]
    fn an_origin_has_a_scheme_and_no_path() {
        for good in ["https://app.foxglove.dev", "http://localhost:8080", "file://", "foxglove-app://x"] {
            assert_eq!(origin(good), Ok(good.to_owned()));
        }
        for bad in ["", "null", "*", "app.foxglove.dev", "https://a/b", "https://a b", "https://u@a", "://a"]
        {
            assert_eq!(origin(bad), Err(ValueError::Origin), "{bad}");
        }
    }

    #[test]
    fn the_origin_of_a_page_is_written_as_browsers_write_it() {
        for (given, sent) in [
            ("http://localhost:3000", "http://localhost:3000"),
            ("HTTPS://Lab.Example:443/", "https://lab.example"),
            ("http://127.0.0.1:80", "http://127.0.0.1"),
            ("http://[::1]:8080", "http://[::1]:8080"),
        ] {
            assert_eq!(page_origin(given).as_deref(), Ok(sent), "{given}");
        }
        for bad in [
            "",
            "null",
            "*",
            "localhost:3000",
            "file://",
            "http://",
            "http://a/b",
            "http://a;b",
            "http://a b",
            "ws://a",
        ] {
            assert_eq!(page_origin(bad), Err(ValueError::PageOrigin), "{bad}");
        }
    }
}
