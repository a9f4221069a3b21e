"""Detectors of two stages as torchvision has them: Faster R-CNN and Mask R-CNN."""
import functools

import torch
import torchvision
from torch import nn
from torchvision.models import detection
from torchvision.models.detection import faster_rcnn
from torchvision.ops import MultiScaleRoIAlign, poolers

from torch_nets.base import net
from torch_nets.one_stage import Levels, OneImage, anchors, pictures, sharpen

CLASSES, WIDTH = 4, 12

# The exporter of torchvision 0.14 writes boxes that are shifted by half a pixel, so the nets shift them, too.
poolers.roi_align = functools.partial(torchvision.ops.roi_align, aligned=True)


def options(backbone):
    pool = MultiScaleRoIAlign(["0", "1"], 4, 2)
    generator = anchors()
    head = detection.rpn.RPNHead(backbone.out_channels, generator.num_anchors_per_location()[0])
    sharpen(head, 3.0)
    predictor = faster_rcnn.FastRCNNPredictor(32, CLASSES)
    sharpen(predictor, 6.0)
    return {"min_size": 48, "max_size": 96, "rpn_anchor_generator": generator, "rpn_head": head, "box_roi_pool": pool,
            "box_head": faster_rcnn.TwoMLPHead(backbone.out_channels * 16, 32), "box_predictor": predictor,
            "rpn_pre_nms_top_n_test": 60, "rpn_post_nms_top_n_test": 20, "box_detections_per_img": 8}


@net("faster_rcnn", "fpn", opset=16)
def _():
    backbone = Levels(WIDTH)
    return OneImage(detection.FasterRCNN(backbone, box_score_thresh=0.185, **options(backbone))), \
        pictures(), ["boxes", "labels", "scores"]


class Regions(nn.Module):
    """Mask R-CNN without loops over classes and levels: proposals, suppression, RoIAlign, box and mask heads."""

    def __init__(self):
        super().__init__()
        self.body = Levels(WIDTH)
        self.rpn = nn.Sequential(nn.Conv2d(WIDTH, WIDTH, 3, padding=1), nn.ReLU(), nn.Conv2d(WIDTH, 3 * 5, 1))
        self.head = faster_rcnn.TwoMLPHead(WIDTH * 16, 32)
        self.score, self.delta = nn.Linear(32, CLASSES), nn.Linear(32, 4)
        self.mask = nn.Sequential(nn.Conv2d(WIDTH, WIDTH, 3, padding=1), nn.ReLU(), nn.ConvTranspose2d(WIDTH, 8, 2, 2),
                                  nn.ReLU(), nn.Conv2d(8, CLASSES, 1))
        self.register_buffer("sizes", torch.tensor([[12., 12], [24, 14], [14, 28]]))
        sharpen(self.rpn[2], 5.0)

    @staticmethod
    def shift(boxes, delta):
        size = boxes[:, 2:] - boxes[:, :2]
        middle = boxes[:, :2] + size / 2 + delta[:, :2] * size
        half = size * torch.exp(delta[:, 2:].clamp(max=2.0)) / 2
        return torch.cat([middle - half, middle + half], 1)

    def forward(self, image):
        feature = self.body(image)["0"]
        height, width = feature.shape[2:]
        found = self.rpn(feature).view(3, 5, height, width).permute(2, 3, 0, 1).reshape(-1, 5)
        y, x = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
        middle = torch.stack([x, y], -1).reshape(-1, 1, 2).to(image.dtype) * 4 + 2
        boxes = torch.cat([middle - self.sizes / 2, middle + self.sizes / 2], -1).reshape(-1, 4)
        score, order = found[:, 4].sigmoid().topk(40)
        boxes = self.shift(boxes[order], found[order, :4] * 0.2)
        boxes = torch.stack([boxes[:, 0::2].clamp(0, 64), boxes[:, 1::2].clamp(0, 48)], 2).reshape(-1, 4)
        boxes = boxes[torchvision.ops.nms(boxes, score, 0.5)[:10]]
        rows = torch.cat([torch.zeros_like(boxes[:, :1]), boxes], 1)
        inner = self.head(torchvision.ops.roi_align(feature, rows, 4, 0.25, 2, True))
        boxes = self.shift(boxes, self.delta(inner))
        rows = torch.cat([torch.zeros_like(boxes[:, :1]), boxes], 1)
        masks = self.mask(torchvision.ops.roi_align(feature, rows, 6, 0.25, 2, True)).sigmoid()
        return boxes, self.score(inner).softmax(1), masks


@net("mask_rcnn", "regions", opset=16)
def _():
    return Regions(), {"": {"image": torch.rand(1, 3, 48, 64)}}, ["boxes", "scores", "masks"]
