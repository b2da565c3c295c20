import type { Usage } from '../../conversation/answer.ts';
import type { ImageDialect } from '../dialect.ts';
import { isRecord, isTokenCount, listIn, recordIn, textIn } from '../untrusted.ts';
import type { Json } from '../json.ts';
import { UpstreamError } from '../upstream-error.ts';
import { errorInside } from './answer.ts';

/** OpenAI's `/images/generations`. All fields go on as they came, as those of chats do. */
export const openAiImages: ImageDialect = {
  unsupported: () => undefined,
  write: ({ prompt, count, options }, model) => ({
    path: '/images/generations',
    body: { ...options, model, prompt, ...(count !== undefined && { n: count }) },
  }),
  read(body) {
    if (!isRecord(body)) throw broken('the provider sent no JSON object');
    const error = errorInside(body);
    if (error) throw error;
    const data = listIn(body['data']);
    if (data.length === 0) throw broken('the provider answered without an image');
    if (!data.every(isImage)) throw broken('the provider sent an image that is none');
    return { said: body, count: data.length, usage: readUsage(recordIn(body['usage'])) };
  },
};

function isImage(item: unknown): boolean {
  const { url, b64_json: base64 } = recordIn(item);
  return textIn(url) !== undefined || textIn(base64) !== undefined;
}

/** All that was written are pictures, unless the provider says otherwise. */
function readUsage(usage: Json): Usage | undefined {
  const { input_tokens: inputTokens, output_tokens: outputTokens } = usage;
  if (!isTokenCount(inputTokens) || !isTokenCount(outputTokens)) return undefined;
  const { image_tokens: said } = recordIn(usage['output_tokens_details']);
  const imageTokens = isTokenCount(said) ? Math.min(said, outputTokens) : outputTokens;
  const { cached_tokens: cached } = recordIn(usage['input_tokens_details']);
  return {
    inputTokens,
    outputTokens,
    imageTokens,
    ...(isTokenCount(cached) && { cachedInputTokens: cached }),
  };
}

function broken(message: string): UpstreamError {
  return UpstreamError.of('broken', message);
}
