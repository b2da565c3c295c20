"""Kinds of examples that read a text: questions about it, parts of it, its short form, JSON."""

import json
from random import Random

from cases import Case, Source, read_kinds
from lexicon import ALL_NOUNS, CATEGORIES, DAYS, MONTHS
from sentences import JOBS, PAST, PLACES, full_name, invented, person, sentence, thing, town
from wording import article, plural

NOT_SAID = 'The text does not say.'

Told = tuple[str, str, str]
"""A sentence, a question that it answers, and the answer."""


def lived_facts(random: Random) -> list[Told]:
    """Sentences about one person, each with a question and its answer."""
    name = person(random)
    city, job, age = town(random), random.choice(JOBS), str(random.randint(5, 90))
    pet, pet_name = random.choice(CATEGORIES['animal']), person(random)
    food, day = plural(random.choice(CATEGORIES['fruit'])), random.choice(DAYS)
    color, car = random.choice(CATEGORIES['color']), random.choice(CATEGORIES['vehicle'])
    sport, place = random.choice(CATEGORIES['sport']), random.choice(PLACES)
    return [
        (f'{name} lives in {city}.', f'Where does {name} live?', city),
        (f'{name} works as {article(job)}.', f'What is the job of {name}?', job),
        (f'{name} is {age} years old.', f'How old is {name}?', age),
        (
            f'{name} has {article(pet)} called {pet_name}.',
            f'What is the name of the {pet}?',
            pet_name,
        ),
        (f'{name} likes {food}.', f'What does {name} like?', food),
        (f'{name} drives a {color} {car}.', f'What color is the {car}?', color),
        (f'{name} plays {sport} on {day}.', f'When does {name} play {sport}?', day),
        (f'{name} met {pet_name} in the {place}.', f'Whom did {name} meet?', pet_name),
        (
            f'{name} met {pet_name} in the {place}.',
            f'Where did {name} meet {pet_name}?',
            f'the {place}',
        ),
        (f'{name} has {article(pet)} and {article(car)}.', f'Which animal does {name} have?', pet),
    ]


def business_facts(random: Random) -> list[Told]:
    shop, day = random.choice(PLACES), random.choice(DAYS)
    opening, closing = random.randint(6, 11), random.randint(3, 10)
    price, item = random.randint(1, 99), random.choice(ALL_NOUNS)
    days, phone = random.randint(2, 60), ''.join(random.choice('0123456789') for _ in range(6))
    owner, month = full_name(random), random.choice(MONTHS)
    return [
        (f'The {shop} opens at {opening} am.', f'When does the {shop} open?', f'at {opening} am'),
        (f'The {shop} closes at {closing} pm.', f'When does the {shop} close?', f'at {closing} pm'),
        (f'The {shop} is closed on {day}.', f'On which day is the {shop} closed?', day),
        (f'A {item} costs {price} dollars.', f'How much is a {item}?', f'{price} dollars'),
        (
            f'Returns are accepted within {days} days.',
            'How long can I return an item?',
            f'{days} days',
        ),
        (f'The phone number is {phone}.', 'What is the phone number?', phone),
        (f'The owner of the {shop} is {owner}.', f'Who owns the {shop}?', owner),
        (f'The {shop} was built in {month}.', f'When was the {shop} built?', month),
    ]


def passage(random: Random) -> tuple[list[Told], str, list[Told]]:
    """What a text tells, the text, and what could be asked of it in vain."""
    known = random.choice((lived_facts, lived_facts, business_facts))(random)
    chosen: dict[str, Told] = {}
    for entry in random.sample(known, random.choice((1, 2, 2, 3, 3, 4))):
        chosen[entry[0]] = entry
    lines = list(chosen)
    if random.random() < 0.3:
        lines += [sentence(random) for _ in range(random.randint(1, 5))]
        random.shuffle(lines)
    unsaid = [entry for entry in known if entry[0] not in chosen and entry[1][:5] != 'Which']
    return list(chosen.values()), ' '.join(lines), unsaid


def ask_text(random: Random) -> Case:
    told, text, _ = passage(random)
    _, question, answer = random.choice(told)
    rest = tuple((entry[1], entry[2]) for entry in told if entry[1] != question)
    return Case({'text': text, 'question': question}, answer, text + question, follow_ups=rest)


def ask_missing(random: Random) -> Case:
    told, text, untold = passage(random)
    if random.random() < 0.5 or not untold:
        untold = random.choice((lived_facts, business_facts))(random)
    known = {entry[1] for entry in told}
    question = random.choice([entry[1] for entry in untold if entry[1] not in known])
    return Case({'text': text, 'question': question}, NOT_SAID, text + question)


def numbers_in(random: Random) -> Case:
    found = [str(random.randint(0, 999)) for _ in range(random.choice((1, 2, 2, 3)))]
    parts = [f'{n} {plural(random.choice(ALL_NOUNS))}' for n in found]
    text = f'{person(random)} {random.choice(PAST)} ' + ' and '.join(parts) + '.'
    return Case({'text': text}, ', '.join(found), text)


def names_in(random: Random) -> Case:
    first, second = person(random), person(random)
    text, answer = random.choice(
        (
            (f'{first} {random.choice(PAST)} the {thing(random)}.', first),
            (
                f'Yesterday {first} went to the {random.choice(PLACES)} with {second}.',
                f'{first}, {second}',
            ),
            (f'The {thing(random)} belongs to {first}.', first),
            (f'{first} and {second} are friends.', f'{first}, {second}'),
            (f'I saw {first} in the {random.choice(PLACES)}.', first),
        )
    )
    return Case({'text': text}, answer, text)


def mail_in(random: Random) -> Case:
    user = random.choice((person(random).lower(), invented(random)))
    host = random.choice((invented(random), 'example', 'mail'))
    mail = f'{user}@{host}.{random.choice(("com", "org", "net"))}'
    text = random.choice(
        (
            f'Please write to {mail} for help.',
            f'My address is {mail}, thank you.',
            f'Contact: {mail}',
            f'{person(random)} can be reached at {mail} on {random.choice(DAYS)}.',
            f'Send the report to {mail}.',
        )
    )
    return Case({'text': text}, mail, text)


def city_in(random: Random) -> Case:
    city = town(random)
    text = random.choice(
        (
            f'{person(random)} lives in {city}.',
            f'The train to {city} leaves at {random.randint(1, 12)}.',
            f'We were in {city} on {random.choice(DAYS)}.',
            f'Our office in {city} is closed.',
            f'{person(random)} flew from {city} last week.',
        )
    )
    return Case({'text': text}, city, text)


def day_in_text(random: Random) -> Case:
    day = random.choice(DAYS)
    text = random.choice(
        (
            f'The meeting is on {day}.',
            f'{person(random)} arrives on {day} by {random.choice(CATEGORIES["vehicle"])}.',
            f'Please call me before {day}.',
            f'On {day} the {random.choice(PLACES)} is closed.',
            f'We meet in the {random.choice(PLACES)} next {day}.',
        )
    )
    return Case({'text': text}, day, text)


def summary(random: Random) -> Case:
    main = sentence(random)
    extra = random.sample(
        (
            'It took a long time.',
            'The weather was fine.',
            'Nobody was surprised.',
            'There was a lot of noise.',
            'It was late in the evening.',
            'Many people were there.',
            'It had been planned for weeks.',
            'The day was long and quiet.',
            'It cost a little money.',
            'Everyone talked about it later.',
            'The birds were singing.',
            'It happened in the morning.',
            'Some people took pictures.',
        ),
        random.choice((1, 2, 2, 3)),
    )
    return Case({'text': ' '.join([main, *extra])}, main, main + ' '.join(extra))


def compact(value: dict[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False)


def person_json(random: Random) -> Case:
    name, age, city, job = person(random), random.randint(3, 99), town(random), random.choice(JOBS)
    text, value = random.choice(
        (
            (f'{name} is {age} years old.', {'name': name, 'age': age}),
            (f'My name is {name} and I am {age}.', {'name': name, 'age': age}),
            (
                f'{name}, {age} years old, lives in {city}.',
                {'name': name, 'age': age, 'city': city},
            ),
            (f'{name} is {age} and lives in {city}.', {'name': name, 'age': age, 'city': city}),
            (f'{name} lives in {city}.', {'name': name, 'city': city}),
            (f'{name} is {article(job)} from {city}.', {'name': name, 'job': job, 'city': city}),
            (f'{name} works as {article(job)}.', {'name': name, 'job': job}),
        )
    )
    return json_case(text, value)


def order_json(random: Random) -> Case:
    count, item, price = random.randint(2, 50), random.choice(ALL_NOUNS), random.randint(1, 99)
    text, value = random.choice(
        (
            (f'I want {count} {plural(item)}.', {'item': item, 'count': count}),
            (f'Please send {count} {plural(item)}.', {'item': item, 'count': count}),
            (f'The {item} costs {price} dollars.', {'item': item, 'price': price}),
            (
                f'{count} {plural(item)} for {price} dollars.',
                {'item': item, 'count': count, 'price': price},
            ),
        )
    )
    return json_case(text, value)


def json_case(text: str, value: dict[str, object]) -> Case:
    return Case({'text': text, 'keys': ', '.join(value)}, compact(value), text)


def read_json(random: Random) -> Case:
    pool: dict[str, object] = {
        'name': person(random),
        'age': random.randint(1, 99),
        'city': town(random),
        'item': random.choice(ALL_NOUNS),
        'price': random.randint(1, 99),
        'color': random.choice(CATEGORIES['color']),
        'job': random.choice(JOBS),
    }
    keys = random.sample(tuple(pool), random.choice((2, 3, 3, 4)))
    value = {key: pool[key] for key in keys}
    asked = random.choice(keys)
    return Case({'json': compact(value), 'key': asked}, str(value[asked]), compact(value) + asked)


def list_json(random: Random) -> Case:
    items = [random.choice(ALL_NOUNS) for _ in range(random.choice((2, 3, 3, 4)))]
    return Case({'list': ', '.join(items)}, json.dumps(items), ' '.join(items))


KINDS = read_kinds(
    'texts',
    (
        Source('answer from a text', ask_text, 3, is_exact=True),
        Source('say what a text lacks', ask_missing, 1.3, is_exact=True),
        Source('extract numbers', numbers_in, 0.8),
        Source('extract names', names_in, 1),
        Source('extract addresses', mail_in, 0.8),
        Source('extract cities', city_in, 0.8),
        Source('extract days', day_in_text, 0.6),
        Source('summarize', summary, 0.8, is_exact=True),
        Source('write JSON / a person', person_json, 1.5),
        Source('write JSON / an order', order_json, 1.5),
        Source('read JSON', read_json, 1.5, is_exact=True),
        Source('write a JSON list', list_json),
    ),
)
