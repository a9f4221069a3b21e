"""Resize and its relatives: sampling between the elements of an image."""
import numpy as np

from generator.net import array, cases


def resize(n, name, x, scales=None, sizes=None, official=False, **attributes):
    empty = np.array([], np.float32)
    if scales is not None:
        n.out(name, "Resize", x, "", np.array(scales, np.float32), official=official, **attributes)
    else:
        n.out(name, "Resize", x, "", "", np.array(sizes, np.int64), official=official, **attributes)


@cases("interp__resize_nearest", seed="resize_nearest")
def _(n):
    x = n.x(2, 5, 4, 6)
    floor = dict(mode="nearest", nearest_mode="floor")
    resize(n, "x2", x, scales=[1, 1, 2, 2], coordinate_transformation_mode="asymmetric", **floor)
    resize(n, "x3_half_pixel", x, scales=[1, 1, 3, 3], mode="nearest",
           coordinate_transformation_mode="half_pixel", nearest_mode="round_prefer_floor", official=True)
    resize(n, "down", x, sizes=[2, 5, 2, 3], coordinate_transformation_mode="asymmetric", **floor)
    resize(n, "odd", x, sizes=[2, 5, 7, 11], coordinate_transformation_mode="asymmetric", official=True, **floor)
    resize(n, "align", x, sizes=[2, 5, 7, 11], coordinate_transformation_mode="align_corners", official=True, **floor)


@cases("interp__resize_linear", seed="resize_linear")
def _(n):
    x = n.x(2, 5, 4, 6)
    for mode in ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"):
        resize(n, f"x2_{mode}", x, scales=[1, 1, 2, 2], mode="linear", coordinate_transformation_mode=mode)
        resize(n, f"odd_{mode}", x, sizes=[2, 5, 7, 9], mode="linear", coordinate_transformation_mode=mode)
        resize(n, f"down_{mode}", x, sizes=[2, 5, 3, 2], mode="linear", coordinate_transformation_mode=mode)
    y = n.x(1, 3, 1, 1)
    resize(n, "from_1x1", y, sizes=[1, 3, 3, 4], mode="linear", coordinate_transformation_mode="align_corners")


@cases("interp__resize_cubic", seed="resize_cubic")
def _(n):
    x = n.x(1, 5, 5, 6)
    for mode in ("half_pixel", "align_corners", "asymmetric"):
        resize(n, f"x2_{mode}", x, scales=[1, 1, 2, 2], mode="cubic", coordinate_transformation_mode=mode,
               cubic_coeff_a=-0.75, official=True)
        resize(n, f"odd_{mode}", x, sizes=[1, 5, 7, 3], mode="cubic", coordinate_transformation_mode=mode,
               cubic_coeff_a=-0.75, official=True)


@cases("interp__upsample", seed="upsample", opset=9)
def _(n):
    x = n.x(1, 6, 3, 4)
    n.out("nearest", "Upsample", x, np.array([1, 1, 2, 3], np.float32), mode="nearest")
    n.out("linear", "Upsample", x, np.array([1, 1, 2, 2], np.float32), mode="linear", official=True)


@cases("grid_sample__modes", seed="grid_sample", opset=16)
def _(n):
    x, grid = n.x(2, 5, 4, 6), n.x(2, 3, 5, 2, name="grid", low=-1.2, high=1.2)
    for mode in ("bilinear", "nearest"):
        for padding in ("zeros", "border"):
            for align in (0, 1):
                n.out(f"{mode}_{padding}_{align}", "GridSample", x, grid, mode=mode, padding_mode=padding,
                      align_corners=align)


@cases("roi_align__modes", seed="roi_align", opset=16)
def _(n):
    x = n.x(1, 5, 9, 8)
    rois = n.input(np.array([[0, 0, 5, 6], [1.5, 2.25, 7, 7.5], [3, 1, 4, 8]], np.float32), "rois")
    index = n.input(np.zeros(3, np.int32), "index", as_type="int64")
    n.out("half_pixel", "RoiAlign", x, rois, index, output_height=3, output_width=2, sampling_ratio=2,
          spatial_scale=1.0, coordinate_transformation_mode="half_pixel")
    n.out("half", "RoiAlign", x, rois, index, output_height=2, output_width=3, sampling_ratio=2,
          spatial_scale=0.5, coordinate_transformation_mode="output_half_pixel")
