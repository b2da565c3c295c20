import type { ChatMessage, GenerateRequest, Tool, ToolCall } from '../request.ts';

/** The path and the body for a generation. Options that are absent are the server's to choose. */
export function toOpenAiRequest(
  model: string,
  request: GenerateRequest,
): { readonly path: string; readonly body: unknown } {
  const { prompt, format, tools, toolChoice } = request;
  const common = {
    model,
    stream: true,
    stream_options: { include_usage: true },
    ...toOptions(request),
    ...(format && { response_format: toResponseFormat(format.schema) }),
  };
  if ('text' in prompt) return { path: '/completions', body: { ...common, prompt: prompt.text } };
  const called = tools &&
    tools.length > 0 && {
      tools: tools.map(toTool),
      ...(toolChoice !== undefined && { tool_choice: toToolChoice(toolChoice) }),
    };
  const messages = prompt.messages.map(toMessage);
  return { path: '/chat/completions', body: { ...common, ...called, messages } };
}

/** `top_k`, `min_p` and `repeat_penalty` are llama.cpp's; a server that has none refuses or ignores them. */
function toOptions(request: GenerateRequest) {
  const options = {
    max_tokens: request.maxTokens,
    temperature: request.temperature,
    top_p: request.topP,
    top_k: request.topK,
    min_p: request.minP,
    repeat_penalty: request.repeatPenalty,
    frequency_penalty: request.frequencyPenalty,
    presence_penalty: request.presencePenalty,
    seed: request.seed === undefined ? undefined : (request.seed >>> 0) % 2 ** 31,
    stop: request.stop,
  };
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function toResponseFormat(schema: Readonly<Record<string, unknown>> | undefined) {
  if (!schema) return { type: 'json_object' };
  return { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } };
}

function toTool({ isStrict, ...tool }: Tool) {
  const strict = isStrict === undefined ? {} : { strict: isStrict };
  return { type: 'function', function: { ...tool, ...strict } };
}

function toToolChoice(choice: NonNullable<GenerateRequest['toolChoice']>) {
  if (typeof choice === 'string') return choice;
  return { type: 'function', function: { name: choice.name } };
}

function toMessage(message: ChatMessage) {
  if (message.role === 'tool') {
    return { role: 'tool', content: message.content, tool_call_id: message.callId };
  }
  if (message.role !== 'assistant' || !message.toolCalls) return message;
  const { role, content, toolCalls } = message;
  return { role, content, tool_calls: toolCalls.map(toCall) };
}

function toCall({ id, name, arguments: fields }: ToolCall) {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(fields) } };
}
