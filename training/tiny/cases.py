"""What an example is, and how the examples for measuring are kept out of training.

A case is held out by the hash of its key, which names the kind and the operands. A wording is held
out by standing in the kind's second list of wordings. Training draws from neither. Late wordings are
for the last round of training alone.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from random import Random

HELD_OUT_PERCENT = 8


@dataclass(frozen=True)
class Case:
    """One question before it is worded: the values for a wording, and the answer."""

    fields: dict[str, str]
    answer: str
    key: str = ''
    """What must be unseen for the case to be unseen; empty where only the wording can be."""
    system: str = ''
    follow_ups: tuple[tuple[str, str], ...] = ()
    """Further questions and answers which need what was said before."""
    accepts: Callable[[str], bool] | None = field(default=None, compare=False)
    """Judges an answer where more than one is right."""


@dataclass(frozen=True)
class Kind:
    name: str
    draw: Callable[[Random], Case]
    wordings: tuple[str, ...]
    unseen_wordings: tuple[str, ...] = ()
    late_wordings: tuple[str, ...] = ()
    weight: float = 1.0
    is_exact: bool = False
    """Whether the wording must stand exactly as it is, without casual changes."""


@dataclass(frozen=True)
class Source:
    """What draws the cases of one section of a file of wordings."""

    title: str
    """The kind's name; where a kind has several sources, ` / ` and a word more."""
    draw: Callable[[Random], Case]
    weight: float = 1.0
    is_exact: bool = False


@dataclass(frozen=True)
class Turn:
    """A worded question and its answer."""

    kind: str
    question: str
    answer: str
    system: str = ''
    follow_ups: tuple[tuple[str, str], ...] = ()
    accepts: Callable[[str], bool] | None = None


def read_kinds(area: str, sources: tuple[Source, ...]) -> tuple[Kind, ...]:
    """The kinds of an area, worded by its file in `wordings/`."""
    sections = read_sections(area)
    return tuple(
        Kind(
            name=source.title.split(' / ')[0],
            draw=source.draw,
            wordings=tuple(line for line in sections[source.title] if not is_marked(line)),
            unseen_wordings=marked_with('? ', sections[source.title]),
            late_wordings=marked_with('+ ', sections[source.title]),
            weight=source.weight,
            is_exact=source.is_exact,
        )
        for source in sources
    )


def read_sections(area: str) -> dict[str, list[str]]:
    """Sections begin with `== title`; a wording that is held out begins with `? `, a late one with `+ `."""
    sections: dict[str, list[str]] = {}
    title = ''
    text = (Path(__file__).parent / 'wordings' / f'{area}.txt').read_text(encoding='utf-8')
    for line in text.splitlines():
        if line.startswith('== '):
            title = line[3:]
            sections[title] = []
        elif line:
            sections[title].append(line.replace('\\n', '\n'))
    return sections


def is_marked(line: str) -> bool:
    return line.startswith(('? ', '+ '))


def marked_with(mark: str, lines: list[str]) -> tuple[str, ...]:
    return tuple(line.removeprefix(mark) for line in lines if line.startswith(mark))


def is_held_out(kind: Kind, case: Case) -> bool:
    if not case.key:
        return False
    digest = sha256(f'{kind.name}|{case.key}'.encode()).digest()
    return int.from_bytes(digest[:4], 'big') % 100 < HELD_OUT_PERCENT


def draw_turn(kind: Kind, random: Random, is_late: bool = False) -> Turn:
    """A turn to train on."""
    case = draw_case(kind, random, held_out=False)
    wording = random.choice(kind.wordings + kind.late_wordings if is_late else kind.wordings)
    question = wording.format(**case.fields)
    if kind.is_exact or wording.startswith('{'):
        return worded(kind, case, question)
    rough = roughen(question, random)
    unseen = {wording.format(**case.fields) for wording in kind.unseen_wordings}
    return worded(kind, case, question if rough in unseen else rough)


def draw_test(kind: Kind, random: Random, unseen_wording: bool) -> Turn:
    """A turn to measure with; its operands are held out where the kind has any."""
    case = draw_case(kind, random, held_out=True)
    wordings = kind.unseen_wordings if unseen_wording else kind.wordings
    return worded(kind, case, random.choice(wordings).format(**case.fields))


def worded(kind: Kind, case: Case, question: str) -> Turn:
    return Turn(kind.name, question, case.answer, case.system, case.follow_ups, case.accepts)


def draw_case(kind: Kind, random: Random, held_out: bool) -> Case:
    for _ in range(100_000):
        case = kind.draw(random)
        if not case.key or is_held_out(kind, case) == held_out:
            return case
    raise ValueError(
        f'{kind.name} has no case that is {"held out" if held_out else "for training"}'
    )


OPENINGS = (
    *('Hi! ', 'Hello, ', 'Hi, ', 'hi, ', 'Hello! ', 'OK. ', 'So, ', 'Tell me: ', 'Question: '),
    *('Quick question: ', 'Tell me, ', 'Now: ', 'Next: ', 'Good morning! ', 'Well, '),
)
REQUESTS = ('Please ', 'please ', 'Can you ', 'Could you ', 'Now ', 'I want you to ', 'Would you ')
CONTRACTIONS = (
    ('What is ', ("What's ", "what's ", 'Whats ', 'whats ')),
    ('How much is ', ("How much's ", 'how much is ')),
    ('How many ', ('how many ', 'So how many ')),
    ('Which ', ('which ', 'And which ')),
)


def roughen(question: str, random: Random) -> str:
    """Writes as people type: without the mark at the end, in lower case, with a please."""
    if random.random() < 0.55:
        return question
    for beginning, shorter in CONTRACTIONS:
        if question.startswith(beginning) and random.random() < 0.4:
            question = random.choice(shorter) + question[len(beginning) :]
    is_request = question[-1] == '.' and question[0].isupper()
    roll = random.random()
    if roll < 0.3 and question[-1] in '?.':
        is_one_sentence = not any(mark in question[:-1] for mark in '.?!:"')
        ends = ('', '', ' please', ', please', ' please.') if is_one_sentence else ('',)
        question = question[:-1] + random.choice(ends)
    elif roll < 0.55 and is_request:
        return random.choice(REQUESTS) + question[0].lower() + question[1:]
    elif roll < 0.65 and question[-1] == '?':
        question = random.choice(('Please tell me: ', 'Can you tell me: ')) + question
    if random.random() < 0.3:
        question = question[0].lower() + question[1:]
    if random.random() < 0.25:
        question = random.choice(OPENINGS) + question
    return question
