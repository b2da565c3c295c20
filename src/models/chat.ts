import { newId } from '../kit/ids.ts';
import type { ChatChunk, ChatCompletion, ChatMessage, ChatRequest } from './contract.ts';
import type { InstalledModel } from './library.ts';
import type { GenerateEnd, GenerateRequest } from './runtime/request.ts';
import type { Runtime } from './runtime/runtime.ts';

export interface ChatOptions {
  readonly runtime: Runtime;
  readonly model: InstalledModel;
  readonly signal: AbortSignal;
}

/** Completes a chat and answers it whole. */
export async function completeChat(
  request: ChatRequest,
  options: ChatOptions,
): Promise<ChatCompletion> {
  let content = '';
  for await (const event of generate(request, options)) {
    if (event.type === 'text') content += event.text;
    else return completionOf(content, event, options.model);
  }
  throw new Error('the runtime ended a completion without its end event');
}

/** Completes a chat chunk by chunk, as OpenAI's streams do. */
export async function* streamChat(
  request: ChatRequest,
  options: ChatOptions,
): AsyncGenerator<ChatChunk> {
  const chunk = chunkMaker(options.model);
  let isFirst = true;
  for await (const event of generate(request, options)) {
    const role = isFirst ? ({ role: 'assistant' } as const) : {};
    isFirst = false;
    if (event.type === 'text') {
      yield chunk([{ index: 0, delta: { ...role, content: event.text }, finish_reason: null }]);
      continue;
    }
    yield chunk([{ index: 0, delta: role, finish_reason: event.finishReason }]);
    if (request.stream_options?.include_usage) yield { ...chunk([]), usage: usageOf(event) };
  }
}

function generate(request: ChatRequest, { runtime, model, signal }: ChatOptions) {
  return runtime.generate(toGenerateRequest(request, model), { signal });
}

function toGenerateRequest(request: ChatRequest, model: InstalledModel): GenerateRequest {
  const maxTokens = request.max_completion_tokens ?? request.max_tokens;
  const { temperature, top_p: topP, seed, stop } = request;
  return {
    modelPath: model.path,
    prompt: { messages: request.messages.map(toPlainMessage) },
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(seed === undefined ? {} : { seed }),
    ...(stop === undefined ? {} : { stop: typeof stop === 'string' ? [stop] : stop }),
  };
}

function toPlainMessage({ role, content }: ChatMessage) {
  const text = typeof content === 'string' ? content : content.map((part) => part.text).join('');
  return { role, content: text };
}

function completionOf(content: string, end: GenerateEnd, model: InstalledModel): ChatCompletion {
  return {
    id: newId('chatcmpl'),
    object: 'chat.completion',
    created: unixSeconds(),
    model: model.name,
    choices: [
      { index: 0, message: { role: 'assistant', content }, finish_reason: end.finishReason },
    ],
    usage: usageOf(end),
  };
}

function chunkMaker(model: InstalledModel) {
  const head = {
    id: newId('chatcmpl'),
    object: 'chat.completion.chunk',
    created: unixSeconds(),
    model: model.name,
  } as const;
  return (choices: ChatChunk['choices']): ChatChunk => ({ ...head, choices });
}

function usageOf({ usage }: GenerateEnd) {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
  };
}

function unixSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
