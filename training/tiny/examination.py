"""The held-out examination: what is asked, how answers are judged, and the table of results.

examination.py FOLDER    writes the questions to FOLDER/examination.json
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from batches import plain_text
from cases import Kind, Turn, draw_test
from conversations import KINDS

SEED = 90
QUESTIONS_A_SET = 40
PLAIN_TEXTS = 200
KNOWN, NEW = 'Known wording', 'New wording'
HAND_WRITTEN = 'written by hand'


@dataclass(frozen=True)
class Question:
    turn: Turn
    set_name: str


def examine() -> list[Question]:
    """Held-out operands in wordings of the training, then held-out operands in held-out wordings.

    Kinds of plain facts have no operands to hold out: they are asked in held-out wordings alone.
    No question is asked twice, so a kind with little to ask has fewer questions.
    """
    asked: dict[tuple[str, str], Question] = {}
    for kind in KINDS:
        random = Random(f'{SEED}-{kind.name}-{kind.draw.__name__}')
        for set_name in (KNOWN, NEW) if has_operands(kind) else (NEW,):
            for _ in range(QUESTIONS_A_SET):
                turn = draw_test(kind, random, set_name == NEW)
                asked.setdefault((turn.system, turn.question), Question(turn, set_name))
    return [*asked.values(), *written_by_hand()]


def written_by_hand() -> list[Question]:
    """Questions that no generator wrote; a line is `question => answer | another right answer`."""
    text = (Path(__file__).parent / 'handwritten.txt').read_text(encoding='utf-8')
    questions = []
    for line in text.splitlines():
        asked, answers = line.split(' => ')
        accepted = answers.split(' | ')
        turn = Turn(HAND_WRITTEN, asked, accepted[0], accepts=accepted.__contains__)
        questions.append(Question(turn, NEW))
    return questions


def has_operands(kind: Kind) -> bool:
    return any(kind.draw(Random(i)).key for i in range(20))


def write_examination(folder: Path) -> None:
    """Writes the questions and the plain texts for what answers them through the GGUF file."""
    turns = [question.turn for question in examine()]
    questions = [
        {'system': turn.system, 'question': turn.question, 'answer': turn.answer} for turn in turns
    ]
    random = Random(f'{SEED}-plain')
    texts = [plain_text(random) for _ in range(PLAIN_TEXTS)]
    path = folder / 'examination.json'
    path.write_text(json.dumps({'questions': questions, 'texts': texts}), encoding='utf-8')


@dataclass
class Score:
    right: int = 0
    asked: int = 0

    @property
    def share(self) -> float:
        return self.right / self.asked


Table = dict[str, dict[str, Score]]
"""For each kind and set of questions, how many were answered right."""


def tabulate(answers: Sequence[str]) -> Table:
    table: Table = {}
    for question, answer in zip(examine(), answers, strict=True):
        sets = table.setdefault(question.turn.kind, {})
        score = sets.setdefault(question.set_name, Score())
        score.asked += 1
        score.right += is_right(question.turn, answer)
    return table


def is_right(turn: Turn, answer: str) -> bool:
    return turn.accepts(answer) if turn.accepts else answer == turn.answer


def as_markdown(table: Table) -> str:
    lines = [f'| Kind | {KNOWN} | {NEW} |', '| --- | ---: | ---: |']
    for kind, sets in table.items():
        cells = [
            f'{100 * sets[name].share:.0f} % of {sets[name].asked}' if name in sets else '–'
            for name in (KNOWN, NEW)
        ]
        lines.append(f'| {kind} | {" | ".join(cells)} |')
    return '\n'.join(lines)


def mean(table: Table, name: str) -> float:
    shares = [sets[name].share for sets in table.values() if name in sets]
    return sum(shares) / len(shares)


if __name__ == '__main__':
    write_examination(Path(sys.argv[1]))
