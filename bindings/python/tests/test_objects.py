"""Lifetimes, pickling, fork, constants, information and tables."""

import ctypes
import dataclasses
import gc
import json
import multiprocessing
import os
import pickle
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import numpy as np

from support import DIGITS, WINDOWS, Test, case, images, mnn_c, net_of_tests


def resident():
    if WINDOWS:
        counters = (ctypes.c_size_t * 9)(72)  # PROCESS_MEMORY_COUNTERS: its third word is the working set
        process = ctypes.c_void_p(ctypes.windll.kernel32.GetCurrentProcess())
        assert ctypes.windll.kernel32.K32GetProcessMemoryInfo(process, counters, 72)
        return counters[2]
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def in_child(path):
    return mnn_c.Interpreter(path).session()(images(2))


class DeviceBuffers(Test):
    def test_memory_that_two_sessions_share(self):
        reason = mnn_c.missing_reason(mnn_c.Forward.VULKAN)
        if reason:
            self.skipTest(reason)
        net = self.net()
        head = net.session(forward_type=mnn_c.Forward.VULKAN, outputs=["m"])
        tail = net.session(forward_type=mnn_c.Forward.VULKAN, inputs=["m"])
        try:
            head.output("m").bind_buffer(mnn_c.DeviceBuffer(mnn_c.BufferKind.OPAQUE_FD, allocate=True))
        except mnn_c.errors.NotSupportedError as error:
            self.skipTest(str(error))
        shared = head.output("m").device_buffer(mnn_c.BufferKind.OPAQUE_FD)
        with self.assertRaises(mnn_c.errors.BufferTooSmallError):
            tail.input("m").bind_buffer(dataclasses.replace(shared, bytes=shared.bytes - 1))
        tail.input("m").bind_buffer(shared)
        os.close(shared.fd)
        whole = net.session()
        for image in images(3):
            head.input().write(image[None])
            head.execute()
            tail.execute()
            np.testing.assert_allclose(tail.output("scores").read(), whole(image[None]), atol=1e-4)
        with self.assertRaises(mnn_c.errors.NotSupportedError):
            tail.input("m").bind_buffer(mnn_c.DeviceBuffer(mnn_c.BufferKind.VULKAN, buffer=1, bytes=1 << 20))
        head.output("m").unbind()
        with self.assertRaises(mnn_c.errors.NotSupportedError):
            head.output("m").device_buffer()

    def test_on_the_cpu(self):
        session = self.net().session()
        with self.assertRaises(mnn_c.errors.NotSupportedError):
            session.input().bind_buffer(mnn_c.DeviceBuffer(mnn_c.BufferKind.VULKAN, allocate=True))


class Lifetimes(Test):
    def test_a_thousand_of_each(self):
        data = DIGITS.read_bytes()

        def once(closing):
            net = mnn_c.Interpreter(data, load_mode=mnn_c.Load.BORROW)
            session = net.session()
            session.input().bind(images(1))
            session.execute()
            if closing:
                net.close()
                session.close()

        for i in range(100):
            once(i % 2)
        gc.collect()
        before = resident()
        for i in range(1000):
            once(i % 2)
        gc.collect()
        self.assertLess(resident() - before, 32 << 20)
        self.assertEqual(len(mnn_c._registry._objects), 0)

    def test_parts_keep_what_they_need(self):
        tensor = mnn_c.Interpreter(bytearray(DIGITS.read_bytes()), load_mode=mnn_c.Load.BORROW).session().output()
        gc.collect()
        tensor.session.run({"image": images(1)})
        self.assertEqual(tensor.read().shape, (1, 10))

    def test_callbacks_are_let_go(self):
        net = self.net(log=lambda level, text: None)
        self.assertEqual(len(mnn_c._registry._objects), 1)
        net.close()
        self.assertEqual(len(mnn_c._registry._objects), 0)
        with self.assertRaises(mnn_c.Error):
            mnn_c.Interpreter(b"x", log=print)
        self.assertEqual(len(mnn_c._registry._objects), 0)

    def test_python_ends_before_its_objects(self):
        script = (
            "import mnn_c, sys\n"
            "class Memory(mnn_c.Allocator):\n"
            "    kept = []\n"
            "    def allocate(self, size, alignment):\n"
            "        import ctypes\n"
            "        self.kept.append(ctypes.create_string_buffer(size + alignment))\n"
            "        address = ctypes.addressof(self.kept[-1])\n"
            "        return address + -address % alignment\n"
            "    def release(self, address, size, alignment):\n"
            "        pass\n"
            "net = mnn_c.Interpreter(sys.argv[1])\n"
            "session = net.session(runtime=mnn_c.Runtime(2, allocator=Memory()))\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, str(DIGITS)], stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})  # fmt: skip
        self.assertEqual((done.returncode, done.stderr), (0, b""))


class HostBytes(Test):
    MODEL = case("weights__external")

    def results(self, net):
        session = net.session()
        net.close()
        x = session.input("x")
        outputs = session((np.arange(x.size) % 7).reshape(x.shape).astype(np.float32))
        return outputs if isinstance(outputs, dict) else {"": outputs}

    def test_external_weights(self):
        data, model = self.MODEL.with_name("model.mnn.weight").read_bytes(), self.MODEL.read_bytes()
        wanted = self.results(self.net(self.MODEL))
        reader = mnn_c.WeightReader(len(data), lambda offset, count: data[offset:offset + count])
        before = len(mnn_c._registry._objects)
        for weights in (str(self.MODEL) + ".weight", data, bytearray(data), reader):
            for mode in (mnn_c.Load.COPY, mnn_c.Load.BORROW):
                got = self.results(self.net(model, external_weights=weights, load_mode=mode))
                self.assertEqual(set(got), set(wanted))
                for name, value in wanted.items():
                    np.testing.assert_array_equal(got[name], value)
        gc.collect()
        self.assertEqual(len(mnn_c._registry._objects), before)
        pickled = pickle.loads(pickle.dumps(self.net(model, external_weights=data)))
        for name, value in self.results(pickled).items():
            np.testing.assert_array_equal(value, wanted[name])

    def test_readers_that_fail(self):
        before = len(mnn_c._registry._objects)
        model = self.MODEL.read_bytes()

        def fails(offset, count):
            raise ValueError("no network")

        for read, message in ((fails, "no network"), (lambda offset, count: b"", "not")):
            with self.assertRaisesRegex(ValueError, message):
                with mnn_c.Interpreter(model, external_weights=mnn_c.WeightReader(1 << 20, read)) as net:
                    net.session()
        with self.assertRaises(mnn_c.errors.TruncatedError):
            self.net(model, external_weights=b"")
        with self.assertRaises(mnn_c.errors.TruncatedError):
            self.net(model[:100], external_weights=b"1", load_mode=mnn_c.Load.BORROW)
        gc.collect()
        self.assertEqual(len(mnn_c._registry._objects), before)

    def test_a_load_that_is_repeated(self):
        before = len(mnn_c._registry._objects)
        data = self.MODEL.with_name("model.mnn.weight").read_bytes()
        reader = mnn_c.WeightReader(len(data), lambda offset, count: data[offset:offset + count])

        def repeated(function, cancel):
            with mnn_c.CancelToken() as token:
                token.trigger()
                self.assertEqual(function(token._handle), mnn_c.errors.CancelledError.status)
            return function(0)

        with unittest.mock.patch("mnn_c._interrupt.call", repeated):
            net = self.net(self.MODEL.read_bytes(), external_weights=reader, load_mode=mnn_c.Load.BORROW)
        self.assertEqual(len(mnn_c._registry._objects), before + 2)
        self.assertGreater(len(self.results(net)), 0)
        with self.assertRaises(BufferError):
            self.net(memoryview(data)[::2], external_weights=reader)
        gc.collect()
        self.assertEqual(len(mnn_c._registry._objects), before)

    def test_borrowed_bytes_outlive_their_interpreter(self):
        before = len(mnn_c._registry._objects)
        net = self.net(DIGITS.read_bytes(), load_mode=mnn_c.Load.BORROW)
        self.assertEqual(len(mnn_c._registry._objects), before + 1)
        session = net.session()
        net.close()
        self.assertEqual(len(mnn_c._registry._objects), before + 1)
        np.testing.assert_array_equal(session(images(2)), self.session()(images(2)))
        session.close()
        self.assertEqual(len(mnn_c._registry._objects), before)

    def test_halves(self):
        session = self.session(net_of_tests("halves.mnn"))
        x = (np.arange(30) / 8 - 1).astype(np.float16).reshape(1, 5, 3, 2)
        session.input("x").write(x)
        session.input("factor").write(np.array([2], np.float32))
        session.execute()
        cast = session.output("cast").read()
        self.assertEqual((cast.dtype, session.output("product").read().dtype), (np.float16, np.float32))
        np.testing.assert_array_equal(cast, x * 2)


class Processes(Test):
    def test_pickling(self):
        wanted = self.session()(images(3))
        for source, by in ((DIGITS, "path"), (DIGITS.read_bytes(), "bytes"), (str(DIGITS), "bytes")):
            net = self.net(source)
            net.pickle_by = by
            data = pickle.dumps(net)
            self.assertEqual(len(data) > 10000, by == "bytes")
            np.testing.assert_array_equal(pickle.loads(data).session()(images(3)), wanted)
        with self.assertRaisesRegex(TypeError, "pickle its interpreter"):
            pickle.dumps(net.session())
        config = mnn_c.SessionConfig(threads=2, outputs=("m",))
        self.assertEqual(pickle.loads(pickle.dumps(config)), config)

    def in_a_child_by(self, method):
        with multiprocessing.get_context(method).Pool(1) as pool:
            np.testing.assert_array_equal(pool.apply(in_child, (str(DIGITS),)), self.session()(images(2)))

    def test_spawn(self):
        self.in_a_child_by("spawn")

    @unittest.skipIf(WINDOWS, "Windows has no fork()")
    def test_fork(self):
        session = self.session()
        wanted = session(images(2))
        self.in_a_child_by("fork")
        child = os.fork()
        if child == 0:
            good = np.array_equal(session(images(2)), wanted)
            os._exit(0 if good else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)


class Information(Test):
    def test_a_setting_of_another_type_is_named(self):
        with self.assertRaisesRegex(TypeError, "forward_type is 'vulkan', but its type is Forward"):
            self.net().session(forward_type="vulkan")

    def test_models_and_sessions(self):
        net = self.net()
        self.assertEqual([(i.name, i.shape, i.dtype) for i in net.inputs], [("image", (1, 1, 8, 8), np.float32)])
        self.assertEqual(net.outputs, ["scores"])
        self.assertEqual(net.info.source, mnn_c.Source.ONNX)
        self.assertEqual(net.info.byte_size, DIGITS.stat().st_size)
        self.assertGreater(net.parameter_count, 1000)
        for text in (net.uuid, net.model_version, net.biz_code):
            self.assertIsInstance(text, str)
        session = net.session(record_plan=True)
        session(images(1))
        self.assertEqual(session.statistics.runs, 1)
        self.assertGreater(session.statistics.memory_bytes, 0)
        self.assertEqual(session.flops[1], True)
        self.assertEqual(session.info.forward_type, mnn_c.Forward.CPU)
        self.assertIn("Convolution", [op.type_name for op in session.ops()])
        of_the_net = net.ops()
        self.assertEqual([of_the_net[op.op_index].name for op in session.ops()], [op.name for op in session.ops()])
        self.assertTrue(session.report("passes"))
        for text in (net.report("graph"), session.report("graph")):
            self.assertIn("Convolution", [op["type"] for op in json.loads(text)["graphs"][0]["operators"]])
        with self.assertRaises(mnn_c.Error):
            net.report("plan")
        self.assertEqual(session.cache(), b"")
        self.assertFalse(session.cache_accepted)
        self.assertEqual(session.input().info.kind, mnn_c.TensorKind.INPUT)
        self.assertEqual(session.input().byte_size(), 256)
        self.assertEqual(session.input().size, 64)
        self.assertIn("scores", session.output().text())

    def test_declarations(self):
        net = self.net(net_of_tests("declared.mnn"))
        kind = mnn_c.ElementType
        self.assertEqual(
            [(i.declared_type, i.type) for i in net.declared_inputs[:4]],
            [(kind.INT64, kind.INT32), (kind.BOOL, kind.INT32), (kind.DOUBLE, kind.FLOAT32), (kind.UINT8, kind.UINT8)])
        outputs = {output.name: output for output in net.declared_outputs}
        self.assertEqual((outputs["doubled"].shape, outputs["doubled"].type), ((-1, 4), kind.INT32))
        self.assertEqual((outputs["narrow"].declared_type, outputs["narrow"].format), (kind.BOOL, mnn_c.Format.NCHW))
        self.assertEqual((outputs["asked"].shape, outputs["asked"].type, outputs["asked"].format), (None,) * 3)

    def test_the_library(self):
        self.assertEqual(".".join(map(str, mnn_c.version_numbers())), mnn_c.version())
        self.assertEqual(mnn_c.abi_version(), mnn_c.version_numbers()[:2])
        self.assertIn(("cpu", mnn_c.Forward.CPU), mnn_c.backends())
        # A build has one of these as its lowest instruction set.
        self.assertTrue({"portable", "sse4", "neon"} & set(mnn_c.cpu().isas))
        self.assertEqual(bool(mnn_c.devices()), mnn_c.missing_reason() == "")

    def test_tables(self):
        net = self.net()
        session = net.session()
        for item in (net, session, net.inputs, net.ops(), session.ops(), session.inputs):
            self.assertIn("<table>", item._repr_html_())
            self.assertTrue(repr(item))
        self.assertEqual(len(repr(session.ops()).splitlines()), len(session.ops()) + 1)
        self.assertEqual(len(session.ops()[1:]), len(session.ops()) - 1)
        self.assertIn("image", repr(session.input()))

    def test_constants_and_saving(self):
        net = self.net()
        session = net.session()
        self.assertIn("Concat13", session.constants())
        self.assertEqual(session.constant("Concat13").info.kind, mnn_c.TensorKind.CONSTANT)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "copy.mnn")
            net.save(path)
            with open(path, "rb") as file:
                self.assertEqual(file.read(), net.model_bytes())
            np.testing.assert_array_equal(self.session(path)(images(2)), session(images(2)))
        net.update_constants(session)
        self.assertEqual(net.pickle_by, "bytes")
        net.set_cache_file(None)
        net.set_cache(b"")
        with self.assertRaises(mnn_c.errors.BadStateError):
            net.update_cache_file(session)

    def test_releasing_the_model(self):
        before = len(mnn_c._registry._objects)
        net = self.net(DIGITS.read_bytes(), load_mode=mnn_c.Load.BORROW)
        session = net.session()
        wanted = session(images(2))
        self.assertEqual(len(mnn_c._registry._objects), before + 1)
        net.release_model()
        gc.collect()
        self.assertEqual(len(mnn_c._registry._objects), before)
        np.testing.assert_array_equal(session(images(2)), wanted)
        net.release_model(mnn_c.Keep.WEIGHTS)
        for needs_the_bytes in (net.session, net.model_bytes, lambda: net.update_constants(session)):
            with self.assertRaises(mnn_c.errors.BadStateError):
                needs_the_bytes()

    def test_releasing_all_but_the_weights(self):
        net = self.net(DIGITS.read_bytes(), load_mode=mnn_c.Load.BORROW)
        wanted = self.session(DIGITS)(images(2))
        session = net.session(defer_planning=True)
        net.release_model(mnn_c.Keep.WEIGHTS)
        np.testing.assert_array_equal(session(images(2)), wanted)
        with self.assertRaises(mnn_c.errors.BadStateError):
            net.session()
        with self.assertRaises(mnn_c.errors.InvalidValueError):
            net.release_model(2)


if __name__ == "__main__":
    unittest.main()
