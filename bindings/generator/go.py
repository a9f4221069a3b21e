"""The Go packages."""

from __future__ import annotations

from typing import Dict, List

from .go_constants import PACKAGES, Names, constants_test, enums
from .go_shims import Shims
from .header import Header


def files(headers: List[Header]) -> Dict[str, str]:
    names = Names(headers)
    found = {}
    for header in headers:
        package = PACKAGES[header.name]
        folder = "bindings/go" if package == "mnn" else f"bindings/go/{package}"
        found[f"{folder}/enums.go"] = enums(header, names)
        found[f"{folder}/constants_in_c_test.go"] = constants_test(header, names)
        if header.name != "mnn_c_image.h":  # its functions take pictures in memory of Go, so their shims are written by hand
            found[f"{folder}/shims_generated.h"] = Shims(header).write()
    return found
