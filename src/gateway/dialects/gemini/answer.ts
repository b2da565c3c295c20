import type { Answer, Choice, Finish, Usage } from '../../conversation/answer.ts';
import { estimateUsage } from '../../conversation/collect.ts';
import type { AssistantPart } from '../../conversation/request.ts';
import { newId } from '../../../kit/ids.ts';
import { writeExact } from '../exact-json.ts';
import { markSignature } from '../signatures.ts';
import { countIn, isRecord, listIn, recordIn, textIn } from '../untrusted.ts';
import type { Json } from '../json.ts';
import { UpstreamError } from '../upstream-error.ts';
import { readStreamFailure } from './failure.ts';

/** A whole answer. */
export function readAnswer(body: unknown): Answer {
  const response = expectResponse(body);
  const candidates = listIn(response.candidates);
  if (candidates.length === 0)
    throw UpstreamError.of('broken', 'the provider answered without an answer');
  const choices = candidates.map(readCandidate);
  const usage = isCounted(response) ? readUsage(response) : estimateUsage(choices);
  return { ...readHead(response), choices, usage };
}

/** What a whole answer took. */
export function readBodyUsage(body: unknown): Usage {
  const response = expectResponse(body);
  return isCounted(response) ? readUsage(response) : readAnswer(response).usage;
}

/** Whether a response, or a piece of one, says what it took. */
export function isCounted({ usageMetadata }: Json): boolean {
  return isRecord(usageMetadata) && typeof usageMetadata.promptTokenCount === 'number';
}

/** A response, or a piece of one; throws `UpstreamError` for an error or a refused prompt. */
export function expectResponse(body: unknown): Json {
  if (!isRecord(body)) throw UpstreamError.of('broken', 'the provider answered with no response');
  if (body.error !== undefined) throw new UpstreamError(readStreamFailure(body));
  const reason = textIn(recordIn(body.promptFeedback).blockReason);
  if (reason !== undefined && reason !== 'BLOCK_REASON_UNSPECIFIED') {
    const message = `the provider does not answer this prompt: ${reason}`;
    throw new UpstreamError({ kind: 'filtered', message, code: reason });
  }
  return body;
}

/** What names an answer. */
export function readHead(response: Json): Pick<Answer, 'id' | 'model' | 'createdAt'> {
  const created = Date.parse(textIn(response.createTime) ?? '');
  return {
    id: textIn(response.responseId) ?? newId('gen'),
    model: textIn(response.modelVersion) ?? '',
    createdAt: Math.floor((Number.isNaN(created) ? Date.now() : created) / 1000),
  };
}

/** Google counts thoughts beside the answer, and what tools of its own read beside the prompt. */
export function readUsage(response: Json): Usage {
  const usage = recordIn(response.usageMetadata);
  const cached = countIn(usage.cachedContentTokenCount);
  const thought = countIn(usage.thoughtsTokenCount);
  const heard = audioIn(usage.promptTokensDetails) + audioIn(usage.toolUsePromptTokensDetails);
  const cachedHeard = audioIn(usage.cacheTokensDetails);
  const spoken = audioIn(usage.candidatesTokensDetails);
  return {
    inputTokens: countIn(usage.promptTokenCount) + countIn(usage.toolUsePromptTokenCount),
    outputTokens: countIn(usage.candidatesTokenCount) + thought,
    ...(cached > 0 ? { cachedInputTokens: cached } : {}),
    ...(thought > 0 ? { reasoningTokens: thought } : {}),
    ...(heard > 0 ? { audioInputTokens: heard } : {}),
    ...(cachedHeard > 0 ? { cachedAudioInputTokens: cachedHeard } : {}),
    ...(spoken > 0 ? { audioOutputTokens: spoken } : {}),
  };
}

/** Of tokens by what they stand for, those of sound. */
function audioIn(details: unknown): number {
  let tokens = 0;
  for (const detail of listIn(details)) {
    const { modality, tokenCount } = recordIn(detail);
    if (modality === 'AUDIO') tokens += countIn(tokenCount);
  }
  return tokens;
}

/** A part in our words; undefined for one that says nothing. Throws for what no answer can hold. */
export function readPart(part: Json): AssistantPart | undefined {
  const signature = textIn(part.thoughtSignature);
  if (isRecord(part.functionCall)) return readCall(part.functionCall, signature);
  if (typeof part.text === 'string') return readText(part, part.text, signature);
  if (signature !== undefined) return readText(part, '', signature);
  const name = Object.keys(part)[0];
  if (name === undefined) return undefined;
  throw UpstreamError.of('untranslatable', `the answer holds a ${name}, which cannot be passed on`);
}

function readCall({ id, name, args }: Json, signature: string | undefined): AssistantPart {
  if (typeof name !== 'string') throw UpstreamError.of('broken', 'a tool call has no name');
  return {
    type: 'tool-call',
    id: textIn(id) ?? newId('call'),
    name,
    arguments: writeExact(args ?? {}),
    ...(signature === undefined ? {} : { signature: markSignature('gemini', signature) }),
  };
}

/** A text may be signed as well, in a part of its own as a rule. Its words come first. */
function readText(
  { thought }: Json,
  text: string,
  signature: string | undefined,
): AssistantPart | undefined {
  const signed = signature === undefined ? {} : { signature: markSignature('gemini', signature) };
  if (thought === true || text === '')
    return text === '' && signature === undefined
      ? undefined
      : { type: 'reasoning', text, ...signed };
  return { type: 'text', text };
}

/** The parts of an answer; the signature of a text follows it as a thought without words. */
export function readParts(candidate: Json): AssistantPart[] {
  const parts: AssistantPart[] = [];
  for (const item of listIn(recordIn(candidate.content).parts)) {
    const raw = recordIn(item);
    const part = readPart(raw);
    if (part) parts.push(part);
    const signature = textIn(raw.thoughtSignature);
    if (part?.type === 'text' && signature !== undefined)
      parts.push({ type: 'reasoning', text: '', signature: markSignature('gemini', signature) });
  }
  return parts;
}

const finishes: ReadonlyMap<unknown, Finish> = new Map<unknown, Finish>([
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['CONTINUATION', 'length'],
  ['SAFETY', 'content-filter'],
  ['RECITATION', 'content-filter'],
  ['LANGUAGE', 'content-filter'],
  ['BLOCKLIST', 'content-filter'],
  ['PROHIBITED_CONTENT', 'content-filter'],
  ['SPII', 'content-filter'],
  ['IMAGE_SAFETY', 'content-filter'],
  ['IMAGE_PROHIBITED_CONTENT', 'content-filter'],
  ['IMAGE_RECITATION', 'content-filter'],
]);

/** Throws `UpstreamError` (`broken`) for a call that came out wrong, and for reasons unknown. */
export function readFinish(reason: string, hasCalls: boolean): Finish {
  const finish = finishes.get(reason);
  if (finish === 'stop' && hasCalls) return 'tool-calls';
  if (finish) return finish;
  throw new UpstreamError({
    kind: 'broken',
    message: `the answer failed: ${reason}`,
    code: reason,
  });
}

function readCandidate(value: unknown, position: number): Choice {
  const candidate = recordIn(value);
  const reason = textIn(candidate.finishReason);
  if (reason === undefined)
    throw UpstreamError.of('truncated', 'the answer says no reason why it ended');
  const parts = joinTexts(readParts(candidate));
  const hasCalls = parts.some(({ type }) => type === 'tool-call');
  const { index } = candidate;
  return {
    index: typeof index === 'number' ? index : position,
    parts,
    finish: readFinish(reason, hasCalls),
  };
}

/** Google cuts texts into parts as it likes. */
function joinTexts(parts: readonly AssistantPart[]): AssistantPart[] {
  const joined: AssistantPart[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (part.type === 'text' && last?.type === 'text')
      joined[joined.length - 1] = { type: 'text', text: last.text + part.text };
    else joined.push(part);
  }
  return joined;
}
