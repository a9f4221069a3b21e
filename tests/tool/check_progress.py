#!/usr/bin/env python3
"""The line of progress: where it appears, that it goes away, and that it leaves standard output alone.

    check_progress.py MNN_TOOL MODEL CASE_DIR
"""
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

ERASED = "\r\x1b[K"


def read_end(file, until=None):
    """Returns the output of a terminal, to its end or to a word."""
    shown = b""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        if not select.select([file], [], [], 1)[0]:
            continue
        try:
            part = os.read(file, 65536)
        except OSError:  # the other end is closed
            return shown.decode()
        if not part:
            return shown.decode()
        shown += part
        if until and until.encode() in shown:
            return shown.decode()
    sys.exit(f"nothing more comes: {shown.decode()!r}")


def in_terminal(command, until=None, send=None, env=None):
    """Runs with a terminal as standard error and a pipe as standard output. Returns exit code, output and the
    terminal's text."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs,
                             env={**os.environ, "TERM": "xterm", **(env or {})})
    os.close(theirs)
    shown = read_end(ours, until)
    if send:
        child.send_signal(send)
        shown += read_end(ours)
    output = child.stdout.read().decode()
    child.wait()
    os.close(ours)
    return child.returncode, output, shown


def main():
    tool, model, case = sys.argv[1:4]
    bench = [tool, "bench", model, "--json", "--seconds"]
    # After a second the line appears with the remaining time, and it is erased at the end.
    code, output, shown = in_terminal([*bench, "3"])
    assert code == 0 and json.loads(output)["runs"] >= 5, (code, output)
    assert re.search(r"mnn bench, \d+ s so far, about \d+ s left", shown), repr(shown)
    assert shown.endswith(ERASED) and "\n" not in shown, repr(shown)
    # A command that takes less than a second prints nothing, except for a timed load, which is announced.
    begin = time.monotonic()
    code, output, shown = in_terminal([tool, "verify", case])
    assert code == 0 and (shown == "" or time.monotonic() - begin > 1), repr(shown)
    begin = time.monotonic()
    code, output, shown = in_terminal([*bench, "0"])
    assert code == 0 and shown.endswith(ERASED), repr(shown)
    assert shown.count("mnn bench") == 1 or time.monotonic() - begin > 1, repr(shown)
    # Nothing is printed where it is disabled, or on a terminal that cannot erase.
    for more, env in ((["--progress", "never"], {}), ([], {"TERM": "dumb"})):
        code, output, shown = in_terminal([*bench, "1.5", *more], env=env)
        assert code == 0 and shown == "" and json.loads(output), repr(shown)
    # Ctrl-C erases the line.
    code, output, shown = in_terminal([*bench, "60"], until="left", send=signal.SIGINT)
    assert code == -signal.SIGINT and output == "" and shown.endswith(ERASED), (code, repr(shown))
    # Without a terminal there is no output unless it is requested, and then whole lines.
    for mode, count in (("auto", 0), ("never", 0), ("always", 1)):
        done = subprocess.run([tool, "verify", case, case, "--progress", mode], capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout.endswith("2 passed, 0 failed\n"), done
        assert len(done.stderr.splitlines()) == count and "\x1b" not in done.stderr, (mode, done.stderr)
    assert done.stderr.startswith("mnn verify: 0 of 2, "), done.stderr
    for command in (["profile", model, "--runs", "2", "--json"], ["calibrate", "--isa", "portable", "--json"],
                    ["compare", model, "--backends", "cpu,cpu", "--json"], ["graph", model, "--json"], ["info", model, "--json"]):
        done = subprocess.run([tool, *command, "--progress", "always"], capture_output=True, text=True)
        assert done.returncode == 0 and json.loads(done.stdout), done
        assert done.stderr.startswith("mnn "), (command, done.stderr)
    done = subprocess.run([tool, *bench[1:], "0", "--progress", "sometimes"], capture_output=True, text=True)
    assert done.returncode == 2 and "--progress" in done.stderr, done


if __name__ == "__main__":
    main()
