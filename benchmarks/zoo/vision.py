"""torchvision's architectures: classification, heads of detection, video."""

import torch
from torch import nn
from torchvision import models

from torch_base import NETS, Net, images, net

# These take images of 224 x 224.
CLASSIFIERS = (
    "mobilenet_v2 mobilenet_v3_large shufflenet_v2_x1_0 efficientnet_b0 regnet_y_400mf squeezenet1_1 "
    "resnet18 resnet50 densenet121 alexnet vgg11_bn wide_resnet50_2 resnext50_32x4d efficientnet_v2_s "
    "convnext_tiny swin_t vit_b_32"
).split()
VIDEO_FRAMES, VIDEO_SIDE = 8, 112
BOXES = ("scores", "boxes")


def classifier(name):
    return lambda: Net(getattr(models, name)(weights=None), images(224))


for _name in CLASSIFIERS:
    NETS[_name] = classifier(_name)


@net("vit_small_224")
def _():
    module = models.VisionTransformer(224, 16, num_layers=12, num_heads=6, hidden_dim=384, mlp_dim=1536)
    return Net(module, images(224))


@net("inception_v3")
def _():
    return Net(models.inception_v3(weights=None, aux_logits=False, init_weights=False), images(299))


@net("googlenet")
def _():
    return Net(models.googlenet(weights=None, aux_logits=False, init_weights=False), images(224))


class Detector(nn.Module):
    """The backbone and the heads of a detector, up to the raw scores and boxes of every anchor."""

    def __init__(self, detector):
        super().__init__()
        self.backbone, self.head = detector.backbone, detector.head

    def forward(self, x):
        found = self.head(list(self.backbone(x).values()))
        return found["cls_logits"], found["bbox_regression"]


@net("ssdlite320")
def _():
    detector = models.detection.ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None)
    return Net(Detector(detector), images(320), outputs=BOXES)


@net("retinanet")
def _():
    detector = models.detection.retinanet_resnet50_fpn(weights=None, weights_backbone=None)
    return Net(Detector(detector), images(320), outputs=BOXES)


def video(name):
    def sample(batch):
        return (torch.randn(batch, 3, VIDEO_FRAMES, VIDEO_SIDE, VIDEO_SIDE),)

    return lambda: Net(getattr(models.video, name)(weights=None), sample)


for _name in ("r3d_18", "r2plus1d_18"):
    NETS[_name] = video(_name)
