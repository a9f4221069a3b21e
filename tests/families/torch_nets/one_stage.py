"""Detectors of one stage: YOLO with its decode, RetinaNet, FCOS."""
import torch
import torchvision
from torch import nn
from torchvision.models import detection

from torch_nets.base import net


class Conv(nn.Sequential):
    def __init__(self, inputs, outputs, kernel=1, stride=1, groups=1):
        super().__init__(nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
                         nn.BatchNorm2d(outputs), nn.SiLU())


class C2f(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        half = outputs // 2
        self.first, self.last = Conv(inputs, outputs), Conv(3 * half, outputs)
        self.inner = nn.Sequential(Conv(half, half, 3), Conv(half, half, 3))

    def forward(self, x):
        a, b = self.first(x).chunk(2, 1)
        return self.last(torch.cat([a, b, b + self.inner(b)], 1))


class Pyramid(nn.Module):
    """A backbone with SPPF and a path aggregation neck: maps of strides 8 and 16."""

    def __init__(self, width=12):
        super().__init__()
        self.stem = nn.Sequential(Conv(3, width // 2, 3, 2), Conv(width // 2, width, 3, 2))
        self.stage3 = nn.Sequential(Conv(width, width, 3, 2), C2f(width, width))
        self.stage4 = nn.Sequential(Conv(width, 2 * width, 3, 2), C2f(2 * width, 2 * width))
        self.reduce, self.fuse = Conv(2 * width, width), Conv(4 * width, 2 * width)
        self.up, self.down = C2f(3 * width, width), Conv(width, width, 3, 2)
        self.last = C2f(3 * width, 2 * width)

    def forward(self, x):
        p3 = self.stage3(self.stem(x))
        pools = [self.reduce(self.stage4(p3))]
        for _ in range(3):
            pools.append(nn.functional.max_pool2d(pools[-1], 5, 1, 2))
        p4 = self.fuse(torch.cat(pools, 1))
        p3 = self.up(torch.cat([nn.functional.interpolate(p4, scale_factor=2.0, mode="nearest"), p3], 1))
        return [p3, self.last(torch.cat([self.down(p3), p4], 1))]


def centres(height, width, like):
    rows, columns = torch.arange(height, dtype=like.dtype), torch.arange(width, dtype=like.dtype)
    y, x = torch.meshgrid(rows, columns, indexing="ij")
    return x.reshape(-1), y.reshape(-1)


class YoloV8(nn.Module):
    """Detects without anchors, from distributions of distances (DFL). keep: suppress, and return the kept boxes, scores
    and classes."""

    BINS, STRIDES = 16, (8, 16)

    def __init__(self, classes=5, keep=False):
        super().__init__()
        self.body, self.classes, self.keep = Pyramid(), classes, keep
        self.boxes = nn.ModuleList(nn.Sequential(Conv(c, 16, 3), nn.Conv2d(16, 4 * self.BINS, 1)) for c in (12, 24))
        self.scores = nn.ModuleList(nn.Sequential(Conv(c, 16, 3), nn.Conv2d(16, classes, 1)) for c in (12, 24))
        self.dfl = nn.Conv2d(self.BINS, 1, 1, bias=False)
        self.dfl.weight.data[:] = torch.arange(self.BINS, dtype=torch.float32).view(1, -1, 1, 1)
        for part in list(self.boxes) + list(self.scores):
            part[-1].weight.data.mul_(4.0)

    def forward(self, image):
        maps, boxes, scores, anchors, strides = self.body(image), [], [], [], []
        for x, box, score, stride in zip(maps, self.boxes, self.scores, self.STRIDES):
            boxes.append(box(x).flatten(2))
            scores.append(score(x).flatten(2))
            across, down = centres(x.shape[2], x.shape[3], x)
            anchors.append(torch.stack([across, down]) + 0.5)
            strides.append(torch.full((1, across.shape[0]), float(stride)))
        distance = torch.cat(boxes, 2).view(1, 4, self.BINS, -1).transpose(2, 1).softmax(1)
        near, far = self.dfl(distance).view(1, 4, -1).chunk(2, 1)
        anchor, stride = torch.cat(anchors, 1).unsqueeze(0), torch.cat(strides, 1)
        low, high = (anchor - near) * stride, (anchor + far) * stride
        score = torch.cat(scores, 2).sigmoid()
        if not self.keep:
            return torch.cat([(low + high) / 2, high - low, score], 1)
        corners = torch.cat([low, high], 1)[0].t()
        best, kind = score[0].max(0)
        kept = torchvision.ops.nms(corners + kind.to(corners.dtype).unsqueeze(1) * 4096.0, best, 0.5)
        return corners[kept], best[kept], kind[kept]


@net("yolo", "v8")
def _():
    return YoloV8(), {"": {"images": torch.rand(1, 3, 64, 96)}}, ["pred"]


@net("yolo", "v8_nms")
def _():
    return YoloV8(keep=True), {"": {"images": torch.rand(1, 3, 64, 64)}}, ["boxes", "scores", "classes"]


class YoloV5(nn.Module):
    """Three anchors a cell."""

    def __init__(self, classes=4):
        super().__init__()
        self.body, self.values = Pyramid(), classes + 5
        self.heads = nn.ModuleList(nn.Conv2d(c, 3 * self.values, 1) for c in (12, 24))
        sizes = [[[10.0, 13], [16, 30], [33, 23]], [[30, 61], [62, 45], [59, 119]]]
        self.register_buffer("anchors", torch.tensor(sizes))

    def forward(self, image):
        rows = []
        for i, (x, head, stride) in enumerate(zip(self.body(image), self.heads, (8, 16))):
            height, width = x.shape[2:]
            y = head(x).view(-1, 3, self.values, height, width).permute(0, 1, 3, 4, 2).contiguous().sigmoid()
            across, down = centres(height, width, x)
            grid = torch.stack([across, down], 1).view(1, 1, height, width, 2)
            at = (y[..., 0:2] * 2 + (grid - 0.5)) * stride
            size = (y[..., 2:4] * 2) ** 2 * self.anchors[i].view(1, 3, 1, 1, 2)
            rows.append(torch.cat([at, size, y[..., 4:]], -1).view(x.shape[0], -1, self.values))
        return torch.cat(rows, 1)


@net("yolo", "v5", dynamic={"images": {0: "batch"}})
def _():
    return YoloV5(), {"": {"images": torch.rand(2, 3, 32, 64)}}, ["pred"]


class Levels(nn.Module):
    """A feature pyramid of two levels with the interface of torchvision's backbones."""

    def __init__(self, out_channels=16):
        super().__init__()
        self.out_channels = out_channels
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.ReLU(),
                                  nn.Conv2d(8, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.ReLU())
        self.next = nn.Sequential(nn.Conv2d(16, 24, 3, 2, 1), nn.BatchNorm2d(24), nn.ReLU())
        self.fpn = torchvision.ops.FeaturePyramidNetwork([16, 24], out_channels)

    def forward(self, x):
        a = self.stem(x)
        return self.fpn({"0": a, "1": self.next(a)})


class Finest(Levels):
    def forward(self, x):
        return {"0": super().forward(x)["0"]}


class OneImage(nn.Module):
    """A torchvision detector of one image of rank 3, in the form in which its users export it."""

    def __init__(self, detector):
        super().__init__()
        self.detector = detector.eval()

    def forward(self, image):
        found = self.detector([image])
        found = found[0] if isinstance(found, (list, tuple)) else found
        return [found[key] for key in ("boxes", "labels", "scores", "masks") if key in found]


def sharpen(module, scale):
    """Enlarges the weights in the last layer of a head, so that scores are far apart."""
    for parameter in module.parameters():
        parameter.data.mul_(scale)


def anchors():
    return detection.anchor_utils.AnchorGenerator(((14,), (28,)), ((0.5, 1.0, 2.0),) * 2)


def enlarge(head, scale):
    """Makes weights as large as in a trained head (torchvision starts with small ones), so that scores and boxes are
    far apart."""
    for part in head.modules():
        if isinstance(part, nn.Conv2d):
            nn.init.kaiming_uniform_(part.weight, nonlinearity="relu")
            nn.init.uniform_(part.bias, -0.5, 0.5)
    last = [part for part in head.modules() if isinstance(part, nn.Conv2d)][-1]
    last.weight.data.mul_(scale)


def pictures():
    """Returns a varied picture, and a grey one in which no score reaches the nets' threshold."""
    return {"": {"image": 3 * torch.rand(3, 48, 64)}, "nothing_found": {"image": torch.full((3, 48, 64), 0.5)}}


SIZES = {"min_size": 48, "max_size": 96}


@net("retinanet", "fpn", opset=13)
def _():
    detector = detection.RetinaNet(Levels(8), 4, anchor_generator=anchors(), topk_candidates=30, detections_per_img=12,
                                   score_thresh=0.85, **SIZES)
    enlarge(detector.head.classification_head, 0.7)
    enlarge(detector.head.regression_head, 0.2)
    return OneImage(detector), pictures(), ["boxes", "labels", "scores"]


@net("fcos", "fpn", opset=13)
def _():
    one = detection.anchor_utils.AnchorGenerator(((8,),), ((1.0,),))
    detector = detection.FCOS(Finest(32), 4, anchor_generator=one, topk_candidates=30, detections_per_img=12,
                              head=detection.fcos.FCOSHead(32, 1, 4, num_convs=1), score_thresh=0.66, **SIZES)
    enlarge(detector.head.classification_head, 0.7)
    enlarge(detector.head.regression_head, 0.2)
    return OneImage(detector), pictures(), ["boxes", "labels", "scores"]
