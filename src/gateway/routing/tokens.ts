import type { ChatRequest, ImagePart, Message, UserPart } from '../conversation/request.ts';

/** Tokens around each message: its role and its ends. */
const tokensPerMessage = 4;
/** A picture in full detail as the large providers count it, and at `low`. */
const imageTokens = { high: 1100, low: 85 };
/** A page of a document is some 2 kB of base64 at the least; providers count about so much a kB. */
const tokensPerFileByte = 0.05;
/** A second of speech is some 32 kB of wav and 10 tokens; mp3 is denser. */
const tokensPerAudioByte = 0.001;

/**
 * How many tokens the prompt of a request is thought to have, for routing and budgets before anybody
 * has counted: usually within a quarter, rather too many than too few. Tokenizers differ by more.
 */
export function estimateInputTokens(request: ChatRequest): number {
  let tokens = 0;
  for (const message of request.messages) tokens += tokensPerMessage + messageTokens(message);
  for (const { name, description = '', parameters } of request.tools) {
    tokens += 8 + textTokens(name) + textTokens(description);
    tokens += jsonTokens(JSON.stringify(parameters));
  }
  const { output } = request;
  if (output?.type === 'schema') tokens += jsonTokens(JSON.stringify(output.schema));
  return Math.ceil(tokens);
}

function messageTokens(message: Message): number {
  let tokens = 0;
  for (const part of message.parts) tokens += partTokens(part);
  return tokens;
}

type Part = Message['parts'][number];

function partTokens(part: Part): number {
  switch (part.type) {
    case 'tool-call':
      return 8 + textTokens(part.name) + jsonTokens(part.arguments);
    case 'tool-result':
      return part.content.reduce((sum, inner) => sum + partTokens(inner), 4);
    case 'image':
    case 'file':
    case 'audio':
      return attachmentTokens(part);
    default:
      return textTokens(part.text);
  }
}

type Attachment = Exclude<UserPart, { readonly type: 'text' }>;

function attachmentTokens(part: Attachment): number {
  if (part.type === 'image') return tokensOfImage(part);
  if (part.type === 'audio') return 50 + part.base64.length * tokensPerAudioByte;
  const bytes = part.source.kind === 'bytes' ? part.source.base64.length * 0.75 : 50_000;
  return Math.max(250, bytes * tokensPerFileByte);
}

/** Small files are small pictures, whatever detail is asked for. */
function tokensOfImage({ source, detail }: ImagePart): number {
  if (detail === 'low') return imageTokens.low;
  const isSmall = source.kind === 'bytes' && source.base64.length < 20_000;
  return isSmall ? imageTokens.low * 3 : imageTokens.high;
}

/**
 * Four characters of English are a token; a character of Chinese, Japanese or Korean is nearly one,
 * of Cyrillic or Arabic half of one. The UTF-8 length tells how many of which there are without
 * looking at each.
 */
export function textTokens(text: string): number {
  const { length } = text;
  if (length === 0) return 0;
  const extra = Buffer.byteLength(text) - length;
  if (extra === 0) return length / (isDense(text) ? codeDensity : proseDensity);
  // Two more bytes for each wide character, one for each of the middle scripts.
  const wide = Math.min(length, extra / 2);
  return (length - wide) / proseDensity + wide * 0.95;
}

const proseDensity = 4;
const codeDensity = 3;
const sampleLength = 256;

/** Whether a sample of the text reads like code or data: much punctuation for its letters. */
function isDense(text: string): boolean {
  const from = text.length > 2 * sampleLength ? text.length >> 1 : 0;
  const to = Math.min(text.length, from + sampleLength);
  let marks = 0;
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at);
    const isWord = (code >= 97 && code <= 122) || code === 32 || (code >= 65 && code <= 90);
    if (!isWord) marks += 1;
  }
  return marks > (to - from) * 0.2;
}

function jsonTokens(json: string): number {
  return Buffer.byteLength(json) / codeDensity;
}
