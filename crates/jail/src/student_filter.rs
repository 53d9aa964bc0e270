//! The filter of system calls for a student's program in a closed box.
//!
//! The program has no privilege and its own namespaces, so the filter only takes away parts of the
//! kernel that a program for a car never needs, and that have had many errors: for example new
//! namespaces, mounts, keys, programs inside the kernel (eBPF), and rare socket families. All other
//! calls are allowed, so that compilers, debuggers and any library work.

use super::seccomp::{FilterError, NEW_NAMESPACES};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};
use std::collections::BTreeMap;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Calls that fail with `EPERM`.
const DENIED: &[i64] = &[
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
];

/// Calls that fail with `ENOSYS`, as on an older kernel, so that libraries use another call.
/// `clone3` is one of them, because a filter can't read its flags, which could create namespaces.
const MISSING: &[i64] =
    &[libc::SYS_clone3, libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register];

/// Bits that are added to the numbers of the refused system calls: none, and the bit of the ABI
/// x32. Otherwise a program could make a refused call under its number in x32.
#[cfg(target_arch = "x86_64")]
const OTHER_ABI: &[i64] = &[0, 0x4000_0000];
#[cfg(not(target_arch = "x86_64"))]
const OTHER_ABI: &[i64] = &[0];

/// Installs the filter for this process and its children.
pub(super) fn install() -> Result<(), FilterError> {
    for (rules, code) in [(denied(), libc::EPERM), (missing(), libc::ENOSYS)] {
        let program = rules.and_then(|rules| build(rules, code)).map_err(FilterError::Build)?;
        seccompiler::apply_filter(&program).map_err(FilterError::Install)?;
    }
    Ok(())
}

fn build(rules: Rules, code: i32) -> Result<BpfProgram, BackendError> {
    let arch: TargetArch = std::env::consts::ARCH.try_into()?;
    let refuse = SeccompAction::Errno(code.unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch)?.try_into()
}

fn missing() -> Result<Rules, BackendError> {
    Ok(OTHER_ABI.iter().flat_map(|abi| MISSING.iter().map(move |call| (call | abi, Vec::new()))).collect())
}

fn denied() -> Result<Rules, BackendError> {
    let condition = |argument: u8, operator, value: i32| {
        let value = u64::from(value.unsigned_abs());
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
    };
    let mut rules = Rules::new();
    for abi in OTHER_ABI {
        rules.extend(DENIED.iter().map(|call| (call | abi, Vec::new())));
        let flags = (0..32).map(|bit| 1u64 << bit).filter(|flag| NEW_NAMESPACES & flag != 0);
        for flag in flags {
            for call in [libc::SYS_clone, libc::SYS_unshare] {
                let set = SeccompCmpOp::MaskedEq(flag);
                let set = SeccompCondition::new(0, SeccompCmpArgLen::Dword, set, flag)?;
                rules.entry(call | abi).or_default().push(SeccompRule::new(vec![set])?);
            }
        }
        // The allowed families are local sockets, both internet protocols, and the routing socket,
        // which lists addresses. A socket to the machine's hypervisor (`AF_VSOCK`) would leave the
        // box, because it belongs to no network namespace.
        let families = [
            vec![
                condition(0, SeccompCmpOp::Gt, libc::AF_INET)?,
                condition(0, SeccompCmpOp::Lt, libc::AF_INET6)?,
            ],
            vec![
                condition(0, SeccompCmpOp::Gt, libc::AF_INET6)?,
                condition(0, SeccompCmpOp::Lt, libc::AF_NETLINK)?,
            ],
            vec![condition(0, SeccompCmpOp::Gt, libc::AF_NETLINK)?],
            vec![
                condition(0, SeccompCmpOp::Eq, libc::AF_NETLINK)?,
                condition(2, SeccompCmpOp::Ne, libc::NETLINK_ROUTE)?,
            ],
        ];
        for family in families {
            rules.entry(libc::SYS_socket | abi).or_default().push(SeccompRule::new(family)?);
        }
    }
    Ok(rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_filters_can_be_built() {
        assert!(!build(denied().expect("rules"), libc::EPERM).expect("built").is_empty());
        assert!(!build(missing().expect("rules"), libc::ENOSYS).expect("built").is_empty());
    }
}
