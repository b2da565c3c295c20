import { join } from 'node:path';
import { builtInFolder } from '../../library/built-in.ts';
import { Context } from './context.ts';
import { openLibrary } from './library.ts';
import { Model } from './model.ts';

export interface TestModel {
  readonly model: Model;
  readonly context: Context;
}

export const testModelPath = join(builtInFolder, 'ennead-tiny.gguf');

/** A process opens it once, and tests share processes. */
export const testLibrary = openLibrary(() => {});

/** The built-in model, ready to read several sequences of this many tokens. */
export async function openTestModel(contextTokens = 512): Promise<TestModel> {
  const model = await Model.load(testLibrary, testModelPath);
  const context = await Context.open(model, {
    sequences: 4,
    contextTokens,
    batchTokens: 128,
    threads: 1,
    makesVectors: false,
  });
  return { model, context };
}
