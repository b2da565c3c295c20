import type { Usage } from '../../conversation/answer.ts';
import type { Embeddings, EmbeddingRequest } from '../../conversation/embedding.ts';
import { guardTexts } from '../../guardrails/guarding.ts';
import { textTokens } from '../../routing/tokens.ts';
import type { CallLimits, Errand } from './errand.ts';

/** Texts become vectors; token numbers are not looked at by guardrails. */
export const embeddingErrand: Errand<EmbeddingRequest, Embeddings> = {
  capability: 'embedding',
  operation: 'embeddings',
  made: 'embeddings',
  textField: 'input',
  wordsOf: ({ embeddings }) => embeddings,
  batches: { cut, join },
  guard(guardrails, request) {
    const { model, input, extras } = request;
    const texts = input.map((text) => (typeof text === 'string' ? text : ''));
    const guarded = guardTexts(guardrails, { model, texts, fields: extras });
    if (!guarded) return request;
    const kept = input.map((text, at) =>
      typeof text === 'string' ? (guarded.texts[at] ?? '') : text,
    );
    return { ...request, input: kept, extras: guarded.fields };
  },
  likely: ({ input }) => readingOf(input.reduce((sum, one) => sum + tokensOf(one), 0)),
  usageOf: ({ inputTokens }) => readingOf(inputTokens),
};

function cut(
  request: EmbeddingRequest,
  { dialect, provider }: CallLimits,
): readonly EmbeddingRequest[] {
  const { input } = request;
  const inputsMax = Math.min(
    dialect.embeddings?.inputsMax ?? input.length,
    provider.limits?.embeddingInputsMax ?? input.length,
  );
  if (input.length <= inputsMax) return [request];
  const count = Math.ceil(input.length / inputsMax);
  return Array.from({ length: count }, (_, at) => ({
    ...request,
    input: input.slice(at * inputsMax, (at + 1) * inputsMax),
  }));
}

function join(made: readonly Embeddings[], { model }: EmbeddingRequest): Embeddings {
  return {
    model: made[0]?.model ?? model,
    vectors: made.flatMap(({ vectors }) => vectors),
    inputTokens: made.reduce((sum, { inputTokens }) => sum + inputTokens, 0),
  };
}

function tokensOf(input: EmbeddingRequest['input'][number]): number {
  return typeof input === 'string' ? textTokens(input) : input.length;
}

function readingOf(tokens: number): Usage {
  return { inputTokens: Math.ceil(tokens), outputTokens: 0 };
}
