import { Fault } from '../../kit/errors.ts';
import type { Caller, Inference, ModelInfo } from '../inference/inference.ts';
import type { GenerateEnd, GenerateEvent, ToolCall } from '../inference/request.ts';
import { headOf, usageOf } from './answers.ts';
import { ofTooLong, withParam } from './faults.ts';
import { toGenerateRequest } from './chat-request.ts';
import type { ChatChunk, ChatCompletion, ChatRequest } from './chat-schemas.ts';

/** A model and how to ask it. */
export interface Asked {
  readonly inference: Inference;
  readonly model: ModelInfo;
  readonly caller: Caller;
}

/** Completes a chat and answers it whole. */
export async function completeChat(body: ChatRequest, asked: Asked): Promise<ChatCompletion> {
  let text = '';
  let thought = '';
  const calls: ToolCall[] = [];
  for await (const event of generate(body, asked)) {
    if (event.type === 'text') text += event.text;
    else if (event.type === 'reasoning') thought += event.text;
    else if (event.type === 'tool-call') calls.push(event.call);
    else return completionOf({ text, thought, calls, end: event }, asked.model);
  }
  throw new Error('a generation ended without its end event');
}

/** Completes a chat chunk by chunk, as OpenAI's streams do. */
export async function* streamChat(body: ChatRequest, asked: Asked): AsyncGenerator<ChatChunk> {
  const withUsage = Boolean(body.stream_options?.include_usage);
  const chunk = chunkMaker(asked.model, withUsage);
  let isFirst = true;
  let calls = 0;
  for await (const event of generate(body, asked)) {
    if (isFirst)
      yield chunk({ role: 'assistant', content: event.type === 'tool-call' ? null : '' });
    isFirst = false;
    if (event.type === 'text') yield chunk({ content: event.text });
    else if (event.type === 'reasoning') yield chunk({ reasoning_content: event.text });
    else if (event.type === 'tool-call') {
      for (const delta of deltasOf(event.call, calls)) yield chunk({ tool_calls: [delta] });
      calls += 1;
    } else {
      yield chunk({}, finishReasonOf(event));
      if (withUsage) yield { ...chunk({}), choices: [], usage: usageOf(event.usage) };
    }
  }
}

/** The events of a generation, less the calls after the first where only one was asked for. */
async function* generate(
  body: ChatRequest,
  { inference, model, caller }: Asked,
): AsyncGenerator<GenerateEvent> {
  const callsMax = body.parallel_tool_calls === false ? 1 : Number.POSITIVE_INFINITY;
  let calls = 0;
  try {
    for await (const event of inference.generate(model, toGenerateRequest(body), caller)) {
      if (event.type === 'tool-call' && ++calls > callsMax) continue;
      yield event;
    }
  } catch (error) {
    throw inTermsOfChat(error);
  }
}

/** What is wrong with a `format` is wrong with what the client calls `response_format`. */
function inTermsOfChat(error: unknown): unknown {
  const isOfFormat = error instanceof Fault && error.detail['param'] === 'format';
  if (!isOfFormat) return ofTooLong(error, 'messages');
  const param = 'response_format';
  return withParam(error, param, error.message.replace(/^format\b/, param));
}

interface Whole {
  readonly text: string;
  readonly thought: string;
  readonly calls: readonly ToolCall[];
  readonly end: GenerateEnd;
}

function completionOf({ text, thought, calls, end }: Whole, model: ModelInfo): ChatCompletion {
  const toolCalls = calls.length > 0 ? { tool_calls: calls.map(toToolCall) } : {};
  const content = text === '' && calls.length > 0 ? null : text;
  return {
    ...headOf('chat.completion', 'chatcmpl', model),
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content,
          ...(thought !== '' && { reasoning_content: thought }),
          refusal: null,
          ...toolCalls,
        },
        logprobs: null,
        finish_reason: finishReasonOf(end),
      },
    ],
    usage: usageOf(end.usage),
  };
}

type Choice = ChatChunk['choices'][number];

function chunkMaker(model: ModelInfo, withUsage: boolean) {
  const head = headOf('chat.completion.chunk', 'chatcmpl', model);
  const usage = withUsage ? { usage: null } : {};
  return (delta: Choice['delta'], reason: Choice['finish_reason'] = null): ChatChunk => ({
    ...head,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
    ...usage,
  });
}

function toToolCall({ id, name, arguments: fields }: ToolCall) {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(fields) } } as const;
}

function deltasOf(call: ToolCall, index: number) {
  const { id, type, function: target } = toToolCall(call);
  return [
    { index, id, type, function: { name: target.name, arguments: '' } },
    { index, function: { arguments: target.arguments } },
  ] as const;
}

function finishReasonOf({ finishReason }: GenerateEnd) {
  return finishReason === 'tool-calls' ? 'tool_calls' : finishReason;
}
