import { textOf } from '../parts/attribute-text.ts';

/** What of a span tells of a call of a model. */
export interface ModelSpan {
  readonly spanId: string;
  readonly name: string;
  readonly service: string;
  readonly agent: string;
  readonly status: string;
  readonly durationUs: number;
  readonly offsetUs: number;
  readonly tags: Readonly<Record<string, unknown>>;
}

/** A call of a model, a tool or an agent. */
export interface ModelCall {
  readonly span: ModelSpan;
  readonly operation: string;
  readonly provider: string;
  readonly model: string;
  readonly tool: string;
  readonly inputTokens: number | undefined;
  readonly cachedTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly costUsd: number | undefined;
}

/** The names that instrumentations give each fact, the one that counts first. */
const names = {
  operation: ['gen_ai.operation.name', 'openinference.span.kind', 'langfuse.observation.type'],
  provider: ['gen_ai.provider.name', 'gen_ai.system', 'llm.provider', 'llm.system'],
  model: [
    'gen_ai.response.model',
    'gen_ai.request.model',
    'llm.model_name',
    'embedding.model_name',
    'langfuse.observation.model.name',
    'ai.model.id',
  ],
  tool: ['gen_ai.tool.name', 'tool.name', 'ai.toolCall.name'],
  input: [
    'gen_ai.usage.input_tokens',
    'gen_ai.usage.prompt_tokens',
    'llm.token_count.prompt',
    'llm.usage.prompt_tokens',
    'ai.usage.promptTokens',
  ],
  cached: [
    'gen_ai.usage.cache_read.input_tokens',
    'gen_ai.usage.cache_read_input_tokens',
    'llm.token_count.prompt_details.cache_read',
  ],
  output: [
    'gen_ai.usage.output_tokens',
    'gen_ai.usage.completion_tokens',
    'llm.token_count.completion',
    'llm.usage.completion_tokens',
    'ai.usage.completionTokens',
  ],
  cost: ['ennead.cost', 'gen_ai.usage.cost', 'llm.cost.total', 'operation.cost'],
} as const;

/** The calls of models, tools and agents among the spans, in the order in which they began. */
export function modelCallsOf(spans: readonly ModelSpan[]): ModelCall[] {
  return spans.flatMap((span) => {
    const call = callOf(span);
    return call.model || call.tool || call.operation.includes('agent') ? [call] : [];
  });
}

function callOf(span: ModelSpan): ModelCall {
  const text = (keys: readonly string[]) => {
    const value = firstOf(span, keys);
    return value === undefined ? '' : textOf(value);
  };
  const figure = (keys: readonly string[]) => {
    const value = Number(firstOf(span, keys) ?? Number.NaN);
    return Number.isNaN(value) ? undefined : value;
  };
  return {
    span,
    operation: text(names.operation).toLowerCase(),
    provider: text(names.provider),
    model: text(names.model),
    tool: text(names.tool),
    inputTokens: figure(names.input),
    cachedTokens: figure(names.cached),
    outputTokens: figure(names.output),
    costUsd: figure(names.cost),
  };
}

function firstOf({ tags }: ModelSpan, keys: readonly string[]): unknown {
  const key = keys.find((one) => tags[one] !== undefined && tags[one] !== '');
  return key === undefined ? undefined : tags[key];
}
