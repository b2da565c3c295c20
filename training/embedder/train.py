"""Trains the vectors. Usage: train.py BUILD_FOLDER [STEPS]; writes BUILD_FOLDER/model.npz.

A text is the sum of its words' vectors, so a vector's length is the word's weight; an unknown word
is the sum of its pieces' vectors over the root of their number. The start is GloVe beside USE, cut
to 128 dimensions; then pairs of texts are drawn together and apart from the rest of their batch.
"""

import sys
from pathlib import Path

import numpy as np
import torch

SEED = 20261121
DIMENSIONS = 128
BUCKETS = 4096
BATCH = 512
TEMPERATURE = 0.06
LEARNING_RATE = 1.5e-3
PULL = 0.02
"""How strongly a step draws every vector back to its start, as a share of the learning rate."""
PIECED = 0.06
"""The share of known words that training reads by their pieces, so that the pieces learn too."""
SHARES = {
    'gloss': 0.26,
    'synonym': 0.1,
    'relation': 0.08,
    'heading': 0.24,
    'adjacent': 0.12,
    'jargon': 0.02,
    'domain': 0.18,
}
DEV = 500
"""The first pairs of `heading` that training leaves out."""


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    build = Path(sys.argv[1])
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 6000
    sources = {name: Source(build / f'rows-{name}.i32') for name in SHARES}
    pieces = Source(build / 'pieces.i32')
    table = starting_vectors(build, sources, pieces, rng)
    start = table.clone()
    for _ in train(table, (sources, pieces), (rng, steps)):
        np.savez(build / 'model.npz', vectors=table.numpy(), start=start.numpy())


class Source:
    """The texts of one source as flat rows and weights, cut by offsets."""

    def __init__(self, path):
        packed = np.fromfile(path, dtype=np.int32).tolist()
        rows, weights, offsets = [], [], [0]
        at = 0
        while at < len(packed):
            end = at + 1 + packed[at]
            at += 1
            while at < end:
                count = max(1, -packed[at])
                first = at if packed[at] >= 0 else at + 1
                rows += packed[first : first + count]
                weights += [count**-0.5] * count
                at = first + count
            offsets.append(len(weights))
        self.rows = np.array(rows, dtype=np.int64)
        self.weights = np.array(weights, dtype=np.float32)
        self.offsets = np.array(offsets)
        self.pairs = (len(offsets) - 1) // 2

    def texts(self, indices):
        """Rows, weights and the place in `indices` of every entry of the texts asked for."""
        starts, ends = self.offsets[indices], self.offsets[indices + 1]
        sizes = ends - starts
        shift = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes)
        flat = np.arange(sizes.sum()) + shift
        return self.rows[flat], self.weights[flat], np.repeat(np.arange(len(indices)), sizes)


def starting_vectors(build, sources, pieces, rng):
    words = (build / 'vocabulary.txt').read_text().split()
    glove = np.fromfile(build / 'glove.f32', dtype=np.float32).reshape(len(words), 100)
    use = np.fromfile(build / 'use.f32', dtype=np.float32).reshape(len(words), 512)
    absent = ~glove.any(axis=1)
    both = np.concatenate([spread(glove, absent), spread(use, np.zeros(len(words), bool))], axis=1)
    _, axes = np.linalg.eigh(both.T @ both)
    vectors = both @ axes[:, ::-1][:, :DIMENSIONS]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors *= word_weights(sources, len(words))[:, None]
    vectors = torch.tensor(vectors.astype(np.float32))
    return torch.cat([vectors, starting_pieces(vectors, pieces, rng)])


def spread(vectors, absent):
    """Centred, without the two directions that all words share, of unit length; absent ones are 0."""
    present = vectors[~absent] - vectors[~absent].mean(axis=0)
    _, axes = np.linalg.eigh(present.T @ present)
    present -= present @ axes[:, -2:] @ axes[:, -2:].T
    out = np.zeros_like(vectors)
    out[~absent] = present / np.linalg.norm(present, axis=1, keepdims=True)
    return out


def word_weights(sources, size):
    """Smooth inverse frequency over what is read in training, a source counted alike."""
    share = np.zeros(size)
    for name in ('gloss', 'heading', 'adjacent', 'domain'):
        rows = sources[name].rows
        share += np.bincount(rows[rows < size], minlength=size) / len(rows) / 4
    return 1e-3 / (1e-3 + share)


def starting_pieces(vectors, pieces, rng):
    """Piece vectors that best sum up to the known words; pieces of no word stay random."""
    table = torch.tensor(rng.normal(0, 0.09, (BUCKETS, DIMENSIONS)).astype(np.float32))
    table = torch.nn.Parameter(table)
    adam = torch.optim.Adam([table], lr=5e-3)
    rows = torch.tensor(pieces.rows - len(vectors))
    weights, offsets = torch.tensor(pieces.weights), torch.tensor(pieces.offsets[:-1])
    for _ in range(150):
        found = torch.nn.functional.embedding_bag(
            rows, table, offsets, mode='sum', per_sample_weights=weights
        )
        loss = ((found - vectors) ** 2).sum(dim=1).mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
    print(f'pieces start at a squared error of {loss.item():.3f}')
    return table.detach()


def train(table, data, plan):
    """Adam over the rows that a batch has, the learning rate warmed up and then led to nothing."""
    (sources, pieces), (rng, steps) = data, plan
    start, mean, square = table.clone(), torch.zeros_like(table), torch.zeros_like(table)
    names, shares = list(SHARES), np.array(list(SHARES.values()))
    running = None
    for step in range(steps):
        rate = LEARNING_RATE * min(1, (step + 1) / 200) * (1 - step / steps)
        source = sources[names[rng.choice(len(names), p=shares / shares.sum())]]
        first = DEV if source is sources['heading'] else 0
        chosen = rng.integers(first, source.pairs, BATCH)
        both = np.concatenate([chosen * 2, chosen * 2 + 1])
        rows, weights, places = some_pieced(source.texts(both), pieces, rng)
        used, inverse = np.unique(rows, return_inverse=True)
        used = torch.tensor(used)
        part = table[used].requires_grad_()
        vectors = summed(part, (inverse, weights, places), len(both))
        loss = contrast(vectors[:BATCH], vectors[BATCH:], torch.tensor(chosen))
        loss.backward()
        with torch.no_grad():
            mean[used] = 0.9 * mean[used] + 0.1 * part.grad
            square[used] = 0.98 * square[used] + 0.02 * part.grad**2
            step_size = rate * mean[used] / (square[used].sqrt() + 1e-8)
            table[used] = part - step_size - PULL * rate * (part - start[used])
        running = loss.item() if running is None else 0.98 * running + 0.02 * loss.item()
        if step % 250 == 0 or step == steps - 1:
            hit = dev_recall(table, sources['heading'])
            print(f'step {step}: loss {running:.3f}, heading recall@1 {hit:.3f}', flush=True)
            yield


def summed(table, entries, count):
    rows, weights, places = entries
    offsets = np.searchsorted(places, np.arange(count))
    found = torch.nn.functional.embedding_bag(
        torch.tensor(rows),
        table,
        torch.tensor(offsets),
        mode='sum',
        per_sample_weights=torch.tensor(weights),
    )
    return torch.nn.functional.normalize(found, dim=1, eps=1e-6)


def some_pieced(entries, pieces, rng):
    """The same texts with a few of their known words read by their pieces."""
    rows, weights, places = entries
    drawn = (rng.random(len(rows)) < PIECED) & (rows < len(pieces.offsets) - 1)
    piece_rows, piece_weights, piece_places = pieces.texts(rows[drawn])
    rows = np.concatenate([rows[~drawn], piece_rows])
    weights = np.concatenate([weights[~drawn], piece_weights])
    places = np.concatenate([places[~drawn], places[drawn][piece_places]])
    order = np.argsort(places, kind='stable')
    return rows[order], weights[order], places[order]


def contrast(left, right, chosen):
    """InfoNCE both ways; a pair drawn twice is no negative of itself."""
    scores = left @ right.T / TEMPERATURE
    same = (chosen[:, None] == chosen[None, :]) & ~torch.eye(len(chosen), dtype=torch.bool)
    scores = scores.masked_fill(same, -1e4)
    target = torch.arange(len(chosen))
    cross = torch.nn.functional.cross_entropy
    return (cross(scores, target) + cross(scores.T, target)) / 2


def dev_recall(table, source):
    with torch.no_grad():
        left = summed(table, source.texts(np.arange(DEV) * 2), DEV)
        right = summed(table, source.texts(np.arange(DEV) * 2 + 1), DEV)
        best = (left @ right.T).argmax(dim=1)
        return (best == torch.arange(DEV)).float().mean().item()


if __name__ == '__main__':
    main()
