#!/usr/bin/env python3
"""Compares the tokens that `mnn generate` makes with those of transformers in float32.

    greedy.py MNN FOLDER HF [--prompts N] [--count N]

FOLDER is what the exporter llmexport made of HF, a folder of transformers, with weights of 16 bits. transformers gets
the numbers of that file: matrices rounded to 16 bits, and the inverse frequencies of the rotation with six decimals, as
the exporter writes them. It reads each prompt with the tokens that mnn made behind it: where its own choice behind each
of them is the next one, it would have made the same tokens alone. A token may differ only where transformers cannot
separate the two largest logits: where their distance is at most 1e-5 of the largest one. Such tokens are printed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import torch
from transformers import AutoModelForCausalLM

TIE = 1e-5
# The largest error of logits, in parts of the largest one. Prompts of random tokens lead to states that magnify rounding:
# transformers in float32 itself is off by up to 4e-5 from float64 there.
LARGEST_ERROR = 1e-4


def prompts_of(count, vocabulary):
    """Prompts of 3 to 60 random tokens."""
    random = np.random.default_rng(39)
    return [random.integers(3, vocabulary, int(length)).tolist() for length in np.linspace(3, 60, count)]


def reference(folder):
    model = AutoModelForCausalLM.from_pretrained(folder, torch_dtype=torch.float32).eval()
    with torch.no_grad():
        for weights in model.parameters():
            if weights.ndim == 2:
                weights.copy_(weights.half().float())
        frequencies = model.model.rotary_emb.inv_freq
        frequencies.copy_(torch.from_numpy(frequencies.double().numpy().round(6)).float())
    return model


def generated(options, prompt):
    """Returns the tokens that mnn makes, and the logits of the prompt and of those tokens."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "logits.npy")
        command = [options.mnn, "generate", options.folder, "--json", "--count", str(options.count)]
        command += ["--tokens", ",".join(map(str, prompt)), "--logits", path]
        made = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)["tokens"]
        if len(made) != options.count:
            raise SystemExit(f"{len(made)} tokens where {options.count} were asked for")
        return made, np.load(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mnn")
    parser.add_argument("folder")
    parser.add_argument("hf")
    parser.add_argument("--prompts", type=int, default=20)
    parser.add_argument("--count", type=int, default=200)
    options = parser.parse_args()

    model = reference(options.hf)
    wrong, worst = 0, 0.0
    for prompt in prompts_of(options.prompts, model.config.vocab_size):
        made, ours = generated(options, prompt)
        with torch.no_grad():
            truth = model(torch.tensor([prompt + made])).logits[0].double().numpy()
        ours = ours.reshape(truth.shape)
        error = float(np.abs(ours - truth).max() / np.abs(truth).max())
        worst = max(worst, error)
        choices = truth[len(prompt) - 1 : -1]
        other = np.flatnonzero(choices.argmax(axis=1) != made)
        print(
            f"a prompt of {len(prompt)} tokens: {options.count - len(other)} of {options.count} tokens are equal, "
            f"{len(set(made))} of them distinct; largest error of logits {error:.1e}",
            flush=True,
        )
        for at in other:
            row = choices[at]
            gap = (row.max() - row[made[at]]) / np.abs(row).max()
            print(f"  token {at} is {made[at]}, that of transformers {row.argmax()}, which is larger by {gap:.1e}")
            wrong += gap > TIE
    print(f"{options.prompts} prompts: {wrong} wrong tokens, largest error of logits {worst:.1e}")
    return 1 if wrong > 0 or not worst <= LARGEST_ERROR else 0


if __name__ == "__main__":
    sys.exit(main())
