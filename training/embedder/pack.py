"""Writes the file that ships. Usage: pack.py BUILD_FOLDER NOTICE TARGET [start]

The format is described in src/models/embedding/word-vectors.ts. With `start`, the vectors before
training are written, to see what training gave.
"""

import hashlib
import struct
import sys
from pathlib import Path

import numpy as np


def main() -> None:
    build, notice, target = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
    words = (build / 'vocabulary.txt').read_text(encoding='utf-8').split()
    vectors = np.load(build / 'model.npz')['start' if sys.argv[4:] == ['start'] else 'vectors']
    scales = np.maximum(np.abs(vectors).max(axis=1), 1e-9).astype('<f4') / np.float32(127)
    values = np.rint(vectors / scales[:, None]).astype(np.int8)
    parts = padded(notice.read_bytes(), b' '), padded('\n'.join(words).encode(), b'\n')
    body = b''.join([*parts, scales.astype('<f4').tobytes(), values.tobytes()])
    sizes = (1, vectors.shape[1], len(words), len(vectors) - len(words), len(parts[1]), len(parts[0]))
    header = b'ENNEMBED' + struct.pack('<6I', *sizes)
    target.write_bytes(header + hashlib.sha256(header + body).digest() + body)
    print(f'{target}: {target.stat().st_size} bytes')


def padded(content: bytes, filler: bytes) -> bytes:
    return content + filler * (-len(content) % 4)


if __name__ == '__main__':
    main()
