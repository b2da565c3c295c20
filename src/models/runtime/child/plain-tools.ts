import type { ChatMessage, Tool, ToolCall } from '../../inference/request.ts';
import type { CallSyntax } from './call-reader.ts';

/**
 * Says in plain messages what a chat template cannot: the tools in the system message, calls as the
 * assistant's text, answers as the user's. The built-in model was trained on this very form.
 */
export function writeToolsAsText(
  messages: readonly ChatMessage[],
  tools: readonly Tool[],
): ChatMessage[] {
  const names = new Map<string, string>();
  const plain: ChatMessage[] =
    tools.length > 0 ? [{ role: 'system', content: describe(tools) }] : [];
  for (const message of messages) {
    if (message.role === 'assistant') noteNames(message.toolCalls, names);
    append(plain, toPlain(message, names));
  }
  return plain;
}

/** How the plain form writes a call, which is the whole answer then. */
export function plainCallSyntax(tools: readonly Tool[]): CallSyntax {
  return {
    first: { trigger: plainOpening, beforeName: '' },
    next: undefined,
    isOrdinaryText: true,
    names: tools.map(({ name }) => name),
    afterName: () => '", "arguments": ',
    ending: () => '}',
  };
}

/** What stands before the name of a call in the plain form. */
export const plainOpening = '{"name": "';

function describe(tools: readonly Tool[]): string {
  const lines = tools.map(({ name, description, parameters }) => {
    const given = Object.keys(parameters?.['properties'] ?? {}).join(', ');
    return `- ${name}(${given})${description ? `: ${description}` : ''}`;
  });
  const how = 'To call a tool, answer with JSON: {"name": ..., "arguments": {...}}';
  return ['You can call these tools:', ...lines, how].join('\n');
}

function noteNames(calls: readonly ToolCall[] | undefined, names: Map<string, string>): void {
  for (const { id, name } of calls ?? []) names.set(id, name);
}

function toPlain(message: ChatMessage, names: ReadonlyMap<string, string>): ChatMessage {
  if (message.role === 'tool') {
    const content = `Result of ${names.get(message.callId) ?? 'a tool'}: ${message.content}`;
    return { role: 'user', content };
  }
  if (message.role !== 'assistant') return message;
  const calls = (message.toolCalls ?? []).map(
    ({ name, arguments: given }) => `{"name": "${name}", "arguments": ${writeSpaced(given)}}`,
  );
  const texts = [message.content, ...calls].filter((text) => text !== '');
  return { role: 'assistant', content: texts.join('\n') };
}

/** Several system messages, or answers of tools, make one turn: such templates want turns to alternate. */
function append(plain: ChatMessage[], message: ChatMessage): void {
  const last = plain.at(-1);
  const isJoined = last?.role === message.role && message.role !== 'assistant';
  if (!isJoined || message.role === 'tool') plain.push(message);
  else plain.splice(-1, 1, { role: message.role, content: `${last.content}\n${message.content}` });
}

/** JSON with a space behind each comma and colon, as models mostly see it. */
function writeSpaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeSpaced).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const pairs = Object.entries(value).map(
    ([key, one]) => `${JSON.stringify(key)}: ${writeSpaced(one)}`,
  );
  return `{${pairs.join(', ')}}`;
}
