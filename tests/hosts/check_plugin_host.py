#!/usr/bin/env python3
"""Calls the example plugin host and looks at exit codes and words.

    check_plugin_host.py PLUGIN_HOST LIBRARY DIGITS_FOLDER VERSION BACKEND
    check_plugin_host.py PLUGIN_HOST DIGITS_FOLDER OTHER_VERSION WITHOUT_FUNCTIONS

With a library: two rounds on a backend (exit status 77 when it has no device). Without: libraries that it has to
refuse.
"""
import re
import subprocess
import sys

failures = []


def call(host, *arguments, code, pattern):
    done = subprocess.run([host, *arguments], capture_output=True, text=True)
    said = done.stdout + done.stderr
    if "MNN_ERROR_BACKEND_MISSING" in said:
        print(f"skipped: {said}")
        sys.exit(77)
    if done.returncode != code or not re.fullmatch(pattern, said):
        failures.append(f"{' '.join(arguments)}: exit code {done.returncode}, wanted {code} and {pattern!r}:\n{said}")


def check_runs(host, library, folder, version, backend):
    line = rf"libmnn_c {re.escape(version)}: 533 of 540 images right\n"
    call(host, "--backend", backend, "--rounds", "2", library, folder, code=0, pattern=line * 2)
    call(host, library, folder, "--quiet", "--backend", backend, code=0, pattern="")


def check_refusals(host, folder, other, bare):
    usage = r"usage: plugin_host (.|\n)*"
    call(host, code=2, pattern=usage)
    call(host, bare, folder, "more", code=2, pattern=usage)
    for wrong in (["--rounds", "0"], ["--rounds", "2x"], ["--rounds"], ["--backend", "tpu"], ["--loud"]):
        call(host, bare, folder, *wrong, code=2, pattern=usage)
    call(host, bare, "no-such-folder", code=1, pattern="plugin_host: 'no-such-folder': 0 bytes .*\n")
    call(host, "no-such-library.so", folder, code=1, pattern="plugin_host: no-such-library.so: .*\n")
    call(host, "libm.so.6", folder, code=1, pattern="plugin_host: 'libm.so.6' is not libmnn_c: .*mnn_abi_version\n")
    call(host, other, folder, code=1, pattern="plugin_host: '.*' has ABI 0.3, this host was written for 0.2\n")
    call(host, bare, folder, code=1, pattern="plugin_host: '.*' has no mnn_[a-z_]+\n")


def main(arguments):
    if len(arguments) == 5:
        check_runs(*arguments)
    elif len(arguments) == 4:
        check_refusals(*arguments)
    else:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
