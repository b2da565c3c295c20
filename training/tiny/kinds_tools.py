"""Kinds of examples in which the system message offers tools and the answer calls one.

The system message is `TOOLS_HEAD`, then one line a tool, `- name(first, second): what it does`,
then `TOOLS_FOOT`. A call is one line of JSON:

    {"name": "get_weather", "arguments": {"city": "Paris"}}

Its result comes back as a message of the user's, `Result of get_weather: ...`.
"""

import json
from collections.abc import Callable
from random import Random

from cases import Case, Source, read_kinds
from lexicon import ALL_NOUNS, DAYS
from sentences import any_word, invented, person, town

TOOLS_HEAD = 'You can call these tools:'
TOOLS_FOOT = 'To call a tool, answer with JSON: {"name": ..., "arguments": {...}}'

Asked = tuple[str, dict[str, object], str]
"""A question, the arguments of the call it needs, and a result of that call."""


def weather(random: Random) -> Asked:
    city = town(random)
    question = random.choice(
        (
            f'What is the weather in {city}?',
            f'How is the weather in {city}?',
            f'Is it raining in {city}?',
            f'Weather in {city}?',
            f'Tell me the weather in {city}.',
            f'Will it be warm in {city} today?',
        )
    )
    return (
        question,
        {'city': city},
        f'{random.choice(("sunny", "rainy", "cloudy"))}, {random.randint(1, 35)} degrees',
    )


def clock(random: Random) -> Asked:
    city = town(random)
    question = random.choice(
        (
            f'What time is it in {city}?',
            f'Tell me the time in {city}.',
            f'How late is it in {city}?',
        )
    )
    return question, {'city': city}, f'{random.randint(1, 12)}:{random.randint(10, 59)}'


def mail(random: Random) -> Asked:
    name, text = (
        person(random),
        random.choice(
            ('hello', 'I am late', 'see you soon', 'call me', 'thank you', 'the meeting is over')
        ),
    )
    question = random.choice(
        (
            f'Send an email to {name}: {text}',
            f'Write an email to {name} that says "{text}".',
            f'Mail {name}: {text}',
        )
    )
    return question, {'to': name, 'text': text}, 'sent'


def total(random: Random) -> Asked:
    a, b = random.randint(1, 9999), random.randint(1, 9999)
    question = random.choice(
        (
            f'Add {a} and {b}.',
            f'What is {a} + {b}?',
            f'What is {a} plus {b}?',
            f'Calculate {a} + {b}.',
        )
    )
    return question, {'a': a, 'b': b}, str(a + b)


def lookup(random: Random) -> Asked:
    query = f'{any_word(random)} {random.choice(ALL_NOUNS)}'
    question = random.choice(
        (
            f'Search for {query}.',
            f'Look up {query}.',
            f'Find {query} on the web.',
            f'Search the web for "{query}".',
        )
    )
    return question, {'query': query}, f'{random.randint(1, 90)} pages'


def alarm(random: Random) -> Asked:
    time = f'{random.randint(1, 12)}:{random.randint(10, 59)}'
    question = random.choice(
        (f'Set an alarm for {time}.', f'Wake me at {time}.', f'Alarm at {time}, please.')
    )
    return question, {'time': time}, 'done'


def user(random: Random) -> Asked:
    number = random.randint(1, 9999)
    question = random.choice(
        (f'Who is user {number}?', f'Show me user {number}.', f'Get the user with id {number}.')
    )
    return question, {'id': number}, person(random)


def order(random: Random) -> Asked:
    item, count = random.choice(ALL_NOUNS), random.randint(2, 60)
    question = random.choice(
        (
            f'Order {count} of the {item}.',
            f'Buy {count} times {item}.',
            f'Please order {item}, {count} pieces.',
        )
    )
    return question, {'item': item, 'count': count}, 'ordered'


def meeting(random: Random) -> Asked:
    name, day = person(random), random.choice(DAYS)
    question = random.choice(
        (
            f'Plan a meeting with {name} on {day}.',
            f'Meet {name} on {day}.',
            f'Set up a meeting on {day} with {name}.',
        )
    )
    return question, {'name': name, 'day': day}, 'planned'


def file(random: Random) -> Asked:
    name = f'{invented(random)}.{random.choice(("txt", "md", "csv", "json"))}'
    question = random.choice(
        (
            f'Read the file {name}.',
            f'Open {name}.',
            f'Show me the file {name}.',
            f'What is in {name}?',
        )
    )
    return question, {'path': name}, f'{random.randint(2, 90)} lines'


TOOLS: dict[str, tuple[str, Callable[[Random], Asked]]] = {
    'get_weather': ('the weather of a city', weather),
    'get_time': ('the time in a city', clock),
    'send_email': ('sends an email', mail),
    'add': ('adds two numbers', total),
    'search': ('searches the web', lookup),
    'set_alarm': ('sets an alarm', alarm),
    'get_user': ('finds a user', user),
    'order_item': ('orders an item', order),
    'plan_meeting': ('plans a meeting', meeting),
    'read_file': ('reads a file', file),
}


def invented_tool(random: Random) -> tuple[str, str, Asked]:
    """A tool that nobody knows, so that the name must be read from the message."""
    name = f'{invented(random)}_{random.choice(ALL_NOUNS)}'
    key, value = (
        random.choice(('value', 'name', 'item', 'id', 'city', 'text')),
        random.choice((any_word(random), random.randint(1, 999))),
    )
    question = random.choice(
        (
            f'Call {name} with {key} {value}.',
            f'Use {name} with {key} {value}.',
            f'Run {name} for {key} {value}.',
        )
    )
    return (
        name,
        'a tool',
        (question, {key: value}, random.choice(('done', 'ok', str(random.randint(1, 999))))),
    )


def offer(random: Random) -> tuple[str, str, Asked]:
    """A system message with some tools; the name of one of them and what is asked of it."""
    lines, names = [], random.sample(tuple(TOOLS), random.choice((1, 1, 2, 2, 3)))
    asked_of = {}
    for name in names:
        about, ask = TOOLS[name]
        asked_of[name] = (about, ask(random))
    if random.random() < 0.25:
        name, about, asked = invented_tool(random)
        asked_of[name] = (about, asked)
    for name, (about, asked) in asked_of.items():
        lines.append(f'- {name}({", ".join(asked[1])}): {about}')
    chosen = random.choice(tuple(asked_of))
    random.shuffle(lines)
    return '\n'.join([TOOLS_HEAD, *lines, TOOLS_FOOT]), chosen, asked_of[chosen][1]


def call(random: Random) -> Case:
    system, name, (question, arguments, result) = offer(random)
    answer = json.dumps({'name': name, 'arguments': arguments}, ensure_ascii=False)
    then = (f'Result of {name}: {result}', f'The result is: {result}')
    follow_ups = (then,) if random.random() < 0.7 else ()
    return Case({'question': question}, answer, answer, system, follow_ups)


KINDS = read_kinds(
    'tools',
    (Source('call tools', call, 3, is_exact=True),),
)
