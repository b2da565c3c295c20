import type { ToolCall } from '../inference/request.ts';
import { present } from '../optional-fields.ts';
import { invalidField, refuseAsked } from '../unsupported.ts';
import { generateLines, loadLines, type Asked } from './answers.ts';
import { readKeepAlive } from './keep-alive.ts';
import { toMessages, toTool } from './messages.ts';
import { toRequestOptions } from './options.ts';
import type { ChatBody, ChatLine, GenerateBody, GenerateLine } from './schemas.ts';

/** Fields that would change the answer and that no runtime here knows. */
const unsupportedFields = ['think', 'logprobs', 'top_logprobs'];
const unsupportedByGenerate = [
  ...unsupportedFields,
  'suffix',
  'template',
  'context',
  'images',
  'width',
  'height',
  'steps',
];

/** Answers a text line by line; without a prompt the model is loaded, or unloaded. */
export function generateText(body: GenerateBody, asked: Asked): AsyncGenerator<GenerateLine> {
  refuseAsked(body, unsupportedByGenerate);
  const { prompt, system, raw } = body;
  const options = toRequestOptions(body, asked.model);
  if (!prompt) return loadLines(options.keepAliveMs, asked, generateWording);
  if (!raw) {
    const before = system ? [{ role: 'system', content: system } as const] : [];
    const messages = [...before, { role: 'user', content: prompt } as const];
    return generateLines({ ...options, prompt: { messages } }, asked, generateWording);
  }
  if (system) throw invalidField('system', 'cannot go with raw');
  return generateLines({ ...options, prompt: { text: prompt } }, asked, generateWording);
}

/** Answers a chat line by line; without messages the model is loaded, or unloaded. */
export function chat(body: ChatBody, asked: Asked): AsyncGenerator<ChatLine> {
  refuseAsked(body, unsupportedFields);
  const messages = toMessages(body.messages ?? []);
  if (messages.length === 0) {
    return loadLines(readKeepAlive(body.keep_alive), asked, chatWording);
  }
  const tools = body.tools?.length ? body.tools.map(toTool) : undefined;
  const options = { ...toRequestOptions(body, asked.model), ...present({ tools }) };
  return generateLines({ ...options, prompt: { messages } }, asked, chatWording);
}

/** All lines as the one answer of a request that wants no stream. */
export async function joinTexts(lines: AsyncIterable<GenerateLine>): Promise<GenerateLine> {
  let response = '';
  let thinking = '';
  for await (const line of lines) {
    response += line.response;
    thinking += line.thinking ?? '';
    if (line.done) return { ...line, response, ...(thinking !== '' && { thinking }) };
  }
  throw new Error('a generation ended without its end event');
}

/** All lines as the one answer of a request that wants no stream. */
export async function joinChat(lines: AsyncIterable<ChatLine>): Promise<ChatLine> {
  let content = '';
  let thinking = '';
  const calls: NonNullable<ChatLine['message']['tool_calls']> = [];
  for await (const line of lines) {
    content += line.message.content;
    thinking += line.message.thinking ?? '';
    calls.push(...(line.message.tool_calls ?? []));
    if (!line.done) continue;
    const message = {
      ...line.message,
      content,
      ...(thinking !== '' && { thinking }),
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    };
    return { ...line, message };
  }
  throw new Error('a generation ended without its end event');
}

const generateWording = {
  text: (text: string) => ({ response: text }),
  thought: (thinking: string) => ({ response: '', thinking }),
  // Texts are asked for without tools.
  call: () => ({ response: '' }),
};

const chatWording = {
  text: (content: string) => ({ message: { role: 'assistant', content } as const }),
  thought: (thinking: string) => ({
    message: { role: 'assistant', content: '', thinking } as const,
  }),
  call: ({ id, name, arguments: fields }: ToolCall, index: number) => ({
    message: {
      role: 'assistant',
      content: '',
      tool_calls: [{ id, function: { index, name, arguments: { ...fields } } }],
    } as const,
  }),
};
