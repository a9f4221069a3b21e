"""Nets of the package timm, by their names in names.py, for the image size that timm gives them."""

from torch import nn

import names
from torch_base import Net, images, net


def open_branches(module):
    """Enlarges branches whose scale is nearly zero before training, because an error in them would not show."""
    for name, parameter in module.named_parameters():
        largest = parameter.abs().max()
        if "gamma" in name or "layer_scale" in name or name.endswith((".ls1", ".ls2")):
            if largest < 0.02:
                nn.init.uniform_(parameter, 0.1, 0.3)
        elif largest == 0 and parameter.dim() > 1:
            nn.init.normal_(parameter, std=0.02)


def build(name):
    import timm  # imported only for its nets

    module = timm.create_model(name, pretrained=False)
    open_branches(module)
    return Net(module, images(module.pretrained_cfg["input_size"][-1]), dynamo=True)


for full_name in names.TIMM_NETS:
    net(full_name)(lambda name=full_name.removeprefix("timm_"): build(name))
