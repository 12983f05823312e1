"""An adapter that can only negate f32, without any module, and misbehaves as BAD says; in a
hunt only where the tensor is dense and
not of one element: strided ones show that a hunt goes on.
BAD_FORK=1: is a fork server, BAD_FORK=thread: would be one if it had not a thread. BAD_LOG: a file for
a line `loaded PID` from each process that was started, and `hello PID` with what it has from each
that was said hello to."""
import array
import json
import math
import os
import resource
import signal
import sys
import time

MODE = os.environ.get("BAD", "")
FORK = os.environ.get("BAD_FORK", "")
out = sys.stdout.buffer
seen = 0
forks = {}
if FORK:
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + "/../../scripts/adapters")
    sys.dont_write_bytecode = True
    import fork_server
    if FORK == "thread":
        import threading
        threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
    forks = {"fork": True} if fork_server.offered() else {}


def log(*words):
    if "BAD_LOG" in os.environ:
        with open(os.environ["BAD_LOG"], "a") as f:
            f.write(" ".join(map(str, words)) + "\n")


def having():
    """What a copy must have as a process that was started has it."""
    return [len(os.listdir("/proc/self/fd")), resource.getrlimit(resource.RLIMIT_AS)[0],
            resource.getrlimit(resource.RLIMIT_CORE)[0], os.getpgid(0) == os.getpid(),
            *[int(signal.getsignal(s)) for s in (signal.SIGTERM, signal.SIGPIPE)]]


LOADED = os.getpid()
log("loaded", LOADED)


def say(d, data=b""):
    out.write(json.dumps(d).encode() + b"\n" + data)
    out.flush()


def elements(node):
    """Places of all elements in the storage, row-major."""
    places = [node["offset"]]
    for size, stride in zip(node["shape"], node["strides"]):
        places = [p + i * stride for p in places for i in range(size)]
    return places


def dense(node):
    return elements(node) == list(range(math.prod(node["shape"])))


def misbehave(form, data):
    tried = form["shape"] == [2, 4]  # at first, before any trial
    if MODE == "spawn":
        child = os.fork()
        if child == 0:
            time.sleep(1000)
        log("spawned", child)
    if MODE == "both" and not tried and os.getppid() == LOADED:
        os.kill(LOADED, signal.SIGKILL)
        while os.getppid() == LOADED:
            time.sleep(0.01)
    if MODE in ("spawn", "both") and not tried:
        os.kill(os.getpid(), signal.SIGKILL)
    if MODE == "crash":
        print("about to die", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)
    if MODE == "exit":
        sys.exit(7)
    if MODE == "hang" and not tried:
        time.sleep(1000)
    if MODE == "garbage":
        out.write(b"Segmentation fault (not really)\n")
        out.flush()
        return
    if MODE == "endless":
        while True:
            out.write(b"x" * 65536)
    if MODE == "shape":
        form["shape"] = form["shape"][::-1] + [1]
    if MODE == "dtype":
        form["dtype"] = "f64"
    if MODE == "bytes":
        form["bytes"] -= 4
        data = data[4:]
    if MODE == "poison":
        data = data[:-4] + b"\xff" * 4
    forms = [form, form] if MODE == "number" else [form]
    if MODE in ("partial", "stuck"):
        data = data[:-4]
    say({"ok": True, "outputs": forms}, data * len(forms))
    if MODE == "partial":
        sys.exit(0)
    if MODE == "stuck":
        time.sleep(1000)
    if MODE == "chatter":
        out.write(b"done!")
        out.flush()


for line in sys.stdin.buffer:
    d = json.loads(line)
    if d["do"] == "hello":
        log("hello", os.getpid(), *having())
        ops = ["neg", "abs" if MODE == "lie" else "neg"] if MODE != "nonsense" else ["frobnicate"]
        say({"ok": True, "version": 1, "name": "bad", "library": "1 " + MODE, "ops": ops,
             "dtypes": ["f32"], "max_nodes": 1, **forks,
             "knobs": {"level": ["0", "1"], "unsafe": ["no", "a little", "yes"][::2]}})
    elif d["do"] == "fork":
        say({"ok": True})
        fork_server.serve(1)
        forks = {}
    elif d["do"] == "prepare":
        program = d["program"]
        seen += 1
        nodes = program["nodes"]
        if any(n["op"] == "abs" for n in nodes):
            say({"unsupported": "no abs today"})
        elif MODE == "error" and dense(nodes[0]) and nodes[0]["shape"] != [2, 4]:
            say({"error": "out of registers"})
        else:
            say({"ok": True})
    else:
        inputs = [sys.stdin.buffer.read(n) for n in d["inputs"]]
        results = []
        for k in program["outputs"]:
            node = nodes[k]
            source = node if node["op"] == "input" else nodes[node["args"][0]]
            storage = array.array("f", inputs[source["input"]])
            sign = 1 if node["op"] == "input" else -1
            if MODE == "used" and seen > 5:
                sign = 3
            if MODE == "knob" and program.get("set", {}).get("unsafe") == "yes":
                sign = 3
            values = array.array("f", [sign * storage[p] for p in elements(source)])
            results.append(({"dtype": "f32", "shape": node["shape"],
                             "bytes": 4 * len(values)}, values.tobytes()))
        if len(results) == 1 and results[0][0]["bytes"] > 4 and dense(source):
            misbehave(*results[0])
        else:
            say({"ok": True, "outputs": [r[0] for r in results]}, b"".join(r[1] for r in results))
