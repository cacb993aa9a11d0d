// SPDX-License-Identifier: Apache-2.0

/** Sort operators into categories by words in their names, in any domain. */

import type { Category } from './protocol.ts';

const PATTERNS: [Category, RegExp][] = [
  ['quantization', /^(De)?[Qq]uantize|^QLinear|^DynamicQuantize|Integer$/],
  ['layer', /^(Conv|Gemm|MatMul|Einsum|LSTM|GRU|RNN|Attention|MultiHead|GroupQuery|DeformConv|RotaryEmbedding|FusedMatMul|TreeEnsemble|Linear|SVM)/],
  ['normalization', /Norm(alization)?$|^LRN$|^Dropout$/],
  ['pool', /Pool$|Pool[0-9]|^Resize$|^Upsample$/],
  ['activation', /(Relu|elu|[Ss]igmoid|Tanh|Swish|Softmax|Softplus|Softsign|Gelu|Mish|Erf|Hardmax)$/],
  ['control', /^(If|Loop|Scan|Sequence|Optional|SplitToSequence|ConcatFromSequence)/],
  ['constant', /^Constant/],
  ['shape', /^(Reshape|Transpose|Concat|Split|Slice|Squeeze|Unsqueeze|Flatten|Expand|Tile|Gather|Scatter|Shape|Size|Pad|Cast|Identity|DepthToSpace|SpaceToDepth|Range|Trilu|OneHot|NonZero|Compress)/],
  ['arithmetic', /^(Add|Sub|Mul|Div|Pow|Sqrt|Exp|Log|Neg|Abs|Min|Max|Mean|Sum|Mod|Reduce|Arg|TopK|CumSum|Where|Equal|Greater|Less|Not|And|Or|Xor|Bit|Clip|Floor|Ceil|Round|Sign|Sin|Cos|Reciprocal|Is(NaN|Inf)|Det)/],
];

/** The category of an operator, such as `Conv` or `ai.onnx.ml.Scaler`. */
export function categoryOf(operator: string): Category {
  const name = operator.slice(operator.lastIndexOf('.') + 1);
  return PATTERNS.find(([, pattern]) => pattern.test(name))?.[0] ?? 'other';
}
