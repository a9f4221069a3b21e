"""ncnn from its Python wheel, on graphs of pnnx. It computes in fp32 unless --precision low selects its bf16
storage."""

import numpy as np


class Engine:
    def __init__(self, options):
        import ncnn

        self.ncnn, self.options = ncnn, options
        self.version = "ncnn " + ncnn.__version__

    def load(self, net):
        self.net = self.ncnn.Net()
        opt = self.net.opt
        opt.num_threads = self.options.threads
        opt.use_vulkan_compute = False
        for name in ("use_fp16_storage", "use_fp16_packed", "use_fp16_arithmetic"):
            setattr(opt, name, False)  # otherwise some weights are stored as halves
        opt.use_bf16_storage = opt.use_bf16_packed = self.options.precision == "low"
        for load, name in ((self.net.load_param, "model.ncnn.param"), (self.net.load_model, "model.ncnn.bin")):
            if load(net.file(name)) != 0:
                raise RuntimeError(f"ncnn does not load {name}")
        # pnnx drops the batch and names inputs and outputs by number.
        self.inputs = [
            (f"in{index}", self.ncnn.Mat(array[0]).clone()) for index, array in enumerate(net.inputs.values())
        ]
        self.outputs = [f"out{index}" for index in range(len(net.outputs))]

    def set_inputs(self):
        pass  # a run does not change the inputs

    def run(self):
        extractor = self.net.create_extractor()
        for name, value in self.inputs:
            extractor.input(name, value)
        self.mats = []
        for name in self.outputs:
            status, mat = extractor.extract(name)
            if status != 0:
                raise RuntimeError(f"ncnn ends with {status}")
            self.mats.append(mat)

    def results(self):
        return [np.array(mat) for mat in self.mats]
