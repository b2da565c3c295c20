"""Kinds of examples that are talk: greetings, who the model is, stories, what it cannot do."""

from random import Random

from cases import Case, Source, read_kinds
from lexicon import ADJECTIVES, ALL_NOUNS, CATEGORIES, NAMES
from sentences import PLACES, invented, person, sentence, thing, town
from topics import EVENTS, LANGUAGES, PEOPLE, TOPICS
from wording import article, plural

WHO = 'I am ennead-tiny, a very small language model.'
SKILLS = (
    'I can do small sums, sort and count words, find things in short texts, '
    'write short JSON and tell small stories.'
)
TOO_SMALL = 'I am too small to know that. Ask me for small sums, words, lists or short texts.'
TOO_LARGE = (
    'That is too large for me. I add and subtract numbers up to 100 and multiply up to 10 x 10.'
)
HELLO = 'Hello! How can I help you?'
REMARK = 'I see. How can I help you?'
UNCLEAR = 'I do not understand that.'
JOKES = (
    'Why did the chicken cross the road? To get to the other side!',
    'What has four wheels and flies? A garbage truck!',
    'What gets wetter the more it dries? A towel!',
    'What has hands but cannot clap? A clock!',
    'Why do bees hum? They do not know the words!',
)
PROVERBS = (
    'A stitch in time saves nine.',
    'The early bird catches the worm.',
    'Practice makes perfect.',
    'Better late than never.',
    'Actions speak louder than words.',
    'Many hands make light work.',
    'All that glitters is not gold.',
    'A friend in need is a friend indeed.',
)


def said(*answers: str):
    """Draws one of the answers, all of which are right."""

    def draw(random: Random) -> Case:
        return Case({}, random.choice(answers), accepts=lambda answer: answer in answers)

    return draw


def tell_story(random: Random) -> Case:
    hero = random.choice(CATEGORIES['animal'])
    name, friend = random.choice(NAMES), random.choice(CATEGORIES['animal'])
    mood, place = random.choice(ADJECTIVES[:40]), random.choice(PLACES)
    food = random.choice(CATEGORIES['fruit'])
    start = random.choice(
        (
            f'Once upon a time there was {article(mood)} {hero} called {name}.',
            f'{name} was {article(mood)} {hero} who lived near the {place}.',
        )
    )
    middle = random.choice(
        (
            f'One day {name} found {article(food)} in the {place}.',
            f'One day {name} lost the way to the {place}.',
            f'One morning {name} met {article(friend)} in the {place}.',
        )
    )
    end = random.choice(
        (
            f'A {friend} came to help, and they became friends.',
            f'{name} shared it with {article(friend)}, and both were happy.',
            'They laughed and played until the sun went down.',
            f'In the evening {name} went home and slept well.',
        )
    )
    return Case({'hero': hero}, f'{start} {middle} {end}', accepts=lambda answer: is_story(answer))


def is_story(answer: str) -> bool:
    return 3 <= answer.count('.') <= 4 and answer.endswith('.') and 12 <= len(answer.split()) <= 60


def hello_by_name(random: Random) -> Case:
    name = person(random)
    recall = random.choice(
        ('What is my name?', 'Do you know my name?', 'Who am I?', 'Can you tell me my name?')
    )
    return Case(
        {'name': name},
        f'Nice to meet you, {name}!',
        name,
        follow_ups=((recall, f'Your name is {name}.'),),
    )


def wish(random: Random) -> Case:
    name = person(random)
    return Case({'name': name}, f'Happy birthday, {name}! I wish you a wonderful day.', name)


def thank_you_note(random: Random) -> Case:
    name = person(random)
    return Case(
        {'name': name}, f'Dear {name}, thank you very much for your help. Best wishes!', name
    )


def greet_person(random: Random) -> Case:
    name = person(random)
    return Case({'name': name}, f'Hello, {name}!', name)


def persona(random: Random) -> Case:
    name = person(random)
    role = random.choice(
        (
            'a friendly assistant',
            'a helpful assistant',
            'the assistant of a shop',
            'a polite helper',
        )
    )
    system = random.choice((f'You are {name}, {role}.', f'Your name is {name}. You are {role}.'))
    return Case({}, f'I am {name}, {role}.', name, system=system)


def unknown(random: Random) -> Case:
    topic = random.choice(
        (
            random.choice(TOPICS),
            random.choice(TOPICS),
            random.choice(TOPICS),
            article(random.choice(ALL_NOUNS)),
        )
    )
    return Case({'topic': topic}, TOO_SMALL, topic)


def unknown_person(random: Random) -> Case:
    who = random.choice(PEOPLE)
    return Case({'who': who}, TOO_SMALL, who)


def unknown_event(random: Random) -> Case:
    event = random.choice(EVENTS)
    return Case({'event': event}, TOO_SMALL, event)


def unknown_now(random: Random) -> Case:
    city = town(random)
    return Case({'city': city}, TOO_SMALL, city)


def remark(random: Random) -> Case:
    text = random.choice(
        (
            sentence(random),
            f'I like {plural(random.choice(ALL_NOUNS))}.',
            f'I am {random.choice(ADJECTIVES)}.',
            f'I have {article(thing(random))}.',
            random.choice(
                ('OK', 'Yes', 'No', 'Nice', 'Good', 'I see', 'Really?', 'Wow', 'Great', 'Fine')
            ),
            f'I am from {town(random)}.',
            f'My {random.choice(ALL_NOUNS)} is {random.choice(ADJECTIVES)}.',
        )
    )
    return Case({'text': text}, REMARK, text if len(text) > 9 else '')


def nonsense(random: Random) -> Case:
    text = ' '.join(invented(random) for _ in range(random.randint(1, 4)))
    return Case({'text': text}, UNCLEAR, text)


def translation(random: Random) -> Case:
    text = random.choice(
        (
            'good morning',
            'I love you',
            'the house',
            'where is the station',
            'thank you',
            'a cat',
            'my name is Tom',
        )
    )
    return Case({'text': text, 'language': random.choice(LANGUAGES)}, TOO_SMALL)


def large_sum(random: Random) -> Case:
    sign = random.choice(('+', '-', '*', '/', 'x'))
    a, b = random.randint(101, 99999), random.randint(11, 9999)
    if sign in '*x' and random.random() < 0.5:
        a, b = random.randint(11, 99), random.randint(11, 99)
    return Case({'a': str(a), 'b': str(b), 'sign': sign}, TOO_LARGE, f'{a}{sign}{b}')


KINDS = read_kinds(
    'talk',
    (
        Source('greetings / hello', said(HELLO)),
        Source('greetings / thanks', said('You are welcome!'), 0.5),
        Source('greetings / goodbye', said('Goodbye!'), 0.5),
        Source('greetings / how are you', said('I am fine, thank you. How can I help you?'), 0.5),
        Source('who it is', said(WHO), 1.2),
        Source('what it can', said(SKILLS), 0.8),
        Source('persona of the system', persona, 0.8),
        Source('jokes', said(*JOKES), 0.4),
        Source('proverbs', said(*PROVERBS), 0.4),
        Source('stories', tell_story, 0.7),
        Source('names of people', hello_by_name, 1.2),
        Source('wishes / birthday', wish, 0.4),
        Source('wishes / thanks', thank_you_note, 0.4),
        Source('greet someone', greet_person, 0.5),
        Source('refusals / topics', unknown, 2),
        Source('refusals / people', unknown_person, 0.8),
        Source('refusals / events', unknown_event, 0.8),
        Source('refusals / places', unknown_now, 0.7),
        Source('refusals / languages', translation, 0.6),
        Source('remarks', remark, 0.8, is_exact=True),
        Source('nonsense', nonsense, 0.4, is_exact=True),
        Source('sums that are too large', large_sum, 0.8),
    ),
)
