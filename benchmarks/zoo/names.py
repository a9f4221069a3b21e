"""The fixed lists of nets. No net is dropped after seeing its figures."""

# Exported from torch. The first list is the older one: most kernels were tuned with its nets.
FLOAT_NETS = (
    "mobilenet_v2 mobilenet_v3_large shufflenet_v2_x1_0 efficientnet_b0 regnet_y_400mf squeezenet1_1 googlenet "
    "resnet18 resnet50 inception_v3 densenet121 vit_small_224 unet"
).split()
BROAD_NETS = (
    "alexnet vgg11_bn wide_resnet50_2 resnext50_32x4d efficientnet_v2_s convnext_tiny swin_t vit_b_32 "
    "deeplabv3_mobilenet lraspp_mobilenet fcn_resnet50 segformer_b0 ssdlite320 retinanet r3d_18 r2plus1d_18 "
    "bert_base gpt2_small llama_512 t5_encoder clip_text whisper_tiny wav2vec2 "
    "espcn_x3 edsr_x2 style_transfer dcgan diffusion_unet lstm_512 gru_512 crnn"
).split()
SUBNORMAL_NETS = "causal_attention alibi_attention fading_gru fading_lstm".split()
BATCH = 8
BATCH_NETS = [
    f"{name}_b{BATCH}" for name in "mobilenet_v2 resnet18 efficientnet_b0 vit_b_32 unet t5_encoder".split()
]
W8_NETS = [name + "_w8" for name in ("mobilenet_v2", "resnet18", "resnet50", "vit_small_224")]
INT8_NETS = [
    name + "_int8"
    for name in "mobilenet_v2 mobilenet_v3_large efficientnet_b0 resnet18 resnet50 unet".split()
]

# Below half a millisecond: they measure overhead, so they have a summary of their own.
TINY_NETS = "vit_tiny transformer_enc lstm_cls gru_cls".split()

GROUPS = {
    "fp32": FLOAT_NETS, "broad": BROAD_NETS, "batch": BATCH_NETS, "w8": W8_NETS, "int8": INT8_NETS,
    "subnormal": SUBNORMAL_NETS, "tiny": TINY_NETS,
}  # fmt: skip
# Summaries over several groups.
UNIONS = {"fp32 and broad": ("fp32", "broad")}
EXPORTED = ("fp32", "broad", "batch", "subnormal")


def group_of(name):
    """The group whose summary a net belongs to; nets of other folders are a group of their own."""
    return next((group for group, names in GROUPS.items() if name in names), "other")


def source_of(name):
    """The net whose weights this one has, and its batch."""
    return (name.rpartition("_b")[0], BATCH) if name in BATCH_NETS else (name, 1)
