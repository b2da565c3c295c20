"""Kinds of examples about words and letters."""

from random import Random

from cases import Case, Source, read_kinds
from lexicon import ALL_NOUNS, CATEGORIES, IRREGULAR_PLURALS, NAMES, OPPOSITES
from sentences import any_word, invented, sentence
from wording import enumerated, plural

LETTERS = 'abcdefghijklmnopqrstuvwxyz'


def word_list(random: Random) -> list[str]:
    pool = random.choice((None, None, None, NAMES, CATEGORIES['animal'], CATEGORIES['fruit']))
    chosen: list[str] = []
    for _ in range(random.choice((3, 3, 4, 4, 5))):
        word = random.choice(pool) if pool else any_word(random)
        if word not in chosen:
            chosen.append(word)
    return chosen


def list_case(chosen: list[str], answer: str, random: Random) -> Case:
    return Case({'list': enumerated(chosen, random)}, answer, ' '.join(sorted(chosen)))


def sort_words(random: Random) -> Case:
    chosen = word_list(random)
    return list_case(chosen, ', '.join(sorted(chosen)), random)


def reverse_words(random: Random) -> Case:
    chosen = word_list(random)
    return list_case(chosen, ', '.join(reversed(chosen)), random)


def first_of_list(random: Random) -> Case:
    chosen = word_list(random)
    return list_case(chosen, chosen[0], random)


def last_of_list(random: Random) -> Case:
    chosen = word_list(random)
    return list_case(chosen, chosen[-1], random)


def longest_word(random: Random) -> Case:
    chosen = word_list(random)
    longest = max(map(len, chosen))
    while sum(len(word) == longest for word in chosen) > 1:
        chosen = word_list(random)
        longest = max(map(len, chosen))
    return list_case(chosen, max(chosen, key=len), random)


def starting_with(random: Random) -> Case:
    chosen = word_list(random)
    letter = random.choice(chosen)[0].lower() if random.random() < 0.85 else random.choice(LETTERS)
    found = [word for word in chosen if word[0].lower() == letter]
    case = list_case(chosen, ', '.join(found) or 'None', random)
    return Case({**case.fields, 'letter': letter}, case.answer, case.key)


def count_items(random: Random) -> Case:
    chosen = [any_word(random) for _ in range(random.randint(1, 8))]
    return Case({'list': ', '.join(chosen)}, str(len(chosen)), ' '.join(chosen))


def count_words(random: Random) -> Case:
    if random.random() < 0.5:
        text = ' '.join(any_word(random) for _ in range(random.randint(1, 7)))
    else:
        text = sentence(random)
    return Case({'text': text}, str(len(text.split())), text)


def first_word(random: Random) -> Case:
    text = sentence(random)
    return Case({'text': text}, text.split()[0], text)


def last_word(random: Random) -> Case:
    text = sentence(random)
    return Case({'text': text}, text.split()[-1].strip('.'), text)


def one_word(random: Random) -> str:
    return invented(random) if random.random() < 0.4 else any_word(random)


def count_letters(random: Random) -> Case:
    word = one_word(random)
    return Case({'word': word}, str(len(word)), word)


def spell(random: Random) -> Case:
    word = one_word(random)
    return Case({'word': word}, '-'.join(word), word)


def first_letter(random: Random) -> Case:
    word = one_word(random)
    return Case({'word': word}, word[0], word)


def last_letter(random: Random) -> Case:
    word = one_word(random)
    return Case({'word': word}, word[-1], word)


def contains_letter(random: Random) -> Case:
    word = one_word(random)
    letter = random.choice(word) if random.random() < 0.5 else random.choice(LETTERS)
    return Case({'word': word, 'letter': letter}, 'Yes' if letter in word else 'No', word)


def some_words(random: Random) -> str:
    return ' '.join(one_word(random) for _ in range(random.choice((1, 1, 1, 2, 2, 3))))


def upper(random: Random) -> Case:
    text = some_words(random)
    return Case({'text': text}, text.upper(), text)


def lower(random: Random) -> Case:
    text = some_words(random)
    return Case({'text': text.upper()}, text, text)


def repeat(random: Random) -> Case:
    text = random.choice((some_words, sentence, sentence))(random)
    if random.random() < 0.1:
        text = f'{text} {random.randint(0, 9999)}'
    return Case({'text': text}, text, text)


def plural_of(random: Random) -> Case:
    nouns = ALL_NOUNS + tuple(IRREGULAR_PLURALS)
    roll = random.random()
    word = random.choice(tuple(IRREGULAR_PLURALS)) if roll < 0.1 else random.choice(nouns)
    if roll > 0.85:
        word = invented(random)
    return Case({'word': word}, plural(word), '' if word in IRREGULAR_PLURALS else word)


def opposite(random: Random) -> Case:
    word, other = random.choice(tuple(OPPOSITES.items()))
    if random.random() < 0.5:
        word, other = other, word
    return Case({'word': word}, other)


KINDS = read_kinds(
    'words',
    (
        Source('sort words', sort_words, 5),
        Source('reverse a list', reverse_words, 2),
        Source('first item', first_of_list, 0.7),
        Source('last item', last_of_list, 0.7),
        Source('longest word', longest_word, 2.5),
        Source('words by letter', starting_with, 2),
        Source('count items', count_items),
        Source('count words', count_words, 1.5),
        Source('first word', first_word, 0.7),
        Source('last word', last_word, 0.7),
        Source('count letters', count_letters, 2.5),
        Source('spell', spell, 3),
        Source('first letter', first_letter),
        Source('last letter', last_letter),
        Source('letter in word', contains_letter, 1.5),
        Source('upper case', upper, 3.5, is_exact=True),
        Source('lower case', lower, 3, is_exact=True),
        Source('repeat', repeat, 1.5, is_exact=True),
        Source('plural', plural_of, 1.5),
        Source('opposite', opposite, 1.5),
    ),
)
