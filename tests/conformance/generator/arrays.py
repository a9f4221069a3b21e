"""Writes arrays as members of a case."""
import io

import numpy as np


def entry(arrays, prefix, name, value):
    """Adds an array to the arrays as the bytes of a .npy, and returns its entry of case.json."""
    file, npy = f"{prefix}_{name}.npy", io.BytesIO()
    np.save(npy, value)
    arrays[file] = npy.getvalue()
    return {"name": name, "shape": list(value.shape), "dtype": str(value.dtype), "file": file}
