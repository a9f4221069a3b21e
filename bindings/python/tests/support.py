"""Models of the repository that the tests run. MNN_C_TEST_INSTALLED=1 tests an installed package."""

import os
import pathlib
import signal
import sys
import threading
import unittest

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent.parent
REPOSITORY = FOLDER.parent.parent
if "MNN_C_TEST_INSTALLED" not in os.environ:
    sys.path.insert(0, str(FOLDER / "src"))

import mnn_c  # noqa: E402

DIGITS = REPOSITORY / "examples" / "digits" / "digits.mnn"
SHRINK = REPOSITORY / "examples" / "own_operator" / "shrink.mnn"


WINDOWS = sys.platform == "win32"


def ctrl_c_after(seconds):
    """Returns a timer that sends SIGINT to this process, as Ctrl-C does. On Windows os.kill() would end the process."""
    if WINDOWS:
        return threading.Timer(seconds, signal.raise_signal, (signal.SIGINT,))
    return threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))


def case(name):
    return REPOSITORY / "tests" / "conformance" / "cases" / name / "model.mnn"


def net_of_tests(name):
    return REPOSITORY / "tests" / "c_abi" / "nets" / name


def images(count=540):
    values = np.fromfile(DIGITS.parent / "test_images.bin", np.uint8)
    return (values.reshape(-1, 1, 8, 8)[:count] / 16).astype(np.float32)


class Test(unittest.TestCase):
    def net(self, path=DIGITS, **options):
        net = mnn_c.Interpreter(path, **options)
        self.addCleanup(net.close)
        return net

    def session(self, path=DIGITS, **fields):
        session = self.net(path).session(**fields)
        self.addCleanup(session.close)
        return session
