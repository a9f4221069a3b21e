#!/usr/bin/env python3
"""Exports the nets of torch_nets/ to ONNX, with inputs and outputs; make_families.py runs it.

usage: export_torch.py OUTPUT_FOLDER [REGEX]

Needs PyTorch and torchvision (1.13 and 0.14 wrote the committed cases).
"""
import os
import re
import shutil
import sys

from torch_nets import flow, language, one_stage, pictures, sequences, two_stage, volumes
from torch_nets.base import NETS, export

MODULES = (flow, language, one_stage, pictures, sequences, two_stage, volumes)


def main():
    chosen = re.compile(sys.argv[2] if len(sys.argv) > 2 else "")
    for item in NETS:
        name = f"{item.family}/{item.name}"
        if chosen.search(name):
            folder = os.path.join(sys.argv[1], item.family, item.name)
            try:
                export(item, folder)
            except Exception as error:  # one broken net must not hide the others
                print(f"NOT EXPORTED {name}: {type(error).__name__}: {str(error)[:400]}")
                shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
