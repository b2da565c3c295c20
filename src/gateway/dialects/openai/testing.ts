import type { Answer, AnswerEvent } from '../../conversation/answer.ts';
import { collectAnswer } from '../../conversation/collect.ts';
import { OpenAiReader } from './reader.ts';
import { OpenAiWatch } from './watch.ts';

/** A stream as a provider sends it, and the whole answer that it gives to the same request. */
export interface ProviderFixture {
  readonly provider: string;
  readonly stream: string;
  readonly answer: Record<string, unknown>;
}

/** The pieces that a stream's bytes hold, comments left out as the framing does. */
export function readStream(stream: string): AnswerEvent[] {
  const reader = new OpenAiReader();
  return stream.split(/\r?\n\r?\n/).flatMap((block) => {
    const data = [...block.matchAll(/^data: ?(.*)$/gm)].map(([, line]) => line ?? '');
    const event = /^event: ?(.*)$/m.exec(block)?.[1];
    if (data.length === 0) return [];
    return [...reader.read({ data: data.join('\n'), ...(event !== undefined && { event }) })];
  });
}

/** A watch that has seen a stream, one event at a time. */
export function watchStream(stream: string): OpenAiWatch {
  const watch = new OpenAiWatch();
  for (const event of stream.split(/(?<=\n\r?\n)/)) watch.see(Buffer.from(event));
  return watch;
}

/** The answer that a stream makes. */
export function answerOf(stream: string): Answer {
  return collectAnswer(readStream(stream));
}

/** Chunks as server-sent events. */
export function events(...values: readonly unknown[]): string {
  return values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join('');
}

/** What every chunk begins with. */
export const head = { id: 'chatcmpl-B9', object: 'chat.completion.chunk', created: 1_741_570_283 };
/** The same of a whole answer. */
export const whole = { ...head, object: 'chat.completion' };

/** A choice of a chunk. */
export function delta(fields: object, finish: string | null = null, index = 0) {
  return { index, delta: fields, logprobs: null, finish_reason: finish };
}

/** A chunk with one choice. */
export function chunk(model: string, fields: object, finish: string | null = null) {
  return { ...head, model, choices: [delta(fields, finish)] };
}
