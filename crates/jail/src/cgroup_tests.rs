//! These tests check which files are read and written. A temporary folder imitates the kernel's
//! control groups.

use super::super::group::{Usage, WatchedGroup};
use super::*;

/// A temporary folder that imitates `/sys/fs/cgroup`.
struct FakeCgroups(PathBuf);

impl FakeCgroups {
    fn new(name: &str) -> FakeCgroups {
        let folder = std::env::temp_dir().join(format!("chicane-cgroup-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder");
        FakeCgroups(folder)
    }

    /// Creates a group with the files that the kernel would create.
    fn group(&self, path: &str, controllers: &str, enabled: &str, members: &str) -> PathBuf {
        let folder = if path.is_empty() { self.0.clone() } else { self.0.join(path) };
        fs::create_dir_all(&folder).expect("a folder");
        for (file, text) in [
            ("cgroup.controllers", controllers),
            ("cgroup.subtree_control", enabled),
            ("cgroup.procs", members),
        ] {
            fs::write(folder.join(file), text).expect("written");
        }
        folder
    }
}

impl Drop for FakeCgroups {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// The only group below a folder.
fn only_child(folder: &Path) -> PathBuf {
    let mut all = fs::read_dir(folder).expect("a folder").flatten().map(|e| e.path()).filter(|p| p.is_dir());
    let one = all.next().expect("a group");
    assert_eq!(all.next(), None);
    one
}

#[test]
fn limits_of_version_2_go_into_the_files_of_the_kernel() {
    let fake = FakeCgroups::new("limits");
    let own = fake.group("user/unit", "cpu memory pids", "memory pids", "");
    fake.group("", "memory pids", "memory pids", "");
    assert_eq!(own_v2(&fake.0, "0::/user/unit\n"), Some(own.clone()));
    assert!(enable_controllers(&own), "the controllers were enabled already");
    let cgroups = Cgroups::V2(own.clone());
    let group = cgroups.group("judge").expect("a group");
    let folder = only_child(&own);
    let name = folder.file_name().and_then(|n| n.to_str()).expect("a name");
    assert!(name.starts_with(&format!("chicane-{}-judge-", std::process::id())), "{name}");
    group.limit(Some(805_306_368), Some(66)).expect("limited");
    for (file, text) in
        [("memory.max", "805306368"), ("memory.swap.max", "0"), ("memory.oom.group", "1"), ("pids.max", "66")]
    {
        assert_eq!(read(&folder, file), text, "{file}");
    }
    group.add(4321).expect("added");
    assert_eq!(read(&folder, "cgroup.procs"), "4321");

    assert_eq!(group.usage(), None, "no file to read yet");
    for (file, text) in [
        ("memory.stat", "anon 1234567\nfile 99\nanon_thp 5\n"),
        ("cpu.stat", "usage_usec 2500000\nuser_usec 1\n"),
        ("memory.events", "low 0\nmax 7\noom 2\noom_kill 1\noom_group_kill 1\n"),
        ("pids.events", "max 3\n"),
    ] {
        fs::write(folder.join(file), text).expect("written");
    }
    let used = Usage { memory: 1_234_567, cpu_us: 2_500_000, out_of_memory: 1, refused_processes: 3 };
    assert_eq!(group.usage(), Some(used));

    // The fake group now has the file `cgroup.kill`, so `kill` has to write to this file and send
    // no signals. The process id 4,194,399 is larger than every id that Linux assigns, so a signal
    // would reach no process.
    fs::write(folder.join("cgroup.kill"), "").expect("written");
    fs::write(folder.join("cgroup.procs"), "4194399\n").expect("written");
    assert!(!group.kill(), "a process was left");
    assert_eq!(read(&folder, "cgroup.kill"), "1");
    fs::write(folder.join("cgroup.procs"), "").expect("written");
    assert!(group.kill(), "no process is left");
    // The real kernel removes the files together with the folder.
    fs::remove_dir_all(&folder).expect("gone");
    drop(group);
}

#[test]
fn a_group_without_controllers_is_not_used() {
    let fake = FakeCgroups::new("none");
    let bare = fake.group("", "hugetlb", "", "1\n");
    assert!(!enable_controllers(&bare));
    assert_eq!(read(&bare, "cgroup.subtree_control"), "", "nothing was written");
    assert_eq!(Cgroups::find_in(&fake.0, "0::/\n"), Cgroups::None);
    assert_eq!(Cgroups::find_in(&fake.0, ""), Cgroups::None);
    // For comparison: a group that has the required controllers is used, and the controllers are
    // enabled for the children of the group.
    let own = fake.group("unit", "cpu memory pids", "", "");
    assert!(enable_controllers(&own));
    assert_eq!(read(&own, "cgroup.subtree_control"), "+memory +pids +cpu");
}

#[test]
fn version_2_is_found_in_the_unified_folder_beside_version_1() {
    let fake = FakeCgroups::new("hybrid");
    fake.group("unified", "hugetlb", "", "");
    let own = "3:memory:/a\n2:pids:/b\n1:cpu,cpuacct:/c\n0::/d\n";
    assert_eq!(own_v2(&fake.0, own), Some(fake.0.join("unified/d")));
    let three = [fake.0.join("memory/a"), fake.0.join("pids/b"), fake.0.join("cpuacct/c")];
    assert_eq!(own_v1(&fake.0, own).expect("all three"), three);
    fs::create_dir_all(fake.0.join("cpu/e")).expect("a folder");
    let apart = "3:memory:/a\n2:pids:/b\n1:cpuacct:/c\n4:cpu:/e\n";
    assert_eq!(own_v1(&fake.0, apart).expect("all four")[3], fake.0.join("cpu/e"));
    assert_eq!(own_v1(&fake.0, "3:memory:/a\n"), None);
}

#[test]
fn groups_of_killed_simulators_are_removed() {
    let fake = FakeCgroups::new("sweep");
    let own = fake.group("", "memory pids", "memory pids", "");
    let (dead, living) =
        (own.join("chicane-4194399-judge-0"), own.join(format!("chicane-{}-judge-0", std::process::id())));
    let others = ["somebody", "chicane-", "chicane-test-7", "chicane-7x-judge-0"].map(|name| own.join(name));
    for folder in [&dead, &living].into_iter().chain(&others) {
        fs::create_dir(folder).expect("a folder");
    }
    Cgroups::V2(own).remove_orphans();
    assert!(!dead.exists() && living.exists());
    assert_eq!(others.iter().find(|other| !other.exists()), None);
}

#[test]
fn the_limited_group_of_an_engine_may_be_a_parent() {
    let fake = FakeCgroups::new("engine");
    fake.group("", "memory pids", "memory pids", "");
    let scope = fake.group("machine/libpod-1.scope", "memory pids", "memory pids", "");
    let inner = fake.group("machine/libpod-1.scope/container", "memory pids", "", "77\n");
    fs::write(inner.join("memory.max"), "max\n").expect("written");
    fs::write(scope.join("memory.max"), "805306368\n").expect("written");
    fs::write(scope.join("memory.stat"), "anon 5\n").expect("written");
    let group = WatchedGroup::find_in(&fake.0, "0::/machine/libpod-1.scope/container\n").expect("found");
    assert!(group.limits_memory(805_306_368) && !group.limits_memory(805_306_367));
    assert_eq!(group.usage().map(|usage| usage.memory), Some(5));
    drop(group);
    assert!(scope.exists(), "a watched group is not removed");
    assert!(WatchedGroup::find_in(&fake.0, "0::/elsewhere\n").is_none());
}

#[test]
fn the_simulator_leaves_only_the_root_group_of_the_processor() {
    let fake = FakeCgroups::new("autogroup");
    let cpu = fake.0.join("cpu");
    fs::create_dir_all(cpu.join("unit")).expect("a folder");
    leave_autogroup(&fake.0, "3:cpu:/unit\n");
    leave_autogroup(&fake.0, "4:memory:/\n");
    assert_eq!(only_child(&cpu), cpu.join("unit"), "a service has a group already");
    fs::remove_dir(cpu.join("unit")).expect("removed");
    leave_autogroup(&fake.0, "4:memory:/\n3:cpu,cpuacct:/\n");
    let own = std::process::id().to_string();
    let child = only_child(&cpu);
    assert_eq!(child, cpu.join(format!("chicane-{own}-self")));
    assert_eq!(read(&child, "cgroup.procs"), own);
    // New groups go beside the simulator's own group and not inside, because a later simulator
    // would not find and remove groups inside of it.
    let inside = format!("3:cpu:/chicane-{own}-self\n");
    assert_eq!(own_cpu_v1(&fake.0, &inside), Some(cpu));
}
