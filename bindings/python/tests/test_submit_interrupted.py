"""Submitted runs beside close(), Ctrl-C, handlers of signals, fork(), and the end of the program."""

import contextlib
import ctypes
import gc
import io
import os
import signal
import subprocess
import sys
import threading
import time
import unittest
import unittest.mock
import weakref

import numpy as np

from support import SHRINK, WINDOWS, Test, ctrl_c, ctrl_c_after, in_one_call, mnn_c, replaced
from mnn_c import _interrupt, errors, submitted


class Stop(BaseException):
    """Handlers of signals raise it here."""


class Interrupted(Test):
    def test_ctrl_c(self):
        session = self.slow()
        pending = session.submit()
        timer = ctrl_c_after(0.01)
        with self.assertRaises(KeyboardInterrupt):
            timer.start()
            while True:
                pending.wait()
                pending = session.submit()
        timer.join()
        try:
            pending.wait()  # the signal may not have ended the run
        except errors.CancelledError:
            pass
        self.assertTrue(pending.done())
        session.submit().wait()

    def test_ctrl_c_during_a_wait(self):
        net, begun, signals = self.net(SHRINK), threading.Event(), [ctrl_c]

        def shrink(x):
            if signals:
                begun.wait()
                time.sleep(0.1)  # the main thread waits
                signals.pop()()
            return x

        net.add_operator("SoftShrink", shrink)
        session = net.session()
        self.addCleanup(session.close)
        first = session.submit()
        begun.set()
        self.assertRaises(KeyboardInterrupt, first.wait)
        second = session.submit()
        for _ in range(2):
            with contextlib.suppress(errors.CancelledError):  # the run may have come to its end all the same
                first.wait()
        self.assertTrue(second.result())

    def test_ctrl_c_while_the_program_ends(self):
        triggered, token = threading.Event(), mnn_c.CancelToken()
        with mnn_c.Runtime() as runtime:
            net, gate = self.net(SHRINK), threading.Event()
            net.add_operator("SoftShrink", lambda x: (gate.wait(), x)[1])
            sessions = [net.session(runtime=runtime), self.net().session(runtime=runtime)]
            first, second = sessions[0].submit(), sessions[1].submit(cancel=token)

            def trigger(real, *arguments):
                triggered.set()
                return real(*arguments)

            def interrupt():
                ctrl_c()
                triggered.wait(5)
                gate.set()

            threading.Timer(0.2, interrupt).start()
            with unittest.mock.patch.object(submitted, "_alive", [second._run]), replaced("mnn_cancel_trigger", trigger):
                with contextlib.redirect_stderr(io.StringIO()) as printed:
                    _interrupt.held(submitted._end_runs)
            self.assertIn("KeyboardInterrupt", printed.getvalue())
            self.assertRaises(errors.CancelledError, second.wait)
            first.wait()
            for session in sessions:
                session.close()

    def test_another_thread_closes_while_a_run_is_submitted(self):
        session, gate = self.gated()
        began, errors_of_close = threading.Event(), []

        def close():
            began.set()
            try:
                session.close()
            except BaseException as error:
                errors_of_close.append(error)

        thread = threading.Thread(target=close)

        def submit(real, *arguments):
            thread.start()
            began.wait()
            thread.join(0.2)  # reaches the run that has not begun
            return real(*arguments)

        with replaced("mnn_session_submit", submit):
            pending = session.submit()
        gate.set()
        pending.wait()
        thread.join()
        self.assertEqual(errors_of_close, [])
        self.assertTrue(session.closed)

    def test_another_thread_closes_at_the_end_of_a_pending(self):
        session, gate = self.gated()
        waiting = threading.Event()

        def wait(real, *arguments):
            waiting.set()
            return real(*arguments)

        with replaced("mnn_session_wait", wait):
            thread = threading.Thread(target=session.submit)  # refers to the Pending no more, which waits
            thread.start()
            waiting.wait()
            threading.Timer(0.2, gate.set).start()
            session.close()
            thread.join()
        self.assertTrue(session.closed)

    def test_callbacks_drop_pendings(self):
        net, steps = self.net(SHRINK), [threading.Event() for _ in range(3)]
        pendings, later = [], threading.Thread(target=lambda: session.close())

        def shrink(x):
            steps[0].wait()
            pendings.clear()  # on the thread of the run, which cannot wait for it
            steps[1].set()
            steps[2].wait()
            return x

        net.add_operator("SoftShrink", shrink)
        session = net.session()
        pendings.append(session.submit())
        later.start()
        steps[0].set()
        steps[1].wait()
        steps[2].set()
        later.join()
        self.assertTrue(session.closed)

    def test_callbacks_drop_sessions(self):
        net, objects = self.net(SHRINK), []

        def shrink(x):
            while not objects:
                time.sleep(0.001)
            objects.clear()
            return x

        net.add_operator("SoftShrink", shrink)
        session = net.session()
        values = np.zeros(session.output().shape, np.float32)
        session.output().bind(values)
        freed = weakref.finalize(session, int)
        image = np.full(session.input().shape, 4, np.float32)
        objects += [session, session.submit({session.input().name: image})]
        del session
        while freed.alive:
            gc.collect()
            time.sleep(0.001)
        self.assertTrue(values.any())
        net.close()

    def test_handlers_close_sessions(self):
        for name in ("mnn_session_submit", "mnn_session_wait"):
            session = self.session()

            def closed(real, *arguments):
                status = real(*arguments)
                with unittest.mock.patch.object(submitted.C, name, real):
                    session.close()
                return status

            with replaced(name, closed):
                session.submit().wait()
            self.assertTrue(session.closed)

    @unittest.skipIf(WINDOWS, "there is no such signal")
    def test_handlers_wait_for_later_runs(self):
        with mnn_c.Runtime() as runtime:
            net, gate = self.net(SHRINK), threading.Event()
            net.add_operator("SoftShrink", lambda x: (gate.wait(), x)[1])
            sessions = [net.session(runtime=runtime), self.net().session(runtime=runtime)]
            first, second = (session.submit() for session in sessions)
            waited = []

            def handler(*_):
                gate.set()
                second.wait()
                waited.append(1)

            self.addCleanup(signal.signal, signal.SIGUSR1, signal.signal(signal.SIGUSR1, handler))
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGUSR1)).start()
            first.wait()
            while not waited:
                time.sleep(0.001)
            for session in sessions:
                session.close()

    @unittest.skipIf(WINDOWS, "the library of C has another name")
    def test_a_handler_raises_when_a_run_has_begun(self):
        def stop(*_):
            raise Stop

        self.addCleanup(signal.signal, signal.SIGTERM, signal.signal(signal.SIGTERM, stop))
        signalled = (ctypes.CDLL(None)["raise"], signal.SIGTERM)
        session = self.session()
        with replaced("mnn_session_submit", lambda real, *arguments: in_one_call(signalled, (real, *arguments))[1]):
            with self.assertRaises(Stop):
                session.submit()
        session.execute()

    def test_a_handler_raises_when_a_wait_has_ended(self):
        def wait(real, *arguments):
            status = real(*arguments)
            if status != errors.WaitTimeoutError.status:
                raise Stop
            return status

        fails = []

        def shrink(x):
            if fails:
                raise fails[0]
            return x

        net = self.net(SHRINK)
        net.add_operator("SoftShrink", shrink)
        session = net.session()
        self.addCleanup(session.close)

        def stopped():
            pending = session.submit()
            with replaced("mnn_session_wait", wait):
                self.assertRaises(Stop, pending.wait)
            return pending

        self.assertTrue(stopped().result())
        first = stopped()
        second = session.submit()
        first.wait()
        self.assertRaises(errors.BadStateError, first.result)
        self.assertTrue(second.result())
        fails.append(LookupError("out of the operator"))
        self.assertRaises(LookupError, stopped().wait)

    @unittest.skipIf(WINDOWS, "there is no fork()")
    def test_turns_in_children(self):
        pending = self.session().submit()
        pending.wait()
        held, forked = threading.Event(), threading.Event()

        def hold():
            with pending._run.turn:
                held.set()
                forked.wait()

        thread = threading.Thread(target=hold)
        thread.start()
        held.wait()
        child = os.fork()
        if child == 0:
            os._exit(0 if pending._run.turn.acquire(blocking=False) and pending.done() else 1)
        forked.set()
        thread.join()
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    @unittest.skipIf(WINDOWS, "there is no fork()")
    def test_children_of_waits(self):
        session, gate = self.gated()
        pending, children = session.submit(), []

        def fork(*_):
            children.append(os.fork())
            if children[0] == 0:
                signal.alarm(20)
            gate.set()

        self.addCleanup(signal.signal, signal.SIGUSR1, signal.signal(signal.SIGUSR1, fork))
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGUSR1)).start()
        try:
            pending.wait()
        except errors.BadStateError:  # the run is one of the parent
            if children[0] == 0:
                os._exit(0)
            raise
        finally:
            if children[0] == 0:
                os._exit(1)
        self.assertEqual(os.waitpid(children[0], 0)[1], 0)

    def ends(self, end, operator="time.sleep(0.2)"):
        """Runs a program that ends while an operator computes; returns what it printed as errors."""
        script = (
            "import atexit, mnn_c, os, signal, sys, threading, time\n"
            "def shrink(x):\n"
            f"    {operator}\n"
            "    return x\n"
            "def session():\n"
            "    net = mnn_c.Interpreter(sys.argv[1])\n"
            "    net.add_operator('SoftShrink', shrink)\n"
            "    return net.session()\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", script + end, str(SHRINK)], stderr=subprocess.PIPE, timeout=60,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr.decode()

    def test_the_end_of_the_program(self):
        self.assertEqual(self.ends("pending = session().submit()\n"), "")
        # Here the main thread uses the library for the first time when no thread can begin any more.
        self.assertEqual(
            self.ends(
                "def work():\n"
                "    global other, pending\n"
                "    other, pending = session(), session().submit()\n"
                "atexit.register(lambda: other.run())\n"
                "thread = threading.Thread(target=work)\n"
                "thread.start()\n"
                "thread.join()\n"
            ),
            "",
        )

    @unittest.skipIf(WINDOWS, "os.kill() would end the process, and there is no fork()")
    def test_the_end_of_the_program_with_signals_and_children(self):
        printed = self.ends(
            "begun, ending = [], threading.Event()\n"
            "pending = [session().submit() for _ in range(3)]\n"
            "while len(begun) < 3:\n"
            "    time.sleep(0.001)\n"
            "atexit.register(ending.set)\n",
            "begun.append(1); ending.wait(); time.sleep(0.2); os.kill(os.getpid(), signal.SIGINT)",
        )
        self.assertIn("KeyboardInterrupt", printed)
        # The child ends although another thread of the parent was waiting.
        self.ends(
            "pending = session().submit()\n"
            "threading.Thread(target=pending.wait).start()\n"
            "time.sleep(0.1)\n"
            "child = os.fork()\n"
            "if child == 0:\n"
            "    signal.alarm(20)\n"
            "    sys.exit()\n"
            "sys.exit(os.waitpid(child, 0)[1])\n",
            "time.sleep(0.5)",
        )


if __name__ == "__main__":
    unittest.main()
