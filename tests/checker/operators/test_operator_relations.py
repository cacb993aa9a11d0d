# SPDX-License-Identifier: Apache-2.0
"""Relations of inputs, their elements and attributes that onnx does not check, by operator."""

from __future__ import annotations

import re

import onnx
import pytest

import onnxtext
from benchmarks.judge import judged
from tests.checker.models import problems, text
from tests.seeds import sampled

SCAN = """\
o, y = Scan <num_scan_inputs = 1{}, body = b (float[3] s, float[3] e) => (float[3] t, float[3] u) {{
  t = Add (s, e)
  u = Neg (e)
}}> (i, x)\
"""
SCANNED = "float[3] i, float[5, 3] x"
SCALES = "s = Constant <value = float[4] [1, 1, 2, 2]> ()"
CROP = 'coordinate_transformation_mode = "tf_crop_and_resize"'
COLUMNS = """\
i = Constant <value_ints = [3, 3]> ()
b = Constant <value_ints = [2, 2]> ()
y = Col2Im {}(x, i, b)\
"""
RESHAPED = "s = Constant <value_ints = [0, 8]> ()\ny = Reshape <allowzero = 1> (x, s)"
DEFORMED = "float[1, 1, 4, 4] x, float[1, 1, 3, 3] w"
TARGETS = "t = Constant <value_ints = [0, 4]> ()"
POSITIONS = "i = Constant <value = int64[1, 2] [0, 50]> ()"
HEADS = "float[2, 3, 8] x, float[2, 3, 2] c"

Case = tuple[str, str, int]
"""The nodes, the inputs of the model, and the version of the operator set."""

WRONG: dict[Case, str] = {
    ("y = AffineGrid (x, s)", "float[2, 2, 3] x, int64[5] s", 20): "dimension 1 of `x` is 2",
    ("y = AffineGrid (x, s)", "float[2, 3, 4] x, int64[4] s", 20): "dimension 1 of `x` is 3",
    ("y = AffineGrid (x, s)", "float[2, 2, 4] x, int64[N] s", 20): "must be 2 and 3, or 3 and 4",
    ("s = Constant <value_ints = [3, 1, 4, 4]> ()\ny = AffineGrid (x, s)", "float[2, 2, 3] x", 20):
        "dimension 0 of `x` is 2, but entry 0 of `s` is 3",
    ("y = Attention (q, q, q, , p)", "float[1, 2, 4, 8] q, float[1, 2, 3, 8] p", 23):
        "`past_key` is given, but `past_value` is missing",
    ("y = Attention (q, q, q, , , p)", "float[1, 2, 4, 8] q, float[1, 2, 3, 8] p", 23):
        "`past_value` is given, but `past_key` is missing",
    ("y = Attention (q, q, q, , , , n)", "float[2, 2, 4, 8] q, int64[3] n", 24):
        "the size of `n` is 3, but the batch size is 2",
    ("y = BlackmanWindow (n)", "int64[2] n", 17): "`n` must have one element",
    ("y = Compress <axis = 2> (x, c)", "float[2, 3] x, bool[2] c", 9):
        "`axis` is 2, but `x` has 2 dimensions",
    ("s = Constant <value_ints = [2, 3]> ()\ny = Reshape (x, s)", "float[0, 3] x", 13):
        "the number of elements of `x` is 0, but the number of elements of the new shape is 6",
    (COLUMNS.format(""), "float[1, 5, 4] x", 18): "a multiple of the block size (4 elements)",
    (COLUMNS.format(""), "float[1, 4, 5] x", 18): "is 5, but the number of blocks that fit is 4",
    (COLUMNS.format("<pads = [1, 0, 1, 0]> "), "float[1, 4, 4] x", 18): "that fit is 8",
    (COLUMNS.format("<strides = [2, 1]> "), "float[1, 4, 4] x", 18): "that fit is 2",
    (COLUMNS.format("<dilations = [2, 2]> "), "float[1, 4, 4] x", 18): "that fit is 1",
    ("a = Constant <value_int = 2> ()\ny = CumSum (x, a)", "float[2, 2] x", 14):
        "`a` is 2, but `x` has 2 dimensions",
    ("a = Constant <value_int = -3> ()\ny = CumProd (x, a)", "float[2, 2] x", 26):
        "`a` is -3, but `x` has 2 dimensions",
    ("y = CenterCropPad (x, s)", "float[4, 4] x, int64[3] s", 18):
        "the size of `s` is 3, but the rank of `x` is 2",
    ("y = ConvTranspose <pads = [5, 5]> (x, w)", "float[1, 1, 4] x, float[1, 1, 2] w", 11):
        "the pads remove all elements of dimension 2 of the output",
    ("y = DeformConv <kernel_shape = [2, 2]> (x, w, o)", f"{DEFORMED}, float[1, 18, 2, 2] o", 19):
        "dimension 2 of `w` is 3, but entry 0 of `kernel_shape` is 2",
    ("y = DeformConv (x, w, o)", f"{DEFORMED}, float[1, 18, 3, 2] o", 19):
        "dimension 2 of `o` is 3, but dimension 2 of the output is 2",
    ("y = DeformConv (x, w, o, , m)", f"{DEFORMED}, float[1, 18, 2, 2] o, float[1, 9, 2, 1] m", 19):
        "dimension 3 of `m` is 1, but dimension 3 of the output is 2",
    ("y = DFT (x, n)", "float[1, 4, 1] x, int64[2] n", 20): "`n` must have one element",
    ("n = Constant <value_int = 0> ()\ny = DFT (x, n)", "float[1, 4, 1] x", 20):
        "`n` is 0, but the length must be positive",
    ('y = Einsum <equation = "ij, jk -> ik"> (x, w)', "float[2, 3] x, float[4, 5] w", 12):
        "the dimension `j` is 3 in `x` and 4 in `w`",
    ('y = Einsum <equation = "ii->i"> (x)', "float[2, 3] x", 12):
        "the dimension `i` is 2 in `x` and 3 in `x`",
    ('y = Einsum <equation = "...i,...i->..."> (x, w)', "float[2, 3] x, float[4, 3] w", 12):
        "dimension -1 of `...` is 2 in `x` and 4 in `w`",
    ('y = Einsum <equation = "ij->ii"> (x)', "float[2, 2] x", 12):
        "the output term `ii` repeats the index `i`",
    ("y = GatherND <batch_dims = 1> (x, i)", "float[2, 3] x, int64[3, 1] i", 13):
        "dimension 0 of `x` is 2, but dimension 0 of `i` is 3",
    ("y = GatherND <batch_dims = 2> (x, i)", "float[2, 2, 2] x, int64[2, 1] i", 13):
        "`batch_dims` is 2, but `i` has rank 2",
    ('y = Einsum <equation = ""> (x)', "float[2, 3] x", 12): "2 dimensions, but the operator needs",
    ("y = GridSample (x, g)", "float[1, 1, 4] x, float[1, 3, 1] g", 20): "onnxruntime needs 4 or",
    ("y = HannWindow (n)", "int64[1, 2] n", 17): "`n` must have one element",
    ("y = LRN <size = 3> (x)", "float[1, 2, 3] x", 13): "3 dimensions, but onnxruntime needs 4",
    ("y = MatMulInteger (x, x, z)", "uint8[2, 2] x, uint8[1, 1] z", 10):
        "dimension 0 of `z` is 1, but dimension 0 of `x` is 2",
    ("y = MatMulInteger (x, x, , z)", "uint8[3, 2, 2] x, uint8[2, 1, 2] z", 10):
        "dimension 0 of `z` is 2, but dimension 0 of `x` is 3",
    ("y = MaxRoiPool <pooled_shape = [2, 2]> (x, r)", "float[1, 3, 8, 8] x, float[2, 4] r", 1):
        "dimension 1 of `r` is 4, but the number of entries of a region is 5",
    ("y = MaxUnpool <kernel_shape = [2, 2]> (x, i)",
     "float[1, 1, 2, 2] x, int64[1, 1, 2, 3] i", 11): "of `x` is 2, but dimension 3 of `i` is 3",
    ("y = MeanVarianceNormalization <axes = [4]> (x)", "float[1, 2, 2, 2] x", 13):
        "axis 4 is out of range for 4 dimensions",
    ("y = MelWeightMatrix (b, b, b, e, e)", "int64[2] b, float e", 17): "`b` must have one element",
    ("y = NegativeLogLikelihoodLoss (x, t, w)", "float[2, 3] x, int64[2] t, float[2] w", 13):
        "the size of `w` is 2, but the number of classes is 3",
    ("p = Constant <value_ints = [-3, -3]> ()\ny = Pad (x, p)", "float[4] x", 13):
        "the pads remove more elements than dimension 0 of `x` has",
    ("d = Constant <value_int = 0> ()\ny = Range (a, a, d)", "int64 a", 12): "`d` is 0, so",
    ("y = RMSNormalization (x, s)", "float[2, 3] x, float[2] s", 23):
        "the same dimension of the result is 3, but dimension -1 of `s` is 2",
    (f"{SCALES}\ny = Resize <{CROP}> (x, r, s)", "float[1, 1, 4, 4] x, float[4] r", 13):
        "the size of `r` is 4, but twice the number of axes is 8",
    ("s = Constant <value = float[2] [1, -2]> ()\ny = Resize (x, , s)", "float[4, 4] x", 13):
        "a scale is -2, but scales must be above 0",
    ("n = Constant <value_ints = [4, 1]> ()\ny = ReverseSequence (x, n)", "float[3, 2] x", 12):
        "the length 4 is out of range: dimension 0 of `x` is 3",
    ("y = RoiAlign (x, r, b)", "float[1, 3, 8, 8] x, float[2, 5] r, int64[2] b", 16):
        "is 5, but the number of coordinates of a region is 4",
    ("y = RotaryEmbedding (x, c, c)", "float[2, 4, 3, 8] x, float[2, 5, 4] c", 23):
        "dimension 1 of `c` is 5, but the number of tokens is 3",
    ("y = RotaryEmbedding (x, c, c)", "float[2, 4, 3, 8] x, float[5, 4] c", 23):
        "`c` has 2 dimensions, but the operator needs 3",
    ("y = RegexFullMatch (x)", "string[2] x", 20): "the attribute `pattern` is missing",
    ("y = RotaryEmbedding (x, c, c, p)", "float[2, 4, 3, 8] x, float[9, 4] c, int64[1, 3] p", 23):
        "dimension 0 of `p` is 1, but the batch size is 2",
    ("y = RotaryEmbedding <rotary_embedding_dim = 10> (x, c, c)",
     "float[2, 4, 3, 8] x, float[2, 3, 5] c", 23): "but the head size is 8",
    ("y = RotaryEmbedding (x, c, c)", "float[2, 4, 3, 7] x, float[2, 3, 3] c", 23):
        "the head size is 7, but it must be even",
    ("y = RotaryEmbedding <num_heads = 3> (x, c, c)", HEADS, 23): "is 8, which is not a multiple",
    ("y = RotaryEmbedding <num_heads = 8> (x, c, c)", HEADS, 23): "is 1, but it must be even",
    ("y = RotaryEmbedding <num_heads = 0> (x, c, c)", HEADS, 23): "`num_heads` is 0, but",
    ("y = RotaryEmbedding <num_heads = 1> (x, c, c)", HEADS, 23): "but half of the head size",
    ("y = RotaryEmbedding <num_heads = 1, rotary_embedding_dim = 2> (x, c, c)", HEADS, 23):
        "dimension of `c` is 2, but half of `rotary_embedding_dim` is 1",
    (SCAN.format(", scan_input_directions = [0, 1]"), SCANNED, 21):
        "`scan_input_directions` has 2 entries, but the number of scanned inputs is 1",
    (SCAN.format(", scan_output_directions = [0, 1]"), SCANNED, 21):
        "`scan_output_directions` has 2 entries, but the number of scanned outputs is 1",
    ("q = SequenceConstruct (x, x)\ny = SequenceAt (q, p)", "float[2] x, int64[2] p", 11):
        "`p` must have one element",
    ("q = SequenceConstruct (x, x)\nz = SequenceErase (q, p)\ny = SequenceLength (z)",
     "float[2] x, int64[2] p", 11): "`p` must have one element",
    ("q = SequenceConstruct (x, x)\nz = SequenceInsert (q, x, p)\ny = SequenceLength (z)",
     "float[2] x, int64[2] p", 11): "`p` must have one element",
    ("a = Constant <value_ints = [1, -1]> ()\ny = Slice (x, s, s, a)", "float[4, 4] x, int64[2] s",
     13): "the axes are [1, -1], which name an axis twice",
    ("y = Slice (x, s, s, a)", "float[4, 4] x, int64[1] s, int64[2] a", 13):
        "the size of `s` is 1, but the size of `a` is 2",
    ("y, z = Split (x, s)", "float[4] x, int64[3] s", 13): "`s` has 3 entries, but the node has 2",
    ("y, z = Split (x, s)", "float[4] x, int64[1] s", 18): "`s` has 1 entry, but the node has 2",
    ("a = Constant <value = int64[0] []> ()\ny = Slice (x, s, s, a)", "float[4] x, int64[1] s", 13):
        "the size of `s` is 1, but the size of `a` is 0",
    ("a = Shape (n)\ny = Slice (x, s, s, a)", "float[4] x, int64[1] s, float[N, M] n", 13):
        "the size of `s` is 1, but the size of `a` is 2",
    ("s = Constant <value = int64[1, 2] [2, 2]> ()\ny, z = Split (x, s)", "float[4] x", 13):
        "`s` has 2 dimensions, but the operator needs 1",
    ("z = SplitToSequence (x, s)\ny = SequenceLength (z)", "float[4] x, int64[2, 2] s", 11):
        "has 2 dimensions, but onnxruntime needs 0 or 1",
    ("k = Constant <value_int = 4> ()\nn = Identity (k)\ny = STFT (x, n, w, n)",
     "float[1, 16, 1] x, float[5] w", 17):
        "the size of `w` is 5, but the value of `n` is 4",
    ("n = Constant <value_int = 0> ()\ny = STFT (x, n, w)", "float[1, 16, 1] x, float[5] w", 17):
        "`n` is 0, but the step must be positive",
    ("s = Constant <value_ints = [2, -4]> ()\ny = Resize (x, , , s)", "float[2, 4] x", 13):
        "a size is -4, but sizes must not be negative",
    ("y = ScatterND (x, i, u)", "float[2, 4] x, int64 i, float[4] u", 18):
        "`i` has 0 dimensions, but the operator needs 1 or more",
    (RESHAPED, "float[2, 4] x", 14):
        "`x` is 8, but the number of elements of the new shape is 0",
    ("y = SoftmaxCrossEntropyLoss (x, t)", "float[2] x, int64 t", 13): "needs 2 or more",
    ("y = SoftmaxCrossEntropyLoss (x, t, w)", "float[2, 3] x, int64[2] t, float[2] w", 13):
        "the size of `w` is 2, but the number of classes is 3",
    ("y = STFT (x, n, w)", "float[1, 16, 3] x, int64 n, float[5] w", 17): "must be 1 or 2",
    ("y = STFT (x, n, w)", "float[1, 16, 1] x, int64 n, float[5, 1] w", 17): "needs 1",
    ("i = Constant <value_ints = [2, 0]> ()\ny = TensorScatter (x, u, i)",
     "float[2, 1, 3, 4] x, float[2, 1, 2, 4] u", 24): "the index 2 is out of range",
    ("y = TensorScatter (x, u)", "float[2, 1, 3, 4] x, float[2, 1, 5, 4] u", 24):
        "dimension 2 of `u` is 5, but dimension 2 of `x` is only 3",
    ("y = Upsample <scales = [1.0, 0.5]> (x)", "float[4, 4] x", 7):
        "a scale is 0.5, but scales must be at least 1",
    ("y = Pad (x, p, , a)", "float[1, 3, 4, 5] x, int64[2] p, int64[4] a", 18):
        "the number of pads is 2, but twice the number of axes is 8",
    (f"{TARGETS}\ny = NegativeLogLikelihoodLoss (x, t)", "float[2, 4] x", 13):
        "`t` has the element 4, but the number of classes is 4",
    (f"{TARGETS}\ny = SoftmaxCrossEntropyLoss (x, t)", "float[2, 4] x", 13):
        "`t` has the element 4, but the number of classes is 4",
    ("t = Constant <value_ints = [-5]> ()\ny = SoftmaxCrossEntropyLoss (x, t)",
     "float[1, 4] x", 13):
        "`t` has the element -5, but the number of classes is 4",
    (f"{POSITIONS}\ny = RotaryEmbedding (x, c, c, i)", "float[1, 4, 2, 4] x, float[50, 2] c", 23):
        "`i` has the element 50, but dimension 0 of `c` is 50",
    (f"{POSITIONS.replace('0, 50', '-1, -51')}\ny = RotaryEmbedding (x, c, c, i)",
     "float[1, 4, 2, 4] x, float[50, 2] c", 23):
        "`i` has the element -51, but dimension 0 of `c` is 50",
    ("t = Constant <value_ints = [0]> ()\ny = Slice (x, s, s, s, t)", "float[4] x, int64[1] s", 13):
        "a step is 0",
}  # fmt: skip
"""By case, a part of the message of the finding."""

UNKNOWN: tuple[Case, ...] = (
    ("y = AffineGrid (x, s)", "float[2, 2, 3] x, int64[N] s", 20),
    ("y = AffineGrid (x, s)", "float[N, M, 4] x, int64[5] s", 20),
    ("y = BlackmanWindow (n)", "int64[N] n", 17),
    ("y = Col2Im (x, i, b)", "float[1, 5, 5] x, int64[2] i, int64[2] b", 18),
    ("y = CumSum (x, a)", "float[2, 2] x, int64 a", 14),
    ('y = Einsum <equation = "ij,jk->ik"> (x, w)', "float[2, N] x, float[M, 5] w", 12),
    ("y = RotaryEmbedding (x, c, c)", "float[2, 4, 3, H] x, float[2, 3, 3] c", 23),
    ("s = Shape (z)\ny = Reshape (x, s)", "float[0, 3] x, float[N, M] z", 13),
    ("y, z = Split (x, s)", "float[4] x, int64[2] s", 13),
    ("y, z = Split (x, s)", "float[4] x, int64[N] s", 13),
)
"""Cases that are right for some inputs."""

RIGHT: tuple[Case, ...] = (
    ("s = Constant <value_ints = [2, 1, 4, 4]> ()\ny = AffineGrid (x, s)", "float[2, 2, 3] x", 20),
    ("y, k, v = Attention (q, q, q, , p, p)", "float[1, 2, 4, 8] q, float[1, 2, 3, 8] p", 23),
    ("y = BlackmanWindow (n)", "int64[1] n", 17),
    ("y = Compress (x, c)\nz = Compress <axis = -2> (x, c)", "float[2, 3] x, bool[2] c", 11),
    ("s = Constant <value_ints = [-1, 3]> ()\ny = Reshape (x, s)", "float[0, 3] x", 13),
    ("s = Constant <value_ints = [4, 0]> ()\ny = Reshape (x, s)", "float[2, 0, 3] x", 13),
    ("d = Constant <value_float = 0.0> ()\ny = Div (x, d)\nz = Dropout (x, d)", "float[2] x", 13),
    ("d = Constant <value_float = 0.0> ()\ny = Mod <fmod = 1> (x, d)", "float[2] x", 13),
    ("n = Size (x)\no = Constant <value_int = 0> ()\ny = Div (o, n)", "int64[N] x", 13),
    (f"{TARGETS}\ny = NegativeLogLikelihoodLoss <ignore_index = 4> (x, t)", "float[2, 4] x", 13),
    (f"{TARGETS}\ny = SoftmaxCrossEntropyLoss (x, t)", "float[2, 5] x", 13),
    (COLUMNS.format(""), "float[1, 4, 4] x", 18),
    (COLUMNS.format("<pads = [1, 0, 1, 0]> "), "float[1, 4, 8] x", 18),
    ("a = Constant <value_int = -2> ()\ny = CumSum (x, a)", "float[2, 2] x", 14),
    ('y = Einsum <equation = "ij,jk->ik"> (x, w)', "float[2, 3] x, float[1, 5] w", 12),
    ('y = Einsum <equation = "...i,i"> (x, w)', "float[2, 3] x, float[3] w", 12),
    ('y = Einsum <equation = "ij,ij"> (x, x)', "float[2, 3] x", 12),
    ("y = GatherND <batch_dims = 1> (x, i)", "float[2, 3] x, int64[2, 1] i", 13),
    ('y = Einsum <equation = ",i->i"> (s, x)', "float s, float[3] x", 12),
    ("y = MatMulInteger (x, x, , z)", "uint8[3, 2, 2] x, uint8[3, 1, 2] z", 10),
    (RESHAPED, "float[3, 0] x", 14),
    ("y = MaxUnpool <kernel_shape = [2, 2]> (x, i)", "float[1, 1, 2, 2] x, int64[1, 1, 2, 2] i",
     11),
    ("y = MeanVarianceNormalization (x)", "float[2, 2] x", 13),
    ("y = NegativeLogLikelihoodLoss (x, t, w)", "float[2, 3] x, int64[2] t, float[3] w", 13),
    ("p = Constant <value_ints = [-2, -2]> ()\ny = Pad (x, p)", "float[4] x", 13),
    (f"{SCALES}\ny = Resize <{CROP}> (x, r, s)", "float[1, 1, 4, 4] x, float[8] r", 13),
    # onnxruntime accepts the regions of all axes
    (f"s = Constant <value_floats = [2.0]> ()\ny = Resize <{CROP}, axes = [1]> (x, r, s)",
     "float[2, 4] x, float[4] r", 18),
    ("s = Constant <value = float[2] [1, 0.5]> ()\ny = Resize (x, , s)", "float[4, 4] x", 13),
    ("n = Constant <value_ints = [3, 1]> ()\ny = ReverseSequence (x, n)", "float[3, 2] x", 12),
    ("y = RotaryEmbedding <num_heads = 2> (x, c, c)", HEADS, 23),
    ("y = RotaryEmbedding <num_heads = 1, rotary_embedding_dim = 4> (x, c, c)", HEADS, 23),
    (SCAN.format(""), SCANNED, 21),
    (SCAN.format(", scan_input_directions = [1], scan_output_directions = [1]"), SCANNED, 21),
    ("q = SequenceConstruct (x, x)\ny = SequenceAt (q, p)", "float[2] x, int64 p", 11),
    ("a = Constant <value_ints = [1, 0]> ()\ny = Slice (x, s, s, a)", "float[4, 4] x, int64[2] s",
     13),
    ("n = Constant <value_int = 5> ()\ny = STFT (x, n, w, n)", "float[1, 16, 1] x, float[5] w", 17),
    ('i = Constant <value_ints = [2, 0]> ()\ny = TensorScatter <mode = "circular"> (x, u, i)',
     "float[2, 1, 3, 4] x, float[2, 1, 2, 4] u", 24),
    ("y = DeformConv (x, w, o, , m)", f"{DEFORMED}, float[1, 18, 2, 2] o, float[1, 9, 2, 2] m", 19),
    ("y = CenterCropPad (x, s)", "float[4, 4] x, int64[2] s", 18),
    ("y = RMSNormalization (x, s)", "float[2, 3] x, float[1] s", 23),
    ("y = RotaryEmbedding (x, c, c, p)", "float[2, 4, 3, 8] x, float[9, 4] c, int64[2, 3] p", 23),
    ("y = SoftmaxCrossEntropyLoss (x, t, w)", "float[2, 3] x, int64[2] t, float[3] w", 13),
    ("y = TensorScatter (x, u)", "float[2, 1, 3, 4] x, float[2, 1, 3, 4] u", 24),
    ("y = Upsample <scales = [1.0, 2.0]> (x)", "float[4, 4] x", 7),
)  # fmt: skip

ACCEPTED = {
    "SoftmaxCrossEntropyLoss (x, t, w)",
    "NegativeLogLikelihoodLoss (x, t, w)",
    "3, 7] x",
    "SequenceConstruct",
    "5, 1] w",
}
"""Parts of wrong cases that onnxruntime runs."""


def model(case: Case) -> str:
    nodes, inputs, opset = case
    outputs = nodes.rpartition("\n")[2].partition(" =")[0]
    if "o, y = " in nodes:
        outputs = "o, y"
    return text(nodes, inputs=inputs, outputs=outputs, ir_version=10, opsets=str(opset))


@pytest.mark.parametrize("case", WRONG)
def test_violated_relations_are_found(case: Case) -> None:
    source = model(case)
    finding, *_ = problems(source)
    only_runtime = any(name in case[0] for name in ("GridSample", "LRN", "SplitToSequence"))
    wanted = "warning" if only_runtime else "error"
    assert (finding.code, finding.severity) == ("shape-mismatch", wanted)
    assert WRONG[case] in finding.message
    binary, *_ = problems(onnxtext.to_binary(source))
    assert binary.message == finding.message


@pytest.mark.parametrize("case", WRONG)
def test_they_are_found_in_large_models(case: Case) -> None:
    """Large models are checked by kind: nodes with the same operator, attributes and types."""
    nodes, inputs, opset = case
    chain = "\n".join(f"r{index + 1} = Relu (r{index})" for index in range(300))
    source = model((f"{chain}\n{nodes}", f"float[4] r0, {inputs}", opset))
    assert WRONG[case] in problems(source)[0].message


@pytest.mark.parametrize("case", [*RIGHT, *UNKNOWN])
def test_right_nodes_have_no_findings(case: Case) -> None:
    assert not problems(model(case))


@pytest.mark.parametrize("indices", ["1, 2, 2", "2, 2", "2, N"])
def test_a_negative_number_of_batch_dimensions_is_found(indices: str) -> None:
    """onnxruntime and the reference implementation fail in the calculation of the output shape."""
    case = "y = GatherND <batch_dims = -1> (x, i)", f"float[2, 2, 3] x, int64[{indices}] i", 13
    (finding,) = problems(model(case))
    assert "`batch_dims` is -1, but it must be 0 or more" in finding.message


WITHOUT_SIZES = ("num_heads = 0", "Regex", "q, , p)", ", , p)", "s, t)", "->ii", "GridSample",
                 "LRN", "MeanVariance", "Range", "Resize (x, , ", "_directions", "SplitToSequence",
                 "Upsample")  # fmt: skip
"""Parts of cases that are wrong for any sizes of the inputs."""


@pytest.mark.parametrize("case", WRONG)
def test_inputs_of_unknown_sizes_have_no_findings(case: Case) -> None:
    nodes, inputs, opset = case
    unknown = re.sub(r"\d+(?=[^\[]*\])", "?", inputs)
    messages = [item.message for item in problems(model((nodes, unknown, opset)))]
    without = any(part in nodes for part in WITHOUT_SIZES) or "needs" in WRONG[case]
    if without or "positive" in WRONG[case]:
        assert WRONG[case] in messages[0]
    elif "axis" not in WRONG[case] and "`a` is" not in WRONG[case]:
        assert not messages


@pytest.mark.thorough
@pytest.mark.parametrize("case", sampled([*WRONG, *RIGHT], 3))
def test_onnxruntime_agrees(case: Case) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime needs Python 3.11")
    sizes = (0, 0) if "float[0, 3] x, float[N, M] z" in case else (2, 3, 4)
    verdict = judged(onnx.ModelProto.FromString(onnxtext.to_binary(model(case))), (sizes,))
    if case in WRONG:
        accepts = any(part in str(case) for part in ACCEPTED)
        assert verdict.state in (("fine",) if accepts else ("load", "run")), verdict.message
    elif verdict.state != "other":
        assert verdict.state == "fine", verdict.message


WARNED: dict[Case, str] = {
    ("y = Attention <scale = 0.0> (q, q, q)", "float[1, 2, 4, 8] q", 23):
        "onnxruntime needs a positive `scale`",
    # onnxruntime takes the size for 0, and onnx infers a negative dimension
    ("s = Constant <value_ints = [-1, 4]> ()\ny = CenterCropPad (x, s)", "float[4, 4] x", 18):
        "a size is -1",
    ("d = Constant <value_ints = [1, 0]> ()\ny = Div (x, d)", "int64[N, 2] x", 13):
        "an element of `d` is 0, but integers cannot be divided by 0",
    ("d = Constant <value_int = 0> ()\ny = Mod (x, d)", "int64[2] x", 13):
        "an element of `d` is 0, but integers cannot be divided by 0",
    ("r = Constant <value_float = 1.0> ()\ny = Dropout (x, r)", "float[2] x", 13):
        "`r` is 1, but it must be at least 0 and below 1",
    (f"{SCALES}\ny = Resize <{CROP}> (x, r, s)", "float[1, 1, 2, 2] x, float r", 13):
        "`r` has 0 dimensions, but onnxruntime needs 1",
    # onnx's reference implementation counts negative positions from the end
    (f"{POSITIONS.replace('50', '-1')}\ny = RotaryEmbedding (x, c, c, i)",
     "float[1, 4, 2, 4] x, float[50, 2] c", 23):
        "`i` has the element -1, but onnxruntime accepts no negative indices",
}  # fmt: skip


@pytest.mark.parametrize("case", WARNED)
def test_doubtful_relations_are_a_warning(case: Case) -> None:
    [finding] = problems(model(case))
    assert finding.severity == "warning"
    assert WARNED[case] in finding.message


@pytest.mark.parametrize("operator", ["Div", "Mod", "Dropout", "Range"])
def test_wrong_elements_are_marked_at_their_input(operator: str) -> None:
    (case,) = [case for case in (*WARNED, *WRONG) if f"= {operator} (" in case[0]]
    source = model(case)
    [finding] = problems(source)
    [label] = finding.labels
    assert source[slice(*label.span)] in ("d", "r")
    assert finding.help == "correct the elements of this input"


@pytest.mark.parametrize(("axes", "found"), [("[2]", True), ("[1]", False), ("[N]", False)])
def test_the_number_of_axes_determines_the_rank(axes: str, found: bool) -> None:
    source = text(
        "y = Unsqueeze (x, a)", inputs=f"float[2, 3] x, int64{axes} a", outputs="float[?, ?, ?] y"
    )
    messages = [item.message for item in problems(source)]
    assert (
        messages
        == ["the shape of `y` is declared `[?, ?, ?]`, but `Unsqueeze` computes `[?, ?, ?, ?]`"]
        * found
    )


@pytest.mark.parametrize(("axes", "found"), [("[1]", True), ("[2]", False), ("[N]", False)])
def test_a_single_unknown_axis_is_reduced(axes: str, found: bool) -> None:
    """Several axes may be equal, which onnxruntime accepts."""
    nodes = "y = ReduceSum <keepdims = 0> (x, a)"
    source = text(nodes, inputs=f"float[2, 3] x, int64{axes} a", outputs="float[?, ?] y")
    wrong = "the shape of `y` is declared `[?, ?]`, but `ReduceSum` computes `[?]`"
    assert [item.message for item in problems(source)] == [wrong] * found
