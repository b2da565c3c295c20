import type {
  AssistantPart,
  Message,
  ToolResultPart,
  UserPart,
} from '../../conversation/request.ts';
import { writeExact } from '../../dialects/exact-json.ts';
import { signatureOf } from '../../dialects/signatures.ts';
import { keepBlock, readResult, readTextBlock, readUserBlock } from './blocks.ts';
import {
  expectList,
  expectName,
  expectObject,
  expectText,
  invalid,
  isAbsent,
  readMark,
  type Fields,
  type Remainder,
} from './fields.ts';

const messageFields: ReadonlySet<string> = new Set(['role', 'content']);
const callFields: ReadonlySet<string> = new Set([
  'type',
  'id',
  'name',
  'input',
  'caller',
  'cache_control',
]);

/** The conversation; results of tools, which stand in a user's turns, become messages of their own. */
export function readMessages(value: unknown, remainder: Remainder): Message[] {
  const list = expectList(value, 'messages');
  if (list.length === 0) throw invalid('messages', 'must have at least one message');
  return list.flatMap((item, index) => readMessage(item, `messages.${index}`, remainder));
}

function readMessage(value: unknown, path: string, remainder: Remainder): Message[] {
  const message = expectObject(value, path);
  remainder.keepOthers(message, messageFields, `${path}.`);
  const { role } = message;
  const blocks = readContent(message.content, `${path}.content`);
  if (role === 'user') return readUser(blocks, remainder);
  if (role === 'assistant') return [{ role, parts: readAssistant(blocks, remainder) }];
  if (role !== 'system') throw invalid(`${path}.role`, 'must be "user" or "assistant"');
  return [
    { role, parts: blocks.map(({ block, path: at }) => readTextBlock(block, at, remainder)) },
  ];
}

interface Placed {
  readonly block: Fields;
  readonly path: string;
}

function readContent(value: unknown, path: string): readonly Placed[] {
  if (typeof value === 'string') return [{ block: { type: 'text', text: value }, path }];
  return expectList(value, path).map((item, index) => {
    const at = `${path}.${index}`;
    return { block: expectObject(item, at), path: at };
  });
}

function readUser(blocks: readonly Placed[], remainder: Remainder): Message[] {
  const messages: (
    | { role: 'user'; parts: UserPart[] }
    | { role: 'tool'; parts: ToolResultPart[] }
  )[] = [];
  for (const { block, path } of blocks) {
    const last = messages.at(-1);
    if (block.type === 'tool_result') {
      const result = readResult(block, path, remainder);
      if (last?.role === 'tool') last.parts.push(result);
      else messages.push({ role: 'tool', parts: [result] });
      continue;
    }
    const part = readUserBlock(block, path, remainder);
    if (!part) continue;
    if (last?.role === 'user') last.parts.push(part);
    else messages.push({ role: 'user', parts: [part] });
  }
  return messages;
}

/** A thought without words that is signed as a call's belongs to the call that follows. */
function readAssistant(blocks: readonly Placed[], remainder: Remainder): AssistantPart[] {
  const parts: AssistantPart[] = [];
  let callSignature: string | undefined;
  for (const { block, path } of blocks) {
    const own = block.type === 'thinking' ? readCallSignature(block) : undefined;
    if (own !== undefined) {
      callSignature = own;
      remainder.needsTranslation = true;
      continue;
    }
    const part = readAssistantBlock(block, path, remainder);
    if (!part) continue;
    if (part.type === 'tool-call' && callSignature !== undefined) {
      parts.push({ ...part, signature: callSignature });
      callSignature = undefined;
    } else parts.push(part);
  }
  return parts;
}

function readCallSignature({ signature }: Fields): string | undefined {
  return typeof signature === 'string' ? signatureOf('call', signature) : undefined;
}

function readAssistantBlock(
  block: Fields,
  path: string,
  remainder: Remainder,
): AssistantPart | undefined {
  switch (block.type) {
    case 'text':
      return readTextBlock(block, path, remainder);
    case 'tool_use':
      return readCall(block, path, remainder);
    case 'thinking':
      return readThought(block, path, remainder);
    case 'redacted_thinking':
      return readRedacted(expectName(block.data, `${path}.data`), remainder);
    default:
      return keepBlock(block, path, remainder);
  }
}

/** Without a signature of Anthropic's own it was somebody else's thought. */
function readThought(block: Fields, path: string, remainder: Remainder): AssistantPart {
  const text = expectText(block.thinking, `${path}.thinking`);
  const signature = isAbsent(block.signature)
    ? ''
    : expectText(block.signature, `${path}.signature`);
  if (signatureOf('anthropic', signature) === undefined) remainder.needsTranslation = true;
  return { type: 'reasoning', text, ...(signature === '' ? {} : { signature }) };
}

function readRedacted(redacted: string, remainder: Remainder): AssistantPart {
  if (signatureOf('anthropic', redacted) === undefined) remainder.needsTranslation = true;
  return { type: 'reasoning', text: '', redacted };
}

function readCall(block: Fields, path: string, remainder: Remainder): AssistantPart {
  remainder.keepOthers(block, callFields, `${path}.`);
  const { caller } = block;
  if (!isAbsent(caller) && expectObject(caller, `${path}.caller`).type !== 'direct')
    remainder.keep(`${path}.caller`, caller);
  return {
    type: 'tool-call',
    id: expectName(block.id, `${path}.id`),
    name: expectName(block.name, `${path}.name`),
    arguments: writeExact(expectObject(block.input, `${path}.input`)),
    cache: readMark(block.cache_control, `${path}.cache_control`),
  };
}
