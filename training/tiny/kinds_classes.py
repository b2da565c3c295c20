"""Kinds of examples with a fixed choice of answers, and of facts."""

from random import Random

from cases import Case, Source, read_kinds
from lexicon import CAPITALS, CATEGORIES, FACTS, NAMES, SOUNDS
from sentences import thing, town
from wording import article, enumerated, listed

GOOD = (
    'great',
    'wonderful',
    'excellent',
    'lovely',
    'perfect',
    'amazing',
    'fantastic',
    'delicious',
    'beautiful',
    'brilliant',
    'superb',
    'delightful',
    'very good',
    'pleasant',
    'awesome',
    'helpful',
)
BAD = (
    'terrible',
    'awful',
    'horrible',
    'bad',
    'disgusting',
    'boring',
    'poor',
    'disappointing',
    'broken',
    'useless',
    'dreadful',
    'very bad',
    'rude',
    'annoying',
    'unpleasant',
    'worthless',
)
GOOD_DEEDS = (
    'I love it',
    'I loved every minute',
    'I would buy it again',
    'it made me happy',
    'I am very pleased',
    'I can recommend it',
    'best day of my life',
    'it works perfectly',
    'thank you so much',
    'I enjoyed it',
    'we had a great time',
    'everything was fine',
    'I am so glad',
    'it was worth the money',
)
BAD_DEEDS = (
    'I hate it',
    'I want my money back',
    'I would never buy it again',
    'it made me angry',
    'what a waste of time',
    'I cannot recommend it',
    'worst day of my life',
    'it stopped working',
    'I am very disappointed',
    'I did not enjoy it',
    'we had a bad time',
    'nothing was right',
    'I am so sad',
    'it was not worth the money',
)
REVIEWED = (
    'food',
    'movie',
    'book',
    'hotel',
    'service',
    'product',
    'phone',
    'room',
    'weather',
    'concert',
    'show',
    'game',
    'meal',
    'coffee',
    'staff',
    'delivery',
    'app',
    'trip',
    'party',
    'song',
    'new camera',
    'lesson',
)
INTENTS = {
    'billing': (
        'I was charged twice',
        'my invoice is wrong',
        'I want a refund',
        'my card was declined',
        'why is my bill so high',
        'I need a receipt for my payment',
        'the price on my invoice is wrong',
        'please refund my last payment',
        'how can I pay by card',
        'I have paid but got a reminder',
    ),
    'technical': (
        'the app crashes when I open it',
        'I cannot log in',
        'the page does not load',
        'I get an error message',
        'my password does not work',
        'the screen stays black',
        'the update fails',
        'the program is very slow',
        'the server does not answer',
        'the button does nothing when I click it',
    ),
    'sales': (
        'I want to buy ten licenses',
        'do you offer a discount for schools',
        'what does the large plan cost',
        'can I see a demo',
        'we would like an offer for our team',
        'which plan is best for us',
        'I am interested in your product',
        'can we try it before we buy',
        'do you sell to companies in Spain',
        'how much are twenty seats',
    ),
    'shipping': (
        'where is my package',
        'my order has not arrived',
        'the parcel came damaged',
        'when will you deliver',
        'can you send it to another address',
        'the tracking number does not work',
        'my delivery is late',
        'I got the wrong item',
        'how long does shipping take',
        'the box was empty when it came',
    ),
}


def is_a(random: Random) -> Case:
    name = random.choice(tuple(CATEGORIES))
    other = name if random.random() < 0.5 else random.choice(tuple(CATEGORIES))
    item = random.choice(CATEGORIES[other])
    answer = 'Yes' if item in CATEGORIES[name] else 'No'
    subject = item if item[0].isupper() or other in ('color', 'sport', 'drink') else article(item)
    fields = {'subject': subject, 'item': item, 'class': article(name), 'bare': name}
    return Case(fields, answer, f'{item},{name}')


def class_of(random: Random) -> Case:
    names = random.sample(tuple(CATEGORIES), random.choice((2, 3, 3, 4)))
    right = random.choice(names)
    others = [CATEGORIES[name] for name in names if name != right]
    item = random.choice(
        [item for item in CATEGORIES[right] if not any(item in other for other in others)]
    )
    return Case(
        {'item': item, 'labels': ', '.join(names), 'choice': either(names)}, right, item + right
    )


def either(names: list[str]) -> str:
    return ', '.join(names[:-1]) + ' or ' + names[-1]


def odd_one(random: Random) -> Case:
    usual, strange = random.sample(tuple(CATEGORIES), 2)
    items = random.sample(CATEGORIES[usual], random.choice((2, 3)))
    odd = random.choice([item for item in CATEGORIES[strange] if item not in CATEGORIES[usual]])
    mixed = random.sample([*items, odd], len(items) + 1)
    return Case({'list': enumerated(mixed, random)}, odd, ' '.join(sorted(mixed)))


def three_of(random: Random) -> Case:
    name = random.choice(tuple(CATEGORIES))
    pool, count = CATEGORIES[name], random.choice((2, 3, 3, 3, 4))
    word = ('two', 'three', 'four')[count - 2]

    def accepts(answer: str) -> bool:
        given = answer.split(', ')
        return len(set(given)) == count and all(item in pool for item in given)

    several = {'country': 'countries', 'city': 'cities'}.get(name, name + 's')
    return Case(
        {'n': word, 'class': several}, ', '.join(random.sample(pool, count)), accepts=accepts
    )


def opinion(random: Random) -> Case:
    is_good = random.random() < 0.5
    adjective, deed = (
        random.choice(GOOD if is_good else BAD),
        random.choice(GOOD_DEEDS if is_good else BAD_DEEDS),
    )
    topic = random.choice(REVIEWED)
    text = random.choice(
        (
            f'The {topic} was {adjective}.',
            f'The {topic} was {adjective} and {deed}.',
            f'{deed.capitalize()}.',
            f'What a {adjective} {topic}!',
            f'This {topic} is {adjective}, {deed}.',
            f'{deed.capitalize()}, a {adjective} {topic}.',
            f'The {topic} in {town(random)} was really {adjective}.',
            f'I think the {topic} is {adjective}.',
        )
    )
    return Case({'text': text}, 'positive' if is_good else 'negative', text)


def intent(random: Random) -> Case:
    labels = random.sample(tuple(INTENTS), random.choice((2, 3, 3, 4)))
    right = random.choice(labels)
    text = random.choice(INTENTS[right]).capitalize()
    if random.random() < 0.5:
        text = random.choice(
            (
                f'Hello, {text[0].lower()}{text[1:]}.' if text[:2] != 'I ' else f'Hello, {text}.',
                f'{text}. Please help.',
                f'{text}!',
                f'{text}. My name is {random.choice(NAMES)}.',
                f'{text} since Monday.',
                f'{text}, thank you.',
            )
        )
    return Case(
        {'text': text, 'labels': ', '.join(labels), 'choice': either(labels)},
        right,
        text + ' '.join(labels),
    )


def capital(random: Random) -> Case:
    country, city = random.choice(tuple(CAPITALS.items()))
    return Case({'country': country}, city)


def country_of(random: Random) -> Case:
    country, city = random.choice(tuple(CAPITALS.items()))
    return Case({'city': city}, country[0].upper() + country[1:])


def fact(random: Random) -> Case:
    topic, value = random.choice(tuple(FACTS.items()))
    return Case({'topic': topic, 'thing': topic.removeprefix('the color of ')}, value)


def sound(random: Random) -> Case:
    animal, noise = random.choice(tuple(SOUNDS.items()))
    return Case({'animal': animal}, noise.capitalize() + '!')


def list_in_words(random: Random) -> Case:
    items = [thing(random) for _ in range(random.choice((2, 3, 3, 4)))]
    return Case({'list': ', '.join(items)}, listed(items), ' '.join(items))


KINDS = read_kinds(
    'classes',
    (
        Source('yes or no', is_a, 5),
        Source('classify words', class_of, 3.5),
        Source('odd one out', odd_one, 3.5),
        Source('name some', three_of, 2),
        Source('sentiment', opinion, 1.5),
        Source('route messages', intent, 1.2),
        Source('capitals', capital, 2),
        Source('countries of capitals', country_of, 1.2),
        Source('colors of things', fact, 0.3),
        Source('animal sounds', sound, 0.3),
        Source('join a list', list_in_words, 0.6),
    ),
)
