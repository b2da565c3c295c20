/**
 * Which attributes say a fact of a span, the one that counts first: today's OpenTelemetry names,
 * their older spellings, OpenInference, Langfuse, OpenLLMetry and the AI SDK.
 */
export const genAiNames = {
  provider: ['gen_ai.provider.name', 'gen_ai.system', 'llm.provider', 'llm.system'],
  model: [
    'gen_ai.response.model',
    'gen_ai.request.model',
    'llm.model_name',
    'embedding.model_name',
    'langfuse.observation.model.name',
    'ai.model.id',
  ],
  operation: [
    'gen_ai.operation.name',
    'openinference.span.kind',
    'langfuse.observation.type',
    'llm.request.type',
  ],
  tool: ['gen_ai.tool.name', 'tool.name', 'ai.toolCall.name'],
  inputTokens: [
    'gen_ai.usage.input_tokens',
    'gen_ai.usage.prompt_tokens',
    'llm.token_count.prompt',
    'llm.usage.prompt_tokens',
    'ai.usage.promptTokens',
  ],
  outputTokens: [
    'gen_ai.usage.output_tokens',
    'gen_ai.usage.completion_tokens',
    'llm.token_count.completion',
    'llm.usage.completion_tokens',
    'ai.usage.completionTokens',
  ],
  cachedInputTokens: [
    'gen_ai.usage.cache_read.input_tokens',
    'gen_ai.usage.cache_read_input_tokens',
    'llm.token_count.prompt_details.cache_read',
  ],
  cacheWriteTokens: [
    'gen_ai.usage.cache_creation.input_tokens',
    'gen_ai.usage.cache_creation_input_tokens',
    'llm.token_count.prompt_details.cache_write',
  ],
  costUsd: ['ennead.cost', 'gen_ai.usage.cost', 'llm.cost.total', 'operation.cost'],
  /** A JSON text with `input` and `output`. */
  usageDetails: ['langfuse.observation.usage_details'],
  /** A JSON text with `total`. */
  costDetails: ['langfuse.observation.cost_details'],
} as const;

/**
 * What OpenInference and Langfuse call an operation, in lower case, by OpenTelemetry's name of it;
 * a kind of span that is no call of a model, a tool or an agent is undefined.
 */
export const operationAliases: ReadonlyMap<string, string | undefined> = new Map([
  ['llm', 'chat'],
  ['generation', 'chat'],
  ['embedding', 'embeddings'],
  ['tool', 'execute_tool'],
  ['agent', 'invoke_agent'],
  ['completion', 'text_completion'],
  ...['span', 'event', 'chain', 'retriever', 'reranker', 'guardrail', 'evaluator', 'prompt'].map(
    (kind): [string, undefined] => [kind, undefined],
  ),
  ['unknown', undefined],
]);
