# SPDX-License-Identifier: Apache-2.0
"""Pack elements narrower than a byte into the bytes of ``raw_data``, and unpack them.

A byte has four elements of two bits, or two elements of four bits; three bytes have four elements
of six bits. The elements form one bit stream, lowest bits first, and zeros pad the last byte. See
the comments of ``TensorProto.raw_data`` and ``int32_data`` in ``onnx.proto``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnxtext.tensor.lazy_numpy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def pack(codes: NDArray[np.uint8], bits: int) -> NDArray[np.uint8]:
    """Pack codes of 2, 4 or 6 bits, given one code per byte; each must fit in `bits` bits."""
    group = 4 if bits == 6 else 8 // bits
    padded = np.zeros((-(-codes.size // group), group), np.uint8)
    padded.reshape(-1)[: codes.size] = codes
    if bits != 6:
        packed = padded[:, 0]
        for index in range(1, group):
            packed |= padded[:, index] << (bits * index)
        return np.ascontiguousarray(packed)
    a, b, c, d = padded.T
    packed = np.stack((a | b << 6, b >> 2 | c << 4, c >> 4 | d << 2), axis=1)
    return packed.reshape(-1)[: (codes.size * bits + 7) // 8]


def unpack(data: NDArray[np.uint8], bits: int) -> NDArray[np.uint8]:
    """Unpack codes of 2, 4 or 6 bits to one code per byte.

    The result may include padding: three 4-bit codes fill two bytes, which give four codes.
    """
    mask = (1 << bits) - 1
    if bits != 6:
        group = 8 // bits
        codes = np.empty((data.size, group), np.uint8)
        for index in range(group):
            codes[:, index] = data >> (bits * index) & mask
        return codes.reshape(-1)
    padded = np.zeros((-(-data.size // 3), 3), np.uint8)
    padded.reshape(-1)[: data.size] = data
    a, b, c = padded.T
    codes = np.stack((a & mask, (a >> 6 | b << 2) & mask, (b >> 4 | c << 4) & mask, c >> 2), axis=1)
    return codes.reshape(-1)[: data.size * 8 // bits]
