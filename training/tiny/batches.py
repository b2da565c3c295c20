"""Turns conversations into batches of tokens; the loss counts what the assistant says."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

import torch
from torch import Tensor

from conversations import Message, converse, drill_copying, drill_slow, drill_unsure
from kinds_talk import tell_story
from sentences import sentence
from tokenizer import ROLES, Tokenizer

BATCHES_A_POOL = 16
PLAIN_SHARE = 0.02


@dataclass(frozen=True)
class Row:
    tokens: list[int]
    counted: list[bool]
    """For each token, whether predicting it counts."""


@dataclass(frozen=True)
class Batch:
    inputs: Tensor
    places: Tensor
    """Where in the flattened inputs a prediction counts."""
    targets: Tensor


@dataclass(frozen=True)
class Drill:
    """Conversations of a few kinds only, which take a share of the rows of some pools."""

    pools: range
    share: float
    converse: Callable[[Random], list[Message]]


DRILLS = (
    # To copy is hard to find and much depends on it, so for a while many rows ask for little else.
    Drill(range(38, 75), 0.3, drill_copying),
    Drill(range(119, 257), 0.5, drill_slow),
    Drill(range(257, 1_000_000), 0.5, drill_unsure),
)


def batches_from(
    step: int, tokenizer: Tokenizer, budget: int, parts: int, seed: int
) -> Iterator[list[Batch]]:
    """The batches from a step on, each in parts of about equal size.

    They are the same ones whichever step the training resumes at.
    """
    pool, index = divmod(step, BATCHES_A_POOL)
    while True:
        drill = next((drill for drill in DRILLS if pool in drill.pools), None)
        draw = Drawing(Random(f'{seed}-{pool}'), tokenizer, drill)
        for rows in draw_groups(draw, budget)[index:]:
            yield [to_batch(rows[i::parts]) for i in range(parts) if rows[i::parts]]
        pool, index = pool + 1, 0


@dataclass(frozen=True)
class Drawing:
    random: Random
    tokenizer: Tokenizer
    drill: Drill | None


def draw_groups(drawing: Drawing, budget: int) -> list[list[Row]]:
    """Groups rows of similar length, so that little is padding, `budget` tokens a group."""
    rows: list[Row] = []
    total = 0
    while total < budget * BATCHES_A_POOL * 0.95:
        row = draw_row(drawing)
        rows.append(row)
        total += len(row.tokens)
    rows.sort(key=lambda row: len(row.tokens))
    share = sum(len(row.tokens) for row in rows) / BATCHES_A_POOL
    groups: list[list[Row]] = [[] for _ in range(BATCHES_A_POOL)]
    passed = 0
    for row in rows:
        groups[min(int(passed / share), BATCHES_A_POOL - 1)].append(row)
        passed += len(row.tokens)
    drawing.random.shuffle(groups)
    return groups


def draw_row(drawing: Drawing) -> Row:
    random, tokenizer = drawing.random, drawing.tokenizer
    if drawing.drill and random.random() < drawing.drill.share:
        return conversation_row(drawing.drill.converse(random), tokenizer)
    if random.random() < PLAIN_SHARE:
        return plain_row(plain_text(random), tokenizer)
    return conversation_row(converse(random), tokenizer)


def plain_text(random: Random) -> str:
    if random.random() < 0.5:
        return tell_story(random).answer
    return ' '.join(sentence(random) for _ in range(random.randint(2, 6)))


def plain_row(text: str, tokenizer: Tokenizer) -> Row:
    tokens = [tokenizer.begin, *tokenizer.encode(text), tokenizer.end]
    return Row(tokens, [False] + [True] * (len(tokens) - 1))


def conversation_row(messages: list[Message], tokenizer: Tokenizer) -> Row:
    tokens, counted = [tokenizer.begin], [False]
    for message in messages:
        text = [*tokenizer.encode(message.text), tokenizer.end_of_turn]
        tokens += [tokenizer.ids[ROLES[message.role]], *text]
        counted += [False] + [message.role == 'assistant'] * len(text)
    return Row(tokens, counted)


def to_batch(rows: list[Row]) -> Batch:
    length = max(len(row.tokens) for row in rows) - 1
    inputs = torch.zeros(len(rows), length, dtype=torch.long)
    places, targets = [], []
    for i, row in enumerate(rows):
        inputs[i, : len(row.tokens) - 1] = torch.tensor(row.tokens[:-1])
        for place, counts in enumerate(row.counted[1:]):
            if counts:
                places.append(i * length + place)
                targets.append(row.tokens[place + 1])
    return Batch(inputs, torch.tensor(places), torch.tensor(targets))
