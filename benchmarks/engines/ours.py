"""libmnn_c through its C interface."""

import ctypes
import importlib.util
import os

import numpy as np

PRECISION = {"normal": 0, "high": 1, "low": 2}
MEMORY_LOW = 2
TYPES = {1: np.float32, 3: np.int32, 4: np.uint8, 6: np.int8}


def load_structs():
    """Loads the Python binding's structs, which a test compares with the header. Its package would also load a
    library."""
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir)
    spec = importlib.util.spec_from_file_location(
        "mnn_c_structs", os.path.join(root, "bindings", "python", "src", "mnn_c", "_abi.py")
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


structs = load_structs()


class Engine:
    keep_subnormals = 0  # set before load(): 1 asks for a session that computes with them
    low_memory = False  # set before load(): True keeps quantised weights as they are

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
        """Creates a session of the net; with `shared`, another engine, it uses that engine's interpreter."""
        lib = self.lib
        self.interpreter, self.session = shared.interpreter if shared else ctypes.c_void_p(), ctypes.c_void_p()
        if not shared:
            path = net.file("model.mnn").encode()
            self.check(lib.mnn_interpreter_create_from_file(path, None, ctypes.byref(self.interpreter)))
        config = structs.ScheduleConfig()
        self.check(lib.mnn_schedule_config_init(ctypes.byref(config), ctypes.c_size_t(ctypes.sizeof(config))))
        config.threads = self.options.threads
        config.precision = PRECISION[self.options.precision]
        config.keep_subnormals = self.keep_subnormals
        config.memory = MEMORY_LOW if self.low_memory else 0
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
        # As the bindings of other engines do, runs write their results directly to these buffers.
        for tensor, array in self.outputs:
            data, size = ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes)
            self.check(lib.mnn_session_bind_output(self.session, tensor, data, size, 0))

    def close(self):
        self.check(self.lib.mnn_session_destroy(ctypes.byref(self.session)))
        self.check(self.lib.mnn_interpreter_destroy(ctypes.byref(self.interpreter)))

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

    def results(self):
        for tensor, array in self.outputs:
            dims, rank = (ctypes.c_int32 * structs.MAX_RANK)(), ctypes.c_size_t()
            info = structs.TensorProperties(ctypes.sizeof(structs.TensorProperties))
            self.check(self.lib.mnn_tensor_shape(tensor, dims, ctypes.c_size_t(structs.MAX_RANK), ctypes.byref(rank)))
            self.check(self.lib.mnn_tensor_info(tensor, ctypes.byref(info)))
            if tuple(dims[: rank.value]) != array.shape or TYPES.get(info.type) != array.dtype:
                raise RuntimeError(f"an output is {list(dims[:rank.value])}, expected {list(array.shape)}")
        return [array for _, array in self.outputs]
