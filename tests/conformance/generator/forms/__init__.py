"""Cases made systematically: one operator in one form each, over ranks 0 to 6, odd sizes, extents of 1 and 0, and all of
its types. Importing this package registers them."""
from generator.forms import (  # noqa: F401
    activations, binary, cast, channels, indices, joining, matrices, padding, pooling, reduction, resizing, scans,
    scatter, selection, shapes, slicing, sources, unary, windows,
)
