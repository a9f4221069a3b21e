"""Submitted runs: results, turns, timeouts, cancellation, asyncio, own operators, the end of objects."""

import asyncio
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

from support import SHRINK, WINDOWS, Test, ctrl_c, ctrl_c_after, images, in_one_call, mnn_c
from mnn_c import _interrupt, errors, submitted


class Stop(BaseException):
    """Handlers of signals raise it here."""


def replaced(name, function):
    """Replaces a function of the library by function(the replaced one, its arguments)."""
    real = getattr(submitted.C, name)
    return unittest.mock.patch.object(submitted.C, name, lambda *arguments: function(real, *arguments))


class Submitted(Test):
    def slow(self):
        session = self.session()
        session.resize({"image": (6000, 1, 8, 8)})
        return session

    def test_gives_what_a_run_gives(self):
        session = self.session()
        wanted = session.run({"image": images(3)})
        pending = session.submit({"image": images(3)})
        self.assertIsNone(pending.wait())
        np.testing.assert_array_equal(pending.result()["scores"], wanted["scores"])
        self.assertIs(pending.result(), pending.result())
        self.assertTrue(pending.done())
        self.assertIn("over", repr(pending))
        again = session.submit({"image": images(5)}, outputs=["scores"]).result()
        np.testing.assert_array_equal(again["scores"], session(images(5)))

    def test_several_sessions_of_a_runtime(self):
        with mnn_c.Runtime(threads=2) as runtime:
            net = self.net()
            sessions = [net.session(runtime=runtime) for _ in range(4)]
            runs = [session.submit({"image": images(i + 1)}) for i, session in enumerate(sessions)]
            wanted = self.session()
            for i, run in enumerate(runs):
                np.testing.assert_array_equal(run.result()["scores"], wanted(images(i + 1)))
            for session in sessions:
                session.close()

    def test_busy_until_it_was_waited_for(self):
        session = self.session()
        pending = session.submit({"image": images(1)})
        self.assertRaises(errors.BusyError, session.execute)
        self.assertRaises(errors.BusyError, session.submit)
        pending.wait()
        session.execute()

    def test_timeouts(self):
        session = self.slow()
        pending = session.submit()
        with self.assertRaises(TimeoutError) as raised:
            pending.wait(0)
        self.assertIsInstance(raised.exception, errors.WaitTimeoutError)
        self.assertIn("not over", raised.exception.sentence)
        self.assertRaises(ValueError, pending.wait, -1)
        pending.wait(1e30)
        pending.wait(float("inf"))
        self.assertTrue(pending.done())

    def test_cancelling(self):
        session = self.slow()
        pending = session.submit()
        pending.cancel()
        for _ in range(2):
            self.assertRaises(errors.CancelledError, pending.result)
        pending.cancel()
        with mnn_c.CancelToken() as token:
            pending = session.submit(cancel=token)
            token.trigger()
            self.assertRaises(errors.CancelledError, pending.wait)
        self.assertEqual(session(images(1)).shape, (1, 10))

    def test_what_cannot_begin(self):
        session = self.net().session(defer_planning=True)
        self.assertRaises(errors.BadStateError, session.submit)
        session.resize()
        session.submit().wait()
        session.close()
        self.assertRaises(errors.BadHandleError, session.submit)

    def test_threads_wait_together(self):
        session = self.slow()
        pending = session.submit()
        results = []
        threads = [threading.Thread(target=lambda: results.append(pending.result())) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(results), 4)
        self.assertTrue(all(result is results[0] for result in results))

    def test_ends_of_objects(self):
        session = self.net().session()
        pending = session.submit({"image": images(2)})
        session.close()
        pending.wait()
        self.assertRaises(errors.BadHandleError, pending.result)
        session = self.slow()
        session.submit()  # the end of the Pending waits for it
        gc.collect()
        session.execute()
        pending = self.net().session().submit({"image": images(2)})
        self.assertEqual(pending.result()["scores"].shape, (2, 10))

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

    def test_results_of_a_later_run(self):
        session = self.session()
        pending = session.submit({"image": images(1)})
        pending.wait()
        session.run({"image": images(2)})
        with self.assertRaisesRegex(errors.BadStateError, "has run again"):
            pending.result()
        pending = session.submit({"image": images(1)})
        result = pending.result()
        session.run({"image": images(2)})
        self.assertIs(pending.result(), result)

    def test_ctrl_c_during_a_wait(self):
        # Python handles the signal when the library has returned the status, which it does only once.
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

    def test_refused_runs_are_not_later_runs(self):
        session = self.session()
        pending = session.submit({"image": images(1)})
        self.assertRaises(errors.BusyError, session.execute)
        self.assertEqual(pending.result()["scores"].shape, (1, 10))

    def gated(self):
        """Returns a session, and an event that its runs wait for."""
        net, gate = self.net(SHRINK), threading.Event()
        net.add_operator("SoftShrink", lambda x: (gate.wait(), x)[1])
        session = net.session()
        self.addCleanup(session.close)
        self.addCleanup(gate.set)
        return session, gate

    def test_another_thread_waits_while_a_run_is_submitted(self):
        session, gate = self.gated()
        first = session.submit()

        def submit(real, *arguments):
            gate.set()
            first.wait()
            return real(*arguments)

        with replaced("mnn_session_submit", submit):
            second = session.submit()
        self.assertTrue(second.result())
        self.assertRaises(errors.BadStateError, first.result)

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

    def test_a_later_run_ends_while_results_are_read(self):
        session, gate = self.gated()
        gate.set()
        first = session.submit()
        first.wait()
        gate.clear()
        second = session.submit()
        read = session._read

        def late(name):
            gate.set()
            second.wait()
            return read(name)

        with unittest.mock.patch.object(session, "_read", late):
            self.assertRaises(errors.BadStateError, first.result)
        gate.set()
        self.assertTrue(second.result())

    def test_runs_that_are_refused_change_nothing(self):
        session, gate = self.gated()
        first = session.submit()
        self.assertRaises(errors.BusyError, session.submit)
        self.assertFalse(first.done())
        gate.set()
        session.close()  # waits for the first one
        self.assertTrue(first.done())

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

    def test_asyncio(self):
        net = self.net()

        async def several():
            sessions = [net.session() for _ in range(4)]
            runs = [session.submit({"image": images(i + 1)}) for i, session in enumerate(sessions)]
            return [await run for run in runs]

        wanted = self.session()
        for i, result in enumerate(asyncio.run(several())):
            np.testing.assert_array_equal(result["scores"], wanted(images(i + 1)))

        async def cancelled():
            session = self.slow()
            pending = session.submit()

            async def wait():
                return await pending

            task = asyncio.ensure_future(wait())
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            self.assertTrue(pending.done())
            session.execute()

        asyncio.run(cancelled())

    def test_own_operators(self):
        net = self.net(SHRINK)
        mode = ["raise"]

        def shrink(x):
            if mode[0] == "raise":
                raise LookupError("out of the operator")
            return np.sign(x) * np.maximum(np.abs(x) - 0.5, 0)

        net.add_operator("SoftShrink", shrink)
        with net.session() as session:
            pending = session.submit()
            with self.assertRaisesRegex(LookupError, "out of the operator"):
                pending.wait()
            mode[0] = "compute"
            wanted = session.run()
            got = session.submit().result()
            for name in wanted:
                np.testing.assert_array_equal(got[name], wanted[name])

    def test_operators_that_raise_what_waits_raise(self):
        raised = []

        def shrink(x):
            raise raised[-1]

        net = self.net(SHRINK)
        net.add_operator("SoftShrink", shrink)
        for kind in (errors.BusyError, errors.WaitTimeoutError, errors.BadStateError):
            raised.append(kind("out of the operator"))
            session = net.session()
            pending = session.submit()
            for _ in range(2):
                with self.assertRaises(kind) as found:
                    pending.wait()
                self.assertIs(found.exception, raised[-1])
            self.assertTrue(pending.done())
            session.submit()
            session.close()
            self.assertTrue(session.closed)

    def test_operators_that_use_sessions(self):
        net = self.net(SHRINK)
        calls, found = [], []

        def shrink(x):
            while calls:
                try:
                    calls.pop(0)()
                except errors.BusyError as error:
                    found.append(error)
            return x

        net.add_operator("SoftShrink", shrink)
        with mnn_c.Runtime() as runtime:
            first, second = net.session(runtime=runtime), net.session(runtime=runtime)
        self.addCleanup(second.close)
        # A run that comes later on the thread cannot be waited for there, and stays under way.
        begun, later = threading.Event(), []
        calls.extend([begun.wait, lambda: later[0].done()])
        run = first.submit()
        later.append(second.submit())
        begun.set()
        run.wait()
        self.assertEqual(len(found), 1)
        later[0].wait()
        # Calls of the session itself are refused, also while another thread closes it.
        closing = threading.Thread(target=first.close)
        calls.extend([closing.start, lambda: closing.join(0.2), first.ops])
        run = first.submit()
        run.wait(20)
        closing.join(20)
        self.assertFalse(closing.is_alive())
        self.assertEqual(len(found), 2)

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
