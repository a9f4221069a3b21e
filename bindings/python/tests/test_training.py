"""A net that trains: each run is a step of gradient descent, compared with the same step in NumPy."""

import pathlib
import tempfile
import unittest

import numpy as np

from support import DIGITS, Test, images, mnn_c

TRAINING = DIGITS.parent / "training.mnn"
BATCH, CHANNELS, MOMENTUM, RATE, STEPS = 32, 8, 0.9, 0.05, 200
WEIGHTS = ("conv/weight", "conv/bias", "full/weight", "full/bias")


def labels():
    return np.fromfile(DIGITS.parent / "test_labels.bin", np.uint8).astype(np.int32)


def windows(x):
    """The 3x3 neighbourhoods of maps that are padded by one: [image][channel][y][x][tap y][tap x]."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    return np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))


def step(state, x, y, rate):
    """The loss in double precision, and the weights and velocities after one step."""
    p = {name: value.astype(np.float64) for name, value in state.items()}
    x, n = x.astype(np.float64), len(x)
    taps = windows(x)
    maps = np.tanh(np.einsum("nchwij,ocij->nohw", taps, p["conv/weight"]) + p["conv/bias"][:, None, None])
    features = maps.reshape(n, CHANNELS, 4, 2, 4, 2).mean((3, 5)).reshape(n, -1)
    logits = features @ p["full/weight"] + p["full/bias"]
    chances = np.exp(logits - logits.max(1, keepdims=True))
    chances /= chances.sum(1, keepdims=True)
    loss = -np.log(chances[np.arange(n), y]).mean()
    d_logits = chances.copy()
    d_logits[np.arange(n), y] -= 1
    d_logits /= n
    d_pooled = (d_logits @ p["full/weight"].T).reshape(n, CHANNELS, 4, 1, 4, 1) / 4
    d_sums = np.broadcast_to(d_pooled, (n, CHANNELS, 4, 2, 4, 2)).reshape(maps.shape) * (1 - maps * maps)
    gradients = {
        "conv/weight": np.einsum("nohw,nchwij->ocij", d_sums, taps),
        "conv/bias": d_sums.sum((0, 2, 3)),
        "full/weight": features.T @ d_logits,
        "full/bias": d_logits.sum(0),
    }
    after = {}
    for name, gradient in gradients.items():
        after[name + "/velocity"] = MOMENTUM * p[name + "/velocity"] + gradient
        after[name] = p[name] - rate * after[name + "/velocity"]
    return loss, after


class Training(Test):
    def state(self, session):
        return {name + kind: session.constant(name + kind).read() for name in WEIGHTS for kind in ("", "/velocity")}

    def batch(self, number):
        order = np.random.default_rng(number // 13).permutation(440)
        chosen = order[number % 13 * BATCH :][:BATCH]
        return images()[chosen], labels()[chosen]

    def train(self, session, steps, compare):
        losses = []
        for number in range(steps):
            x, y = self.batch(number)
            before = self.state(session) if compare else None
            result = session.run({"images": x, "labels": y, "rate": np.float32(RATE)}, outputs=["loss"])
            losses.append(float(result["loss"]))
            if not compare:
                continue
            loss, wanted = step(before, x, y, RATE)
            self.assertLess(abs(loss - losses[-1]), 1e-5)
            for name, value in self.state(session).items():
                np.testing.assert_allclose(value, wanted[name], rtol=0, atol=1e-5, err_msg=f"{name} of step {number}")
        return losses

    def right(self, net):
        """Returns the fraction of the held-out digits that the net recognises."""
        with net.session(outputs=["probabilities"]) as session:
            chances = session.run({"images": images()[440:]})["probabilities"]
        self.assertEqual(chances.shape, (100, 10))
        return (chances.argmax(1) == labels()[440:]).mean()

    def test_each_step_is_that_of_numpy(self):
        net = self.net(TRAINING)
        session = net.session(threads=2)
        losses = self.train(session, STEPS, compare=True)
        self.assertGreater(np.mean(losses[:10]), 1.5)
        self.assertLess(np.mean(losses[-10:]), 0.35)

        untrained = self.right(net)  # the session's weights are its own
        self.assertLess(untrained, 0.4)
        net.update_constants(session)
        trained = self.right(net)
        self.assertGreater(trained, 0.85)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "trained.mnn"
            net.save(path)
            again = self.net(path)
            self.assertEqual(self.right(again), trained)
            for name, value in self.state(session).items():
                np.testing.assert_array_equal(again.session().constant(name).read(), value)

    def test_sessions_train_apart(self):
        net = self.net(TRAINING)
        first, second, third = net.session(), net.session(), net.session()
        long, short = self.train(first, 12, compare=False), self.train(second, 6, compare=False)
        self.assertEqual(long[:6], short)
        self.assertEqual(long[6:], [*self.train_from(second, 6, 12)])
        np.testing.assert_array_equal(first.constant("full/weight").read(), second.constant("full/weight").read())
        self.assertFalse((first.constant("full/weight").read() == third.constant("full/weight").read()).all())

    def train_from(self, session, first, last):
        for number in range(first, last):
            x, y = self.batch(number)
            yield float(session.run({"images": x, "labels": y, "rate": np.float32(RATE)}, outputs=["loss"])["loss"])

    def test_weights_are_written_between_steps(self):
        session = self.session(TRAINING)
        start = self.state(session)
        first = self.train(session, 3, compare=False)
        for name, value in start.items():
            session.constant(name).write(value)
        self.assertFalse(session.needs_resize)
        self.assertEqual(self.train(session, 3, compare=False), first)

    def test_steps_on_a_gpu(self):
        reason = mnn_c.missing_reason(mnn_c.Forward.VULKAN)
        if reason:
            self.skipTest(reason)
        session = self.session(TRAINING, forward_type=mnn_c.Forward.VULKAN)
        self.train(session, 20, compare=True)


if __name__ == "__main__":
    unittest.main()
