"""BatchNormalization and InstanceNormalization."""
from generator.net import cases


@cases("scale__batch_instance_norm", seed="norm_channel")
def _(n):
    x = n.x(2, 7, 5, 6, low=-1, high=3)
    n.out("batch", "BatchNormalization", x, n.floats(7), n.floats(7), n.floats(7), n.floats(7, low=0.2, high=2),
          epsilon=1e-3)
    n.out("instance", "InstanceNormalization", x, n.floats(7), n.floats(7), epsilon=1e-4)
    n.out("batch_rank2", "BatchNormalization", n.x(3, 9), n.floats(9), n.floats(9), n.floats(9),
          n.floats(9, low=0.2, high=2), epsilon=1e-5)
    n.out("batch_rank3", "BatchNormalization", n.x(2, 9, 4), n.floats(9), n.floats(9), n.floats(9),
          n.floats(9, low=0.2, high=2), epsilon=1e-5)
    n.out("instance_rank3", "InstanceNormalization", n.x(2, 5, 11), n.floats(5), n.floats(5), epsilon=1e-5)
