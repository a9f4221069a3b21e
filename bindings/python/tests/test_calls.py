"""Errors, cancellation, Ctrl-C, threads, asyncio, callbacks and own operators."""

import asyncio
import contextlib
import ctypes
import gc
import io
import os
import pickle
import signal
import sys
import threading
import time
import unittest
import unittest.mock
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from support import DIGITS, SHRINK, WINDOWS, Test, ctrl_c, ctrl_c_after, images, in_one_call, mnn_c
from mnn_c import _failure, _interrupt, _registry, cancel, errors, runtime


class Failures(Test):
    def test_each_status_is_an_exception(self):
        with self.assertRaises(FileNotFoundError) as raised:
            mnn_c.Interpreter("/no/such.mnn")
        self.assertEqual(raised.exception.status, 36)
        self.assertIn(os.path.abspath("/no/such.mnn"), raised.exception.sentence)
        self.assertIn("MNN_ERROR_FILE_NOT_EXIST", str(raised.exception))
        with self.assertRaises(errors.BadFormatError):
            mnn_c.Interpreter(b"no model")
        with self.assertRaises(mnn_c.Error):
            mnn_c.Interpreter(b"")
        for kind in errors.BY_STATUS.values():
            copy = pickle.loads(pickle.dumps(kind("a sentence")))
            self.assertEqual((type(copy), copy.sentence, copy.status), (kind, "a sentence", kind.status))
        with self.assertRaises(ValueError):
            mnn_c.Interpreter("a\0b")

    def test_closed_objects(self):
        net = self.net()
        session = net.session()
        net.close()
        net.close()
        self.assertEqual(session(images(1)).shape, (1, 10))
        tensor = session.input()
        with session:
            pass
        for call in (lambda: session(images(1)), lambda: tensor.shape, net.session, lambda: session.inputs):
            self.assertRaises(errors.BadHandleError, call)
        self.assertIn("closed", repr(session) + repr(net))


class Cancelling(Test):
    def test_a_token_ends_calls(self):
        with mnn_c.CancelToken() as token:
            token.trigger()
            session = self.session()
            self.assertRaises(errors.CancelledError, session.execute, cancel=token)
            self.assertRaises(errors.CancelledError, self.net().session, cancel=token)
            self.assertRaises(errors.CancelledError, mnn_c.Interpreter, DIGITS, cancel=token)
            token.reset()
            session.execute(cancel=token)

    def test_ctrl_c_ends_a_run(self):
        session = self.slow()
        for token in (None, mnn_c.CancelToken()):
            failed = session.statistics.failed_runs
            for _ in range(20):  # the signal may come between two runs, which then ends none
                timer = ctrl_c_after(0.1)
                timer.start()
                with self.assertRaises(KeyboardInterrupt):
                    while True:
                        session.execute(cancel=token)
                timer.join()
                if session.statistics.failed_runs > failed:
                    break
            self.assertEqual(session.statistics.failed_runs, failed + 1)
            session.execute(cancel=token)  # the trigger of Ctrl-C is gone
        self.assertEqual(signal.set_wakeup_fd(-1), -1)

    def test_ctrl_c_at_callbacks(self):
        # Python handles a signal that comes while the library computes before the first instruction of a callback.
        net = self.net(SHRINK)
        net.add_operator("SoftShrink", lambda x: x)
        session = net.session()
        self.addCleanup(session.close)
        x = np.zeros((20000, 3, 4), np.float32)
        session(x)
        for _ in range(10):
            timer = ctrl_c_after(0.02)
            with self.assertRaises(KeyboardInterrupt):
                timer.start()
                while timer.is_alive():
                    session(x)
                session(x)
            timer.join()
        session(x)

    def test_ctrl_c_ends_functions_of_the_program(self):
        net, calls = self.net(SHRINK), []

        def shrink(x):
            calls.append(1)
            ctrl_c()
            time.sleep(60)
            return x

        net.add_operator("SoftShrink", shrink)
        session = net.session()
        self.addCleanup(session.close)
        self.assertRaises(KeyboardInterrupt, session.execute)
        self.assertEqual(len(calls), 1)
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)

    def test_ctrl_c_ends_log_functions(self):
        calls = []

        def log(level, text):
            if not calls:
                calls.append("begin")
                ctrl_c()
                time.sleep(10)
                calls.append("end")

        with self.assertRaises(KeyboardInterrupt):
            self.net(log=log, log_level=mnn_c.LogLevel.DEBUG).session().close()
        self.assertEqual(calls, ["begin"])

    def test_ctrl_c_in_nested_calls(self):
        inner, outer, interrupted = self.net(SHRINK), self.net(SHRINK), []

        def shrink(x):
            if not interrupted:
                interrupted.append(1)
                try:
                    ctrl_c()
                    time.sleep(60)
                except KeyboardInterrupt:
                    while not _interrupt._watcher.fired:
                        time.sleep(0.001)
                    raise
            return x

        inner.add_operator("SoftShrink", shrink)
        own = inner.session()
        outer.add_operator("SoftShrink", own)
        session = outer.session()
        for each in (own, session):
            self.addCleanup(each.close)
        with mnn_c.CancelToken() as token:
            self.assertRaises(KeyboardInterrupt, session.execute, cancel=token)
            session.execute(cancel=token)

    @unittest.skipIf(WINDOWS, "there is no fork()")
    def test_children_of_calls(self):
        ends, threaded = [], []

        def fork():
            child = os.fork()
            if child == 0:
                default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
                os._exit(0 if signal.set_wakeup_fd(-1) == -1 and default == threaded[-1] else 1)
            ends.append(os.waitpid(child, 0)[1])

        def shrink(x):
            threaded.append(False)
            fork()
            threaded.append(True)
            thread = threading.Thread(target=fork)
            thread.start()
            thread.join()
            return x

        net = self.net(SHRINK)
        net.add_operator("SoftShrink", shrink)
        with net.session() as session:
            session.execute()
        self.assertEqual(ends, [0, 0])

    @unittest.skipIf(WINDOWS, "the library of C has another name")
    def test_ctrl_c_loses_no_handles(self):
        signalled, destroyed = (ctypes.CDLL(None)["raise"], signal.SIGINT), []
        create, destroy = runtime.C.mnn_runtime_create, mnn_c.Runtime._destroy

        def interrupted(function):
            return lambda *arguments: in_one_call(signalled, (function, *arguments))[1]

        def replaced(function):
            return unittest.mock.patch.object(mnn_c.Runtime, "_destroy", staticmethod(function))

        with unittest.mock.patch.object(runtime.C, "mnn_runtime_create", interrupted(create)):
            with replaced(lambda value: destroyed.append(1) or destroy(value)):
                self.assertRaises(KeyboardInterrupt, mnn_c.Runtime)
                gc.collect()
        self.assertEqual(len(destroyed), 1)
        made = mnn_c.Runtime()
        for function, closed in ((lambda _: errors.BusyError.status, False), (destroy, True)):
            with replaced(interrupted(function)):
                self.assertRaises(KeyboardInterrupt, made.close)
            self.assertEqual(made.closed, closed)
        create = cancel.C.mnn_cancel_create
        with unittest.mock.patch.object(cancel.C, "mnn_cancel_create", interrupted(create)):
            with unittest.mock.patch.object(
                mnn_c.CancelToken, "_destroy", staticmethod(lambda value: destroyed.append(2) or 0)
            ):
                self.assertRaises(KeyboardInterrupt, mnn_c.CancelToken)
                gc.collect()
        self.assertEqual(destroyed[1:], [2])

    def test_calls_without_descriptors(self):
        with unittest.mock.patch.object(_interrupt, "_watcher", None):
            with unittest.mock.patch("socket.socketpair", side_effect=OSError):
                mnn_c.Runtime().close()
                messages = []

                def log(level, message):
                    messages.append(message)
                    if len(messages) == 1:
                        ctrl_c()
                        time.sleep(60)

                self.assertRaises(KeyboardInterrupt, mnn_c.Interpreter, DIGITS, log=log, log_level=mnn_c.LogLevel.DEBUG)

    def test_watchers_without_tokens(self):
        threads = threading.active_count()
        with unittest.mock.patch.object(_interrupt, "_watcher", None):
            with unittest.mock.patch.object(_interrupt, "_Token", side_effect=MemoryError):
                self.assertRaises(MemoryError, mnn_c.Runtime)
        while threading.active_count() > threads:
            time.sleep(0.001)

    def test_handlers_trigger_tokens(self):
        token = mnn_c.CancelToken()
        reset = cancel.C.mnn_cancel_reset
        with unittest.mock.patch.object(cancel.C, "mnn_cancel_reset", lambda value: token.trigger() or reset(value)):
            token.reset()
        self.assertTrue(token.triggered)
        self.assertRaises(errors.CancelledError, self.session().execute, cancel=token)
        token.close()

    def test_objects_of_runtimes_that_are_not_made(self):
        class Log:
            def __call__(self, level, message):
                pass

        log = Log()
        here = weakref.ref(log)
        with unittest.mock.patch.object(_interrupt, "call", side_effect=MemoryError):
            self.assertRaises(MemoryError, mnn_c.Runtime, log=log)
        del log
        gc.collect()
        self.assertIsNone(here())

    def test_another_handler_decides_by_itself(self):
        session, calls = self.slow(), []
        before = signal.signal(signal.SIGINT, lambda *_: calls.append(1))
        try:
            timer = ctrl_c_after(0.05)
            timer.start()
            while not calls:
                session.execute()
        finally:
            signal.signal(signal.SIGINT, before)
        timer.join()
        self.assertEqual(session.statistics.failed_runs, 0)

    def test_asyncio(self):
        session = self.session()
        wanted = session(images(5))

        async def several():
            return await asyncio.gather(*(session.run_async({"image": images(5)}) for _ in range(8)))

        for result in asyncio.run(several()):
            np.testing.assert_array_equal(result["scores"], wanted)

        slow, many = self.slow(), np.zeros((6000, 1, 8, 8), np.float32)

        async def cancelled():
            task = asyncio.ensure_future(slow.run_async({"image": many}))
            await asyncio.sleep(0.02)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task

        asyncio.run(cancelled())
        slow.execute()


class Threads(Test):
    def test_threads_share_sessions(self):
        net = self.net()
        shared = [net.session(), net.session(runtime=mnn_c.Runtime(2))]
        wanted = {n: net.session()(images(n)) for n in range(1, 5)}

        def work(seed):
            for i in range(60):
                n = (seed + i) % 4 + 1
                result = shared[i % 2](images(n))
                np.testing.assert_allclose(result, wanted[n], rtol=1e-4, atol=1e-4)
                if i % 20 == 0:
                    with net.session() as own:
                        own(images(n))

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(8)))

    def test_close_while_others_run(self):
        for _ in range(20):
            session = self.net().session()
            stopped = []

            def work():
                try:
                    while True:
                        session(images(1))
                except errors.BadHandleError:
                    stopped.append(1)

            threads = [threading.Thread(target=work) for _ in range(3)]
            for thread in threads:
                thread.start()
            time.sleep(0.002)
            session.close()
            for thread in threads:
                thread.join()
            self.assertEqual(len(stopped), 3)

    def test_other_threads_go_on_during_a_run(self):
        session, count, done = self.session(), [0], threading.Event()
        session.resize({"image": (6000, 1, 8, 8)})

        def tick():
            while not done.is_set():
                count[0] += 1
                time.sleep(0.001)

        thread = threading.Thread(target=tick)
        thread.start()
        begin = count[0]
        for _ in range(3):
            session.execute()
        ticks = count[0] - begin
        done.set()
        thread.join()
        self.assertGreater(ticks, 3)

    def test_runtime_with_threads_of_python(self):
        with ThreadPoolExecutor(2) as pool, mnn_c.Runtime(
            2, parallel_for=lambda count, task: list(pool.map(task, range(count)))
        ) as runtime:
            with self.net().session(runtime=runtime) as session:
                np.testing.assert_array_equal(session(images(64)), self.session(threads=2)(images(64)))

    @unittest.skipIf(WINDOWS, "the library of C has another name")
    def test_locks_of_a_queue(self):
        lock = threading.Lock()
        number = mnn_c._registry.add(lock)
        self.addCleanup(mnn_c._registry.remove, number)
        enter, leave = (runtime._lock_queue, number), (runtime._unlock_queue, number)
        signalled = (ctypes.CDLL(None)["raise"], signal.SIGINT)
        for calls in ((signalled, enter, leave), (enter, signalled, leave), (enter, leave, signalled)):
            with self.assertRaises(KeyboardInterrupt):
                mnn_c._interrupt.call(lambda _: in_one_call(*calls).clear() or 0, None)
            self.assertFalse(lock.locked())

        class Refuses:
            def __enter__(self):
                raise LookupError("out of the lock")

            def __exit__(self, *_):
                raise AssertionError("it was not entered")

        for hook in (sys.__unraisablehook__, lambda found: seen.append(found.exc_value)):
            seen, number = [], mnn_c._registry.add(Refuses())
            self.addCleanup(mnn_c._registry.remove, number)
            with unittest.mock.patch("sys.unraisablehook", hook), contextlib.redirect_stderr(io.StringIO()) as printed:
                in_one_call((runtime._lock_queue, number), (runtime._unlock_queue, number))
            self.assertEqual(len(seen) + printed.getvalue().count("LookupError: out of the lock"), 1)
            self.assertNotIn("it was not entered", printed.getvalue())


class Callbacks(Test):
    def test_operators_are_shown(self):
        session, seen = self.session(), []
        session.run({"image": images(1)}, after=lambda op, tensors: seen.append((op.type_name, tensors[0].read().shape)))
        saved = self.session(save_tensors=("m",)).run({"image": images(1)})["m"]
        self.assertIn(("Pooling", saved.shape), seen)
        self.assertGreaterEqual(len(seen), len(session.ops()))
        with self.assertRaises(errors.CallbackStopError):
            session.run(before=lambda op, tensors: mnn_c.Op.STOP)
        with self.assertRaises(ZeroDivisionError):
            session.run(before=lambda op, tensors: 1 / 0)
        kept = []
        session.run(after=lambda op, tensors: kept.extend(tensors))
        self.assertRaises(errors.BadHandleError, kept[0].read)
        with self.assertRaises(errors.BusyError):
            session.run(after=lambda op, tensors: session.execute())
        session.execute()

    def test_reports_never_raise(self):
        class Unnamed:
            def __repr__(self):
                raise LookupError

        closed = io.StringIO()
        closed.close()
        for stream, hook, where in (
            (closed, sys.__unraisablehook__, None),
            (io.StringIO(), sys.__unraisablehook__, Unnamed()),
            (io.StringIO(), lambda found: sys.__unraisablehook__(found), None),
        ):
            with unittest.mock.patch("sys.unraisablehook", hook), contextlib.redirect_stderr(stream):
                _registry.report(LookupError(), where)

        def stop(_):
            raise KeyboardInterrupt

        with unittest.mock.patch("sys.unraisablehook", stop):
            _registry.report(LookupError(), None)
        self.assertIsInstance(_failure.take(), KeyboardInterrupt)

    def test_log(self):
        messages = []
        net = self.net(log=lambda level, text: messages.append((level, text)), log_level=mnn_c.LogLevel.DEBUG)
        net.session().close()
        self.assertTrue(messages)
        self.assertIsInstance(messages[0][0], mnn_c.LogLevel)


class SoftShrink(mnn_c.Operator):
    def prepare(self, node, inputs):
        return node.attribute("lambd").float_value

    def shape(self, node, inputs):
        return [(inputs[0].shape, inputs[0].data.dtype if inputs[0].data is not None else np.float32)]

    def compute(self, node, inputs, state):
        return np.sign(inputs[0]) * np.maximum(np.abs(inputs[0]) - np.float32(state), 0)


class Operators(Test):
    def test_an_operator_in_python(self):
        x = np.random.default_rng(5).normal(size=(4, 3, 4)).astype(np.float32)
        wanted = np.sign(2 * x) * np.maximum(np.abs(2 * x) - 0.5, 0) + 1
        net = self.net(SHRINK)
        self.assertFalse(all(op.supported for op in net.ops()))
        net.add_operator("SoftShrink", SoftShrink())
        np.testing.assert_allclose(net.session()(x), wanted, rtol=1e-6)
        copy = pickle.loads(pickle.dumps(net))
        np.testing.assert_allclose(copy.session()(x), wanted, rtol=1e-6)
        with self.assertRaises(errors.BadStateError):
            net.add_operator("Other", SoftShrink())

    def test_orders_of_bytes(self):
        class Turned(mnn_c.Operator):
            def shape(self, node, inputs):
                return [(inputs[0].shape, ">f4")]

            def compute(self, node, inputs, state):
                return inputs[0].astype(">f4")

        net = self.net(SHRINK)
        net.add_operator("SoftShrink", Turned())
        np.testing.assert_array_equal(net.session()(np.ones((1, 3, 4))), np.full((1, 3, 4), 3))

    def test_exceptions_come_back(self):
        x = np.zeros((1, 3, 4))

        def fails(_):
            raise KeyError("a reason of its own")

        for function, kind in (
            (fails, KeyError),
            (lambda a: a[0], errors.InputDataError),
            (lambda a: (a, a), errors.InputDataError),
            (lambda a: a.astype(complex), TypeError),
        ):
            net = self.net(SHRINK)
            net.add_operator("SoftShrink", function)
            with net.session() as session:
                self.assertRaises(kind, session, x)
        net = self.net(SHRINK)
        net.add_operator("SoftShrink", lambda a: a)
        np.testing.assert_array_equal(net.session()(x), x + 1)
        self.assertRaises(TypeError, net.add_operator, "Other", 3)


class Pooling(mnn_c.HostBackend):
    """Computes the poolings, and the convolution that ends the digits model, which is a matrix product."""

    def __init__(self):
        self.fails, self.asked, self.computed = None, set(), []

    def supports(self, node, inputs, outputs):
        self.asked.add(node.type_name)
        if self.fails == "supports":
            raise KeyError("a reason of its own")
        if self.fails == "refuses":
            raise mnn_c.errors.NotSupportedError("a reason of its own")
        if node.type_name == "Pooling":
            return outputs[0].shape[2] * 2 == inputs[0].shape[2]
        if node.type_name != "Convolution":
            return False
        kernel = next(a for a in node.attribute("common").attributes if a.key == "kernelX").int_value
        return kernel == 1 or f"its kernel is {kernel}"

    def prepare(self, node, inputs, weights):
        return [w.data for w in weights]

    def compute(self, node, inputs, state):
        if self.fails == "compute":
            raise KeyError("a reason of its own")
        self.computed.append(node.name)
        (x,) = inputs
        if not state:
            n, c, h, w = x.shape
            return x.reshape(n, c, h // 2, 2, w // 2, 2).max((3, 5))
        weights, bias = state
        return np.einsum("ncyx,oc->noyx", x, weights[:, :, 0, 0]) + bias[:, None, None]


class Backends(Test):
    def test_a_backend_in_python(self):
        net, backend = self.net(), Pooling()
        with mnn_c.Runtime() as runtime:
            runtime.add_backend("other", Pooling())  # so that the next number has no name
            forward = runtime.add_backend("own", backend)
            self.assertGreaterEqual(forward, mnn_c.Forward.USER)
            self.assertRaises(ValueError, runtime.add_backend, "own", backend)
            self.assertRaises(TypeError, runtime.add_backend, "third", 3)
            session = net.session(runtime=runtime, forward_type=forward)
        self.addCleanup(session.close)
        self.assertEqual(session.info.forward_type, forward)
        self.assertIn(str(int(forward)), repr(session))
        x = images(3)
        with net.session() as plain:
            wanted = plain(x)
        np.testing.assert_allclose(session(x), wanted, rtol=1e-4, atol=1e-4)
        self.assertEqual(backend.computed, ["m", "scores__matmul_converted"])
        self.assertLessEqual({"Convolution", "Pooling", "Flatten"}, backend.asked)
        self.assertNotIn("Shape", backend.asked)
        ops = {op.name: op for op in session.ops()}
        self.assertEqual(ops["m"].backend_name, "own")
        self.assertEqual(ops["c1"].backend_name, "cpu")
        self.assertEqual(ops["c1"].reason, "backend 'own' does not compute it: its kernel is 3")
        backend.fails = "compute"
        self.assertRaises(KeyError, session, x)
        backend.fails = "supports"
        self.assertRaises(KeyError, session, images(5))
        backend.fails = "refuses"
        self.assertEqual(session(images(7)).shape, (7, 10))
        self.assertIn("a reason of its own", {op.name: op for op in session.ops()}["m"].reason)
        backend.fails = None
        np.testing.assert_allclose(session(x), wanted, rtol=1e-4, atol=1e-4)

    def test_exceptions_of_submitted_runs(self):
        net, backend = self.net(), Pooling()
        with mnn_c.Runtime() as runtime:
            forward = runtime.add_backend("own", backend)
            session = net.session(runtime=runtime, forward_type=forward)
        self.addCleanup(session.close)
        backend.fails = "compute"
        self.assertRaises(KeyError, session.submit().wait)
        backend.fails = None
        session.submit().wait()
        self.assertEqual(mnn_c._failure._kept, {})


if __name__ == "__main__":
    unittest.main()
