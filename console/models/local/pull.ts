import { requestOf } from '../../api/call.ts';
import type { Answer } from '../../api/contracts.ts';
import { Refusal } from '../../api/refusal.ts';
import { send } from '../../api/send.ts';
import { readJsonLines } from './json-lines.ts';

export type PullProgress = Answer<'models', 'POST /api/pull'>;

/** Fetches a model and tells how far it has come; rejects with what is wrong. The signal gives it up. */
export async function* pullModel(model: string, signal: AbortSignal): AsyncGenerator<PullProgress> {
  const { body } = await send(requestOf('models', 'POST /api/pull', { body: { model }, signal }));
  if (!body) return;
  for await (const line of readJsonLines(body)) {
    // Each line is progress by the contract, or a failure in the words of Ollama's API.
    const told = line as PullProgress | { readonly error: string };
    if ('error' in told) throw new Refusal(200, told.error);
    yield told;
  }
}
