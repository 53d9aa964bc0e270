//! The limits of a closed box, and the end of its processes.

use crate::support::{Running, TempFolder, evaluate, lines, output, processes, record, unique_number, until};

#[test]
fn a_program_used_more_memory_than_its_limit() {
    let workspace = TempFolder::new();
    let run = |options: &[&str], program: &str| {
        let mut command = evaluate(&workspace.0, &format!("python3 -c \"{program}\"; echo status $?"));
        command.args(options);
        record(command)
    };
    // The control group limits the sum of memory and files, so the kernel would allow this program.
    // The simulator itself checks the memory, in which files do not count.
    let memory = run(
        &["--student-memory", "128", "--student-files", "1024"],
        "import time; x = [bytearray(1 << 20) for _ in range(600)]; time.sleep(100)",
    );
    assert_eq!(memory["run"]["oom"], true, "{memory:#}");
    assert_eq!(memory["run"]["signal"], 9, "{memory:#}");
    // Files without a name (`memfd_create`) count toward the limits too.
    let memfd = run(
        &["--student-memory", "64", "--student-files", "64"],
        "import os; [os.write(os.memfd_create('x'), bytes(50 << 20)) for _ in range(10)]",
    );
    assert_eq!(memfd["run"]["oom"], true, "{memfd:#}");
    let small = run(&["--student-memory", "128"], "bytearray(16 << 20)");
    assert_eq!((&small["run"]["oom"], output(&small)), (&false.into(), vec!["status 0".to_owned()]));
}

#[test]
fn a_program_wrote_more_files_than_its_limit() {
    let found = lines(
        &["--student-files", "32"],
        "for f in /tmp/a /dev/shm/b ~/c d; do head -c 20000000 /dev/zero > $f; done 2>&1 | grep -c 'No space'; \
         head -c 40000000 /dev/zero 2>/dev/null > /tmp/e; echo signal $?; \
         du -cm /tmp/a /dev/shm/b ~/c d 2>/dev/null | tail -1 | cut -f1",
    );
    let [refused, signal, total] = found.iter().map(String::as_str).collect::<Vec<_>>()[..] else {
        panic!("{found:#?}")
    };
    assert_eq!(refused, "3", "{found:#?}");
    assert_ne!(signal, "signal 0", "{found:#?}");
    assert!(total.parse::<u32>().expect("a number") <= 32, "{found:#?}");
}

#[test]
fn a_program_started_more_processes_than_its_limit() {
    let mark = unique_number();
    let workspace = TempFolder::new();
    let mut command = evaluate(
        &workspace.0,
        &format!("for i in $(seq 300); do sleep {mark} & done 2>/dev/null; sleep {mark}"),
    );
    // In virtual time the run would end at once, because its sleeps take no real time.
    command.args(["--student-processes", "40", "--pace", "real"]);
    let running = Running::start(command);
    let count = until("many processes", || Some(processes(&mark).len()).filter(|count| *count >= 30));
    assert!(count <= 40, "{count}");
    std::thread::scope(|scope| {
        // The number of processes never exceeds the limit, however long the program tries.
        scope.spawn(|| {
            for _ in 0..50 {
                assert!(processes(&mark).len() <= 40);
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
        });
    });
    running.interrupt();
    assert!(processes(&mark).is_empty());
}

#[test]
fn a_process_survived_the_end_of_the_run() {
    let mark = unique_number();
    let workspace = TempFolder::new();
    let program = format!(
        "trap '' TERM HUP INT; setsid sleep {mark} & (setsid bash -c 'sleep {mark} & disown' &); \
         nohup sleep {mark} >/dev/null 2>&1 & \
         python3 -c \"import os; os.fork() or (os.setsid(), os.fork() or os.execvp('sleep', ['sleep', '{mark}']))\"; \
         sleep {mark}"
    );
    let running = Running::start(evaluate(&workspace.0, &program));
    until("the background processes", || (processes(&mark).len() >= 5).then_some(()));
    let record = running.interrupt();
    assert_eq!(record["outcome"], "stopped", "{record:#}");
    assert!(processes(&mark).is_empty(), "{:?}", processes(&mark));
}

#[test]
fn a_program_had_privileges() {
    let mark = unique_number();
    let workspace = TempFolder::new();
    let running = Running::start(evaluate(&workspace.0, &format!("sleep {mark}")));
    let pid = until("the program", || processes(&mark).into_iter().next());
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("a status");
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    for set in ["CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"] {
        assert_eq!(field(set), ["0000000000000000"], "{set} {status}");
    }
    assert_eq!((field("NoNewPrivs:"), field("Seccomp:")), (vec!["1".to_owned()], vec!["2".to_owned()]));
    let own =
        std::fs::metadata("/proc/self").map(|m| std::os::unix::fs::MetadataExt::uid(&m)).expect("own id");
    for id in ["Uid:", "Gid:"] {
        for number in field(id) {
            let number: u32 = number.parse().expect("a number");
            if own == 0 {
                assert!(number != 0 && number != 65_534, "{status}");
            } else {
                assert_eq!(number, own, "{status}");
            }
        }
    }
    assert!(field("Groups:").is_empty() || own != 0, "{status}");
    drop(running.interrupt());
}

#[test]
fn a_program_made_a_forbidden_system_call() {
    let workspace = TempFolder::new();
    workspace.file(
        "calls.py",
        "\
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def tries(name, value):
    print(name, 'DONE' if value != -1 else os.strerror(ctypes.get_errno()))
tries('unshare', libc.unshare(0x10000000))
tries('mount', libc.mount(b'none', b'/tmp', b'tmpfs', 0, None))
tries('keyctl', libc.syscall(250, 0, -3, 0))
tries('bpf', libc.syscall(321, 0, 0, 0))
tries('io_uring', libc.syscall(425, 1, 0))
tries('setuid', libc.setuid(0))
tries('ptrace', libc.ptrace(16, 1, 0, 0))
for family in (40, 17, 38):
    try:
        socket.socket(family, socket.SOCK_STREAM if family != 38 else socket.SOCK_SEQPACKET)
        print('socket', family, 'DONE')
    except OSError as error:
        print('socket', family, error.strerror)
",
    );
    let found = output(&record(evaluate(&workspace.0, "python3 calls.py")));
    assert_eq!(found.len(), 10, "{found:#?}");
    assert!(!found.iter().any(|line| line.contains("DONE")), "{found:#?}");
    assert!(found.contains(&"unshare Operation not permitted".to_owned()), "{found:#?}");
}

#[test]
fn ordinary_programs_do_not_run_in_a_closed_box() {
    let workspace = TempFolder::new();
    workspace.file(
        "main.py",
        "\
import asyncio, concurrent.futures, multiprocessing, queue, signal, socket, sqlite3, ssl, subprocess
import tempfile, threading, time

def square(x):
    return x * x

if __name__ == '__main__':
    with multiprocessing.Pool(4) as pool:
        print(sum(pool.map(square, range(10))))
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        print(sum(threads.map(square, range(10))))
    print(subprocess.run('echo $((6 * 7))', shell=True, capture_output=True, text=True).stdout.strip())
    multiprocessing.set_start_method('spawn', force=True)
    shared = multiprocessing.Value('i', 5)
    print(shared.value)
    async def wait():
        await asyncio.sleep(0.01)
        return 'async'
    print(asyncio.run(wait()))
    with tempfile.NamedTemporaryFile() as file:
        sqlite3.connect(file.name).execute('create table t (x)')
    a, b = socket.socketpair()
    a.send(b'pair')
    print(b.recv(4).decode())
    ssl.create_default_context()
    print(socket.gethostbyname('localhost'))
",
    );
    let program = "python3 main.py; cat <(echo substitution); date +%Z >/dev/null && echo dated; \
         echo 'int main(){return 7;}' > x.c && cc x.c -o x && ./x; echo compiled $?; \
         (ulimit -c; echo $((1 + 1))) | tail -1; mkfifo p && (echo fifo > p &) && cat p";
    let record = record(evaluate(&workspace.0, program));
    let expected = [
        "285",
        "285",
        "42",
        "5",
        "async",
        "pair",
        "127.0.0.1",
        "substitution",
        "dated",
        "compiled 7",
        "2",
        "fifo",
    ];
    assert_eq!(output(&record), expected, "{record:#}");
}
