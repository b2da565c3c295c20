import { Fault } from '../../kit/errors.ts';
import type { ModelFile } from './model-file.ts';
import { textsOf } from './child/prompt-texts.ts';
import type { Task } from './protocol.ts';

/** No usual tokenizer makes fewer tokens of a text: words and runs of blanks are shorter. */
const bytesPerTokenMax = 64;

/**
 * Checks what the header tells, before the model is loaded for nothing. Fault `invalid`:
 * `unsupported_capability`, or `context_length_exceeded` for a text that cannot fit whatever its
 * tokens are.
 */
export function checkTask(task: Task, file: ModelFile): void {
  checkCapability(task, file);
  checkLength(task, file);
}

function checkCapability({ kind }: Task, file: ModelFile): void {
  const able = { generate: 'generative', embed: 'embedding', load: file.kind }[kind];
  if (able === file.kind) return;
  const message = kind === 'embed' ? 'this model makes no embeddings' : 'this model only embeds';
  const detail = { param: 'model' };
  throw new Fault('invalid', message, { reason: 'unsupported_capability', detail });
}

/** To tokenize such a text would take the model process seconds, in which everybody else waits. */
function checkLength(task: Task, { contextTokens }: ModelFile): void {
  const bytesMax = contextTokens * bytesPerTokenMax;
  const bytes = longestOf(task);
  if (bytes <= bytesMax) return;
  const limit = `the context of ${contextTokens} tokens takes at most ${bytesMax}`;
  throw new Fault('invalid', `the text has ${bytes} bytes, ${limit}`, {
    reason: 'context_length_exceeded',
    detail: { bytes, bytesMax, contextTokens },
  });
}

function longestOf(task: Task): number {
  if (task.kind === 'load') return 0;
  if (task.kind === 'embed')
    return bytesOf(task.texts).reduce((most, one) => Math.max(most, one), 0);
  return bytesOf(textsOf(task.work)).reduce((sum, one) => sum + one, 0);
}

function bytesOf(texts: readonly string[]): number[] {
  return texts.map((text) => Buffer.byteLength(text));
}
