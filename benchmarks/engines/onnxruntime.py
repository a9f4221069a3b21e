"""ONNX Runtime. Its workers spin within a burst, as they do by default; between bursts the process is stopped."""

import numpy as np

# A case stores these types with 32 bits, because .mnn files have no other integers.
TYPES = {"tensor(int64)": np.int64, "tensor(bool)": np.bool_}


class Engine:
    def __init__(self, options):
        import onnxruntime

        self.runtime, self.options = onnxruntime, options
        self.version = "ONNX Runtime " + onnxruntime.__version__

    def load(self, net):
        options = self.runtime.SessionOptions()
        options.intra_op_num_threads = self.options.threads
        options.inter_op_num_threads = 1
        options.execution_mode = self.runtime.ExecutionMode.ORT_SEQUENTIAL
        options.graph_optimization_level = self.runtime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.log_severity_level = 3
        self.session = self.runtime.InferenceSession(
            net.file("model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self.binding = self.session.io_binding()
        types = {entry.name: entry.type for entry in self.session.get_inputs()}
        self.inputs = [
            (name, array.astype(TYPES.get(types[name], array.dtype), copy=False)) for name, array in net.inputs.items()
        ]
        for name in net.outputs:
            self.binding.bind_output(name, "cpu")

    def set_inputs(self):
        for name, array in self.inputs:
            self.binding.bind_cpu_input(name, array)

    def run(self):
        self.session.run_with_iobinding(self.binding)

    def results(self):
        return self.binding.copy_outputs_to_cpu()
