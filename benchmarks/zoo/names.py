"""The fixed lists of nets. No net is dropped after seeing its figures."""

# Exported from torch.
FLOAT_NETS = (
    "mobilenet_v2 mobilenet_v3_large shufflenet_v2_x1_0 efficientnet_b0 regnet_y_400mf squeezenet1_1 googlenet "
    "resnet18 resnet50 inception_v3 densenet121 vit_small_224 unet"
).split()
W8_NETS = [name + "_w8" for name in ("mobilenet_v2", "resnet18", "resnet50", "vit_small_224")]
INT8_NETS = [name + "_int8" for name in ("mobilenet_v2", "resnet50")]

# Below half a millisecond: they measure overhead, so they have a summary of their own.
TINY_NETS = "vit_tiny transformer_enc lstm_cls gru_cls".split()

GROUPS = {"fp32": FLOAT_NETS, "w8": W8_NETS, "int8": INT8_NETS, "tiny": TINY_NETS}


def group_of(name):
    """The group whose summary a net belongs to; nets of other folders are a group of their own."""
    return next((group for group, names in GROUPS.items() if name in names), "other")
