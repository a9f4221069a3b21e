"""Folders of small language models, as the exporter llmexport writes them, and the logits that such a model has to give."""
import json
import math
import struct

from files import Net

HIDDEN, HEADS, TOKENS, WINDOW = 8, 2, 11, 3
DEPTH = HIDDEN // HEADS


def half_of(value):
    return struct.unpack("<e", struct.pack("<e", value))[0]


def bf16_bytes(value):
    return struct.pack("<f", value)[2:]


class Model:
    """x = embedding + position / 10; x += attention(x) once for each layer; logits = x times the embeddings."""

    def __init__(self, attention, scale=None):
        self.attention_type = attention
        self.scale = scale  # attn_scale of the configuration
        # Numbers that 8 bits of a float, a half and codes of 4 bits hold.
        self.rows = [[((token * 5 + i * 3) % 15 - 7) / 8 for i in range(HIDDEN)] for token in range(TOKENS)]
        self.windows = {"full": [None], "mix": [None, WINDOW], "sliding": [WINDOW]}[attention]

    def logits(self, tokens):
        """Rows of all tokens."""
        x = [[value + place / 10 for value in self.rows[token]] for place, token in enumerate(tokens)]
        for window in self.windows:
            x = [[a + b for a, b in zip(row, self.attention(x, place, window))] for place, row in enumerate(x)]
        return [[sum(a * b for a, b in zip(row, out)) for out in self.rows] for row in x]

    def attention(self, x, place, window):
        first = 0 if window is None else max(0, place + 1 - window)
        result = []
        scale = 1 / math.sqrt(DEPTH) if self.scale is None else self.scale
        for head in range(HEADS):
            own = slice(head * DEPTH, (head + 1) * DEPTH)
            scores = [sum(a * b for a, b in zip(x[place][own], x[key][own])) * scale
                      for key in range(first, place + 1)]
            weights = [math.exp(score - max(scores)) for score in scores]
            for c in range(own.start, own.stop):
                result.append(sum(w * x[first + i][c] for i, w in enumerate(weights)) / sum(weights))
        return result

    def greedy(self, tokens, count):
        tokens = list(tokens)
        for _ in range(count):
            row = self.logits(tokens)[-1]
            tokens.append(row.index(max(row)))
        return tokens[-count:]

    def write(self, flatc, folder, embeddings="bf16"):
        """embeddings: bf16, or the bits of tied ones, or those of a file of codes as "int8"."""
        folder.mkdir()
        net = Net()
        ids = net.feed("input_ids", [-1, 1, HIDDEN])
        mask = net.feed("attention_mask", [1, 1, -1, -1])
        positions = net.op("Input", [], ["position_ids"], "Input", {"dims": [1, -1], "dtype": "DT_INT32", "dformat": "NCHW"})[0]
        index = net.op("Input", [], ["logits_index"], "Input", {"dims": [1], "dtype": "DT_INT32", "dformat": "NCHW"})[0]
        number = [0]

        def op(kind, inputs, table=None, main=None):
            number[0] += 1
            return net.op(kind, inputs, [f"{kind}_{number[0]}"], table, main)[0]

        def binary(code, a, b):
            return op("BinaryOp", [a, b], "BinaryOp", {"opType": code, "T": "DT_FLOAT"})

        def reshape(x, dims):
            return op("Reshape", [x], "Reshape", {"dims": dims, "dimType": "NCHW"})

        floats = op("Cast", [positions], "CastParam", {"srcT": "DT_INT32", "dstT": "DT_FLOAT"})
        steps = binary("MUL", reshape(floats, [-1, 1]), net.const("tenth", [1, 1], [0.1]))
        x = binary("ADD", reshape(ids, [-1, HIDDEN]), steps)
        axis = net.op("Const", [], ["axis"], "Blob", {"dims": [], "dataType": "DT_INT32", "dataFormat": "NCHW", "int32s": [0]})[0]
        for layer in range(len(self.windows)):
            seen = mask
            if self.attention_type == "mix":
                entry = net.op("Const", [], [f"entry_{layer}"], "Blob",
                               {"dims": [], "dataType": "DT_INT32", "dataFormat": "NCHW", "int32s": [layer]})[0]
                seen = op("GatherV2", [mask, entry, axis])
            heads = reshape(x, [1, -1, HEADS, DEPTH])
            found = op("Attention", [heads, heads, heads, seen], "AttentionParam", {"kv_cache": True, "layer_index": layer})
            x = binary("ADD", x, reshape(found, [-1, HIDDEN]))
        rows = op("StridedSlice", [x, index, net.ints("end", [2 ** 31 - 1]), net.ints("step", [1])], "StridedSliceParam", {})
        last = net.const("last", [HIDDEN, TOKENS], [self.rows[token][i] for i in range(HIDDEN) for token in range(TOKENS)])
        product = op("MatMul", [rows, last], "MatMul", {"T": "DT_FLOAT"})
        net.op("Reshape", [product], ["logits"], "Reshape", {"dims": [1, -1, TOKENS], "dimType": "NCHW"})
        net.outputs = ["logits"]
        net.write(flatc, folder / "llm.mnn")
        config = {"model_type": "small", "hidden_size": HIDDEN, "layer_nums": len(self.windows), "attention_mask": "float",
                  "attention_type": self.attention_type, "is_mrope": False}
        files = {"llm_model": "llm.mnn", "llm_weight": "llm.mnn.weight"}
        if self.attention_type != "full":
            config["sliding_window"] = WINDOW
        if self.scale is not None:
            config["attn_scale"] = self.scale
        if embeddings == "bf16":
            (folder / "embeddings_bf16.bin").write_bytes(b"".join(bf16_bytes(v) for row in self.rows for v in row))
        elif isinstance(embeddings, int):
            config["tie_embeddings"] = self.write_codes(folder / "llm.mnn.weight", embeddings)
        else:
            files["embedding_file"] = f"embeddings_{embeddings}.bin"
            config["tie_embeddings"] = self.write_codes(folder / files["embedding_file"], int(embeddings[3:]))
        (folder / "llm_config.json").write_text(json.dumps(config))
        (folder / "config.json").write_text(json.dumps(files))
        return folder

    def write_codes(self, path, bits):
        """Codes behind something else, with two blocks in a row; of 4 bits with a number that is added."""
        values = [v for row in self.rows for v in row]
        before, block = b"head", HIDDEN // 2
        if bits == 16:
            codes, alpha = b"".join(struct.pack("<e", v) for v in values), b""
        elif bits == 8:
            codes = bytes(int(v * 8) + 128 for v in values)
            alpha = struct.pack("<f", 1 / 8) * (2 * TOKENS)
        else:
            numbers = [int(v * 8 + 7) for v in values]  # code - 8 = 8 v - 1
            codes = bytes(a << 4 | b for a, b in zip(numbers[::2], numbers[1::2]))
            alpha = struct.pack("<ff", 1 / 8, 1 / 8) * (2 * TOKENS)
        path.write_bytes(before + codes + alpha)
        return [len(before), len(before) + len(codes), len(alpha), bits, block]
