import type { ModelInfo } from '../inference/inference.ts';
import type { AnswerFormat, GenerateRequest } from '../inference/request.ts';
import { toTopP } from '../nucleus.ts';
import { present } from '../optional-fields.ts';
import { invalidField, refuseChanged } from '../unsupported.ts';
import { readKeepAlive } from './keep-alive.ts';
import type { ChatBody, GenerateBody, Options } from './schemas.ts';

/** Options that change the answer and that no runtime here knows, with the value that asks nothing. */
const unsupportedOptions = {
  mirostat: 0,
  tfs_z: 1,
  typical_p: 1,
  repeat_last_n: 64,
};

/** What texts and chats take alike, in the runtime's words; throws `invalid` naming the option. */
export function toRequestOptions(
  body: GenerateBody | ChatBody,
  model: ModelInfo,
): Partial<GenerateRequest> {
  const options = body.options ?? {};
  refuseChanged(options, unsupportedOptions, 'options.');
  requireContext(options, model);
  const { seed, stop, num_predict: predict } = options;
  return present({
    format: toFormat(body.format),
    keepAliveMs: readKeepAlive(body.keep_alive),
    maxTokens: readCount(predict),
    temperature: options.temperature,
    topK: options.top_k,
    topP: toTopP(options.top_p),
    minP: options.min_p,
    repeatPenalty: options.repeat_penalty,
    presencePenalty: options.presence_penalty,
    frequencyPenalty: options.frequency_penalty,
    seed: seed === -1 ? undefined : seed,
    stop: typeof stop === 'string' ? [stop] : stop,
  });
}

/** A prompt is never cut to fit a smaller context, so only one that is too large can be wrong. */
function requireContext({ num_ctx: wanted }: Options, { name, contextTokens }: ModelInfo): void {
  if (!wanted || contextTokens === undefined || wanted <= contextTokens) return;
  throw invalidField('options.num_ctx', `must be at most ${contextTokens}, the context of ${name}`);
}

function readCount(predict: number | null | undefined): number | undefined {
  if (predict === 0) throw invalidField('options.num_predict', 'must be at least 1, or -1 or -2');
  return predict && predict > 0 ? predict : undefined;
}

function toFormat(format: GenerateBody['format']): AnswerFormat | undefined {
  if (!format) return undefined;
  if (format === 'json') return { type: 'json' };
  if (typeof format === 'string') throw invalidField('format', 'must be "json" or a JSON schema');
  return { type: 'json', schema: format };
}
