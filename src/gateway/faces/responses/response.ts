import type { Answer, Finish, Usage } from '../../conversation/answer.ts';
import { replayAnswer } from '../../conversation/replay.ts';
import type { ChatRequest } from '../../conversation/request.ts';
import { Output } from './output.ts';

/** What a response says of itself besides its items. */
export interface ResponseState {
  readonly output: Output;
  readonly model: string;
  /** Unix seconds. */
  readonly createdAt: number;
  readonly isEnded: boolean;
  readonly usage?: Usage | undefined;
}

/** A whole answer as a response, its fields in the order of OpenAI's API. */
export function writeAnswer(answer: Answer, request: ChatRequest): Record<string, unknown> {
  const { model, createdAt, usage } = answer;
  const output = new Output(answer.id);
  for (const event of replayAnswer(answer)) if ('choice' in event) output.add(event);
  return writeResponse({ output, model, createdAt, usage, isEnded: true }, request);
}

/** The response as it stands: without items and tokens until it has ended. */
export function writeResponse(
  state: ResponseState,
  { echo = {} }: ChatRequest,
): Record<string, unknown> {
  const { output, model, createdAt, isEnded, usage } = state;
  return {
    id: output.responseId,
    object: 'response',
    created_at: createdAt,
    ...writeStatus(state),
    model,
    output: isEnded ? output.items : [],
    ...defaults,
    ...echo,
    reasoning: { effort: null, summary: null, ...objectIn(echo['reasoning']) },
    text: { format: { type: 'text' }, ...objectIn(echo['text']) },
    usage: isEnded && usage ? writeUsage(usage) : null,
  };
}

/** What a response says of the request where the client said nothing. */
const defaults = {
  background: false,
  error: null,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  safety_identifier: null,
  service_tier: 'default',
  store: false,
  temperature: 1,
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: 'disabled',
  user: null,
};

function writeStatus({ isEnded, output }: ResponseState) {
  if (!isEnded) return { status: 'in_progress', incomplete_details: null };
  const reason = cutReasons[output.finish];
  if (reason === undefined) return { status: 'completed', incomplete_details: null };
  return { status: 'incomplete', incomplete_details: { reason } };
}

const cutReasons: Readonly<Partial<Record<Finish, string>>> = {
  length: 'max_output_tokens',
  'content-filter': 'content_filter',
};

function objectIn(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}

function writeUsage(usage: Usage): Record<string, unknown> {
  const { inputTokens, outputTokens, cachedInputTokens = 0, reasoningTokens = 0 } = usage;
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedInputTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
  };
}
