"""Cast between every pair of types, over ranks."""
import numpy as np

from generator.forms.common import FEW, TYPES, draw, form, name_of

TARGETS = {"float": ("DT_FLOAT", np.float32), "int32": ("DT_INT32", np.int32), "int8": ("DT_INT8", np.int8),
           "uint8": ("DT_UINT8", np.uint8)}
NARROW = {"int16": ("DT_INT16", np.int16), "uint16": ("DT_UINT16", np.uint16)}


def cast(n, source, target, convert, back=None):
    low, high = {np.float32: (-90, 90), np.int32: (-300, 300)}.get(source, (None, None))
    for name, shape in FEW.items():
        x = draw(n, source, shape, low, high)
        y = n.op("Cast", [n.feed(x, f"x_{name}")], "CastParam", {"dstT": target})
        if back:  # types of two bytes cannot be outputs
            y = n.op("Cast", [y], "CastParam", {"dstT": back})
        n.expect(name, y, convert(x))


def into(dtype):
    """Fractions are cut off, and integers wrap."""
    return lambda x: (x if dtype == np.float32 else x.astype(np.int64)).astype(dtype)


for origin, (label, number, kind) in ((np.float32, ("int64", "DT_INT64", np.int32)),
                                      (np.int32, ("double", "DT_DOUBLE", np.float32))):
    form(f"cast__{name_of(origin)}_to_{label}", cast, origin, number, into(kind))
for origin in TYPES:
    for label, (number, kind) in TARGETS.items():
        form(f"cast__{name_of(origin)}_to_{label}", cast, origin, number, into(kind))
    form(f"cast__{name_of(origin)}_to_bool", cast, origin, "DT_BOOL", lambda x: (x != 0).astype(np.int32))
    if origin != np.float32:
        for label, (number, kind) in NARROW.items():
            form(f"cast__{name_of(origin)}_to_{label}", cast, origin, number,
                 lambda x, kind=kind: x.astype(kind).astype(np.int32), "DT_INT32")
