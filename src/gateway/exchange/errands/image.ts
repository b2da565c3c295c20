import type { Usage } from '../../conversation/answer.ts';
import type { ImageRequest, Images } from '../../conversation/image.ts';
import { guardTexts } from '../../guardrails/guarding.ts';
import { textTokens } from '../../routing/tokens.ts';
import type { Errand } from './errand.ts';

/** A prompt becomes pictures. */
export const imageErrand: Errand<ImageRequest, Images> = {
  capability: 'image',
  operation: 'generate_content',
  made: 'images',
  textField: 'prompt',
  wordsOf: ({ images }) => images,
  guard(guardrails, request) {
    const { model, prompt, options } = request;
    const guarded = guardTexts(guardrails, { model, texts: [prompt], fields: options });
    if (!guarded) return request;
    return { ...request, prompt: guarded.texts[0] ?? '', options: guarded.fields };
  },
  likely: (request) => likelyUsage(request, request.count ?? 1),
  usageOf: ({ usage, count }, request) => ({
    ...(usage ?? likelyUsage(request, count)),
    images: count,
  }),
};

/** Of one picture of 1024 by 1024 by OpenAI's own table; models of others lie between. */
const tokensByQuality: ReadonlyMap<unknown, number> = new Map([
  ['low', 272],
  ['high', 4_160],
]);
const tokensOfImage = 1_056;

function likelyUsage({ prompt, options }: ImageRequest, images: number): Usage {
  const imageTokens = images * (tokensByQuality.get(options['quality']) ?? tokensOfImage);
  return {
    inputTokens: Math.ceil(textTokens(prompt)),
    outputTokens: imageTokens,
    imageTokens,
    images,
    isEstimated: true,
  };
}
