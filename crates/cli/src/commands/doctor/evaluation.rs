//! Checks of what evaluations need: the judge, boxes, control groups, virtual time.

use super::Check;
use crate::args::DoctorArgs;
use crate::judge_setting;
use crate::temp_folder::TempFolder;
use chicane_session::jail::{Cgroups, leave_own_group, network::Network};
use chicane_session::{BoxOptions, Setting, StudentProgram, measure_box, root};
use chicane_wire::BoxKind;
use std::collections::BTreeMap;

/// The remedy that tells how to start the simulator so that it can create control groups.
const DELEGATE: &str = "start chicane with `systemd-run --user --scope --property=Delegate=yes`, or as a service \
                        with Delegate=yes; in a container, make /sys/fs/cgroup writable";

pub(super) fn checks(args: &DoctorArgs) -> Vec<Check> {
    let setting = judge_setting::find(&args.judge);
    let why = setting.as_ref().err().map(ToString::to_string).unwrap_or_default();
    let found = setting.as_ref().map_err(|_| why.as_str());
    let checks = vec![
        judge_python(args),
        judge(found),
        closed_box(found),
        control_groups(setting.as_ref().map_or_else(|_| Cgroups::find(), |setting| setting.cgroups.clone())),
        user_namespaces(),
        seccomp(),
        internet(setting.as_ref().ok()),
        virtual_time(),
    ];
    leave_own_group();
    checks
}

/// Checks that the Python for judging scripts is installed.
fn judge_python(args: &DoctorArgs) -> Check {
    const NAME: &str = "judge-python";
    if args.judge.name() != "own" {
        return Check::ok(NAME, format!("comes with the image of {}", args.judge.name()));
    }
    let remedy = "run `chicane setup`, which needs a machine or container with Debian";
    match root::folder().and_then(|folder| root::ready(&folder)) {
        Ok(root) => Check::ok(NAME, format!("Python 3.14 is in {}", root.display())),
        Err(error) => Check::failure(NAME, error.to_string(), remedy),
    }
}

/// Starts a judge, and lets the judge check a script.
fn judge(setting: Result<&Setting, &str>) -> Check {
    const NAME: &str = "judge";
    let remedy =
        "run `chicane setup` and see the other checks; --judge podman uses a container engine instead";
    match setting {
        Err(why) => Check::failure(NAME, why, remedy),
        Ok(setting) => match setting.try_out() {
            Ok(isolation) => Check::ok(NAME, setting.describe(isolation)),
            Err(error) => Check::failure(NAME, format!("judging scripts can't run: {error}"), remedy),
        },
    }
}

/// Starts a program in a closed box.
fn closed_box(setting: Result<&Setting, &str>) -> Check {
    const NAME: &str = "closed-box";
    let remedy = "see the checks control-groups and user-namespaces; --box host runs programs of people whom \
                  you trust without a closed box";
    let options = BoxOptions::new(BoxKind::Closed);
    let tried = setting.map_err(str::to_owned).and_then(|setting| {
        if let Some(problem) = setting.box_problem(&options) {
            return Err(problem);
        }
        let workspace = TempFolder::new().map_err(|error| error.to_string())?;
        let program = StudentProgram {
            command: "true".to_owned(),
            workspace: workspace.path().to_owned(),
            environment: BTreeMap::new(),
            hide: Vec::new(),
            options: options.clone(),
            port: None,
            virtual_time: None,
        };
        measure_box(setting, program).map_err(|error| error.to_string())
    });
    match tried {
        Ok(time) => Check::ok(NAME, format!("a program starts in {} ms", time.as_millis())),
        Err(why) => {
            Check::failure(NAME, format!("student programs can't run in closed boxes: {why}"), remedy)
        }
    }
}

fn control_groups(found: Cgroups) -> Check {
    const NAME: &str = "control-groups";
    match found {
        Cgroups::V2(folder) => {
            Check::ok(NAME, format!("version 2, groups can be created in {}", folder.display()))
        }
        Cgroups::V1(_) => Check::ok(NAME, "version 1, groups can be created"),
        Cgroups::None if std::path::Path::new("/sys/fs/cgroup/cgroup.controllers").exists() => {
            Check::failure(
                NAME,
                "version 2 exists, but its controllers memory and pids are not delegated to this process",
                DELEGATE,
            )
        }
        Cgroups::None => Check::failure(NAME, "none can be created", DELEGATE),
    }
}

/// Checks the settings of the kernel that can forbid user namespaces.
fn user_namespaces() -> Check {
    const NAME: &str = "user-namespaces";
    if !std::path::Path::new("/proc/self/ns/user").exists() {
        return Check::failure(NAME, "the kernel has none", "use a kernel with CONFIG_USER_NS");
    }
    let is_root = rustix::process::geteuid().is_root();
    let forbids =
        |file: &str, value: &str| std::fs::read_to_string(file).is_ok_and(|text| text.trim() == value);
    if forbids("/proc/sys/user/max_user_namespaces", "0") {
        return Check::failure(
            NAME,
            "user.max_user_namespaces is 0",
            "sysctl user.max_user_namespaces=10000",
        );
    }
    for (file, value, name, remedy) in [
        (
            "/proc/sys/kernel/unprivileged_userns_clone",
            "0",
            "kernel.unprivileged_userns_clone is 0",
            "sysctl kernel.unprivileged_userns_clone=1",
        ),
        (
            "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "AppArmor restricts them for users other than root",
            "sysctl kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile for chicane with `userns,`",
        ),
    ] {
        if !is_root && forbids(file, value) {
            return Check::failure(NAME, name, remedy);
        }
    }
    Check::ok(NAME, "allowed")
}

fn seccomp() -> Check {
    const NAME: &str = "seccomp";
    let actions = std::fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail").unwrap_or_default();
    if actions.split_whitespace().any(|action| action == "errno") {
        return Check::ok(NAME, "filters of system calls are available");
    }
    Check::failure(
        NAME,
        "the kernel has no filters of system calls",
        "use a kernel with CONFIG_SECCOMP_FILTER",
    )
}

/// Checks the internet access of judging scripts, and of student programs with `--student-network
/// internet`.
fn internet(setting: Option<&Setting>) -> Check {
    const NAME: &str = "judge-internet";
    let tools = root::folder().map(|folder| root::tools(&folder));
    let network = match setting {
        Some(setting) => setting.network.clone(),
        None => tools.ok().and_then(|tools| Network::find(&tools)),
    };
    match network {
        Some(network) if network.describe().contains("WITHOUT") => {
            Check::warning(NAME, network.describe(), "update slirp4netns to 1.0 or newer")
        }
        Some(network) => Check::ok(NAME, network.describe()),
        None if !std::path::Path::new("/dev/net/tun").exists() => Check::warning(
            NAME,
            "judging scripts have no internet: /dev/net/tun is missing",
            "modprobe tun; in a container, add the device /dev/net/tun",
        ),
        None => Check::warning(
            NAME,
            "judging scripts have no internet: slirp4netns is missing",
            "run `chicane setup`, or apt-get install slirp4netns",
        ),
    }
}

fn virtual_time() -> Check {
    const NAME: &str = "virtual-time";
    match chicane_pace::problem() {
        None => Check::ok(NAME, "simulated time can wait for programs"),
        Some(why) => {
            Check::failure(NAME, why, "use a kernel with CONFIG_INET_DIAG and /proc, or --pace real")
        }
    }
}
