"""Convolution, ConvolutionDepthwise, Deconvolution and DeconvolutionDepthwise: one form of the window in each case."""
import numpy as np

from generator.convolution3d import convolve, transpose_convolve
from generator.forms.common import form

WINDOWS = {
    "k1": dict(kernel=(1, 1)), "k2": dict(kernel=(2, 2)), "k3": dict(kernel=(3, 3)), "k5": dict(kernel=(5, 5)),
    "k1x3": dict(kernel=(1, 3)), "k3x1": dict(kernel=(3, 1)), "k4x3": dict(kernel=(4, 3)),
    "pad1": dict(kernel=(3, 3), pads=(1, 1, 1, 1)), "pads_begin": dict(kernel=(3, 2), pads=(2, 1, 0, 0)),
    "pads_end": dict(kernel=(2, 3), pads=(0, 0, 1, 2)), "pads_mixed": dict(kernel=(3, 3), pads=(0, 1, 2, 0)),
    "stride2": dict(kernel=(3, 3), stride=(2, 2), pads=(1, 1, 1, 1)), "stride3x1": dict(kernel=(2, 3), stride=(3, 1)),
    "stride1x2": dict(kernel=(3, 3), stride=(1, 2), pads=(1, 0, 1, 0)), "k1_stride2": dict(kernel=(1, 1), stride=(2, 2)),
    "dilated2": dict(kernel=(3, 3), dilate=(2, 2), pads=(2, 2, 2, 2)), "dilated1x3": dict(kernel=(2, 2), dilate=(1, 3)),
    "dilated_stride": dict(kernel=(3, 2), dilate=(2, 3), stride=(2, 1), pads=(2, 1, 1, 0)),
    "relu": dict(kernel=(3, 3), pads=(1, 1, 1, 1), relu="relu"), "relu6": dict(kernel=(2, 2), relu="relu6"),
    "pad_fields": dict(kernel=(3, 3), pads=(1, 2, 1, 2), fields=True)}
MODES = {"same": ("SAME", (3, 3), (1, 1)), "same_even": ("SAME", (2, 4), (1, 1)), "same_stride2": ("SAME", (3, 3), (2, 2)),
         "same_even_stride2": ("SAME", (4, 2), (2, 2)), "same_stride3": ("SAME", (3, 4), (3, 3)),
         "same_gaps": ("SAME", (1, 2), (3, 3)),
         "valid": ("VALID", (3, 2), (1, 1)), "valid_stride2": ("VALID", (2, 3), (2, 2))}
SHAPES = {"image": (1, 7, 6), "batch": (2, 6, 5)}


def volume(pair, lead=0):
    return (lead, *pair)


def common(weight, group, kind, options):
    begin_end = options.get("pads", (0, 0, 0, 0))
    stride, dilate = options.get("stride", (1, 1)), options.get("dilate", (1, 1))
    transposed = kind.startswith("Deconv")
    counts = (weight.shape[1] * group, weight.shape[0]) if transposed else (weight.shape[0], weight.shape[1] * group)
    table = {"kernelY": weight.shape[2], "kernelX": weight.shape[3], "strideY": stride[0], "strideX": stride[1],
             "dilateY": dilate[0], "dilateX": dilate[1], "group": group, "outputCount": counts[0], "inputCount": counts[1],
             "padMode": options.get("mode", "CAFFE"), **({options["relu"]: True} if options.get("relu") else {})}
    if options.get("fields"):
        table.update(padY=begin_end[0], padX=begin_end[1])
    elif "mode" not in options:
        table["pads"] = list(begin_end)
    if "extra" in options:
        table["outPads"] = list(options["extra"])
    return table


def truth(x, weight, bias, group, kind, options):
    pads = options.get("begin_end", options.get("pads", (0, 0, 0, 0)))
    window = dict(stride=volume(options.get("stride", (1, 1)), 1), dilate=volume(options.get("dilate", (1, 1)), 1),
                  begin=volume(pads[:2]), end=volume(pads[2:]), group=group)
    x, weight = x[:, :, None], weight[:, :, None]
    if kind.startswith("Deconv"):
        value = transpose_convolve(x, weight, bias, extra=volume(options.get("extra", (0, 0))), **window)
    else:
        value = convolve(x, weight, bias, **window)
    low, high = {"relu": (0, None), "relu6": (0, 6)}.get(options.get("relu"), (None, None))
    return (value if low is None else np.clip(value, low, high))[:, :, 0]


def weights(n, kind, channels, filters, group, kernel):
    outer, inner = (channels, filters // group) if kind.startswith("Deconv") else (filters, channels // group)
    if kind.endswith("Depthwise"):
        outer, inner = channels, 1
    return n.floats(outer, inner, *kernel, low=-0.5, high=0.5), n.floats(filters, low=-0.5, high=0.5)


def window(n, kind, options, channels=5, filters=3, group=1, data_format="NCHW"):
    depthwise = kind.endswith("Depthwise")
    group, filters = (channels, channels) if depthwise else (group, filters)
    for name, (batch, height, width) in options.get("shapes", SHAPES).items():
        x = n.floats(batch, channels, height, width)
        weight, bias = weights(n, kind, channels, filters, group, options["kernel"])
        main = {"common": common(weight, group, kind, options), "weight": weight.reshape(-1).tolist(), "bias": bias.tolist()}
        value = truth(x, weight, bias, group, kind, resolved(options, (height, width)))
        if data_format == "NHWC":
            x, value = np.ascontiguousarray(np.moveaxis(x, 1, -1)), np.moveaxis(value, 1, -1)
        y = n.op(kind, [n.feed(x, f"x_{name}", data_format)], "Convolution2D", main, data_format=data_format)
        n.expect(name, y, np.float32(value))


def resolved(options, extents):
    """The pads are those that TensorFlow's modes mean: for SAME the smaller half lies before."""
    if options.get("mode") != "SAME":
        return options
    strides, kernel = options.get("stride", (1, 1)), options["kernel"]
    totals = [max(0, (-(-e // s) - 1) * s + k - e) for e, s, k in zip(extents, strides, kernel)]
    return {**options, "begin_end": (*[t // 2 for t in totals], *[t - t // 2 for t in totals])}


def same_transposed(n, kind):
    """TensorFlow's conv2d_transpose: the elements that the pads of the corresponding convolution would crop are left
    out."""
    for name, kernel, stride, dilate in (("k3_stride2", (3, 3), (2, 2), (1, 1)), ("k4x2", (4, 2), (2, 2), (1, 1)),
                                         ("gaps", (1, 2), (3, 3), (1, 1)), ("dilated", (3, 2), (1, 1), (2, 3)),
                                         ("dilated_stride", (2, 3), (2, 3), (3, 2))):
        channels, filters, group = (3, 3, 3) if kind.endswith("Depthwise") else (2, 3, 1)
        x = n.floats(1, channels, 4, 5)
        weight, bias = weights(n, kind, channels, filters, group, kernel)
        options = dict(mode="SAME", stride=stride, dilate=dilate)
        whole = truth(x, weight, np.zeros(filters), group, kind, dict(stride=stride, dilate=dilate))
        extents = [e * s for e, s in zip(x.shape[2:], stride)]
        top, left = (max(0, e - wanted) // 2 for e, wanted in zip(whole.shape[2:], extents))
        part = whole[:, :, top:top + extents[0], left:left + extents[1]]
        value = np.zeros((1, filters, *extents)) + bias[:, None, None]
        value[:, :, :part.shape[2], :part.shape[3]] += part
        main = {"common": common(weight, group, kind, options), "weight": weight.reshape(-1).tolist(), "bias": bias.tolist()}
        n.expect(name, n.op(kind, [n.feed(x, f"x_{name}")], "Convolution2D", main), np.float32(value))


def fed_weights(n, biased):
    for name, kernel, filters in (("k1", (1, 1), 4), ("k3", (3, 3), 2), ("k2x3", (2, 3), 17)):
        x = n.floats(1, 5, 5, 4)
        weight, bias = weights(n, "Convolution", 5, filters, 1, kernel)
        inputs = [n.feed(x, f"x_{name}"), n.feed(weight, f"w_{name}")] + ([n.feed(bias, f"b_{name}")] if biased else [])
        y = n.op("Convolution", inputs, "Convolution2D", {"common": common(weight, 1, "Convolution", {})})
        n.expect(name, y, truth(x, weight, bias if biased else np.zeros(filters), 1, "Convolution", {}))


for variant, of_window in WINDOWS.items():
    small_maps = {**of_window, "shapes": {"image": (1, 5, 6), "batch": (2, 4, 5)}}
    form(f"convolution__window_{variant}", window, "Convolution", of_window)
    if variant in ("k3", "k5", "k4x3", "pads_begin", "pads_end", "stride2", "stride1x2", "k1_stride2", "dilated_stride",
                   "relu"):
        form(f"convolution__depthwise_{variant}", window, "ConvolutionDepthwise", of_window)
        form(f"convolution__deconv_{variant}", window, "Deconvolution", small_maps)
    if variant in ("pads_mixed", "stride2", "dilated_stride", "relu6"):
        form(f"convolution__nhwc_{variant}", window, "Convolution", of_window, 5, 3, 1, "NHWC")
        form(f"convolution__deconv_depthwise_{variant}", window, "DeconvolutionDepthwise", small_maps)
for variant, (pad_mode, extents_of_kernel, strides_of_mode) in MODES.items():
    of_mode = dict(mode=pad_mode, kernel=extents_of_kernel, stride=strides_of_mode)
    form(f"convolution__window_{variant}", window, "Convolution", of_mode)
    if strides_of_mode != (1, 1):
        form(f"convolution__depthwise_{variant}", window, "ConvolutionDepthwise", of_mode)
for groups, ins, outs in ((2, 4, 6), (3, 6, 3), (4, 8, 8), (5, 5, 10)):
    grouped = dict(kernel=(3, 2), pads=(1, 0, 1, 1), shapes={"image": (1, 4, 5), "batch": (2, 3, 3)})
    form(f"convolution__groups{groups}", window, "Convolution", grouped, ins, outs, groups)
    form(f"convolution__deconv_groups{groups}", window, "Deconvolution", {**grouped, "stride": (2, 1)}, ins, outs, groups)
for ins, outs in ((3, 17), (16, 4), (33, 5)):
    form(f"convolution__channels_{ins}_to_{outs}", window, "Convolution", dict(kernel=(3, 3), pads=(1, 1, 1, 1),
         shapes={"image": (1, 4, 5)}), ins, outs)
    form(f"convolution__deconv_channels_{ins}_to_{outs}", window, "Deconvolution", dict(kernel=(2, 2), stride=(2, 2),
         shapes={"image": (1, 3, 4)}), ins, outs)
for small, (rows, columns) in (("pixel", (1, 1)), ("row", (1, 7)), ("column", (6, 1))):
    for of_kind, prefix in (("Convolution", "window"), ("Deconvolution", "deconv")):
        form(f"convolution__{prefix}_on_{small}", window, of_kind, dict(kernel=(3, 3), pads=(1, 1, 1, 1), shapes={
            "one": (1, rows, columns), "batch": (3, rows, columns), "none": (0, rows, columns)}))
for out_pads in ((1, 0), (0, 1), (1, 2)):
    form(f"convolution__deconv_out_pads_{out_pads[0]}_{out_pads[1]}", window, "Deconvolution", dict(
        kernel=(3, 3), stride=(2, 3), pads=(1, 1, 1, 1), extra=out_pads, shapes={"image": (1, 4, 3)}))
for of_kind, prefix in (("Deconvolution", "deconv"), ("DeconvolutionDepthwise", "deconv_depthwise")):
    form(f"convolution__{prefix}_same", same_transposed, of_kind)
form("convolution__fed_weights", fed_weights, False)
form("convolution__fed_weights_bias", fed_weights, True)
