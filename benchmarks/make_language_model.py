#!/usr/bin/env python3
"""Makes a language model in the forms that benchmarks/language_models.py runs, all of the same float weights.

    pip install torch transformers==4.57.1 sentencepiece onnx onnxslim yaspin MNN gguf accelerate flatbuffers
    pip download --no-deps llmexport && unzip llmexport-*.whl -d llmexport
    python3 benchmarks/make_language_model.py --llmexport llmexport/llmexport build/lm/seeded_1b
    python3 benchmarks/make_language_model.py --llmexport llmexport/llmexport --hf FOLDER --bits 4,8 build/lm/smollm2

Without --hf the weights are seeded: normal numbers of deviation 0.02 in the shape of a Llama of about 1 B parameters,
with norms of 1 and the embedding tied to the last layer; the options change the shape. With --hf they come from a
folder of transformers (Llama), or from a .gguf that transformers reads.

The output has hf/ (where the model was not a folder of transformers already) and a folder for each number of bits: w4,
w8 or w16, with what the exporter llmexport writes, and model.TYPE.gguf beside it: Q4_0 for 4 bits, Q8_0 for 8, F16 for
16; --gguf-4 takes another type for 4 bits. What exists is kept. The model of 1 B takes 5 GB of disk and of memory.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

TYPES = {4: "Q4_0", 8: "Q8_0", 16: "F16"}


def make_tokenizer(folder):
    """Writes a small tokenizer, because the exporter needs one; the model has more tokens than the tokenizer."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=320, special_tokens=special, initial_alphabet=alphabet)
    tokenizer.train_from_iterator(["one token after another, and then the one behind it"] * 20, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=special[2], pad_token=special[0])
    fast.chat_template = "{% for message in messages %}<|im_start|>{{ message.content }}<|im_end|>{% endfor %}"
    fast.save_pretrained(folder)


def make_seeded(args, folder):
    import torch
    from safetensors.torch import save_file
    from transformers import LlamaConfig

    config = LlamaConfig(
        vocab_size=args.vocab, hidden_size=args.hidden, intermediate_size=args.intermediate,
        num_hidden_layers=args.layers, num_attention_heads=args.heads, num_key_value_heads=args.kv_heads,
        max_position_embeddings=4096, rms_norm_eps=1e-5, rope_theta=10000.0, tie_word_embeddings=True,
        bos_token_id=1, eos_token_id=2, torch_dtype="float16", architectures=["LlamaForCausalLM"],
    )  # fmt: skip
    keys = args.hidden // args.heads * args.kv_heads
    shapes = {"model.embed_tokens.weight": (args.vocab, args.hidden), "model.norm.weight": (args.hidden,)}
    for layer in range(args.layers):
        shapes |= {
            f"model.layers.{layer}.{name}.weight": shape
            for name, shape in {
                "input_layernorm": (args.hidden,),
                "self_attn.q_proj": (args.hidden, args.hidden),
                "self_attn.k_proj": (keys, args.hidden),
                "self_attn.v_proj": (keys, args.hidden),
                "self_attn.o_proj": (args.hidden, args.hidden),
                "post_attention_layernorm": (args.hidden,),
                "mlp.gate_proj": (args.intermediate, args.hidden),
                "mlp.up_proj": (args.intermediate, args.hidden),
                "mlp.down_proj": (args.hidden, args.intermediate),
            }.items()
        }
    random = torch.Generator().manual_seed(args.seed)
    weights = {
        name: (torch.ones(shape) if len(shape) == 1 else torch.randn(shape, generator=random) * 0.02).half()
        for name, shape in shapes.items()
    }
    os.makedirs(folder, exist_ok=True)
    config.save_pretrained(folder)
    make_tokenizer(folder)
    save_file(weights, os.path.join(folder, "model.safetensors"), metadata={"format": "pt"})
    print(f"{sum(map(torch.Tensor.numel, weights.values())) / 1e6:.0f} million weights in {folder}", flush=True)


def unpack_gguf(path, folder):
    """Makes a folder of transformers of a .gguf."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    home, file = os.path.split(os.path.abspath(path))
    AutoTokenizer.from_pretrained(home, gguf_file=file).save_pretrained(folder)
    # The tokenizer is in tokenizer.json. The name of its class and a copy of the .gguf indicate another kind, which the
    # exporter does not find.
    path = os.path.join(folder, "tokenizer_config.json")
    with open(path) as file_of_config:
        config = json.load(file_of_config)
    config["tokenizer_class"] = "PreTrainedTokenizerFast"
    with open(path, "w") as file_of_config:
        json.dump(config, file_of_config)
    copy = os.path.join(folder, "tokenizer.model")
    if os.path.exists(copy):
        os.remove(copy)
    AutoModelForCausalLM.from_pretrained(home, gguf_file=file).float().save_pretrained(folder)


def export(args, source, target, bits):
    script = os.path.join(os.path.abspath(args.llmexport), "llmexport.py")
    command = [sys.executable, script, "--path", os.path.abspath(source), "--export", "mnn"]
    command += ["--dst_path", os.path.abspath(target), "--quant_bit", str(bits), "--quant_block", str(args.block)]
    with tempfile.TemporaryDirectory() as folder:
        # The converter's log would install a package with the first pip that it finds.
        stub = os.path.join(folder, "pip")
        with open(stub, "w") as file:
            file.write("#!/bin/sh\nexit 1\n")
        os.chmod(stub, 0o755)
        paths = {"PATH": folder + os.pathsep + os.environ["PATH"], "PYTHONPATH": os.path.abspath(args.llmexport)}
        subprocess.run(command, check=True, env={**os.environ, **paths}, cwd=folder)


def interleaved(weight, heads):
    """Orders the rows of a head as .gguf files of this architecture have them: pairs that RoPE turns are neighbours."""
    rows, columns = weight.shape
    return weight.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)


def write_gguf(source, path, type_name):
    import gguf
    from safetensors import safe_open
    from transformers import AutoConfig

    config = AutoConfig.from_pretrained(source)
    if config.model_type != "llama":
        raise SystemExit(f"the .gguf of a model of type {config.model_type} is not written here")
    wanted = gguf.GGMLQuantizationType[type_name]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_rope_dimension_count(config.hidden_size // config.num_attention_heads)
    writer.add_rope_freq_base(config.rope_theta)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_vocab_size(config.vocab_size)
    writer.add_file_type(gguf.LlamaFileType[("MOSTLY_" if type_name != "F32" else "ALL_") + type_name])
    writer.add_tokenizer_model("no_vocab")  # prompts are numbers of tokens
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config.num_hidden_layers)
    with safe_open(os.path.join(source, "model.safetensors"), "pt") as file:
        for name in file.keys():
            weight = file.get_tensor(name).float().numpy()
            if name == "lm_head.weight" and config.tie_word_embeddings:
                continue
            if ".q_proj." in name:
                weight = interleaved(weight, config.num_attention_heads)
            if ".k_proj." in name:
                weight = interleaved(weight, config.num_key_value_heads)
            its_name = names.get_name(name, try_suffixes=(".weight",))
            if weight.ndim == 1:
                writer.add_tensor(its_name, weight)
            else:
                weight = gguf.quants.quantize(np.ascontiguousarray(weight), wanted)
                writer.add_tensor(its_name, weight, raw_dtype=wanted)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", help="folder of the model")
    parser.add_argument("--llmexport", required=True, help="the folder that has llmexport.py")
    parser.add_argument("--hf", help="a folder of transformers or a .gguf, instead of seeded weights")
    parser.add_argument("--bits", default="4", help="4, 8 and 16, separated by commas (default: %(default)s)")
    parser.add_argument("--block", type=int, default=64, help="weights that share a scale (default: %(default)s)")
    parser.add_argument("--gguf-4", default="Q4_0", help="type of the .gguf for 4 bits (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    for name, value in (("hidden", 2048), ("intermediate", 8192), ("layers", 16), ("heads", 32), ("kv-heads", 8)):
        parser.add_argument("--" + name, type=int, default=value, help="default: %(default)s")
    parser.add_argument("--vocab", type=int, default=32000, help="default: %(default)s")
    args = parser.parse_args()
    bits = [int(word) for word in args.bits.split(",")]
    if not set(bits) <= set(TYPES):
        parser.error("--bits knows 4, 8 and 16")
    os.makedirs(args.output, exist_ok=True)
    source = args.hf if args.hf and os.path.isdir(args.hf) else os.path.join(args.output, "hf")
    if not os.path.exists(os.path.join(source, "model.safetensors")):
        unpack_gguf(args.hf, source) if args.hf else make_seeded(args, source)
    for each in bits:
        target = os.path.join(args.output, f"w{each}")
        if not os.path.exists(os.path.join(target, "llm.mnn.weight")):
            export(args, source, target, each)
        type_name = args.gguf_4 if each == 4 else TYPES[each]
        path = os.path.join(target, f"model.{type_name.lower()}.gguf")
        if not os.path.exists(path):
            write_gguf(source, path + ".part", type_name)
            os.replace(path + ".part", path)
        sizes = (os.path.getsize(os.path.join(target, "llm.mnn.weight")), os.path.getsize(path))
        print(f"{target}: {sizes[0] / 2**20:.0f} MiB of weights, {sizes[1] / 2**20:.0f} MiB of .gguf", flush=True)


if __name__ == "__main__":
    main()
