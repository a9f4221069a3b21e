"""Submitted runs: results, turns, timeouts, cancellation, asyncio, own operators, the end of objects."""

import asyncio
import gc
import threading
import unittest
import unittest.mock

import numpy as np

from support import SHRINK, Test, images, mnn_c, replaced
from mnn_c import errors


class Submitted(Test):
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

    def test_refused_runs_are_not_later_runs(self):
        session = self.session()
        pending = session.submit({"image": images(1)})
        self.assertRaises(errors.BusyError, session.execute)
        self.assertEqual(pending.result()["scores"].shape, (1, 10))

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


if __name__ == "__main__":
    unittest.main()
