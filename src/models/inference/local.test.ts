import { expect, test } from 'vitest';
import { Fault } from '../../kit/errors.ts';
import type { ModelLibrary } from '../library/library.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { LocalInference } from './local.ts';
import { describeModel } from './testing.ts';

const model = { ...describeModel('mine'), path: '/models/mine.gguf', isBuiltIn: false };
const caller = { signal: new AbortController().signal };
const bad = new Fault('invalid', 'the model file cannot be loaded', { reason: 'bad_model_file' });
const missing = new Fault('not_found', 'there is no model mine', { reason: 'model_not_found' });

/** The models of a runtime that loads no file, and of a folder that has the model or not. */
function inferenceOf(isThere: boolean): LocalInference {
  const library = { find: () => (isThere ? Promise.resolve(model) : Promise.reject(missing)) };
  const fail = () => Promise.reject(bad);
  const runtime = {
    generate: () => ({ [Symbol.asyncIterator]: () => ({ next: fail }) }),
    embed: fail,
    load: fail,
  };
  return new LocalInference(library as unknown as ModelLibrary, runtime as unknown as Runtime);
}

const asks = {
  generate: (inference: LocalInference) =>
    inference.generate(model, { prompt: 'hi' } as never, caller as never).next(),
  embed: (inference: LocalInference) => inference.embed(model, ['hi'], caller as never),
  load: (inference: LocalInference) => inference.load(model, caller as never),
};

test.each(Object.entries(asks))(
  '%s: a file that was deleted while it was loaded is missing',
  async (_, ask) => {
    await expect(ask(inferenceOf(false))).rejects.toBe(missing);
  },
);

test.each(Object.entries(asks))(
  '%s: a file that is there and cannot be loaded is bad',
  async (_, ask) => {
    await expect(ask(inferenceOf(true))).rejects.toMatchObject({
      code: 'invalid',
      reason: 'bad_model_file',
      message: 'mine: the model file cannot be loaded',
    });
  },
);
