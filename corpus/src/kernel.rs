//! What the harness needs of the kernel: signals, children that end with it, the loopback interface.
//!
//! Invariant: all unsafe code of the harness is here, one block for each call that no safe interface offers.
#![allow(unsafe_code)]

use std::ffi::OsStr;
use std::io::{Error, Result};
use std::os::fd::{AsFd as _, AsRawFd as _};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use rustix::process::{Pid, Signal, geteuid, kill_process, kill_process_group};
use tokio::process::Command;

/// A command whose process the kernel kills when the thread that starts it ends, however that ends. `setpriv`, of the
/// package that `unshare` comes from, asks for it and becomes the program: measured 4 ms for each start.
pub fn dying_with_parent(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--"]).arg(program);
    command
}

/// Asks a process to end, which must be a child that was not waited for.
pub fn terminate(pid: u32) {
    send(pid, |pid| kill_process(pid, Signal::TERM));
}

/// Kills a process, which must be a child that was not waited for.
pub fn kill(pid: u32) {
    send(pid, |pid| kill_process(pid, Signal::KILL));
}

/// Kills whatever is left of the process group that `pid` leads.
pub fn kill_group(pid: u32) {
    send(pid, |pid| kill_process_group(pid, Signal::KILL));
}

/// A process that is gone needs no signal any more.
fn send(pid: u32, signal: impl Fn(Pid) -> rustix::io::Result<()>) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = signal(pid);
    }
}

/// Brings the loopback interface of this network namespace up, as `ip link set lo up` does.
pub fn loopback_up() -> Result<()> {
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    let socket = socket.as_fd();
    // SAFETY: ifreq is plain data for which zeroes are valid; the ioctl reads it and it outlives the call.
    // Measured: `ip link set lo up` does the same in 3 ms, but needs 3.5 MB of a package that minimal images lack.
    unsafe {
        let mut request: libc::ifreq = std::mem::zeroed();
        for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
            *to = from.cast_signed();
        }
        #[allow(clippy::cast_possible_truncation)] // Both flags are below 2^7.
        let flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
        request.ifr_ifru.ifru_flags = flags;
        if libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) == -1 {
            return Err(Error::last_os_error());
        }
    }
    Ok(())
}

/// True for the super-user, who needs no user namespace.
pub fn is_root() -> bool {
    geteuid().is_root()
}
