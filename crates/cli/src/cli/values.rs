//! Values that words of the command line take, and what is said about others.

pub(super) fn student_command(text: &str) -> Result<String, String> {
    if text.trim().is_empty() || text.chars().count() > 1000 || text.contains('\0') {
        return Err("it is a command of at most 1000 characters".to_owned());
    }
    Ok(text.to_owned())
}

pub(super) fn time_limit(text: &str) -> Result<f64, String> {
    within(text, 1.0, 3600.0).ok_or_else(|| format!("it is a number of seconds from 1 to 3600, not {text}"))
}

pub(super) fn lap_speed(text: &str) -> Result<f64, String> {
    within(text, 0.1, 3.0).ok_or_else(|| format!("--speed takes metres a second from 0.1 to 3, not {text}"))
}

pub(super) fn pace(text: &str) -> Result<f64, String> {
    let fast = within(text, 0.0, 0.0);
    fast.or_else(|| within(text, 0.05, 100.0)).ok_or_else(|| format!("it is 0.05 to 100, or 0, not {text}"))
}

pub(super) fn field_size(text: &str) -> Result<[f64; 2], String> {
    let sides = text.split_once('x').and_then(|(w, h)| Some([w.parse().ok()?, h.parse().ok()?]));
    sides.ok_or_else(|| format!("it is two numbers such as 8x6, not {text}"))
}

pub(super) fn within(text: &str, low: f64, high: f64) -> Option<f64> {
    text.parse().ok().filter(|v| (low..=high).contains(v))
}

pub(super) fn host_name(text: &str) -> Result<String, String> {
    let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_');
    if text.is_empty() || !text.bytes().all(fits) {
        return Err("it is a host name without a port, such as lab.example.org".to_owned());
    }
    Ok(text.to_ascii_lowercase())
}

pub(super) fn web_address(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    match rest {
        Some(rest) if !rest.is_empty() && !text.contains(char::is_whitespace) => {
            Ok(text.trim_end_matches('/').to_owned())
        }
        _ => Err("it is an address such as https://example.org/worlds".to_owned()),
    }
}
