"""The operator cases, a module for each family of operators (the base names of impl/ops): importing them registers the cases."""
from generator import (
    activation, attention, binary, cast, channel_products, codes, columns, concat, control, convolution,
    convolution3d, deconvolution, detection, determinant, dilation2d, fill, gather, gradients, grid_sample,
    group_norm, histogram, image_process, interp, layer_norm, layout, lrn, matmul, moments, non_max_suppression, normalize,
    padding, permute, pooling, raster, recurrent, reduction, region, reshape, scale, scan, scatter, search, segment,
    select, shape_query, slice, softmax, source, space, stft, svd, tensor_array, unary,
)
import generator.forms  # noqa: F401, registers the systematic cases
from generator.net import CASES  # the program takes both lists from here
from generator.wire_net import CASES as WIRE_CASES
