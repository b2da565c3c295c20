"""A vocabulary of pieces, trained by byte pair encoding, read as llama.cpp reads SentencePiece.

A piece never holds a digit beside anything else, nor letters beside punctuation, so numbers are
read digit by digit. A space is written as the lower one eighth block. What no piece covers becomes
bytes.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

SPACE = '\u2581'
UNKNOWN, BEGIN, END = '<unk>', '<s>', '</s>'
ROLES = {role: f'<|{role}|>' for role in ('system', 'user', 'assistant')}
END_OF_TURN = '<|end|>'
RARE = 5  # A chunk that is seen less often, an invented word say, has no say in the vocabulary.
SPECIALS = (UNKNOWN, BEGIN, END, *ROLES.values(), END_OF_TURN)
CHUNK = re.compile(rf'{SPACE}?[A-Za-z]+|[!-/:-@\[-`{{-~]+|.', re.DOTALL)


class Tokenizer:
    """Turns text into numbers and back. `pieces` are ordered: an earlier one is merged first."""

    def __init__(self, pieces: Sequence[str]):
        self.pieces = tuple(pieces)
        self.tokens = (*SPECIALS, *(f'<0x{byte:02X}>' for byte in range(256)), *self.pieces)
        self.ids = {token: i for i, token in enumerate(self.tokens)}
        self.first_byte = len(SPECIALS)
        self.first_piece = self.first_byte + 256
        self.begin, self.end = self.ids[BEGIN], self.ids[END]
        self.end_of_turn = self.ids[END_OF_TURN]
        self._known: dict[str, tuple[int, ...]] = {}

    def __len__(self) -> int:
        return len(self.tokens)

    def encode(self, text: str) -> list[int]:
        """The text's tokens; a special token's name in it is plain text."""
        result: list[int] = []
        for chunk in CHUNK.findall(text.replace(' ', SPACE)):
            tokens = self._known.get(chunk)
            if tokens is None:
                tokens = tuple(self._merge(chunk))
                self._known[chunk] = tokens
            result.extend(tokens)
        return result

    def decode(self, tokens: Iterable[int]) -> str:
        result = bytearray()
        for token in tokens:
            if token >= self.first_piece:
                result += self.tokens[token].replace(SPACE, ' ').encode()
            elif token >= self.first_byte:
                result.append(token - self.first_byte)
        return result.decode(errors='replace')

    def _merge(self, chunk: str) -> list[int]:
        parts = list(chunk)
        while True:
            best, place = len(self.tokens), -1
            for i in range(len(parts) - 1):
                rank = self.ids.get(parts[i] + parts[i + 1], best)
                if rank < best and rank >= self.first_piece:
                    best, place = rank, i
            if place < 0:
                return [token for part in parts for token in self._covered(part)]
            parts[place : place + 2] = [parts[place] + parts[place + 1]]

    def _covered(self, part: str) -> list[int]:
        if part in self.ids:
            return [self.ids[part]]
        return [self.first_byte + byte for byte in part.encode()]

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(self.pieces, ensure_ascii=False), encoding='utf-8')

    @classmethod
    def load(cls, path: Path) -> 'Tokenizer':
        return cls(json.loads(path.read_text(encoding='utf-8')))


def train_tokenizer(texts: Iterable[str], size: int) -> Tokenizer:
    """Merges the most frequent pair of neighbours until the vocabulary has the size."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(CHUNK.findall(text.replace(' ', SPACE)))
    chunks = {chunk: list(chunk) for chunk, count in counts.items() if count >= RARE}
    pieces = [SPACE, *(chr(code) for code in range(0x21, 0x7F))]
    while len(SPECIALS) + 256 + len(pieces) < size:
        pair = most_frequent(chunks, counts)
        pieces.append(pair[0] + pair[1])
        for chunk, parts in chunks.items():
            chunks[chunk] = joined(parts, pair)
    merged = pieces[95:]
    return Tokenizer([*merged, *pieces[:95]])


def most_frequent(chunks: dict[str, list[str]], counts: Counter[str]) -> tuple[str, str]:
    pairs: Counter[tuple[str, str]] = Counter()
    for chunk, parts in chunks.items():
        for pair in zip(parts, parts[1:], strict=False):
            pairs[pair] += counts[chunk]
    return min(pairs, key=lambda pair: (-pairs[pair], pair))


def joined(parts: list[str], pair: tuple[str, str]) -> list[str]:
    result: list[str] = []
    i = 0
    while i < len(parts):
        if tuple(parts[i : i + 2]) == pair:
            result.append(pair[0] + pair[1])
            i += 2
        else:
            result.append(parts[i])
            i += 1
    return result
