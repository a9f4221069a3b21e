"""Transpose and ReverseSequence."""
import numpy as np

from generator.net import array, cases


@cases("permute__transpose", seed="transpose")
def _(n):
    x = n.x(2, 5, 3, 7)
    for perm in ((0, 2, 3, 1), (0, 3, 1, 2), (3, 2, 1, 0), (1, 0, 2, 3), (0, 1, 3, 2), (2, 0, 3, 1), (0, 2, 1, 3)):
        n.out("p" + "".join(map(str, perm)), "Transpose", x, perm=list(perm))
    n.out("p10", "Transpose", n.x(13, 9), perm=[1, 0])
    y = n.x(3, 4, 5)
    for perm in ((2, 1, 0), (0, 2, 1), (1, 0, 2), (1, 2, 0)):
        n.out("p" + "".join(map(str, perm)), "Transpose", y, perm=list(perm))
    z = n.x(2, 3, 2, 4, 3)
    for perm in ((0, 2, 1, 4, 3), (4, 3, 2, 1, 0), (0, 3, 1, 4, 2)):
        n.out("p" + "".join(map(str, perm)), "Transpose", z, perm=list(perm))
    n.out("default", "Transpose", y)
    n.out("int", "Transpose", n.xi(4, 3), perm=[1, 0])
    n.out("rank6", "Transpose", n.x(1, 2, 3, 2, 2, 3), perm=[0, 1, 4, 2, 5, 3])


@cases("permute__reverse_sequence", seed="reverse_sequence")
def _(n):
    x = n.x(5, 3, 2)
    lengths = n.input(np.array([2, 5, 1], np.int32), "lengths", as_type="int64")
    n.out("time0", "ReverseSequence", x, lengths, batch_axis=1, time_axis=0)
