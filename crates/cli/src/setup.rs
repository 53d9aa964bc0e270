//! `chicane setup`: prepares what judging scripts need, and says whether they can run here.

use chicane_session::{Setting, SettingOptions, root};

pub(crate) fn run() -> Result<(), String> {
    let folder = root::folder().map_err(|e| e.to_string())?;
    let begun = std::time::Instant::now();
    let prepared =
        root::prepare(&folder, &mut |step| println!("judge: {step}")).map_err(|e| e.to_string())?;
    if prepared {
        println!("judge: Python 3.14 is in {} ({:.0} s)", folder.display(), begun.elapsed().as_secs_f64());
    }
    let launcher = std::env::current_exe().map_err(|e| e.to_string())?;
    let setting = Setting::find(&SettingOptions { launcher, folder, isolation: None, engine: None })
        .map_err(|e| e.to_string())?;
    let isolation = setting.try_out().map_err(|e| format!("judging scripts can't be run here: {e}"))?;
    println!("judge: ready: {}", setting.describe(isolation));
    Ok(())
}
