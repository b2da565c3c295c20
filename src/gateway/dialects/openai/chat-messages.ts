import type {
  AssistantPart,
  CacheMark,
  FilePart,
  ImagePart,
  Message,
  ReasoningPart,
  Source,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  UserPart,
} from '../../conversation/request.ts';
import { signatureOf } from '../signatures.ts';
import { writeThoughts, type Thought } from './reasoning.ts';

type Written = Record<string, unknown>;

/** How messages are to be written. */
export interface Writing {
  readonly model: string;
  /** The client spoke this dialect: marks and signatures go back as they came. */
  readonly isOwn: boolean;
}

/** Messages that still stand at the numbers that the client gave them. */
export interface WrittenMessages {
  /** One for each message of the request. */
  readonly heads: Written[];
  /** All, with those that a message of the request became besides, in their order. */
  readonly flatten: () => Written[];
}

/** Messages in OpenAI's form; further results, and images of results, stand in messages of their own. */
export function writeMessages(messages: readonly Message[], writing: Writing): WrittenMessages {
  const heads: Written[] = [];
  const tails = new Map<number, Written[]>();
  let images: ImagePart[] = [];
  for (const [at, message] of messages.entries()) {
    const written = writeMessage(message, writing);
    heads.push(written[0] ?? { role: message.role, content: '' });
    const tail = written.slice(1);
    if (message.role === 'tool') images.push(...message.parts.flatMap(imagesOf));
    if (images.length > 0 && messages[at + 1]?.role !== 'tool') {
      tail.push({ role: 'user', content: images.map((image) => writePart(image, writing)) });
      images = [];
    }
    if (tail.length > 0) tails.set(at, tail);
  }
  const flatten = () =>
    tails.size === 0 ? heads : heads.flatMap((head, at) => [head, ...(tails.get(at) ?? [])]);
  return { heads, flatten };
}

function writeMessage(message: Message, writing: Writing): Written[] {
  switch (message.role) {
    case 'assistant':
      return [{ ...writeAssistant(message.parts, writing), ...named(message.name) }];
    case 'tool':
      return message.parts.map((part) => writeResult(part, writing));
    default:
      return [
        {
          role: message.role,
          content: writeContent(message.parts, writing),
          ...named(message.name),
        },
      ];
  }
}

function named(name: string | undefined) {
  return name === undefined ? undefined : { name };
}

/** One text is written as text, which every server takes; all else as a list. */
function writeContent(parts: readonly UserPart[], writing: Writing): unknown {
  const [first] = parts;
  if (!first) return '';
  const isPlain = parts.length === 1 && first.type === 'text' && !(first.cache && writing.isOwn);
  return isPlain ? first.text : parts.map((part) => writePart(part, writing));
}

function writePart(part: UserPart, { isOwn }: Writing): Written {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text, ...mark(part.cache, isOwn) };
    case 'image':
      return { type: 'image_url', image_url: writeImage(part), ...mark(part.cache, isOwn) };
    case 'audio':
      return { type: 'input_audio', input_audio: { data: part.base64, format: part.format } };
    default:
      return isOwn ? writeFile(part, isOwn) : (writeTextFile(part) ?? writeFile(part, isOwn));
  }
}

function writeFile({ name, source, cache }: FilePart, isOwn: boolean): Written {
  const file = { filename: name ?? 'document.pdf', file_data: addressOf(source) };
  return { type: 'file', file, ...mark(cache, isOwn) };
}

/** A document of plain text, which other dialects have, as text: OpenAI takes PDF only. */
function writeTextFile({ name, source }: FilePart): Written | undefined {
  if (source.kind !== 'bytes' || !source.mediaType.startsWith('text/')) return undefined;
  const text = Buffer.from(source.base64, 'base64').toString();
  return { type: 'text', text: name === undefined ? text : `${name}\n\n${text}` };
}

function writeImage({ source, detail }: ImagePart): Written {
  return { url: addressOf(source), ...(detail !== undefined && { detail }) };
}

function addressOf(source: Source): string {
  return source.kind === 'url' ? source.url : `data:${source.mediaType};base64,${source.base64}`;
}

/** Only servers behind which Anthropic stands know the mark, and only their clients set it here. */
function mark(cache: CacheMark | undefined, isOwn: boolean) {
  return cache && isOwn ? { cache_control: { type: 'ephemeral', ...cache } } : undefined;
}

function writeAssistant(parts: readonly AssistantPart[], writing: Writing): Written {
  const texts = parts.filter((part) => part.type === 'text');
  const refusals = parts.filter((part) => part.type === 'refusal');
  const calls = parts.filter((part) => part.type === 'tool-call');
  const isSilent = texts.length === 0 && (calls.length > 0 || refusals.length > 0);
  return {
    role: 'assistant',
    content: isSilent ? null : writeContent(texts, writing),
    ...(refusals.length > 0 && { refusal: refusals.map(({ text }) => text).join('') }),
    ...writeThoughts(thoughtsFor(parts, writing)),
    ...(calls.length > 0 && { tool_calls: calls.map((call) => writeCall(call, writing)) }),
  };
}

/** Models that want their thoughts back while they call tools; most refuse the field or ignore it. */
const rememberThoughts = /deepseek|kimi|glm-|qwen|minimax|mimo|gpt-oss/i;

function thoughtsFor(parts: readonly AssistantPart[], { model, isOwn }: Writing): Thought[] {
  const thoughts = parts.filter((part) => part.type === 'reasoning');
  if (isOwn) return thoughts.map(ownThought).filter((thought) => thought !== undefined);
  if (!rememberThoughts.test(model)) return [];
  return thoughts.filter(({ text }) => text !== '').map(({ text }) => ({ text }));
}

/** A thought with its proof as the provider wrote it; nothing where both are another's. */
function ownThought({ text, signature, redacted }: ReasoningPart): Thought | undefined {
  if (redacted !== undefined) {
    const own = ownProof(redacted);
    return own === undefined ? undefined : { text, redacted: own };
  }
  const own = ownProof(signature);
  return own === undefined ? { text } : { text, signature: own };
}

/** An unmarked proof came past us, in bytes that were passed through, and goes back the same way. */
function ownProof(proof: string | undefined): string | undefined {
  if (proof === undefined || !/^[a-z]+:/.test(proof)) return proof;
  return signatureOf('openai', proof);
}

function writeCall({ id, name, arguments: text, signature }: ToolCallPart, { isOwn }: Writing) {
  const proof = isOwn ? ownProof(signature) : undefined;
  return {
    id,
    type: 'function',
    function: { name, arguments: text },
    ...(proof !== undefined && { extra_content: { google: { thought_signature: proof } } }),
  };
}

/** A failed call is told in words, for the dialect has no field for it. */
function writeResult(
  { callId, content, isError, cache }: ToolResultPart,
  writing: Writing,
): Written {
  const texts = content.filter((part) => part.type === 'text');
  const [first, ...rest] = texts;
  const told: readonly TextPart[] = isError
    ? [{ type: 'text', text: `Error: ${first?.text ?? 'it failed'}` }, ...rest]
    : texts;
  return {
    role: 'tool',
    tool_call_id: callId,
    content: writeResultText(told, { content, writing }),
    ...mark(cache, writing.isOwn),
  };
}

function writeResultText(
  texts: readonly TextPart[],
  { content, writing }: { readonly content: ToolResultPart['content']; readonly writing: Writing },
): unknown {
  const hasImages = content.some(({ type }) => type === 'image');
  if (texts.length === 0 && hasImages) return 'The result is in the message that follows.';
  return writeContent(texts, writing);
}

function imagesOf({ content }: ToolResultPart): ImagePart[] {
  return content.filter((part) => part.type === 'image');
}
