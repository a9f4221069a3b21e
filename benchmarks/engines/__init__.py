"""Engines, one file for each. A file has a class Engine with

    Engine(options)     imports the runtime; options: threads, precision, way, library, before, isa
    version             what is running, for the report
    load(net)           net: harness.nets.Net; raises with a sentence when it cannot
    set_inputs()        outside of the clock, before every run
    run()               one inference, up to outputs that can be read
    results()           the outputs as arrays, in the order of net.outputs

The module is imported only in the engine's own process.
"""

import importlib

NAMES = ("ours", "before", "official", "onnxruntime", "ncnn")

# The files that an engine reads from a net's folder.
MODEL_FILES = {
    "ours": ("model.mnn",),
    "before": ("model.mnn",),
    "official": ("model.mnn",),
    "onnxruntime": ("model.onnx",),
    "ncnn": ("model.ncnn.param", "model.ncnn.bin"),
}

# The engines that are a library of this project, by the option that names its file.
LIBRARIES = {"ours": "library", "before": "before"}

# The modules that the other engines import.
MODULES = {"official": "MNN", "onnxruntime": "onnxruntime", "ncnn": "ncnn"}

# The interfaces of an engine, in the order in which they are tried: the first that gives the right answer is timed.
WAYS = {"official": ("session", "module")}


def create(name, options):
    return importlib.import_module("engines." + name).Engine(options)
