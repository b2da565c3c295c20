import { mkdtemp, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  writeRandomModel,
  type RandomModelShape,
} from '../../src/models/random-model/random-gguf.ts';

export interface BenchModel {
  readonly name: string;
  /** The name and the size. */
  readonly title: string;
  readonly path: string;
  /** Divides what is measured of a slow one. */
  readonly shortening: number;
}

/** That of the built-in model, with which every cost beside the model shows. */
const smallShape: RandomModelShape = {
  width: 256,
  layers: 6,
  heads: 8,
  hidden: 704,
  weights: 'q8_0',
};

/** About 26 million weights. */
const middleShape: RandomModelShape = {
  width: 512,
  layers: 8,
  heads: 8,
  hidden: 1408,
  weights: 'q8_0',
};

/** That of SmolLM2 360M as the catalogue has it, the smallest chat model there. */
const largeShape: RandomModelShape = {
  width: 960,
  layers: 32,
  heads: 15,
  kvHeads: 5,
  hidden: 2560,
  weights: 'q8_0',
  vocabulary: 49_152,
};

const models = {
  small: { shape: smallShape, shortening: 1 },
  middle: { shape: middleShape, shortening: 1 },
  large: { shape: largeShape, shortening: 4 },
};

/** Models of random weights, which cost as much as trained ones and never end an answer. */
export async function writeModels(): Promise<{ files: BenchModel[]; folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'ennead-bench-models-'));
  const files: BenchModel[] = [];
  for (const [name, { shape, shortening }] of Object.entries(models)) {
    const path = join(folder, `${name}.gguf`);
    await writeRandomModel(path, { shape, isEndless: true });
    const { size } = await stat(path);
    files.push({ name, title: `a ${name} model, ${(size / 1e6).toFixed(1)} MB`, path, shortening });
  }
  return { files, folder };
}
