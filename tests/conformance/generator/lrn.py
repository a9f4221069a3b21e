"""Local response normalisation."""
from generator.net import cases


@cases("lrn__sizes", seed="lrn")
def _(n):
    x = n.x(2, 7, 3, 5)
    n.out("size5", "LRN", x, size=5, alpha=1e-1, beta=0.75, bias=1.0)
    n.out("size3", "LRN", x, size=3, alpha=0.5, beta=0.5, bias=2.0)
