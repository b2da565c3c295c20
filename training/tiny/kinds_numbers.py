"""Kinds of examples about numbers, dates and units."""

from random import Random

from cases import Case, Source, read_kinds
from lexicon import ALL_NOUNS, DAYS, MONTH_DAYS, MONTHS, NAMES, UNITS
from wording import enumerated, plural


def highest(random: Random) -> int:
    """How large the numbers of a sum may be: people ask for small sums more often."""
    return random.choice((12, 12, 30, 99, 99, 99))


def add(random: Random) -> Case:
    most = highest(random)
    a, b = random.randint(0, most), random.randint(0, most)
    return sum_case(a, b, a + b)


def subtract(random: Random) -> Case:
    a = random.randint(1, highest(random) + 1)
    b = random.randint(0, a if random.random() < 0.9 else 100)
    return Case({'a': str(a), 'b': str(b)}, str(a - b), f'{a}-{b}')


def sum_case(a: int, b: int, answer: int) -> Case:
    return Case({'a': str(a), 'b': str(b)}, str(answer), f'{min(a, b)}+{max(a, b)}')


def multiply(random: Random) -> Case:
    a, b = random.randint(0, 10), random.randint(0, 10)
    return Case({'a': str(a), 'b': str(b)}, str(a * b))


def divide(random: Random) -> Case:
    b, quotient = random.randint(1, 10), random.randint(0, 10)
    return Case({'a': str(b * quotient), 'b': str(b)}, str(quotient))


def story_add(random: Random) -> Case:
    a, b = random.randint(1, 20), random.randint(1, 20)
    return story(random, sum_case(a, b, a + b))


def story_subtract(random: Random) -> Case:
    a = random.randint(2, 40)
    b = random.randint(1, a - 1)
    return story(random, Case({'a': str(a), 'b': str(b)}, str(a - b), f'{a}-{b}'))


def story(random: Random, case: Case) -> Case:
    thing = plural(random.choice(ALL_NOUNS))
    return Case(
        {**case.fields, 'name': random.choice(NAMES), 'things': thing}, case.answer, case.key
    )


def greater(random: Random) -> Case:
    a, b = random.sample(range(0, 101), 2)
    return Case({'a': str(a), 'b': str(b)}, str(max(a, b)), f'{a},{b}')


def is_greater(random: Random) -> Case:
    a, b = random.sample(range(0, 101), 2)
    return Case({'a': str(a), 'b': str(b)}, 'Yes' if a > b else 'No', f'{a},{b}')


def parity(random: Random) -> Case:
    a = random.randint(0, 999)
    return Case({'a': str(a)}, 'Odd' if a % 2 else 'Even', str(a))


def following(random: Random) -> Case:
    a = random.randint(0, 998)
    return Case({'a': str(a)}, str(a + 1), str(a))


def preceding(random: Random) -> Case:
    a = random.randint(1, 999)
    return Case({'a': str(a)}, str(a - 1), str(a))


def double(random: Random) -> Case:
    a = random.randint(0, 50)
    return Case({'a': str(a)}, str(2 * a), str(a))


def numbers(random: Random) -> list[int]:
    return random.sample(range(0, 100), random.choice((3, 3, 4, 4, 5)))


def number_list(case_numbers: list[int], random: Random) -> str:
    return enumerated(list(map(str, case_numbers)), random)


def sort_up(random: Random) -> Case:
    drawn = numbers(random)
    return list_case(drawn, ', '.join(map(str, sorted(drawn))), random)


def sort_down(random: Random) -> Case:
    drawn = numbers(random)
    return list_case(drawn, ', '.join(map(str, sorted(drawn, reverse=True))), random)


def largest(random: Random) -> Case:
    drawn = numbers(random)
    return list_case(drawn, str(max(drawn)), random)


def smallest(random: Random) -> Case:
    drawn = numbers(random)
    return list_case(drawn, str(min(drawn)), random)


def list_case(drawn: list[int], answer: str, random: Random) -> Case:
    key = ','.join(map(str, sorted(drawn)))
    return Case({'list': number_list(drawn, random)}, answer, key)


def day_after(random: Random) -> Case:
    i = random.randrange(7)
    return Case({'day': DAYS[i]}, DAYS[(i + 1) % 7])


def day_before(random: Random) -> Case:
    i = random.randrange(7)
    return Case({'day': DAYS[i]}, DAYS[(i - 1) % 7])


def day_in(random: Random) -> Case:
    i, n = random.randrange(7), random.randint(2, 7)
    return Case({'day': DAYS[i], 'n': str(n)}, DAYS[(i + n) % 7], f'{i},{n}')


def month_after(random: Random) -> Case:
    i = random.randrange(12)
    return Case({'month': MONTHS[i]}, MONTHS[(i + 1) % 12])


def month_before(random: Random) -> Case:
    i = random.randrange(12)
    return Case({'month': MONTHS[i]}, MONTHS[(i - 1) % 12])


def month_days(random: Random) -> Case:
    i = random.randrange(12)
    answer = '28 (29 in a leap year)' if i == 1 else str(MONTH_DAYS[i])
    return Case({'month': MONTHS[i]}, answer)


def month_number(random: Random) -> Case:
    i = random.randrange(12)
    return Case({'n': str(i + 1)}, MONTHS[i])


def convert(random: Random) -> Case:
    large, factor, small, most = random.choice(UNITS)
    n = random.randint(1, most)
    return Case(
        {'n': str(n), 'large': large if n == 1 else plural(large), 'small': plural(small)},
        f'{n * factor} {plural(small)}',
        f'{large}{n}' if n > 10 else '',
    )


KINDS = read_kinds(
    'numbers',
    (
        Source('add', add, 12),
        Source('subtract', subtract, 12),
        Source('multiply', multiply, 3),
        Source('divide', divide, 2),
        Source('story problem / more', story_add, 3),
        Source('story problem / fewer', story_subtract, 3),
        Source('compare numbers / which', greater),
        Source('compare numbers / whether', is_greater, 1.5),
        Source('even or odd', parity, 0.6),
        Source('next number', following),
        Source('previous number', preceding),
        Source('double', double, 0.8),
        Source('sort numbers', sort_up, 4),
        Source('sort numbers down', sort_down, 2.5),
        Source('largest number', largest, 1.5),
        Source('smallest number', smallest, 2),
        Source('day after', day_after, 0.7),
        Source('day before', day_before, 0.7),
        Source('day in n days', day_in, 0.5),
        Source('month after', month_after, 0.7),
        Source('month before', month_before, 0.7),
        Source('days of a month', month_days, 0.7),
        Source('month number', month_number, 0.5),
        Source('convert units', convert, 1.5),
    ),
)
