#!/usr/bin/env python3
"""Calls mnn generate and mnn info with small language models: logits and tokens equal those of plain loops, however the
tokens are divided into runs.

    check_generate.py MNN_TOOL FLATC
"""
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

from language_folder import HIDDEN, TOKENS, Model

PROMPT = [3, 1, 4, 1, 5, 9, 2]


def call(tool, *arguments, code=0):
    done = subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != code:
        sys.exit(f"mnn {' '.join(map(str, arguments))}: exit code {done.returncode}, wanted {code}\n{done.stderr}")
    return done.stderr if code else done.stdout


def read_npy(path):
    data = path.read_bytes()
    begin = 10 + struct.unpack("<H", data[8:10])[0]
    assert f"({(len(data) - begin) // 4 // TOKENS}, {TOKENS})" in data[:begin].decode("latin1"), data[:begin]
    values = struct.unpack(f"<{(len(data) - begin) // 4}f", data[begin:])
    return [values[i:i + TOKENS] for i in range(0, len(values), TOKENS)]


def check_logits(got, wanted, most):
    assert len(got) == len(wanted), (len(got), len(wanted))
    largest = max(abs(value) for row in wanted for value in row)
    error = max(abs(a - b) for x, y in zip(got, wanted) for a, b in zip(x, y)) / largest
    assert error <= most, f"an error of {error}"


def check_folder(tool, folder, model):
    tokens = ",".join(map(str, PROMPT))
    wanted = model.greedy(PROMPT, 6)
    rows = model.logits(PROMPT + wanted[:-1])
    logits = folder / "logits.npy"
    for runs in ([], ["--chunk", 1], ["--chunk", 3], ["--threads", 2], ["--half-state"]):
        most = 2e-3 if "--half-state" in runs else 1e-5
        out = call(tool, "generate", folder, "--tokens", tokens, "--count", 6, *runs)
        assert out == ",".join(map(str, wanted)) + "\n", (out, wanted)
        call(tool, "generate", folder, "--tokens", tokens, "--count", 6, "--logits", logits, *runs)
        check_logits(read_npy(logits)[:-1], rows, most)
        if not runs:
            logits_of_six = logits.read_bytes()
        call(tool, "generate", folder, "--tokens", tokens, "--logits", logits, *runs)
        check_logits(read_npy(logits), model.logits(PROMPT), most)
    done = subprocess.run([tool, "generate", folder, "--tokens", tokens, "--count", "6", "--logits", "-"],
                          capture_output=True, check=True)
    assert done.stdout == logits_of_six and done.stderr.decode().splitlines() == out.splitlines(), done
    call(tool, "generate", folder, "--tokens", tokens, "--logits", "-", "--json", code=2)
    told = json.loads(call(tool, "generate", folder, "--tokens", tokens, "--count", 6, "--json"))
    assert (told["prompt"], told["tokens"]) == (PROMPT, wanted), told
    assert (told["state"]["length"], told["plans"]) == (len(PROMPT) + 5, 2), told


def check_info(tool, folder, model, bits, tied):
    info = json.loads(call(tool, "info", folder, "--json"))
    language = info["language_model"]
    assert (language["hidden_size"], language["tokens"]) == (HIDDEN, TOKENS), language
    assert (language["embedding_bits"], language["tied"]) == (bits, tied), language
    assert info["session_error"] is None and info["ops"]["unsupported"] == {}, info
    text = call(tool, "info", folder)
    assert f"{TOKENS} tokens" in text and "embeddings" in text, text


def check_measured(tool, folder):
    """Each run that is timed begins anew: its mask has no room for rows of the runs before."""
    shapes = [f"--shape={name}={extents}" for name, extents in
              (("input_ids", f"3x1x{HIDDEN}"), ("attention_mask", "1x1x3x3"), ("position_ids", "1x3"))]
    assert json.loads(call(tool, "bench", folder / "llm.mnn", *shapes, "--seconds", 0, "--json"))["runs"] >= 5
    ops = json.loads(call(tool, "profile", folder / "llm.mnn", *shapes, "--runs", 3, "--json"))["ops"]
    assert any(op["type"] == "Attention" for op in ops), ops


def check_settings(tool, folder, work):
    """Settings of config.json hold with --as-exported alone, and those of the command line win over them."""
    copy = work / "settings"
    shutil.copytree(folder, copy)
    config = copy / "config.json"
    arguments = ["generate", copy, "--tokens", "3,1,4", "--count", 4]

    def settings(*options):
        told = json.loads(call(tool, *arguments, "--json", *options))["settings"]
        lacks = any("there are no products" in reason for reason in told["reasons"])  # that low precision takes
        return "low" if lacks else told["precision"], told["memory"]

    assert settings("--as-exported") == ("normal", "normal"), "config.json has neither"
    config.write_text(json.dumps({**json.loads(config.read_text()), "precision": "low", "memory": "low"}))
    assert settings() == ("normal", "normal")
    assert settings("--as-exported") == ("low", "low")
    assert settings("--as-exported", "--precision", "high") == ("high", "low")
    assert settings("--as-exported", "--memory", "normal") == ("low", "normal")
    config.write_text(json.dumps({**json.loads(config.read_text()), "precision": "high"}))
    assert settings("--as-exported") == ("high", "low")
    done = subprocess.run([tool, *map(str, arguments), "--as-exported"], capture_output=True, text=True)
    assert done.stdout.count(",") == 3 and done.stdout.count("\n") == 1, done
    assert "precision high, memory low" in done.stderr, done
    language = json.loads(call(tool, "info", copy, "--json"))["language_model"]
    assert (language["precision"], language["memory"]) == ("high", "low"), language


def check_refusals(tool, folder, work):
    refused = lambda part, *arguments: [None for text in [call(tool, "generate", *arguments, code=1)] if part in text or sys.exit(text)]
    refused("there is no token 11", folder, "--tokens", "3,11")
    refused("there is no token -1", folder, "--tokens", "3,-1")
    refused("has no llm_config.json", work, "--tokens", "3")
    refused("is a file; a language model is a folder with llm_config.json", folder / "llm.mnn", "--tokens", "3")
    assert "'mnn generate' runs it" in call(tool, "run", folder, code=2)
    call(tool, "generate", folder, code=2)
    call(tool, "generate", folder, "--tokens", "1,x", code=2)

    def changed(part, name, change, original=folder):
        copy = work / "changed"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(original, copy)
        change(copy / name)
        refused(part, copy, "--tokens", "3")

    def edit(**fields):
        return lambda path: path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))

    changed("is no JSON", "llm_config.json", lambda path: path.write_text("{"))
    changed("attention that is local", "llm_config.json", edit(attention_type="local"))
    changed("type must be number, but is string", "llm_config.json", edit(attn_scale="x"))
    changed("attention_scale is not finite", "llm_config.json", edit(attn_scale=1e99))
    changed("hidden_size is 0", "llm_config.json", edit(hidden_size=0))
    changed("is number, but no integer", "llm_config.json", edit(hidden_size=7.5))
    changed("is number, but no integer", "llm_config.json", edit(hidden_size=2**63))
    changed("is object, but no list", "llm_config.json", edit(tie_embeddings={"0": 0}))
    changed("no number of rows", "llm_config.json", edit(hidden_size=7))
    changed("tie_embeddings", "llm_config.json", edit(tie_embeddings=[1, 2, 3]))
    changed("tie_embeddings does not fit", "llm_config.json", edit(tie_embeddings=[0, 99, 0, 16, 0]))
    changed("2 bits", "llm_config.json", edit(tie_embeddings=[0, 64, 0, 2, 0]))
    changed("cannot open", "llm_config.json", edit(tie_embeddings=[0, 1600, 0, 16, 0]))
    for original in (work / "full_8", work / "full_int8"):
        codes, alpha, *rest = json.loads((original / "llm_config.json").read_text())["tie_embeddings"]
        changed("fewer than tie_embeddings describes", "llm_config.json", edit(tie_embeddings=[codes + 1, alpha + 1, *rest]), original)
    changed("llm_weight is '../x'", "config.json", edit(llm_weight="../x"))
    changed("config.json': precision is 'fp8'", "config.json", edit(precision="fp8"))
    changed("config.json': memory is ''", "config.json", edit(memory=""))
    changed("type must be string, but is number", "config.json", edit(memory=2))
    changed("known is embeddings_bf16.bin", "config.json", edit(embedding_file="embeddings_int8.bin"))
    changed("cannot open", "embeddings_bf16.bin", lambda path: path.unlink())
    changed("llm.mnn", "llm.mnn", lambda path: path.unlink())


def main():
    tool, flatc = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        bits = {"bf16": 16, 16: 16, 8: 8, 4: 4, "int8": 8, "int4": 4}
        for attention in ("full", "mix", "sliding"):
            for embeddings in bits if attention != "sliding" else ("bf16",):
                model = Model(attention)
                folder = model.write(flatc, work / f"{attention}_{embeddings}", embeddings)
                check_folder(tool, folder, model)
                check_info(tool, folder, model, bits[embeddings], isinstance(embeddings, int))
        scaled = Model("mix", scale=1.25)
        assert scaled.logits(PROMPT) != Model("mix").logits(PROMPT)
        check_folder(tool, scaled.write(flatc, work / "scaled"), scaled)
        check_measured(tool, work / "full_bf16")
        check_settings(tool, work / "full_bf16", work)
        check_refusals(tool, work / "full_bf16", work)


if __name__ == "__main__":
    main()
