"""Models of the repository that the tests run. MNN_C_TEST_INSTALLED=1 tests an installed package."""

import itertools
import os
import pathlib
import signal
import sys
import threading
import unittest
import unittest.mock

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent.parent
REPOSITORY = FOLDER.parent.parent
if "MNN_C_TEST_INSTALLED" not in os.environ:
    sys.path.insert(0, str(FOLDER / "src"))

import mnn_c  # noqa: E402
from mnn_c._library import C  # noqa: E402

DIGITS = REPOSITORY / "examples" / "digits" / "digits.mnn"
SHRINK = REPOSITORY / "examples" / "own_operator" / "shrink.mnn"


WINDOWS = sys.platform == "win32"

# A program that begins in the background ignores the signal, where the tests expect Python's own handler.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def ctrl_c():
    """Sends SIGINT to this process, as Ctrl-C does. On Windows os.kill() would end the process."""
    if WINDOWS:
        signal.raise_signal(signal.SIGINT)
    else:
        os.kill(os.getpid(), signal.SIGINT)


def ctrl_c_after(seconds):
    return threading.Timer(seconds, ctrl_c)


def in_one_call(*calls):
    """Makes calls of C functions, each a function with its arguments, without an instruction of Python between them, as
    the library calls callbacks."""
    return list(itertools.chain(*(map(function, *((each,) for each in arguments)) for function, *arguments in calls)))


def replaced(name, function):
    """Replaces a function of the library by function(the replaced one, its arguments)."""
    real = getattr(C, name)
    return unittest.mock.patch.object(C, name, lambda *arguments: function(real, *arguments))


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

    def slow(self):
        session = self.session()
        session.resize({"image": (6000, 1, 8, 8)})
        return session

    def gated(self):
        """Returns a session, and an event that its runs wait for."""
        net, gate = self.net(SHRINK), threading.Event()
        net.add_operator("SoftShrink", lambda x: (gate.wait(), x)[1])
        session = net.session()
        self.addCleanup(session.close)
        self.addCleanup(gate.set)
        return session, gate
