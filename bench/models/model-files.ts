import { mkdtemp, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeRandomModel } from '../../src/models/random-gguf.ts';

export interface BenchModel {
  readonly title: string;
  readonly path: string;
}

/** About 26 million weights of 32 bits: large enough that the model and not the binding is measured. */
const largeShape = { width: 512, layers: 8, heads: 8, hidden: 1408 };

/** That of the built-in model, with which every cost beside the model shows. */
const smallShape = { width: 256, layers: 6, heads: 8, hidden: 704 };

/** Models of random weights, which cost as much as trained ones and never end an answer. */
export async function writeModels(): Promise<{ files: BenchModel[]; folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'ennead-bench-models-'));
  const files = [
    await writeModel('a small model', join(folder, 'small.gguf'), smallShape),
    await writeModel('a large model', join(folder, 'large.gguf'), largeShape),
  ];
  return { files, folder };
}

async function writeModel(
  name: string,
  path: string,
  shape: typeof largeShape,
): Promise<BenchModel> {
  await writeRandomModel(path, { shape, isEndless: true });
  const { size } = await stat(path);
  return { path, title: `${name}, ${(size / 1e6).toFixed(1)} MB` };
}
