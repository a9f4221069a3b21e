"""Arrays of every type and layout, in and out."""

import unittest

import numpy as np

from support import DIGITS, Test, case, images, mnn_c

INTEGERS = case("binary__add_integers")


class Arrays(Test):
    def test_digits_are_recognised(self):
        session = self.session(threads=2)
        labels = np.fromfile(DIGITS.parent / "test_labels.bin", np.uint8)
        scores = session(images())
        self.assertEqual(scores.shape, (540, 10))
        self.assertEqual(scores.dtype, np.float32)
        self.assertGreater((scores.argmax(1) == labels).mean(), 0.98)
        by_name = session.run({"image": images()})
        np.testing.assert_array_equal(by_name["scores"], scores)
        self.assertTrue(scores.flags.owndata)

    def test_float_inputs_of_every_type(self):
        session = self.session()
        counts = np.random.default_rng(1).integers(0, 2, (3, 1, 8, 8))
        wanted = session(counts.astype(np.float32))
        for dtype in "bool i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8 >f4 >i8 >f8".split():
            np.testing.assert_array_equal(session(counts.astype(dtype)), wanted, dtype)
        np.testing.assert_array_equal(session(counts.tolist()), wanted)
        np.testing.assert_array_equal(session(np.asfortranarray(counts)), wanted)
        np.testing.assert_array_equal(session(counts.repeat(2, 3)[..., ::2]), wanted)
        with self.assertRaises(TypeError):
            session(counts.astype(complex))
        with self.assertRaises(TypeError):
            session(np.full((1, 1, 8, 8), "x"))

    def test_integer_inputs(self):
        session = self.session(INTEGERS)
        a = np.random.default_rng(2).integers(-1000, 1000, (2, 3, 3))
        inputs = {i.name: np.zeros(i.shape, i.dtype) for i in session.interpreter.inputs}
        for dtype in "i4 i8 f4 f8".split():
            inputs["a_scalar_right_int32"] = a.astype(dtype)
            inputs["b_scalar_right_int32"] = np.array(7, dtype)
            result = session.run(inputs, outputs=["scalar_right_int32"])
            self.assertEqual(list(result), ["scalar_right_int32"])
            np.testing.assert_array_equal(result["scalar_right_int32"], a + 7)
        output = session.output("scalar_right_int32")
        for dtype in "i8 f8 f4".split():
            np.testing.assert_array_equal(output.read(dtype), (a + 7).astype(dtype))
        np.testing.assert_array_equal(output.read(bool), a + 7 != 0)
        for values in (a + 0.5, a * np.nan, a + 2**40):
            with self.assertRaises(mnn_c.errors.InputDataError):
                session.run({"a_scalar_right_int32": values})
        with self.assertRaises(OverflowError):
            session.run({"a_scalar_right_int32": np.full((2, 3, 3), 2**63, np.uint64)})

    def test_layouts_hold_the_same_elements(self):
        for name, own in ((case("columns__im2col_nhwc"), mnn_c.Format.NHWC), (DIGITS, mnn_c.Format.NCHW)):
            session = self.session(name)
            if own == mnn_c.Format.NCHW:
                session.resize({"image": (2, 1, 8, 8)})
            tensor = session.input()
            self.assertEqual(tensor.format, own)
            x = np.random.default_rng(3).random(tensor.shape, np.float32)
            nchw = np.moveaxis(x, -1, 1) if own == mnn_c.Format.NHWC else x
            self.assertEqual(tensor.nchw, nchw.shape)
            batch, channels = nchw.shape[:2]
            groups = np.zeros(((channels + 3) // 4 * 4, batch) + nchw.shape[2:], np.float32)
            groups[:channels] = np.moveaxis(nchw, 1, 0)
            packed = np.moveaxis(groups.reshape((-1, 4) + groups.shape[1:]), 1, -1)
            arrays = {
                mnn_c.Format.NCHW: nchw, mnn_c.Format.NHWC: np.moveaxis(nchw, 1, -1), mnn_c.Format.NC4HW4: packed}
            for layout, array in arrays.items():
                tensor.write(np.zeros(tensor.shape))
                tensor.write(array, layout)
                np.testing.assert_array_equal(tensor.read(), x)
                for other, wanted in arrays.items():
                    np.testing.assert_array_equal(tensor.read(np.float64, other), wanted)
            np.testing.assert_array_equal(np.asarray(tensor), x)

    def test_byte_orders(self):
        tensor = self.session().input()
        tensor.write(np.arange(64).reshape(1, 1, 8, 8))
        for dtype in (">f4", "<f4", ">i2", ">f8"):
            read = tensor.read(dtype)
            self.assertEqual(read.dtype, np.dtype(dtype))
            np.testing.assert_array_equal(read, tensor.read(read.dtype.newbyteorder("=")))
        self.assertRaises(TypeError, mnn_c.dtypes.type_of, np.dtype(np.int32).newbyteorder())

    def test_shapes(self):
        session = self.session(plan_cache=4)
        for count in (3, 1, 7, 3):
            self.assertEqual(session(images(count)).shape, (count, 10))
        for wrong in (np.zeros((8, 8)), np.zeros(64), np.float32(1)):
            with self.assertRaisesRegex(ValueError, r"dimensions.*resize\(\)"):
                session(wrong)
        with self.assertRaisesRegex(mnn_c.errors.NotFoundError, "image"):
            session.run({"picture": images(1)})
        with self.assertRaises(TypeError):
            session(images(1), images(1))
        with self.assertRaises(ValueError):
            session.input().write(np.zeros((1, 1, 8, 7)))
        self.assertEqual(session(images(0)).shape, (0, 10))
        session.resize({"image": (2, 1, 8, 8)})
        self.assertEqual(session.input().shape, (2, 1, 8, 8))
        session.trim()
        np.testing.assert_allclose(session(images(2)), self.session()(images(2)), rtol=1e-4, atol=1e-4)

    def test_deferred_planning(self):
        session = self.session(defer_planning=True)
        self.assertTrue(session.needs_resize)
        with self.assertRaises(mnn_c.errors.BadStateError):
            session.execute()
        self.assertEqual(session(images(2)).shape, (2, 10))

    def test_saved_tensors_and_chosen_outputs(self):
        self.assertEqual(list(self.session(save_tensors=("m",)).run({"image": images(1)})), ["scores", "m"])
        self.assertEqual(list(self.session(outputs=["m"]).run({"image": images(1)})), ["m"])
        with self.assertRaises(TypeError):
            self.session(outputs="m")
        with self.assertRaises(ValueError):
            self.session(threads=2**32 + 1)

    def test_parts_of_a_model(self):
        image, wanted = images(1), self.session()(images(1))
        inner = self.session(outputs=("m",)).run({"image": image})["m"]
        part = self.session(inputs=("m",))
        self.assertEqual([tensor.name for tensor in part.inputs], ["m", "image"])
        self.assertEqual([tensor.info.used for tensor in part.inputs], [True, False])
        np.testing.assert_array_equal(part.run({"m": inner})["scores"], wanted)
        chosen = self.session(operators=("c2", "m"))
        self.assertEqual([tensor.name for tensor in chosen.outputs], ["m"])
        ways = self.session(source_operators=("c2",), sink_operators=("m",))
        self.assertEqual([tensor.name for tensor in ways.inputs], ["r1", "image"])
        self.assertEqual([tensor.name for tensor in ways.outputs], ["m"])
        low = self.session(precision=mnn_c.Precision.LOW, fp32_operators=[op.name for op in self.net().ops()])
        np.testing.assert_array_equal(low(image), wanted)
        for wrong, error in (
            ({"sink_operators": ("absent",)}, mnn_c.errors.NotFoundError),
            ({"source_operators": ("m",), "sink_operators": ("c1",)}, mnn_c.errors.InvalidValueError),
            ({"inputs": ("absent",)}, mnn_c.errors.NotFoundError),
            ({"operators": ("absent",)}, mnn_c.errors.NotFoundError),
            ({"tuning_operators": -1}, mnn_c.errors.InvalidValueError),
            ({"operators": ("m",), "inputs": ("r1",)}, mnn_c.errors.InvalidValueError),
            ({"fp32_operators": ("absent",)}, mnn_c.errors.NotFoundError),
            ({"operator_backends": (mnn_c.Forward.VULKAN,)}, mnn_c.errors.InvalidValueError),
            ({"inputs": "m"}, TypeError),
        ):
            with self.assertRaises(error):
                self.session(**wrong)

    def test_paths(self):
        config = mnn_c.SessionConfig
        configs = [config(outputs=("r1",)), config(outputs=("m",), threads=2), config()]
        with self.net().session_paths(configs) as session:
            self.assertEqual(session.configs, tuple(configs))
            for count in (1, 3):
                results = session.run({"image": images(count)})
                self.assertEqual(list(results), ["r1", "m", "scores"])
                np.testing.assert_array_equal(results["scores"], self.session()(images(count)))
            self.assertEqual(session.path_info(1).wanted_threads, 2)
            self.assertRaises(mnn_c.errors.BadIndexError, session.path_info, 3)
        self.assertRaises(mnn_c.errors.BadRangeError, self.net().session_paths, [])
        with self.assertRaisesRegex(mnn_c.errors.NotFoundError, "path 1"):
            self.net().session_paths([config(outputs=("m",)), config(inputs=("absent",))])


class Bound(Test):
    def test_runs_use_the_array(self):
        session = self.session()
        wanted = session(images(1))
        x, y = session.input().bind(), session.output().bind()
        x[...] = images(1)
        self.assertIs(session.run()["scores"], y)
        np.testing.assert_array_equal(y, wanted)
        x[...] = 0
        session.execute()
        self.assertFalse(np.array_equal(y, wanted))
        session.output().unbind()
        session.input().unbind()
        np.testing.assert_array_equal(session(images(1)), wanted)

    def test_outputs_in_another_layout(self):
        session = self.session(outputs=["m"])
        wanted = session(images(1))
        array = session.output().bind(format=mnn_c.Format.NHWC)
        self.assertIs(session.run()["m"], array)
        np.testing.assert_array_equal(np.moveaxis(array, -1, 1), wanted)

    def test_the_session_keeps_the_array(self):
        session = self.session()
        wanted = session(images(1))
        session.input().bind(images(1))  # nothing else refers to it
        junk = [np.full((1, 1, 8, 8), 9, np.float32) for _ in range(1000)]
        np.testing.assert_array_equal(session.run()["scores"], wanted)
        memory = bytearray(256)
        session.input().bind(np.frombuffer(memory, np.float32).reshape(1, 1, 8, 8))
        with self.assertRaises(BufferError):
            memory.extend(bytes(1 << 20))
        del junk

    def test_what_cannot_be_bound(self):
        session = self.session()
        good = images(1)
        fixed = np.zeros((1, 10), np.float32)
        fixed.flags.writeable = False
        for wrong in (good.astype(np.float64), good[0], np.repeat(good, 2, 3)[..., ::2], good.astype(">f4")):
            with self.assertRaises(ValueError):
                session.input().bind(wrong)
        with self.assertRaises(TypeError):
            session.input().bind(good.tolist())
        with self.assertRaises(ValueError):
            session.output().bind(fixed)
        session.input().bind(good)
        with self.assertRaises(mnn_c.errors.BadStateError):
            session(images(1))
        session.resize({"image": (2, 1, 8, 8)})
        with self.assertRaises(mnn_c.errors.BadStateError):
            session.execute()


if __name__ == "__main__":
    unittest.main()
