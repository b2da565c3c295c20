import { mkdtemp, readdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeRandomModel } from '../../src/models/random-gguf.ts';

export interface BenchModel {
  readonly title: string;
  readonly path: string;
}

/** About 26 million weights of 32 bits: large enough that the model and not the binding is measured. */
const largeShape = { width: 512, layers: 8, heads: 8, hidden: 1408 };

/**
 * A model of realistic cost, whose weights are random, and the smallest there is, with which every
 * cost beside the model shows: the built-in one, or random weights again.
 */
export async function findModels(): Promise<{ files: BenchModel[]; folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'ennead-bench-models-'));
  const large = join(folder, 'large.gguf');
  await writeRandomModel(large, { shape: largeShape, isEndless: true });
  const small = (await findBuiltIn()) ?? (await writeSmall(folder));
  const files = await Promise.all([small, large].map(describe));
  return { files, folder };
}

async function describe(path: string): Promise<BenchModel> {
  const { size } = await stat(path);
  const name = path.includes('builtin') ? 'the built-in model' : 'random weights';
  return { path, title: `${name}, ${(size / 1e6).toFixed(1)} MB` };
}

async function writeSmall(folder: string): Promise<string> {
  const path = join(folder, 'small.gguf');
  await writeRandomModel(path, { isEndless: true });
  return path;
}

async function findBuiltIn(): Promise<string | undefined> {
  const folder = fileURLToPath(new URL('../../src/models/builtin/', import.meta.url));
  const files = await readdir(folder).catch(() => []);
  const file = files.find((one) => one.endsWith('.gguf'));
  return file && join(folder, file);
}
