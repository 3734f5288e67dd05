//! The two things the harness needs of the kernel that no safe interface offers.
//!
//! Invariant: all unsafe code of the harness is here.
#![allow(unsafe_code)]

use std::io::{Error, Result};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};

use tokio::process::Command;

/// Makes the kernel end the command's process when the thread that starts it ends, however it ends.
pub fn die_with_parent(command: &mut Command) {
    // SAFETY: prctl is async-signal-safe and touches no memory of ours, as what runs between fork and exec must.
    unsafe {
        command.pre_exec(|| match libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) {
            0 => Ok(()),
            _ => Err(Error::last_os_error()),
        });
    }
}

/// Sends `signal` to the process, which must be a child that was not waited for.
pub fn signal(pid: u32, signal: i32) {
    let Ok(pid) = libc::pid_t::try_from(pid) else { return };
    // SAFETY: kill takes plain numbers.
    unsafe {
        libc::kill(pid, signal);
    }
}

/// Brings the loopback interface of this network namespace up, as `ip link set lo up` does.
pub fn loopback_up() -> Result<()> {
    // SAFETY: socket takes plain numbers; the descriptor it returns is owned by nobody else.
    let socket = unsafe {
        match libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) {
            -1 => return Err(Error::last_os_error()),
            fd => OwnedFd::from_raw_fd(fd),
        }
    };
    // SAFETY: ifreq is plain data for which zeroes are valid; the ioctl reads it and it outlives the call.
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
    // SAFETY: geteuid cannot fail.
    unsafe { libc::geteuid() == 0 }
}
