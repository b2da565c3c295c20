"""Reads the corpora and writes pairs of texts that mean something alike, one file a source.

Usage: corpus.py BUILD_FOLDER
Reads BUILD_FOLDER/docs/<package>/ (Debian packages, unpacked) and /usr/share/wordnet, writes
BUILD_FOLDER/pairs-<source>.tsv (two texts a line) and BUILD_FOLDER/held-out.json.
"""

import gzip
import json
import random
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

from domain import domain_pairs

SEED = 20261121
WORDNET = Path('/usr/share/wordnet')
HELD_OUT = 1000

# Package -> folder of English pages. Every one of these is under a permissive licence.
DOCS = {
    'apache2-doc': 'usr/share/doc/apache2-doc/manual/en',
    'docker-doc': 'usr/share/doc/docker-doc',
    'golang-1.19-doc': 'usr/share/doc/golang-1.19-doc/html',
    'nodejs-doc': 'usr/share/doc/nodejs/api',
    'postgresql-doc-15': 'usr/share/doc/postgresql-doc-15/html',
    'python-django-doc': 'usr/share/doc/python-django-doc/html',
    'python-sqlalchemy-doc': 'usr/share/doc/python-sqlalchemy-doc/html',
    'python3.11-doc': 'usr/share/doc/python3.11/html',
    'rust-doc': 'usr/share/doc/rust-doc/html/book',
    'sqlite3-doc': 'usr/share/doc/sqlite3',
    'tomcat10-docs': 'usr/share/tomcat10-docs/docs',
}


def main() -> None:
    build = Path(sys.argv[1])
    rng = random.Random(SEED)
    wordnet(build, rng)
    docs(build, rng)
    jargon(build)
    write(build, 'domain', domain_pairs(rng))


def write(build, source, pairs):
    clean = [(squeeze(a), squeeze(b)) for a, b in pairs]
    clean = [(a, b) for a, b in clean if a and b and a.lower() != b.lower()]
    text = ''.join(f'{a}\t{b}\n' for a, b in clean)
    (build / f'pairs-{source}.tsv').write_text(text, encoding='utf-8')
    print(f'{source}: {len(clean)} pairs')


def squeeze(text):
    return ' '.join(text.split())[:600]


# WordNet


def wordnet(build, rng):
    synsets = read_synsets()
    counted = [key for key, synset in synsets.items() if synset['count'] > 0]
    held = hold_out(rng, synsets, sorted(counted))
    write(build, 'gloss', list(gloss_pairs(synsets, held)))
    write(build, 'synonym', list(synonym_pairs(synsets, held)))
    write(build, 'relation', list(relation_pairs(synsets, held)))


def read_synsets():
    counts = read_counts()
    synsets = {}
    for part, letter in (('noun', 'n'), ('verb', 'v'), ('adj', 'a'), ('adv', 'r')):
        for line in (WORDNET / f'data.{part}').read_text(encoding='latin-1').splitlines():
            if line.startswith('  '):
                continue
            synsets[letter + line[:8]] = read_synset(line, counts)
    return synsets


def read_counts():
    counts = {}
    for line in (WORDNET / 'cntlist.rev').read_text(encoding='latin-1').splitlines():
        key, _, count = line.split()
        lemma, rest = key.split('%')
        ss_type, lex_file, lex_id = rest.split(':')[:3]
        counts[lemma, ss_type, int(lex_file), int(lex_id)] = int(count)
    return counts


def read_synset(line, counts):
    data, _, gloss = line.partition(' | ')
    fields = data.split()
    lex_file, ss_type, size = int(fields[1]), fields[2], int(fields[3], 16)
    number = {'n': '1', 'v': '2', 'a': '3', 'r': '4', 's': '5'}[ss_type]
    lemmas, count = [], 0
    for index in range(size):
        raw, lex_id = fields[4 + 2 * index], int(fields[5 + 2 * index], 16)
        raw = re.sub(r'\((?:p|a|ip)\)$', '', raw)
        count += counts.get((raw.lower(), number, lex_file, lex_id), 0)
        lemmas.append(raw.replace('_', ' '))
    at = 4 + 2 * size
    links = []
    for index in range(int(fields[at])):
        symbol, offset, part, ends = fields[at + 1 + 4 * index : at + 5 + 4 * index]
        links.append((symbol, part.replace('s', 'a') + offset, ends))
    examples = re.findall(r'"([^"]+)"', gloss)
    definition = re.sub(r'"[^"]*"', '', gloss).strip(' ;')
    return {
        'lemmas': lemmas,
        'count': count,
        'links': links,
        'definition': definition,
        'examples': examples,
    }


def hold_out(rng, synsets, counted):
    """Whole synsets that no training pair comes from; their words' other senses stay."""
    single = lambda key: [word for word in synsets[key]['lemmas'] if re.fullmatch('[a-z]{3,}', word)]
    rng.shuffle(counted)
    glosses = [
        key
        for key in counted
        if single(key) and len(synsets[key]['definition'].split()) >= 4
    ][:HELD_OUT]
    synonyms = [key for key in counted if len(single(key)) >= 2 and key not in set(glosses)][:HELD_OUT]
    held = set(glosses) | set(synonyms)
    (Path(sys.argv[1]) / 'held-out.json').write_text(
        json.dumps(
            {
                'glosses': [[synsets[key]['definition'], single(key)[0]] for key in glosses],
                'synonyms': [single(key)[:2] for key in synonyms],
            },
            indent=0,
        )
    )
    return held


def gloss_pairs(synsets, held):
    for key, synset in synsets.items():
        if key in held:
            continue
        for lemma in synset['lemmas'][:4]:
            yield lemma, synset['definition']
        for example in synset['examples'][:2]:
            yield example, f"{synset['lemmas'][0]}: {synset['definition']}"


def synonym_pairs(synsets, held):
    for key, synset in synsets.items():
        lemmas = synset['lemmas'][:6]
        if key not in held:
            yield from ((a, b) for i, a in enumerate(lemmas) for b in lemmas[i + 1 :])


def relation_pairs(synsets, held):
    """Derivations, kinds, similar adjectives, causes, and things filed under one topic."""
    for key, synset in synsets.items():
        for symbol, other, ends in synset['links']:
            if key in held or other in held or other not in synsets:
                continue
            if symbol == '+':
                source, target = int(ends[:2], 16), int(ends[2:], 16)
                yield synset['lemmas'][source - 1], synsets[other]['lemmas'][target - 1]
            elif symbol in ('@', '&', '^', '>', '*', ';c', '$'):
                yield synset['lemmas'][0], synsets[other]['lemmas'][0]


# Documentation


class Page(HTMLParser):
    """Collects the blocks of a page: (tag, text) of headings, paragraphs, terms and definitions."""

    BLOCKS = {'h1', 'h2', 'h3', 'h4', 'p', 'dt', 'dd', 'li', 'title'}
    SKIPPED = {'script', 'style', 'pre', 'nav'}

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.blocks = []
        self.tag, self.parts, self.skipping = '', [], 0

    def handle_starttag(self, tag, attrs):
        if tag in self.SKIPPED:
            self.skipping += 1
        if tag in self.BLOCKS:
            self.flush()
            self.tag = tag

    def handle_endtag(self, tag):
        if tag in self.SKIPPED and self.skipping:
            self.skipping -= 1
        if tag in self.BLOCKS or tag in self.SKIPPED:
            self.flush()

    def handle_data(self, data):
        if self.tag and not self.skipping:
            self.parts.append(data)

    def flush(self):
        text = ' '.join(''.join(self.parts).replace('¶', ' ').split())
        if self.tag and text:
            self.blocks.append((self.tag, text))
        self.tag, self.parts = '', []


def docs(build, rng):
    titled, adjacent = set(), set()
    for package, folder in sorted(DOCS.items()):
        for path in sorted((build / 'docs' / package / folder).rglob('*')):
            if re.search(r'\.(html|md)(\.en)?(\.gz)?$', path.name) and path.is_file():
                collect(blocks_of(path), titled, adjacent)
    write(build, 'heading', rng.sample(sorted(titled), min(len(titled), 90_000)))
    write(build, 'adjacent', rng.sample(sorted(adjacent), min(len(adjacent), 150_000)))


def blocks_of(path):
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == '.gz' else raw).decode('utf-8', 'replace')
    if '.md' in path.name:
        return markdown_blocks(text)
    page = Page()
    page.feed(text)
    return page.blocks


def markdown_blocks(text):
    text = re.sub(r'```.*?```', '', text, flags=re.S)
    for block in re.split(r'\n\s*\n', text):
        plain = re.sub(r'[`*_]|\]\([^)]*\)|\[|^#+ ', '', block)
        yield ('h2' if block.startswith('#') else 'p'), plain


def collect(blocks, titled, adjacent):
    title, heading, previous, term, since = '', '', '', '', 0
    for tag, text in blocks:
        if tag in ('title', 'h1'):
            title, heading = text, text
        elif tag.startswith('h'):
            heading, previous, since = text, '', 0
        elif tag == 'dt':
            term = text
        elif len(text) >= 40:
            if tag == 'dd' and term:
                titled.add((term[:120], text))
                term = ''
            elif heading and since < 3:
                titled.add((heading[:120] if since else f'{title} {heading}'[:160], text))
                since += 1
            sentences = re.split(r'(?<=[.!?])\s+(?=[A-Z])', text)
            adjacent.update((a, b) for a, b in zip(sentences, sentences[1:]) if len(a) > 30 < len(b))
            if previous:
                adjacent.add((previous, text))
            previous = text


def jargon(build):
    folder = build / 'docs' / 'dict-jargon' / 'usr/share/dictd'
    body = gzip.decompress((folder / 'jargon.dict.dz').read_bytes()).decode('utf-8', 'replace')
    digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
    number = lambda text: sum(digits.index(c) * 64**i for i, c in enumerate(reversed(text)))
    pairs = []
    for line in (folder / 'jargon.index').read_text(encoding='utf-8').splitlines():
        term, start, length = line.split('\t')
        if not term.startswith('00'):
            entry = body[number(start) : number(start) + number(length)]
            pairs.append((term, ' '.join(entry.split()[1:])))
    write(build, 'jargon', pairs)


if __name__ == '__main__':
    main()
