// Turns the pairs into rows of the model. Usage: tokenise.ts BUILD_FOLDER
// Writes rows-<source>.i32: a text is its length, then its entries; a known word is one entry (its
// row), an unknown word is -(number of pieces) and then the pieces' rows. Also pieces.i32, the
// pieces of every vocabulary word in the same form.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { piecesOf, stemsOf, wordsOf } from '../../src/models/embedding/words.ts';

const buckets = 4096;
const longest = 96;
const sources = ['gloss', 'synonym', 'relation', 'heading', 'adjacent', 'jargon', 'domain'];
const [build = 'build'] = process.argv.slice(2);

const words = readFileSync(join(build, 'vocabulary.txt'), 'utf8').trim().split('\n');
const rows = new Map(words.map((word, row) => [word, row]));

for (const source of sources) {
  const texts = readFileSync(join(build, `pairs-${source}.tsv`), 'utf8')
    .trim()
    .split(/[\t\n]/);
  writeFileSync(join(build, `rows-${source}.i32`), packed(texts.map(entriesOf)));
}
writeFileSync(join(build, 'pieces.i32'), packed(words.map((word) => piecesEntry(word))));

function entriesOf(text: string): number[] {
  const found = wordsOf(text, (word) => rowOf(word) !== undefined).slice(0, longest);
  return found.flatMap((word) => {
    const row = rowOf(word);
    return row === undefined ? piecesEntry(word) : [row];
  });
}

function rowOf(word: string): number | undefined {
  const exact = rows.get(word);
  if (exact !== undefined) return exact;
  const stem = stemsOf(word).find((candidate) => rows.has(candidate));
  return stem === undefined ? undefined : rows.get(stem);
}

function piecesEntry(word: string): number[] {
  const pieces = piecesOf(word).map((hash) => words.length + (hash % buckets));
  return [-pieces.length, ...pieces];
}

function packed(texts: number[][]): Int32Array {
  const total = texts.reduce((sum, entries) => sum + entries.length + 1, 0);
  const out = new Int32Array(total);
  let at = 0;
  for (const entries of texts) {
    out[at] = entries.length;
    out.set(entries, at + 1);
    at += entries.length + 1;
  }
  return out;
}
