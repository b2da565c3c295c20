// Measures an embedder's file against plain baselines. Usage: evaluate.ts BUILD_FOLDER FILE
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadStaticEmbedder } from '../../src/models/embedding/static-embedder.ts';
import { piecesOf, wordsOf } from '../../src/models/embedding/words.ts';
import { bm25, stopWords } from './baselines.ts';

const [build = 'build', file = ''] = process.argv.slice(2);
const embedder = await loadStaticEmbedder('measured', file);
type Score = (queries: string[], documents: string[]) => Promise<number[][]>;
const methods: Record<string, Score> = {
  trained: async (queries, documents) => {
    const left = (await embedder.embed(queries)).vectors;
    const right = (await embedder.embed(documents)).vectors;
    return left.map((a) => right.map((b) => dot(a, b)));
  },
  hashed: async (queries, documents) => {
    const [left, right] = [queries.map(hashed), documents.map(hashed)];
    return left.map((a) => right.map((b) => dot(a, b)));
  },
  bm25: async (queries, documents) => bm25(queries, documents),
};
methods['0.3 bm25 + trained'] = async (queries, documents) => {
  const lexical = await scored('bm25', queries, documents);
  const meant = await scored('trained', queries, documents);
  return lexical.map((row, query) => {
    const highest = Math.max(...row, 1e-9);
    return row.map((score, at) => (0.3 * score) / highest + (meant[query]?.[at] ?? 0));
  });
};

interface Written {
  readonly pairs: { kind: string; query: string; document: string }[];
  readonly distractors: string[];
}
interface HeldOut {
  readonly glosses: [string, string][];
  readonly synonyms: [string, string][];
}
// Both files are written by hand or by corpus.py in these shapes.
const written = JSON.parse(
  readFileSync(new URL('evaluation.json', import.meta.url), 'utf8'),
) as Written;
const heldOut = JSON.parse(readFileSync(join(build, 'held-out.json'), 'utf8')) as HeldOut;

await retrieval('glosses', { pairs: heldOut.glosses });
await separation('synonyms', heldOut.synonyms);
// The first 500 pairs are those that train.py leaves out.
const lines = readFileSync(join(build, 'pairs-heading.tsv'), 'utf8').split('\n').slice(0, 500);
const headings = lines.map((line): [string, string] => {
  const [heading = '', paragraph = ''] = line.split('\t');
  return [heading, paragraph];
});
await retrieval('headings', { pairs: headings });
const handWritten = written.pairs.map(({ query, document }): [string, string] => [query, document]);
const kinds = written.pairs.map(({ kind }) => kind);
const everything = { pairs: handWritten, distractors: written.distractors };
await retrieval('all 80 written', everything);
for (const kind of ['paraphrase', 'short', 'exact']) {
  await retrieval(kind, { ...everything, isCounted: (at) => kinds[at] === kind });
}
await calibration(everything);
for (const [a, b] of [
  ['password', 'login'],
  ['What is the capital of France?', 'Paris is the capital city of France.'],
  ['capital of France', 'largest city in France'],
  ['reset my password', 'the striker scored twice'],
  ['invoice', 'photosynthesis'],
]) {
  const [left, right] = (await embedder.embed([a ?? '', b ?? ''])).vectors;
  if (left && right) print(`cos ${a} ~ ${b}: ${dot(left, right).toFixed(3)}`);
}

interface Asked {
  readonly pairs: readonly [string, string][];
  readonly distractors?: readonly string[];
  readonly isCounted?: (at: number) => boolean;
}

async function retrieval(title: string, asked: Asked): Promise<void> {
  const { pairs, distractors = [], isCounted = () => true } = asked;
  const queries = pairs.map(([query]) => query);
  const documents = [...pairs.map(([, document]) => document), ...distractors];
  for (const method of Object.keys(methods)) {
    const table = await scored(method, queries, documents);
    const ranks = table.map(rankOfOwn).filter((_, at) => isCounted(at));
    const share = (limit: number): string =>
      (ranks.filter((rank) => rank <= limit).length / ranks.length).toFixed(3);
    const mrr = ranks.reduce((total, rank) => total + 1 / rank, 0) / ranks.length;
    print(`${title}, ${method}: @1 ${share(1)} @5 ${share(5)} mrr ${mrr.toFixed(3)}`);
  }
}

/** What a caller needs to choose a least score: how near the own document is, and the best other. */
async function calibration({ pairs, distractors = [] }: Asked): Promise<void> {
  const documents = [...pairs.map(([, document]) => document), ...distractors];
  const queries = pairs.map(([query]) => query);
  const table = await scored('trained', queries, documents);
  const own = table.map((row, at) => row[at] ?? 0);
  const other = table.map((row, at) => Math.max(...row.filter((_, place) => place !== at)));
  const any = table.flatMap((row, at) => row.filter((_, place) => place !== at));
  for (const [title, scores] of Object.entries({ own, 'best other': other, 'any other': any })) {
    const sorted = scores.toSorted((a, b) => a - b);
    const at = (share: number): string =>
      (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(2);
    print(`cosine of ${title}: p5 ${at(0.05)} p50 ${at(0.5)} p95 ${at(0.95)}`);
  }
}

/** Of equal scores, the pair's own counts as the last: a method that says nothing earns nothing. */
function rankOfOwn(row: number[], own: number): number {
  const score = row[own] ?? 0;
  return row.filter((other) => other >= score).length;
}

async function separation(title: string, pairs: readonly [string, string][]): Promise<void> {
  for (const method of Object.keys(methods)) {
    const table = await scored(
      method,
      pairs.map(([a]) => a),
      pairs.map(([, b]) => b),
    );
    const own = table.map((row, at) => row[at] ?? 0);
    const other = table.map((row, at) => row[(at + 1) % row.length] ?? 0);
    let won = 0;
    for (const a of own) for (const b of other) won += a > b ? 1 : a === b ? 0.5 : 0;
    print(`${title}, ${method}: AUC ${(won / own.length / other.length).toFixed(3)}`);
  }
}

async function scored(method: string, queries: string[], documents: string[]) {
  return (await methods[method]?.(queries, documents)) ?? [];
}

/** Words that are no stop words, and their pieces, counted into 4,096 places: what an embedder without knowledge can do. */
function hashed(text: string): Float32Array {
  const counts = new Float32Array(4096);
  for (const word of wordsOf(text, () => true).filter((found) => !stopWords.has(found))) {
    const [whole = 0, ...pieces] = piecesOf(word);
    counts[whole % 4096] = (counts[whole % 4096] ?? 0) + 1;
    for (const piece of pieces) counts[piece % 4096] = (counts[piece % 4096] ?? 0) + 0.3;
  }
  const length = Math.sqrt(dot(counts, counts)) || 1;
  return counts.map((value) => value / length);
}

function dot(a: Float32Array, b: Float32Array): number {
  let total = 0;
  for (let at = 0; at < a.length; at += 1) total += (a[at] ?? 0) * (b[at] ?? 0);
  return total;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
