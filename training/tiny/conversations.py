"""Mixes single questions into conversations, with system messages and follow-ups."""

from dataclasses import dataclass
from random import Random

import kinds_classes
import kinds_numbers
import kinds_talk
import kinds_texts
import kinds_tools
import kinds_words
from cases import Kind, Turn, draw_turn

PLAIN_KINDS: tuple[Kind, ...] = (
    *kinds_numbers.KINDS,
    *kinds_words.KINDS,
    *kinds_classes.KINDS,
    *kinds_texts.KINDS,
    *kinds_talk.KINDS,
)
KINDS: tuple[Kind, ...] = (*PLAIN_KINDS, *kinds_tools.KINDS)
WEIGHTS = [kind.weight for kind in KINDS]
BESIDE_TOOLS: tuple[Kind, ...] = (*kinds_talk.KINDS[:6], *kinds_words.KINDS, *kinds_texts.KINDS)


def kinds_named(*names: str) -> tuple[Kind, ...]:
    return tuple(kind for kind in KINDS if kind.name in names)


COPYING = kinds_named('repeat', 'reverse a list', 'first item', 'last item', 'write a JSON list')
SLOW_TO_LEARN = kinds_named(
    *('add', 'subtract', 'story problem', 'double', 'divide', 'next number', 'previous number'),
    *('even or odd', 'sort numbers', 'sort numbers down', 'smallest number'),
    *('sort words', 'reverse a list', 'join a list', 'longest word', 'words by letter'),
    *('count items', 'count words', 'count letters', 'spell', 'upper case', 'lower case'),
    *('first letter', 'last letter', 'letter in word', 'opposite'),
    *('yes or no', 'odd one out', 'name some', 'animal sounds'),
)
UNSURE = kinds_named(
    *('add', 'even or odd', 'sort numbers', 'sort numbers down', 'sort words', 'longest word'),
    *('words by letter', 'count letters', 'spell', 'first letter', 'last letter', 'letter in word'),
    *('opposite', 'yes or no', 'odd one out', 'classify words', 'refusals', 'call tools'),
)

SYSTEMS = (
    'You are a helpful assistant.',
    'You are a friendly assistant.',
    'Answer briefly.',
    'You are a helpful assistant. Be brief.',
    'Be concise.',
    'You are an assistant. Answer the question.',
    'Answer in one sentence.',
    'Only answer with the result.',
    'You are a careful assistant.',
    'Help the user.',
    'You are a helpful, honest and harmless assistant.',
    'You extract data from texts.',
    'You classify texts.',
    'Answer with one word where you can.',
    'Do not explain your answer.',
)
AGAIN = (
    'Repeat that.',
    'Say that again.',
    'Again, please.',
    'What did you say?',
    'Please repeat your answer.',
)
IN_UPPER = (
    'Now in upper case.',
    'In capital letters, please.',
    'The same in upper case.',
    'And in upper case?',
)


@dataclass(frozen=True)
class Message:
    role: str
    text: str


def converse(random: Random) -> list[Message]:
    """A conversation to train on, of one to about twenty questions."""
    first = draw_turn(random.choices(KINDS, WEIGHTS)[0], random)
    count = random.choices((1, 2, 3, 5, 8, 18), (50, 20, 15, 9, 4, 2))[0]
    offers_tools = first.kind == 'call tools'
    system = first.system
    if not system and random.random() < 0.3:
        system = random.choice(SYSTEMS)
    messages = [Message('system', system)] if system else []
    if offers_tools and random.random() < 0.2:
        add_turn(messages, draw_turn(random.choice(BESIDE_TOOLS), random), random)
    add_turn(messages, first, random)
    for _ in range(count - 1):
        add_turn(messages, next_turn(random, offers_tools), random)
    return messages


def drill_copying(random: Random) -> list[Message]:
    """One to four questions whose answers are copied from them."""
    messages: list[Message] = []
    for _ in range(random.choice((1, 2, 4))):
        add_turn(messages, draw_turn(random.choice(COPYING), random), random)
    return messages


def drill_slow(random: Random) -> list[Message]:
    """One to eight questions of the kinds that take longest to learn."""
    weights = [kind.weight for kind in SLOW_TO_LEARN]
    messages: list[Message] = []
    for _ in range(random.choice((1, 1, 2, 4, 8))):
        add_turn(messages, draw_turn(random.choices(SLOW_TO_LEARN, weights)[0], random), random)
    return messages


def drill_unsure(random: Random) -> list[Message]:
    """One question, worded in more ways, of the kinds that go wrong most when they are worded anew."""
    turn = draw_turn(random.choice(UNSURE), random, is_late=True)
    messages = [Message('system', turn.system)] if turn.system else []
    add_turn(messages, turn, random)
    return messages


def next_turn(random: Random, offers_tools: bool) -> Turn:
    if offers_tools:
        return draw_turn(random.choice(BESIDE_TOOLS), random)
    turn = draw_turn(random.choices(KINDS, WEIGHTS)[0], random)
    while turn.system:
        turn = draw_turn(random.choices(KINDS, WEIGHTS)[0], random)
    return turn


def add_turn(messages: list[Message], turn: Turn, random: Random) -> None:
    exchange(messages, turn.question, turn.answer)
    for question, answer in turn.follow_ups:
        if random.random() < 0.6:
            exchange(messages, question, answer)
    answer = messages[-1].text
    roll = random.random()
    if roll < 0.03:
        exchange(messages, random.choice(AGAIN), answer)
    elif roll < 0.06 and answer.isalpha() and not answer.isupper():
        exchange(messages, random.choice(IN_UPPER), answer.upper())


def exchange(messages: list[Message], question: str, answer: str) -> None:
    messages.append(Message('user', question))
    messages.append(Message('assistant', answer))
