#!/usr/bin/env python3
"""Packs the node tests of the package onnx, and the cases of the folder cases, whose truth is onnxruntime's, into
corpus.xz.

    pip install onnx==1.23.2 onnxruntime==1.32.0 && python3 pack_corpus.py

Results of cases whose model and inputs are packed already stay as they are. New quantised cases need a CPU with VNNI:
elsewhere sums of onnxruntime's products saturate. Tests do not run this program: they need the packed file alone. Types
that the format lacks are narrowed as it narrows them (64 bits to 32, bool to int32, halves and doubles to floats); a case
with other types is left out, and so is one above 40,000 bytes.
"""
import pathlib
import warnings

import onnx
import onnxruntime

import corpus_files
from cases.attention import attention_cases
from cases.branches import branch_cases
from cases.chains import chain_cases, fed_axis_cases, higher_rank_cases, near_cases, rms_cases
from cases.control import border_cases, control_cases, unrun_cases
from cases.exporters import exporter_cases
from cases.users_files import beside_cases, detector_cases, file_cases, shift_cases
from cases.free import cut_cases, free_cases, guessed_cases, met_cases
from cases.layers import deformable_cases, layer_cases
from cases.learned import learned_cases
from cases.nets import whole_net_cases
from cases.node_tests import freed_node_tests, node_tests
from cases.operators import exact_cases, operand_cases, operator_cases, reduction_cases, resize_cases
from cases.optimised import optimised_cases
from cases.quantised import limit_cases, moved_cases, quantised_cases, read_cases, rounded_cases, shared_cases, stated_cases
from cases.recurrent import recurrent_cases, stepwise_cases
from cases.windows import window_cases

# They draw from one series of random numbers, so that another order would make other cases.
MAKERS = (node_tests, operator_cases, control_cases, quantised_cases, attention_cases, recurrent_cases, chain_cases, stepwise_cases,
          free_cases, layer_cases, rms_cases, rounded_cases, freed_node_tests, optimised_cases, deformable_cases, whole_net_cases,
          guessed_cases, resize_cases, window_cases, beside_cases, file_cases, detector_cases, branch_cases,
          exporter_cases, learned_cases, higher_rank_cases, moved_cases, met_cases, shared_cases,
          unrun_cases, near_cases, fed_axis_cases, stated_cases,
          limit_cases, cut_cases, shift_cases, reduction_cases,
          border_cases, read_cases, operand_cases, exact_cases)


def unchanged(before, case):
    """Returns the packed case where its model and its inputs are the same, because results may differ by CPU."""
    same = before and before["model"] == case["model"] and before["inputs"] == case["inputs"]
    return before if same else case


def main():
    warnings.filterwarnings("ignore")
    onnxruntime.set_default_logger_severity(4)
    path = pathlib.Path(__file__).parent / "corpus.xz"
    before = {case["name"]: case for case in corpus_files.cases(path)}
    cases = [unchanged(before.get(case["name"]), case) for maker in MAKERS for case in maker()]
    corpus_files.pack(path, cases)
    print(f"{len(cases)} cases, {path.stat().st_size} bytes, onnx {onnx.__version__}, onnxruntime {onnxruntime.__version__}")


if __name__ == "__main__":
    main()
