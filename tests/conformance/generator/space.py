"""DepthToSpace and SpaceToDepth."""
from generator.net import cases


@cases("space__depth", seed="space_depth")
def _(n):
    x = n.x(2, 12, 3, 5)
    n.out("dcr", "DepthToSpace", x, blocksize=2, mode="DCR")
    n.out("crd", "DepthToSpace", x, blocksize=2, mode="CRD")
    y = n.x(1, 5, 6, 9)
    n.out("space3", "SpaceToDepth", y, blocksize=3)
    n.out("depth3", "DepthToSpace", n.x(1, 18, 2, 1), blocksize=3)
