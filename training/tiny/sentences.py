"""Plain sentences and invented words to ask questions about."""

from random import Random

from lexicon import (
    ADJECTIVES,
    ALL_NOUNS,
    ALL_WORDS,
    CATEGORIES,
    DAYS,
    NAMES,
    SURNAMES,
)
from wording import article, plural

PAST = (
    'bought',
    'found',
    'lost',
    'painted',
    'sold',
    'saw',
    'moved',
    'broke',
    'cleaned',
    'carried',
    'dropped',
    'wanted',
    'liked',
    'opened',
    'closed',
    'fixed',
    'made',
    'drew',
    'stole',
    'watched',
)
PLACES = (
    'garden',
    'kitchen',
    'park',
    'office',
    'school',
    'market',
    'forest',
    'library',
    'station',
    'museum',
    'hotel',
    'shop',
    'village',
    'street',
    'hospital',
    'church',
    'harbor',
    'theater',
)
JOBS = (
    'teacher',
    'doctor',
    'farmer',
    'baker',
    'driver',
    'sailor',
    'artist',
    'writer',
    'nurse',
    'cook',
    'lawyer',
    'pilot',
    'singer',
    'engineer',
    'gardener',
    'dentist',
    'painter',
    'judge',
    'waiter',
)
ONSETS = (
    'b',
    'br',
    'c',
    'ch',
    'd',
    'dr',
    'f',
    'fl',
    'g',
    'gr',
    'h',
    'j',
    'k',
    'l',
    'm',
    'n',
    'p',
    'pl',
    'r',
    's',
    'sh',
    'st',
    't',
    'tr',
    'v',
    'w',
    'z',
    '',
)
VOWELS = ('a', 'e', 'i', 'o', 'u', 'ai', 'ea', 'oo', 'ie', 'y')
CODAS = ('', '', 'n', 'r', 's', 't', 'l', 'm', 'ck', 'nd', 'x', 'p')


def invented(random: Random) -> str:
    """A word that no dictionary has, so that copying cannot lean on known words."""
    count = random.choice((1, 2, 2, 3))
    return ''.join(
        random.choice(ONSETS) + random.choice(VOWELS) + random.choice(CODAS) for _ in range(count)
    )


def any_word(random: Random) -> str:
    return invented(random) if random.random() < 0.2 else random.choice(ALL_WORDS)


def person(random: Random) -> str:
    if random.random() < 0.12:
        return invented(random).capitalize()
    return random.choice(NAMES)


def full_name(random: Random) -> str:
    return f'{person(random)} {random.choice(SURNAMES)}'


def town(random: Random) -> str:
    if random.random() < 0.15:
        return invented(random).capitalize()
    return random.choice(CATEGORIES['city'])


def thing(random: Random) -> str:
    noun = random.choice(ALL_NOUNS)
    return f'{random.choice(ADJECTIVES)} {noun}' if random.random() < 0.4 else noun


def sentence(random: Random) -> str:
    """Six to twelve words that end with a full stop."""
    return random.choice(SENTENCES)(random)


def deed(random: Random) -> str:
    did = f'{person(random)} {random.choice(PAST)} the {thing(random)}'
    return f'{did} in the {random.choice(PLACES)}.'


def gift(random: Random) -> str:
    giver, present = person(random), article(thing(random))
    return f'{giver} gave {present} to {person(random)} on {random.choice(DAYS)}.'


def sight(random: Random) -> str:
    return f'The {thing(random)} is near the {thing(random)} by the {random.choice(PLACES)}.'


def trip(random: Random) -> str:
    went = f'{person(random)} went to {town(random)}'
    return f'{went} by {random.choice(CATEGORIES["vehicle"])} last week.'


def taste(random: Random) -> str:
    food = plural(random.choice(CATEGORIES['fruit']))
    return (
        f'My {random.choice(JOBS)} likes {food} and {random.choice(CATEGORIES["drink"])} very much.'
    )


def work(random: Random) -> str:
    return f'{person(random)} works as {article(random.choice(JOBS))} in {town(random)}.'


def purchase(random: Random) -> str:
    count = random.randint(2, 99)
    return f'{person(random)} bought {count} {plural(random.choice(ALL_NOUNS))} in {town(random)}.'


def weather(random: Random) -> str:
    kind = random.choice(('sunny', 'rainy', 'cold', 'warm', 'windy', 'cloudy'))
    return f'It was a {kind} {random.choice(DAYS)} in {town(random)}.'


SENTENCES = (deed, deed, gift, sight, trip, taste, work, purchase, weather)
