"""The state that sessions keep from run to run."""

import unittest

import numpy as np

from support import Test, mnn_c, net_of_tests


def token(session, number, past):
    """Runs one token after `past` others and returns the results of the causal attention."""
    shapes = {"q": (1, 1, 4, 8), "k": (1, 1, 2, 8), "v": (1, 1, 2, 5)}
    session.resize({**shapes, "mask": (2, 1, 1, past + 1)})
    for name, shape in shapes.items():
        session.input(name).write(np.sin(number * np.arange(1, np.prod(shape) + 1, dtype=np.float32)).reshape(shape))
    session.execute()
    return session.output("causal").read().copy()


class States(Test):
    def test_a_conversation_goes_on_in_another_session(self):
        net = self.net(net_of_tests("kept.mnn"))
        one, other = net.session(), net.session()
        self.assertEqual(one.state.operators, 3)
        one.set_state_type(mnn_c.ElementType.FLOAT32)
        for past in range(3):
            token(one, 0.3 + past, past)
        state = one.state
        self.assertEqual((state.length, state.capacity, state.type), (3, 256, mnn_c.ElementType.FLOAT32))
        self.assertIs(state.erasable, True)
        saved = one.save_state()
        expected = token(one, 7, 3)

        token(other, 9, 0)  # plans the session; load_state() replaces its state
        other.load_state(saved)
        np.testing.assert_array_equal(token(other, 7, 3), expected)
        other.erase_state(3, 4)
        np.testing.assert_array_equal(token(other, 7, 3), expected)
        other.reset_state()
        self.assertEqual(other.state.length, 0)
        one.copy_state_to(other)
        np.testing.assert_array_equal(token(other, 5, 4), token(one, 5, 4))
        other.reserve_state(1000)
        self.assertEqual(other.state.capacity, 1024)

        with self.assertRaises(mnn_c.errors.TruncatedError):
            other.load_state(saved[:10])
        with self.assertRaises(mnn_c.errors.BadRangeError):
            other.erase_state(0, 99)
        with self.assertRaises(mnn_c.errors.BadStateError):
            other.set_state_type(mnn_c.ElementType.FLOAT16)
        self.assertEqual(other.state.length, 5)

    def test_the_factor_of_scores_is_given_with_the_net(self):
        def results(**options):
            session = self.net(net_of_tests("kept.mnn"), **options).session()
            return [token(session, 0.3 + past, past) for past in range(3)]

        np.testing.assert_allclose(results(attention_scale=8**-0.5), results(), rtol=1e-6)
        # Scores without a difference give the mean of the values.
        values = [np.sin((0.3 + past) * np.arange(1, 11, dtype=np.float32)).reshape(2, 5) for past in range(3)]
        mean = np.mean(values, axis=0).repeat(2, axis=0)
        np.testing.assert_allclose(results(attention_scale=1e-9)[2].reshape(4, 5), mean, rtol=1e-5)
        with self.assertRaisesRegex(mnn_c.errors.BadRangeError, "attention_scale"):
            self.net(net_of_tests("kept.mnn"), attention_scale=float("nan"))


if __name__ == "__main__":
    unittest.main()
