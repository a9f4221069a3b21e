#!/usr/bin/env python3
"""Runs language models of the exporter llmexport, in folders with the logits of a prompt: logits are the same in one piece,
in pieces, after states were erased, reset, saved by another process or left alone by cancelled runs, and beside other
conversations.

    language_models.py [--vulkan] MNN_TOOL FOLDER...

--vulkan: on a GPU, where the validation layer checks the runs of the tool.

A folder has, beside what the exporter writes, a case.json: {"tokens": [1, 2], "logits": "logits.npy",
"relative_to_max": 1e-4}. The library is the one of MNN_C_LIBRARY; exit code 77: there is no NumPy.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bindings" / "python" / "src"))
try:
    import numpy as np
except ImportError:
    sys.exit(77)
import mnn_c

MOMENTS = 100  # at which runs are cancelled
VULKAN = "--vulkan" in sys.argv


class Model:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        config = json.loads((self.folder / "llm_config.json").read_text())
        self.hidden = config["hidden_size"]
        self.window = config["sliding_window"] if config.get("attention_type", "full") == "mix" else None
        self.positions = 3 if config.get("is_mrope") else 1
        if "tie_embeddings" in config:
            begin, end, _, bits, _ = config["tie_embeddings"]
            assert bits == 16, f"embeddings of {bits} bits"
            stored = (self.folder / "llm.mnn.weight").read_bytes()[begin:end]
            rows = np.frombuffer(stored, np.float16).astype(np.float32)
        else:
            rows = (np.fromfile(self.folder / "embeddings_bf16.bin", np.uint16).astype(np.uint32) << 16).view(np.float32)
        self.embeddings = rows.reshape(-1, self.hidden)
        case = json.loads((self.folder / "case.json").read_text())
        self.tokens, self.tolerance = case["tokens"], case["relative_to_max"]
        logits = np.load(self.folder / case["logits"])
        self.logits = logits.reshape(-1, logits.shape[-1])
        self.net = mnn_c.Interpreter(self.folder / "llm.mnn", attention_scale=config.get("attn_scale", 0))

    def session(self, **settings):
        return self.net.session(forward_type=mnn_c.Forward.VULKAN if VULKAN else mnn_c.Forward.CPU, **settings)

    def inputs(self, tokens, past):
        count = len(tokens)
        mask = np.zeros((), np.float32)
        if self.window is not None:
            query, key = np.arange(past, past + count)[:, None], np.arange(past + count)[None]
            seen = np.stack([key <= query, (key <= query) & (key > query - self.window)])[:, None]
            mask = np.where(seen, np.float32(0), np.finfo(np.float32).min)
        return {"input_ids": self.embeddings[tokens].reshape(count, 1, self.hidden), "attention_mask": mask,
                "position_ids": np.tile(np.arange(past, past + count, dtype=np.int32), (self.positions, 1)),
                "logits_index": np.zeros(1, np.int32)}

    def run(self, session, tokens, past, **options):
        """Logits of all tokens."""
        inputs = self.inputs(tokens, past)
        session.resize({name: array.shape for name, array in inputs.items()})  # the mask may become a scalar
        logits = session.run(inputs, outputs=["logits"], **options)["logits"]
        return logits.reshape(len(tokens), -1)

    def check(self, what, got, wanted):
        error = np.abs(got - wanted).max() / np.abs(wanted).max()
        if not error <= self.tolerance:
            sys.exit(f"{self.folder.name}, {what}: an error of {error:.1e}")
        return error

    def tokens_of(self, number, count):
        return np.random.default_rng(number).integers(3, len(self.embeddings), count).tolist()


def check_tool(tool, model, work):
    tokens, file = ",".join(map(str, model.tokens)), work / "logits.npy"
    errors, backend = [], ["--backend", "vulkan", "--validate"] if VULKAN else []
    for options in ([], ["--chunk", "1"], ["--chunk", "5"], ["--threads", "2"]):
        subprocess.run([tool, "generate", model.folder, "--tokens", tokens, "--logits", file, *options, *backend],
                       check=True, stdout=subprocess.DEVNULL)
        errors.append(model.check(f"mnn generate {' '.join(options)}", np.load(file), model.logits))
    return max(errors)


def check_pieces(model, session):
    """One session for one prompt after another."""
    tokens, wanted = model.tokens, model.logits
    model.check("in one piece", model.run(session, tokens, 0), wanted)
    if session.state.erasable:
        session.erase_state(5, len(tokens))
        model.check("after erasing", model.run(session, tokens[5:8], 5), wanted[5:8])
    session.reset_state()
    for past, token in enumerate(tokens):
        model.check("token by token after a reset", model.run(session, [token], past)[0], wanted[past])
    session.reset_state()
    borders = sorted({0, 4, 9, 11, len(tokens)})
    for begin, end in zip(borders, borders[1:]):
        model.check("in chunks after a reset", model.run(session, tokens[begin:end], begin), wanted[begin:end])


def converse(model, number, session):
    """A conversation of its own: chunks of several sizes, and tokens that are taken back."""
    tokens, past, rows = model.tokens_of(number, 40), 0, []
    for count in (7, 1, 1, 12, 1, 1, 1, 9, 1, 1, 1, 5):
        rows.append(model.run(session, tokens[past:past + count], past))
        past += count
        if past == 21 and session.state.erasable:
            session.erase_state(18, 21)
            past = 18
    return np.concatenate(rows)


def check_conversations(model):
    alone = [converse(model, number, model.session()) for number in range(4)]
    together, sessions = [None] * 4, [model.session() for _ in range(4)]

    def take(number):
        together[number] = converse(model, number, sessions[number])

    threads = [threading.Thread(target=take, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(4):
        if not np.array_equal(alone[number], together[number]):
            sys.exit(f"{model.folder.name}: conversation {number} differs beside others")


def save(model, file):
    """Another process does this, and ends."""
    session = model.session()
    model.run(session, model.tokens[:-2], 0)
    file.write_bytes(session.save_state())


def check_saved(model, work):
    file = work / "state"
    subprocess.run([sys.executable, __file__, *(["--vulkan"] if VULKAN else []), "--save", file, model.folder],
                   check=True)
    begin = len(model.tokens) - 2
    sessions = [model.session() for _ in range(2)]
    model.run(sessions[0], model.tokens[:begin], 0)
    model.run(sessions[1], model.tokens_of(9, 3), 0)  # plans, and what it keeps is overwritten
    sessions[1].load_state(file.read_bytes())
    for past in (begin, begin + 1):
        going_on, loaded = (model.run(session, model.tokens[past:past + 1], past) for session in sessions)
        model.check("after loading", loaded[0], model.logits[past])
        if not np.array_equal(going_on, loaded):
            sys.exit(f"{model.folder.name}: a loaded state goes on with other logits")


def check_cancelled(model):
    """Cancels before and behind operators, from the first to the last one."""
    shown = {"gpu_mode": mnn_c.GpuMode.RECORD_OP} if VULKAN else {}  # callbacks see one operator after another
    session, token = model.session(**shown), mnn_c.CancelToken()
    past = len(model.tokens) - 3
    model.run(session, model.tokens[:past], 0)
    before, calls = session.save_state(), 0

    def count(*_):
        nonlocal calls
        calls += 1
        if calls == at:
            token.trigger()

    at = 0
    wanted = model.run(session, model.tokens[past:], past, before=count, after=count)
    model.check("observed", wanted, model.logits[past:])
    moments = sorted({1 + (calls - 1) * i // (MOMENTS - 1) for i in range(MOMENTS)})
    session.load_state(before)
    for at in moments:
        token.reset()
        calls = 0
        try:
            model.run(session, model.tokens[past:], past, before=count, after=count, cancel=token)
            if at < moments[-1]:  # behind the last operator a run may end as usual
                sys.exit(f"{model.folder.name}: a run that was cancelled at call {at} has succeeded")
            session.load_state(before)
        except mnn_c.errors.CancelledError:
            pass
        if session.save_state() != before:
            sys.exit(f"{model.folder.name}: a run that was cancelled at call {at} has changed the state")
    if not np.array_equal(model.run(session, model.tokens[past:], past), wanted):
        sys.exit(f"{model.folder.name}: other logits after cancelled runs")
    return len(moments)


def check_plans(model):
    session = model.session()
    model.run(session, model.tokens[:5], 0)
    model.run(session, model.tokens[5:6], 5)
    plans = session.statistics.stage_plans
    for past, token in enumerate(model.tokens_of(3, 200), 6):
        model.run(session, [token], past)
    if session.statistics.stage_plans != plans:
        sys.exit(f"{model.folder.name}: {session.statistics.stage_plans - plans} plans for 200 tokens")


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--vulkan"]
    if arguments[0] == "--save":
        return save(Model(arguments[2]), pathlib.Path(arguments[1]))
    for folder in arguments[1:]:
        model = Model(folder)
        with tempfile.TemporaryDirectory() as name:
            error = check_tool(arguments[0], model, pathlib.Path(name))
            check_pieces(model, model.session())
            check_pieces(model, model.session(threads=2))
            check_conversations(model)
            check_saved(model, pathlib.Path(name))
            moments = check_cancelled(model)
            check_plans(model)
        print(f"{model.folder.name}: an error of {error:.1e}, {moments} moments")


if __name__ == "__main__":
    main()
