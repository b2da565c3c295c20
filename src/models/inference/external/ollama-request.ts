import { Fault } from '../../../kit/errors.ts';
import type { ModelInfo } from '../inference.ts';
import type { ChatMessage, GenerateRequest, Tool, ToolCall } from '../request.ts';

/** The path and the body for a generation. Options that are absent are the runtime's to choose. */
export function toOllamaRequest(
  model: ModelInfo,
  request: GenerateRequest,
): { readonly path: string; readonly body: unknown } {
  const { prompt, format, keepAliveMs } = request;
  const common = {
    model: model.name,
    stream: true,
    options: toOptions(request),
    ...(format && { format: format.schema ?? 'json' }),
    ...(keepAliveMs !== undefined && { keep_alive: toKeepAlive(keepAliveMs) }),
  };
  if ('text' in prompt) {
    return { path: '/api/generate', body: { ...common, prompt: prompt.text, raw: true } };
  }
  const tools = toTools(request);
  const messages = toMessages(prompt.messages);
  return { path: '/api/chat', body: { ...common, messages, ...(tools && { tools }) } };
}

/** Seconds, as every version takes them. */
export function toKeepAlive(keepAliveMs: number): number {
  return Math.ceil(keepAliveMs / 1000);
}

function toOptions(request: GenerateRequest) {
  const { temperature, topP, topK, minP, repeatPenalty, stop, maxTokens, seed } = request;
  const { frequencyPenalty, presencePenalty } = request;
  const options = {
    temperature,
    top_p: topP,
    top_k: topK,
    min_p: minP,
    repeat_penalty: repeatPenalty,
    frequency_penalty: frequencyPenalty,
    presence_penalty: presencePenalty,
    stop,
    num_predict: maxTokens,
    // Ollama keeps it in 32 bits with a sign, and takes -1 for a random one.
    seed: seed === undefined ? undefined : (seed >>> 0) % 2 ** 31,
  };
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function toTools({ tools, toolChoice = 'auto' }: GenerateRequest) {
  if (!tools || tools.length === 0 || toolChoice === 'none') return undefined;
  if (toolChoice !== 'auto') throw unable('Ollama cannot be made to call a tool', 'tool_choice');
  return tools.map(toTool);
}

function toTool({ isStrict, ...tool }: Tool, at: number) {
  if (isStrict) {
    const message = 'Ollama cannot be bound to the schema of a tool';
    throw unable(message, `tools.${at}.function.strict`);
  }
  return {
    type: 'function',
    function: { parameters: { type: 'object', properties: {} }, ...tool },
  };
}

function unable(message: string, param: string): Fault {
  return new Fault('invalid', message, { reason: 'unsupported_parameter', detail: { param } });
}

function toMessages(messages: readonly ChatMessage[]) {
  const calls = new Map<string, ToolCall>();
  return messages.map((message) => {
    if (message.role === 'tool') {
      const { role, content, callId } = message;
      const name = calls.get(callId)?.name;
      return { role, content, tool_call_id: callId, ...(name && { tool_name: name }) };
    }
    if (message.role !== 'assistant' || !message.toolCalls) return message;
    const { role, content, toolCalls } = message;
    for (const call of toolCalls) calls.set(call.id, call);
    return { role, content, tool_calls: toolCalls.map(toCall) };
  });
}

function toCall({ id, name, arguments: fields }: ToolCall, index: number) {
  return { id, function: { index, name, arguments: fields } };
}
