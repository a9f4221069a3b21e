"""The official runtime from its Python wheel: the session interface, and the module interface for nets it refuses."""

import numpy as np


def Engine(options):
    return {"session": Session, "module": Module}[options.way](options)


class Session:
    def __init__(self, options):
        import MNN

        self.mnn, self.options = MNN, options
        self.version = "MNN " + MNN.version()

    def host(self, array):
        kinds = {"float32": self.mnn.Halide_Type_Float, "int32": self.mnn.Halide_Type_Int}
        caffe = self.mnn.Tensor_DimensionType_Caffe
        return self.mnn.Tensor(tuple(array.shape), kinds[str(array.dtype)], array, caffe)

    def load(self, net):
        self.net = self.mnn.Interpreter(net.file("model.mnn"))
        # The wheel computes in fp32 with any setting, but "low" would let a build with bf16 use it.
        precision = "low" if self.options.precision == "low" else "high"
        config = {"backend": "CPU", "numThread": self.options.threads, "precision": precision}
        self.session = self.net.createSession(config)
        if self.session is None:
            raise RuntimeError("it makes no session of this net")
        self.inputs = []
        for name, array in net.inputs.items():
            tensor = self.net.getSessionInput(self.session, name)
            self.net.resizeTensor(tensor, tuple(array.shape))
            self.inputs.append((tensor, array))
        self.net.resizeSession(self.session)
        self.outputs = []
        for name, array in net.outputs.items():
            tensor = self.net.getSessionOutput(self.session, name)
            if tuple(tensor.getShape()) != array.shape:
                raise RuntimeError(f"output {name} is {tensor.getShape()}, expected {array.shape}")
            self.outputs.append((tensor, self.host(np.zeros_like(array))))

    def set_inputs(self):
        for tensor, array in self.inputs:  # the run overwrites the inputs, and a host tensor copies its array
            tensor.copyFrom(self.host(array))

    def run(self):
        self.net.runSession(self.session)
        for tensor, host in self.outputs:
            tensor.copyToHostTensor(host)

    def results(self):
        return [np.array(host.getNumpyData()) for _, host in self.outputs]


class Module:
    def __init__(self, options):
        import MNN
        import MNN.expr
        import MNN.nn

        self.mnn, self.options = MNN, options
        self.version = "MNN " + MNN.version()

    def load(self, net):
        expr = self.mnn.expr
        self.net = self.mnn.nn.load_module_from_file(
            net.file("model.mnn"), list(net.inputs), list(net.outputs), backend=expr.Backend.CPU,
            precision_mode=expr.PrecisionMode.Low if self.options.precision == "low" else expr.PrecisionMode.High,
            thread_num=self.options.threads,
        )  # fmt: skip
        kinds = {"float32": expr.float, "int32": expr.int}
        self.arrays = list(net.inputs.values())
        self.inputs = [expr.placeholder(list(array.shape), expr.NCHW, kinds[str(array.dtype)]) for array in self.arrays]

    def set_inputs(self):
        for variable, array in zip(self.inputs, self.arrays):
            variable.write(array)

    def run(self):
        self.read = [np.array(output.read()) for output in self.net.forward(self.inputs)]

    def results(self):
        return self.read
