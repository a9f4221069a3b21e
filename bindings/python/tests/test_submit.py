"""Submitted runs: results, turns, timeouts, cancellation, asyncio, own operators, the end of objects."""

import asyncio
import gc
import os
import subprocess
import sys
import threading
import unittest
import unittest.mock

import numpy as np

from support import SHRINK, Test, ctrl_c_after, images, mnn_c
from mnn_c import errors


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

    def test_ctrl_c_after_the_end(self):
        session = self.session()
        first = session.submit({"image": images(1)})

        def interrupted(function, token):
            self.assertEqual(function(token._handle), 0)
            raise KeyboardInterrupt

        with unittest.mock.patch("mnn_c._interrupt.call", interrupted):
            self.assertRaises(KeyboardInterrupt, first.wait)
        second = session.submit({"image": images(2)})
        first.wait()
        del first
        self.assertEqual(second.result()["scores"].shape, (2, 10))

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

    def test_the_end_of_the_program(self):
        script = (
            "import mnn_c, sys, time\n"
            "def shrink(x):\n"
            "    time.sleep(0.2)\n"
            "    return x\n"
            "net = mnn_c.Interpreter(sys.argv[1])\n"
            "net.add_operator('SoftShrink', shrink)\n"
            "pending = net.session().submit()\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, str(SHRINK)], stderr=subprocess.PIPE, timeout=60,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})  # fmt: skip
        self.assertEqual((done.returncode, done.stderr), (0, b""))


if __name__ == "__main__":
    unittest.main()
