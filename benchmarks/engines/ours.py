"""libmnn_c through its C interface."""

import ctypes
import os

import numpy as np

PRECISION = {"normal": 0, "high": 1, "low": 2}
TYPES = {1: np.float32, 3: np.int32, 4: np.uint8, 6: np.int8}
MAX_RANK = 9


class ScheduleConfig(ctypes.Structure):
    """mnn_schedule_config_t of mnn_c.h."""

    _fields_ = (
        [("struct_size", ctypes.c_size_t)]
        + [
            (name, ctypes.c_int32)
            for name in "forward_type backup_type allow_fallback threads precision memory power gpu_mode".split()
        ]
        + [("cpu_isa", ctypes.c_char_p), ("outputs", ctypes.c_void_p), ("output_count", ctypes.c_size_t)]
        + [("save_tensors", ctypes.c_void_p), ("save_tensor_count", ctypes.c_size_t)]
        + [("max_memory_bytes", ctypes.c_uint64), ("max_loop_iterations", ctypes.c_uint64)]
        + [("device", ctypes.c_char_p), ("cancel", ctypes.c_void_p)]
        + [("record_plan", ctypes.c_int32), ("keep_subnormals", ctypes.c_int32)]
    )


class Engine:
    def __init__(self, options):
        self.lib = ctypes.CDLL(os.path.abspath(options.library))
        self.lib.mnn_last_error.restype = ctypes.c_char_p
        self.options = options

    @property
    def version(self):
        self.lib.mnn_version.restype = ctypes.c_char_p
        return "libmnn_c " + self.lib.mnn_version().decode()

    def check(self, status):
        if status != 0:
            raise RuntimeError(f"{self.lib.mnn_last_error().decode()} (status {status})")

    def load(self, net, shared=None):
        """A session of the net, of the same interpreter as another engine's where one is given."""
        lib = self.lib
        self.interpreter, self.session = shared.interpreter if shared else ctypes.c_void_p(), ctypes.c_void_p()
        if not shared:
            path = net.file("model.mnn").encode()
            self.check(lib.mnn_interpreter_create_from_file(path, None, ctypes.byref(self.interpreter)))
        config = ScheduleConfig()
        self.check(lib.mnn_schedule_config_init(ctypes.byref(config), ctypes.c_size_t(ctypes.sizeof(config))))
        config.threads = self.options.threads
        config.precision = PRECISION[self.options.precision]
        config.cpu_isa = self.options.isa.encode() if self.options.isa else None
        self.check(lib.mnn_session_create(self.interpreter, ctypes.byref(config), ctypes.byref(self.session)))
        self.inputs = []
        for name, array in net.inputs.items():
            tensor = self.tensor(lib.mnn_session_input, name)
            dims = (ctypes.c_int32 * max(array.ndim, 1))(*array.shape)
            self.check(lib.mnn_session_resize_input(self.session, tensor, dims, ctypes.c_size_t(array.ndim)))
            self.inputs.append((tensor, array))
        self.check(lib.mnn_session_resize(self.session))
        self.outputs = [
            (self.tensor(lib.mnn_session_output, name), np.zeros_like(array)) for name, array in net.outputs.items()
        ]

    def tensor(self, find, name):
        tensor = ctypes.c_void_p()
        self.check(find(self.session, name.encode(), ctypes.byref(tensor)))
        return tensor

    def set_inputs(self):
        for tensor, array in self.inputs:
            data, size = ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes)
            self.check(self.lib.mnn_tensor_write(tensor, data, size, 0))

    def run(self):
        self.check(self.lib.mnn_session_run(self.session))
        for tensor, array in self.outputs:
            data, size = ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes)
            self.check(self.lib.mnn_tensor_read(tensor, data, size, 0))

    def results(self):
        for tensor, array in self.outputs:
            dims, rank, kind = (ctypes.c_int32 * MAX_RANK)(), ctypes.c_size_t(), ctypes.c_int32()
            self.check(self.lib.mnn_tensor_shape(tensor, dims, ctypes.c_size_t(MAX_RANK), ctypes.byref(rank)))
            self.check(self.lib.mnn_tensor_type(tensor, ctypes.byref(kind)))
            if tuple(dims[: rank.value]) != array.shape or TYPES.get(kind.value) != array.dtype:
                raise RuntimeError(f"an output is {list(dims[:rank.value])}, expected {list(array.shape)}")
        return [array for _, array in self.outputs]
