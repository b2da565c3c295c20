import { Fault } from '../../kit/errors.ts';
import type { ChatRequest, Message } from '../conversation/request.ts';

type Visit = (text: string) => void;

/**
 * Shows what a provider reads besides the texts: names of messages, tools, calls and schemas and of
 * their fields, stop sequences, and the texts of one message as one, so that nothing hides between
 * two parts.
 */
export function visitNames(request: ChatRequest, visit: Visit): void {
  for (const message of request.messages) visitMessage(message, visit);
  for (const { name, parameters } of request.tools) {
    visit(name);
    visitKeys(parameters, visit);
  }
  request.stop?.forEach(visit);
  if (typeof request.toolChoice === 'object') visit(request.toolChoice.name);
  visitOutput(request.output, visit);
  visitKeys(request.extras, visit);
}

function visitMessage(message: Message, visit: Visit): void {
  if ('name' in message && message.name !== undefined) visit(message.name);
  for (const part of message.parts) {
    if (part.type === 'tool-call') visit(part.name);
    if (part.type === 'file' && part.name !== undefined) visit(part.name);
    if (part.type === 'tool-result') visitTogether(part.content, visit);
  }
  visitTogether(message.parts, visit);
}

/** Providers put parts together with nothing or a line between. */
function visitTogether(parts: readonly object[], visit: Visit): void {
  const texts = parts.flatMap((part) =>
    'text' in part && typeof part.text === 'string' ? [part.text] : [],
  );
  if (texts.length < 2) return;
  visit(texts.join(''));
  visit(texts.join('\n'));
}

function visitOutput(output: ChatRequest['output'], visit: Visit): void {
  if (output?.type !== 'schema') return;
  visit(output.name);
  if (output.description !== undefined) visit(output.description);
  visitKeys(output.schema, visit);
}

const depthMax = 500;

function visitKeys(value: unknown, visit: Visit, depth = 0): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth > depthMax) throw new Fault('invalid', 'the request is nested too deeply');
  const isList = Array.isArray(value);
  for (const [name, inner] of Object.entries(value)) {
    if (!isList) visit(name);
    visitKeys(inner, visit, depth + 1);
  }
}
