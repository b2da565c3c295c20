import type { Shot } from '../harness/load.ts';

/** The model that the scripted upstream has. */
export const model = 'bench-1';

export const path = '/v1/chat/completions';

const created = 1_767_225_600;
const usage = { prompt_tokens: 21, completion_tokens: 50, total_tokens: 71 };

function completionOf(content: string): string {
  const message = { role: 'assistant', content, refusal: null };
  return JSON.stringify({
    id: 'chatcmpl-0123456789abcdef',
    object: 'chat.completion',
    created,
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
    usage: { ...usage, prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 } },
    system_fingerprint: 'fp_0123456789',
  });
}

const completionBytes = 579;

/** A whole answer of 579 bytes. */
export const completion = completionOf('a'.repeat(completionBytes - completionOf('').length));

export const chunkCount = 50;

function chunkOf(delta: object, rest: object = {}): string {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: null, ...rest }];
  return eventOf({ choices });
}

function eventOf(fields: object): string {
  const head = { id: 'chatcmpl-0123456789abcdef', object: 'chat.completion.chunk', created, model };
  return `data: ${JSON.stringify({ ...head, system_fingerprint: 'fp_0123456789', ...fields })}\n\n`;
}

/** The events of a streamed answer, the last of which says why it ended. */
export const chunks: readonly string[] = [
  chunkOf({ role: 'assistant', content: '', refusal: null }),
  ...Array.from({ length: chunkCount - 2 }, (_, at) => chunkOf({ content: ` word${at}` })),
  chunkOf({}, { finish_reason: 'stop' }),
];

/** What follows when the client asked for it. */
export const usageChunk = eventOf({ choices: [], usage });

export const done = 'data: [DONE]\n\n';

const messages = [
  { role: 'system', content: 'You answer in one sentence.' },
  { role: 'user', content: 'How many people live in Paris, and how many of them like it there?' },
];

function shotOf(fields: object): Shot {
  const body = JSON.stringify({ model, messages, max_tokens: 256, ...fields });
  return { method: 'POST', path, body };
}

/** A request that no cache may answer. */
export const wholeShot = shotOf({ temperature: 0.7 });
export const streamShot = shotOf({ temperature: 0.7, stream: true });
/** A request whose answer may be kept. */
export const cachedShot = shotOf({ temperature: 0 });
