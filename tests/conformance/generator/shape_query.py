"""Shape and Size."""
from generator.net import cases


@cases("shape_query__shape_size", seed="shape_size")
def _(n):
    x = n.input(n.floats(2, 5, 7), shape=["n", 5, "w"])
    n.out("shape", "Shape", x)
    n.out("shape_part", "Shape", x, start=1, end=3)
    n.out("size", "Size", x)
