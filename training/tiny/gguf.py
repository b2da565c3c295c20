"""Writes GGUF version 3, as far as a Llama with eight-bit weights needs it."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ALIGNMENT = 32
BLOCK = 32
UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9
TENSOR_F32, TENSOR_Q8_0 = 0, 8

Value = bool | int | float | str | Sequence[str] | Sequence[int] | Sequence[float]


@dataclass(frozen=True)
class Tensor:
    name: str
    dimensions: tuple[int, ...]
    """Innermost first."""
    kind: int
    data: bytes


def float_tensor(name: str, values: np.ndarray) -> Tensor:
    return Tensor(name, values.shape[::-1], TENSOR_F32, values.astype('<f4').tobytes())


def eight_bit_tensor(name: str, values: np.ndarray) -> Tensor:
    """Blocks of 32 values: one scale in half precision, then the values in its units."""
    return Tensor(name, values.shape[::-1], TENSOR_Q8_0, quantize(values).tobytes())


def quantize(values: np.ndarray) -> np.ndarray:
    blocks = values.astype(np.float32).reshape(-1, BLOCK)
    scales = np.abs(blocks).max(axis=1) / 127
    inverse = np.divide(1, scales, out=np.zeros_like(scales), where=scales > 0)
    packed = np.empty(len(blocks), dtype=[('scale', '<f2'), ('values', 'i1', BLOCK)])
    packed['scale'] = scales
    packed['values'] = np.round(blocks * inverse[:, None])
    return packed


def restored(values: np.ndarray) -> np.ndarray:
    """The values as they are read back after `quantize`."""
    packed = quantize(values)
    scales = packed['scale'].astype(np.float32)[:, None]
    return (packed['values'] * scales).reshape(values.shape)


def write_gguf(path: Path, metadata: dict[str, Value], tensors: Sequence[Tensor]) -> None:
    head = b'GGUF' + struct.pack('<IQQ', 3, len(tensors), len(metadata))
    head += b''.join(text(key) + typed(value) for key, value in metadata.items())
    offset = 0
    for tensor in tensors:
        sizes = struct.pack(
            f'<I{len(tensor.dimensions)}Q', len(tensor.dimensions), *tensor.dimensions
        )
        head += text(tensor.name) + sizes + struct.pack('<IQ', tensor.kind, offset)
        offset += len(padded(tensor.data))
    path.write_bytes(padded(head) + b''.join(padded(tensor.data) for tensor in tensors))


def typed(value: Value) -> bytes:
    kind = kind_of(value)
    if kind == ARRAY:
        items = list(value)
        inner = kind_of(items[0])
        inner = INT32 if inner == UINT32 else inner
        return struct.pack('<IIQ', ARRAY, inner, len(items)) + b''.join(
            plain(item, inner) for item in items
        )
    return struct.pack('<I', kind) + plain(value, kind)


def kind_of(value: Value) -> int:
    for python_type, kind in ((bool, BOOL), (int, UINT32), (float, FLOAT32), (str, STRING)):
        if isinstance(value, python_type):
            return kind
    return ARRAY


def plain(value: Value, kind: int) -> bytes:
    if kind == STRING:
        return text(value)
    return struct.pack({UINT32: '<I', INT32: '<i', FLOAT32: '<f', BOOL: '<?'}[kind], value)


def text(value: str) -> bytes:
    encoded = value.encode()
    return struct.pack('<Q', len(encoded)) + encoded


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % ALIGNMENT)
