import type { Static, TObject } from 'typebox';
import type { GenerateRequest } from '../inference/request.ts';
import { toTopP } from '../nucleus.ts';
import { present } from '../optional-fields.ts';
import type { samplingFields } from './chat-schemas.ts';

/** What chats and texts take alike, in the runtime's words. */
export function toSampling(body: Static<TObject<typeof samplingFields>>): Partial<GenerateRequest> {
  const { stop } = body;
  return present({
    temperature: body.temperature,
    topP: toTopP(body.top_p),
    topK: body.top_k,
    minP: body.min_p,
    repeatPenalty: body.repeat_penalty,
    frequencyPenalty: body.frequency_penalty,
    presencePenalty: body.presence_penalty,
    seed: body.seed,
    stop: typeof stop === 'string' ? [stop] : stop,
  });
}
