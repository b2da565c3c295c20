import type {
  AssistantPart,
  ChatRequest,
  Message,
  Source,
  ToolCallPart,
  ToolResultPart,
  UserPart,
} from '../../conversation/request.ts';
import { CallNames } from '../call-names.ts';
import { callSignatureOf, signatureOf } from '../signatures.ts';
import { parseArguments } from '../untrusted.ts';
import type { Json } from '../json.ts';
import { typeByEnding } from './media-types.ts';
import type { ModelTraits } from './models.ts';

type Part = Json;

interface Content {
  readonly role: 'user' | 'model';
  readonly parts: Part[];
}

/** Google's word for a call whose signature was lost, or is another provider's. */
const lostSignature = 'skip_thought_signature_validator';

/** The conversation, neighbours of one role as one; results of tools stand in the user's turns. */
export function writeContents(request: ChatRequest, traits: ModelTraits): readonly Content[] {
  const contents: Content[] = [];
  const names = new CallNames();
  for (const message of request.messages) {
    if (message.role === 'system') continue;
    const parts = writeMessage(message, { names, traits });
    if (parts.length === 0) continue;
    const role = message.role === 'assistant' ? 'model' : 'user';
    const last = contents.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else contents.push({ role, parts });
  }
  return contents;
}

/** The instructions of the whole conversation, wherever they stand; undefined without any. */
export function writeSystem({ messages }: ChatRequest): { parts: Part[] } | undefined {
  const parts: Part[] = [];
  for (const message of messages) {
    if (message.role !== 'system') continue;
    for (const { text } of message.parts) if (text !== '') parts.push({ text });
  }
  return parts.length > 0 ? { parts } : undefined;
}

interface Context {
  readonly names: CallNames;
  readonly traits: ModelTraits;
}

function writeMessage(message: Exclude<Message, { role: 'system' }>, context: Context): Part[] {
  if (message.role === 'assistant') return writeAssistant(message.parts, context);
  if (message.role === 'user') return message.parts.flatMap(writeUserPart);
  return message.parts.flatMap((part) => writeResult(part, context));
}

function writeUserPart(part: UserPart): Part[] {
  if (part.type === 'text') return part.text === '' ? [] : [{ text: part.text }];
  if (part.type !== 'audio') return [writeSource(part.source)];
  return [{ inlineData: { mimeType: `audio/${part.format}`, data: part.base64 } }];
}

function writeSource(source: Source): Part {
  if (source.kind === 'bytes')
    return { inlineData: { mimeType: source.mediaType, data: source.base64 } };
  const mimeType = typeByEnding(source.url);
  return { fileData: { ...(mimeType ? { mimeType } : {}), fileUri: source.url } };
}

/**
 * A signature that came with a part goes back with it. Of parallel calls only the first has one, so
 * only the first of a turn may miss it.
 */
function writeAssistant(parts: readonly AssistantPart[], { names, traits }: Context): Part[] {
  names.note(parts);
  const written: Part[] = [];
  let isSigned = false;
  for (const part of parts) {
    if (part.type === 'tool-call') {
      const lost = traits.isThird && !isSigned ? lostSignature : undefined;
      const signature = callSignatureOf('gemini', part.signature) ?? lost;
      isSigned = true;
      written.push({ ...writeCall(part), ...sign(signature) });
    } else if (part.type === 'reasoning') {
      const signature = signatureOf('gemini', part.signature);
      if (part.text !== '') written.push({ text: part.text, thought: true, ...sign(signature) });
      else if (signature !== undefined) written.push({ text: '', ...sign(signature) });
    } else if (part.text !== '') written.push({ text: part.text });
  }
  return written;
}

function writeCall({ id, name, arguments: text }: ToolCallPart): Part {
  return { functionCall: { id, name, args: parseArguments(text) } };
}

function sign(thoughtSignature: string | undefined): Part {
  return thoughtSignature === undefined ? {} : { thoughtSignature };
}

/** `output` and `error` are the names that Google's documentation gives to what a tool said. */
function writeResult(part: ToolResultPart, { names, traits }: Context): Part[] {
  const { callId, content, isError } = part;
  const text = content.flatMap((item) => (item.type === 'text' ? [item.text] : [])).join('\n');
  const images = content.flatMap((item) =>
    item.type === 'image' ? [writeSource(item.source)] : [],
  );
  const functionResponse = {
    id: callId,
    name: names.take(callId),
    response: { [isError ? 'error' : 'output']: text },
  };
  if (images.length === 0) return [{ functionResponse }];
  if (traits.isThird) return [{ functionResponse: { ...functionResponse, parts: images } }];
  return [{ functionResponse }, ...images];
}
