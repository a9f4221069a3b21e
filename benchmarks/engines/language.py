"""Engines for language models: the C library through its Python package, the official runtime and llama-cpp-python.

    Engine(options)     imports the runtime; options: threads, precision, memory, half_state, library, max_tokens and
                        max_run (tokens of a conversation, and of one run)
    version             what is running, for the report
    load(path)          the folder that llmexport wrote, or a .gguf
    forward(tokens)     computes them after the earlier ones, and returns the logits of the last one
    reset()             forgets all tokens

A module of a runtime is imported only in the engine's own process.
"""

import ctypes
import json
import os
import sys

import numpy as np


class Folder:
    """The files that llmexport wrote beside the net: the embeddings, and what the shapes of the inputs follow from."""

    def __init__(self, path):
        self.path = path
        with open(os.path.join(path, "llm_config.json")) as file:
            config = json.load(file)
        self.hidden = config["hidden_size"]
        self.scale = config.get("attn_scale", 0)
        self.window = config["sliding_window"] if config.get("attention_type", "full") == "mix" else 0
        self.position_rows = 3 if config.get("is_mrope") else 1
        self.tied = config.get("tie_embeddings")
        # Rows are read when they are needed: pages of a mapped file would count as memory of the engine.
        if not self.tied:
            path = os.path.join(path, "embeddings_bf16.bin")
            self.row_bytes, self.begin, end = 2 * self.hidden, 0, os.path.getsize(path)
        else:
            path = self.weights_file()
            self.begin, end, alpha_bytes, self.bits, self.block = self.tied
            self.row_bytes = self.hidden * self.bits // 8
        self.tokens = (end - self.begin) // self.row_bytes
        if self.tied and self.bits < 16:
            self.alpha, self.alpha_bytes = end, alpha_bytes // self.tokens
        self.file = os.open(path, os.O_RDONLY)

    def weights_file(self):
        return os.path.join(self.path, "llm.mnn.weight")

    def row(self, token, begin, size, kind):
        return np.frombuffer(os.pread(self.file, size, begin + token * size), kind)

    def embed(self, tokens):
        # One after another, so that no large array comes and goes.
        rows = np.empty((len(tokens), self.hidden), np.float32)
        for row, token in zip(rows, tokens):
            row[:] = self.embedded(token)
        return rows

    def embedded(self, token):
        kind = np.uint8 if self.tied and self.bits < 16 else np.uint16
        row = self.row(token, self.begin, self.row_bytes, kind)
        if not self.tied:
            return (row.astype(np.uint32) << 16).view(np.float32)
        if self.bits == 16:
            return row.view(np.float16)
        codes = np.stack([row >> 4, row & 15], -1) if self.bits == 4 else row
        codes = codes.reshape(-1, self.block).astype(np.float32) - (8 if self.bits == 4 else 128)
        alpha = self.row(token, self.alpha, self.alpha_bytes, np.float32).reshape(self.hidden // self.block, -1)
        zeros = alpha[:, :1] if alpha.shape[-1] == 2 else 0
        return (codes * alpha[:, -1:] + zeros).reshape(-1)

    def mask(self, count, past):
        if not self.window:
            return np.zeros((), np.float32)
        distance = np.arange(past, past + count)[:, None] - np.arange(past + count)
        seen = np.stack([distance >= 0, (distance >= 0) & (distance < self.window)])
        return np.where(seen, np.float32(0), np.finfo(np.float32).min)[:, None]


class Ours:
    def __init__(self, options):
        os.environ["MNN_C_LIBRARY"] = os.path.abspath(options.library)
        root = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir)
        sys.path.insert(0, os.path.join(root, "bindings", "python", "src"))
        import mnn_c

        self.mnn, self.options = mnn_c, options
        self.version = f"libmnn_c {mnn_c.version()}"

    def load(self, path):
        self.folder = Folder(path)
        net = self.mnn.Interpreter(os.path.join(path, "llm.mnn"), attention_scale=self.folder.scale)
        precision, memory = self.options.precision.upper(), self.options.memory.upper()
        self.session = net.session(
            threads=self.options.threads, precision=self.mnn.Precision[precision], memory=self.mnn.Memory[memory]
        )
        if self.options.half_state:
            self.session.set_state_type(self.mnn.ElementType.FLOAT16)
        names = ("input_ids", "attention_mask", "position_ids", "logits_index")
        self.inputs = {name: self.session.input(name) for name in names}
        self.logits = self.session.output("logits")
        self.past = self.count = 0

    def reset(self):
        self.session.reset_state()
        self.past = 0

    def forward(self, tokens):
        count, folder = len(tokens), self.folder
        positions = np.arange(self.past, self.past + count, dtype=np.int32)
        values = {
            "input_ids": folder.embed(tokens).reshape(count, 1, folder.hidden),
            "position_ids": np.tile(positions, (folder.position_rows, 1)),
        }
        if count != self.count or folder.window:  # else shapes and mask are those of the run before
            values["attention_mask"] = folder.mask(count, self.past)
            values["logits_index"] = np.array([-1], np.int32)
            self.session.resize({name: value.shape for name, value in values.items()})
            self.count = count
        for name, value in values.items():
            self.inputs[name].write(value)
        self.session.execute()
        self.past += count
        return self.logits.read().reshape(-1)


class Official:
    def __init__(self, options):
        import MNN
        import MNN.llm

        self.llm, self.options = MNN.llm, options
        self.version = "MNN " + MNN.version()

    def load(self, path):
        self.net = self.llm.create(os.path.join(path, "config.json"))
        self.net.set_config({
            "backend_type": "cpu", "thread_num": self.options.threads, "precision": self.options.precision,
            "memory": self.options.memory,
        })  # fmt: skip
        self.net.load()

    def reset(self):
        self.net.reset()

    def forward(self, tokens):
        logits = self.net.forward([int(token) for token in tokens])
        return np.array(logits.read()).reshape(-1)  # a copy, because the memory belongs to the variable


class Llama:
    def __init__(self, options):
        import llama_cpp

        self.llama, self.options = llama_cpp, options
        llama_cpp.llama_backend_init()
        self.version = "llama-cpp-python " + llama_cpp.__version__
        self.about = llama_cpp.llama_print_system_info().decode().strip()

    def load(self, path):
        llama, options = self.llama, self.options
        self.model = llama.llama_model_load_from_file(path.encode(), llama.llama_model_default_params())
        if not self.model:
            raise RuntimeError(f"it does not load {path}")
        params = llama.llama_context_default_params()
        params.n_ctx = -(-options.max_tokens // 256) * 256
        params.n_batch = params.n_ubatch = options.max_run
        params.n_threads = params.n_threads_batch = options.threads
        self.context = llama.llama_init_from_model(self.model, params)
        if not self.context:
            raise RuntimeError("it makes no context")
        self.vocabulary = llama.llama_vocab_n_tokens(llama.llama_model_get_vocab(self.model))

    def reset(self):
        self.llama.llama_memory_clear(self.llama.llama_get_memory(self.context), True)

    def forward(self, tokens):
        ids = (self.llama.llama_token * len(tokens))(*map(int, tokens))
        status = self.llama.llama_decode(self.context, self.llama.llama_batch_get_one(ids, len(tokens)))
        if status != 0:
            raise RuntimeError(f"llama_decode gave {status}")
        logits = ctypes.cast(self.llama.llama_get_logits_ith(self.context, -1), ctypes.c_void_p).value
        return np.array((ctypes.c_float * self.vocabulary).from_address(logits))


# A name: the class, and its settings.
ENGINES = {
    "ours": (Ours, {"precision": "normal", "memory": "low", "half_state": False}),
    "ours-low": (Ours, {"precision": "low", "memory": "low", "half_state": True}),
    "official": (Official, {"precision": "low", "memory": "low"}),
    "llama": (Llama, {}),
}
