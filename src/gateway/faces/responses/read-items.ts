import type { AssistantPart, Message, ToolCallPart } from '../../conversation/request.ts';
import {
  isAbsent,
  listAt,
  nameAt,
  objectAt,
  textAt,
  textOrNone,
  unsupported,
  wrong,
  type Json,
} from '../openai/fields.ts';
import { readProof } from './proofs.ts';
import { readOutput, readSpoken, readTexts, readUserContent } from './read-content.ts';

/** The conversation that `input` holds; what one assistant said in several items is one message. */
export function readItems(input: unknown): Message[] {
  if (typeof input === 'string') return [{ role: 'user', parts: [{ type: 'text', text: input }] }];
  if (isAbsent(input)) throw wrong('input', 'is missing');
  const items = listAt(input, 'input').map((item, at) => objectAt(item, `input[${at}]`));
  const reader = new ItemReader(proofsOfCalls(items));
  for (const [index, item] of items.entries()) reader.read(item, `input[${index}]`);
  return reader.messages();
}

/** Signatures that belong to calls stand in reasoning items of their own. */
function proofsOfCalls(items: readonly Json[]): ReadonlyMap<string, string> {
  const signatures = new Map<string, string>();
  for (const { type, encrypted_content: content } of items) {
    if (type !== 'reasoning' || typeof content !== 'string') continue;
    const { call, signature } = readProof(content);
    if (call !== undefined && signature !== undefined) signatures.set(call, signature);
  }
  return signatures;
}

class ItemReader {
  readonly #signatures: ReadonlyMap<string, string>;
  readonly #messages: Message[] = [];
  #spoken: AssistantPart[] = [];

  constructor(signatures: ReadonlyMap<string, string>) {
    this.#signatures = signatures;
  }

  messages(): Message[] {
    this.#flush();
    if (this.#messages.length === 0) throw wrong('input', 'must have at least one item');
    return this.#messages;
  }

  read(item: Json, at: string): void {
    const { type: said, role } = item;
    const type = textAt(said ?? (isAbsent(role) ? undefined : 'message'), `${at}.type`);
    switch (type) {
      case 'message':
        this.#readMessage(item, at);
        break;
      case 'function_call':
        this.#spoken.push(this.#readCall(item, at));
        break;
      case 'function_call_output':
        this.#add(readResult(item, at));
        break;
      case 'reasoning':
        this.#spoken.push(...readThought(item, at));
        break;
      case 'item_reference':
        throw unsupported(
          `${at}.type`,
          'item_reference names nothing that is still remembered: send the item, or set store to false',
        );
      default:
        throw unsupported(`${at}.type`, `${type} is not supported`);
    }
  }

  #readMessage({ role, content }: Json, at: string): void {
    const place = `${at}.content`;
    if (role === 'assistant') this.#spoken.push(...readSpoken(content, place));
    else if (role === 'user') this.#add({ role, parts: readUserContent(content, place) });
    else if (role === 'system' || role === 'developer') {
      this.#add({ role: 'system', parts: readTexts(content, place) });
    } else throw wrong(`${at}.role`, 'must be user, assistant, system or developer');
  }

  #readCall(item: Json, at: string): ToolCallPart {
    const id = nameAt(item['call_id'], `${at}.call_id`);
    const signature = this.#signatures.get(id);
    return {
      type: 'tool-call',
      id,
      name: nameAt(item['name'], `${at}.name`),
      arguments: textAt(item['arguments'], `${at}.arguments`) || '{}',
      ...(signature !== undefined && { signature }),
    };
  }

  #add(message: Message): void {
    this.#flush();
    this.#messages.push(message);
  }

  #flush(): void {
    if (this.#spoken.length === 0) return;
    this.#messages.push({ role: 'assistant', parts: this.#spoken });
    this.#spoken = [];
  }
}

function readResult(item: Json, at: string): Message {
  const callId = nameAt(item['call_id'], `${at}.call_id`);
  const content = readOutput(item['output'], `${at}.output`);
  return { role: 'tool', parts: [{ type: 'tool-result', callId, content }] };
}

/** A thought with its proof; nothing for an item that only proves a call. */
function readThought(item: Json, at: string): AssistantPart[] {
  const encrypted = textOrNone(item['encrypted_content'], `${at}.encrypted_content`);
  const { call, signature, redacted } = encrypted === undefined ? {} : readProof(encrypted);
  const text =
    textsOf(item['summary'], `${at}.summary`) || textsOf(item['content'], `${at}.content`);
  if (call !== undefined || (text === '' && encrypted === undefined)) return [];
  return [
    {
      type: 'reasoning',
      text,
      ...(signature !== undefined && { signature }),
      ...(redacted !== undefined && { redacted }),
    },
  ];
}

function textsOf(value: unknown, at: string): string {
  if (isAbsent(value)) return '';
  return listAt(value, at)
    .map((item, index) => textAt(objectAt(item, `${at}[${index}]`)['text'], `${at}[${index}].text`))
    .join('\n\n');
}
