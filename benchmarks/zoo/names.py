"""The fixed lists of nets. No net is removed after its figures are known."""

# These are exported from torch. The first list is the older one: most kernels were tuned with its nets.
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
# Nets of the package timm: families of image nets that no kernel was tuned with.
TIMM_NETS = [
    "timm_" + name
    for name in (
        "ghostnet_100 mobilevit_s mobilenetv4_conv_medium repvgg_a2 hrnet_w18_small efficientformer_l1 levit_256 "
        "mixer_s16_224 poolformer_s12 convnextv2_tiny coatnet_0_rw_224 edgenext_small fastvit_t8 dla34 "
        "res2net50_26w_4s seresnext50_32x4d nfnet_f0 ese_vovnet19b_dw tf_efficientnetv2_b0 xcit_tiny_12_p16_224 "
        "pvt_v2_b1 twins_svt_small cait_xxs24_224 eva02_tiny_patch14_224 davit_tiny focalnet_tiny_srf "
        "inception_resnet_v2 xception41 mobileone_s1 lcnet_100 rexnet_100 skresnet18 darknet53 cspresnet50 resnest14d "
        "tinynet_a mnasnet_100 dpn68 selecsls42b gernet_m hgnetv2_b0 starnet_s1 repghostnet_100 inception_next_tiny "
        "efficientvit_b1 volo_d1_224 mvitv2_tiny resnetv2_50 regnetx_016 densenet169 visformer_tiny crossvit_tiny_240 "
        "gcresnet33ts swinv2_tiny_window8_256 beit_base_patch16_224 hiera_tiny_224 maxvit_tiny_tf_224 "
        "deit3_small_patch16_224 repvit_m1 tiny_vit_5m_224"
    ).split()
]
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

# These take less than half a millisecond and so measure overhead; they have a summary of their own.
TINY_NETS = "vit_tiny transformer_enc lstm_cls gru_cls".split()

GROUPS = {
    "fp32": FLOAT_NETS, "broad": BROAD_NETS, "batch": BATCH_NETS, "w8": W8_NETS, "int8": INT8_NETS,
    "subnormal": SUBNORMAL_NETS, "tiny": TINY_NETS, "timm": TIMM_NETS,
}  # fmt: skip
# Groups that are also summarised together.
UNIONS = {"fp32 and broad": ("fp32", "broad")}
EXPORTED = ("fp32", "broad", "batch", "subnormal", "timm")
# The nets that make_models.py makes by default.
USUAL = [name for group, nets in GROUPS.items() if group != "timm" for name in nets]


def group_of(name):
    """Returns the group whose summary a net belongs to; nets of other folders are a group of their own."""
    return next((group for group, names in GROUPS.items() if name in names), "other")


def source_of(name):
    """Returns the net that this one shares weights with, and its batch."""
    return (name.rpartition("_b")[0], BATCH) if name in BATCH_NETS else (name, 1)
