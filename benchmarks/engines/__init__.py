"""One file an engine. Each has a class Engine with

    Engine(options)     imports the runtime; options: threads, precision, way, library, isa
    version             what is running, for the report
    load(net)           net: harness.nets.Net; raises with a sentence when it cannot
    set_inputs()        outside of the clock, before every run
    run()               one inference, up to outputs that can be read
    results()           the outputs as arrays, in the order of net.outputs

The module is imported in the engine's own process only.
"""

import importlib

NAMES = ("ours", "official", "onnxruntime", "ncnn")

# What a net's folder has to hold for it.
MODEL_FILES = {
    "ours": ("model.mnn",),
    "official": ("model.mnn",),
    "onnxruntime": ("model.onnx",),
    "ncnn": ("model.ncnn.param", "model.ncnn.bin"),
}

# What has to be importable; ours is a file instead.
MODULES = {"official": "MNN", "onnxruntime": "onnxruntime", "ncnn": "ncnn"}

# Interfaces of an engine in the order of trying: the first one that gives the right answer is timed.
WAYS = {"official": ("session", "module")}


def create(name, options):
    return importlib.import_module("engines." + name).Engine(options)
