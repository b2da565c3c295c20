"""Small pieces of English grammar."""

from random import Random

from lexicon import IRREGULAR_PLURALS


def plural(noun: str) -> str:
    if noun in IRREGULAR_PLURALS:
        return IRREGULAR_PLURALS[noun]
    if noun in ('trousers', 'pliers', 'scissors', 'swimming', 'salmon', 'broccoli'):
        return noun
    if noun.endswith(('s', 'x', 'z', 'ch', 'sh')) or noun in ('mango', 'potato', 'tomato'):
        return noun + 'es'
    if noun.endswith('y') and noun[-2] not in 'aeiou':
        return noun[:-1] + 'ies'
    return noun + 's'


def article(noun: str) -> str:
    return ('an ' if noun[0].lower() in 'aeiou' else 'a ') + noun


def listed(items: list[str]) -> str:
    """`a, b and c`."""
    if len(items) == 1:
        return items[0]
    return ', '.join(items[:-1]) + ' and ' + items[-1]


def enumerated(items: list[str], random: Random) -> str:
    """A list as people write it: with commas, with spaces, now and then with an `and`."""
    roll = random.random()
    if roll < 0.15 and len(items) > 1:
        return listed(items)
    return (' ' if roll < 0.4 else ', ').join(items)
