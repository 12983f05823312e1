"""A process that imports once and then forks: docs/exec-protocol.md, "Starting fast".
tilefuzz_adapter.serve does it by itself. Needs the standard library only.

    offered()     before the answer to hello: true = that answer may say "fork"
    serve(out)    when {"do": "fork"} has been answered; returns in each copy, which goes on
                  reading stdin and writing answers to the descriptor out
"""
import json
import os
import resource
import select
import signal
import socket
import sys
import time

_control = None


def _sound():
    """fork copies one thread; and a copy is watched by its pidfd."""
    try:
        os.close(os.pidfd_open(os.getpid()))
        return len(os.listdir("/proc/self/task")) == 1 and hasattr(socket, "recv_fds")
    except (AttributeError, OSError):
        return False


def offered():
    """Does tilefuzz ask for a server, and can this process be one?"""
    global _control
    number = os.environ.pop("TILEFUZZ_FORK", "")
    try:
        control = socket.socket(fileno=int(number))
    except (ValueError, OSError):  # not asked, or by somebody who kept the socket
        return False
    if (control.family, control.type) != (socket.AF_UNIX, socket.SOCK_SEQPACKET):
        control.detach()
        return False
    control.set_inheritable(False)
    control.setblocking(True)
    if not _sound():
        control.close()
        return False
    _control = control
    return True


class _Copy:
    def __init__(self, pid, lease):
        self.pid, self.lease, self.pidfd = pid, lease, os.pidfd_open(pid)
        self.ended = self.dropped = False

    def tell(self, message, fds=()):
        try:
            socket.send_fds(self.lease, [json.dumps(message).encode()], fds, socket.MSG_DONTWAIT)
        except OSError:
            pass  # nobody wants to know any more

    def kill(self):
        for pid in (-self.pid, self.pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def status(self):
        """As wait has it. The process stays a zombie, so that its number stays its own and what it
        has spent can be asked for."""
        end = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        return end.si_status << 8 if end.si_code == os.CLD_EXITED else end.si_status

    def bury(self):
        self.kill()  # what it started
        os.waitpid(self.pid, 0)
        self.lease.close()
        os.close(self.pidfd)


class _Server:
    def __init__(self, out):
        self.out = out
        self.copy = {}  # by number of its lease, and of its pidfd
        self.poll = select.poll()
        self.poll.register(_control, select.POLLIN)
        self.spent = time.process_time_ns()
        self.term = signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it ends with the socket

    def start(self):
        """False: nobody is there to ask. None: this is the copy."""
        data, fds, _, _ = socket.recv_fds(_control, 4096, 4, socket.MSG_CMSG_CLOEXEC)
        if not data:
            return False
        stdin, stdout, stderr, lease = fds
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            self.leave(json.loads(data), fds)
            return None
        for fd in (stdin, stdout, stderr):
            os.close(fd)
        try:
            os.setpgid(pid, pid)  # whoever of both comes first
        except OSError:
            pass
        copy = _Copy(pid, socket.socket(fileno=lease))
        for fd in (lease, copy.pidfd):
            self.copy[fd] = copy
            self.poll.register(fd, select.POLLIN)
        now = time.process_time_ns()
        copy.tell({"pid": pid, "ns": now - self.spent}, [copy.pidfd])
        self.spent = now
        return True

    def leave(self, request, fds):
        """What is the server's is none of a copy's business."""
        os.setpgid(0, 0)
        signal.signal(signal.SIGTERM, self.term)
        stdin, stdout, stderr, _ = fds
        os.dup2(stdin, 0)
        os.dup2(stderr, 2)
        os.dup2(stderr, 1)
        os.dup2(stdout, self.out, inheritable=self.out == 1)
        for copy in set(self.copy.values()):
            copy.lease.close()
            os.close(copy.pidfd)
        for fd in fds:
            os.close(fd)
        _control.close()
        resource.setrlimit(resource.RLIMIT_AS, request["memory"])

    def look_after(self, fd):
        copy = self.copy.pop(fd)
        self.poll.unregister(fd)
        if fd == copy.pidfd:
            copy.ended = True
            copy.tell({"status": copy.status()})
        else:
            copy.dropped = True
            copy.kill()
        if copy.ended and copy.dropped:
            copy.bury()

    def loop(self):
        while True:
            fd = self.poll.poll()[0][0]  # one at a time: it may close others
            if fd != _control.fileno():
                self.look_after(fd)
                continue
            going = self.start()
            if not going:
                return going is None


def serve(out):
    server = _Server(out)
    me, failed = os.getpid(), 1
    try:
        if server.loop():
            return
        failed = 0
    finally:
        if os.getpid() == me:
            for copy in set(server.copy.values()):
                copy.bury()
            os._exit(failed)
