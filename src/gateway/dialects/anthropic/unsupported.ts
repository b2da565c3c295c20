import type {
  ChatRequest,
  ImagePart,
  Message,
  OutputFormat,
  TextPart,
  UserPart,
} from '../../conversation/request.ts';
import { findStrict, placeOfPart } from '../refused-places.ts';
import { signatureOf } from '../signatures.ts';
import { findSilence } from '../silence.ts';
import { firstUnsaidInChat, isTelling } from '../telling-fields.ts';
import { traitsOf, type ModelTraits } from './models.ts';
import { isNative } from './native-fields.ts';
import { canHold } from './schema.ts';
import { asksToThink, budgetMin } from './thinking.ts';

const imageTypes: ReadonlySet<string> = new Set([
  'image/jpeg',
  'image/png',
  'image/gif',
  'image/webp',
]);
const documentTypes: ReadonlySet<string> = new Set(['application/pdf', 'text/plain']);

const inMessages = /^(?:messages|system)[[.]/;

/** The least top_p that goes with thinking. */
const topPOfThinkers = 0.95;

/** The first thing that Anthropic, or this model of it, has no words for. */
export function findUnsupported(request: ChatRequest, model?: string): string | undefined {
  const traits = traitsOf(model ?? request.model);
  return (
    findUnsaid(request) ??
    findSampling(request, traits) ??
    findThinking(request, traits) ??
    findTools(request, traits) ??
    findOutput(request.output, traits) ??
    findInMessages(request, traits) ??
    findExtra(request) ??
    findSilence(request)
  );
}

/** What Anthropic's clients said inside of messages has lost its place, all else goes back there. */
function findExtra({ extras, extrasDialect }: ChatRequest): string | undefined {
  const names = Object.keys(extras);
  if (extrasDialect === 'anthropic')
    return names.find((name) => inMessages.test(name) && isTelling(name));
  return firstUnsaidInChat(extras, new Set(names.filter((name) => isNative(name, extras[name]))));
}

function findUnsaid(request: ChatRequest): string | undefined {
  if ((request.choices ?? 1) > 1) return 'n';
  if (request.seed !== undefined) return 'seed';
  if (request.frequencyPenalty) return 'frequency_penalty';
  if (request.presencePenalty) return 'presence_penalty';
  // Anthropic stops at no sequence that is white space alone.
  return request.stop?.some((text) => text.trim() === '') ? 'stop' : undefined;
}

/** 1 is the default of temperature and top_p, which every model takes by its absence. */
function findSampling(request: ChatRequest, traits: ModelTraits): string | undefined {
  const { temperature, topP, topK } = request;
  const isThinking = asksToThink(request);
  const isFree = traits.sampling !== 'none' && !isThinking;
  if (!isWithin(temperature, isFree ? 0 : 1)) return 'temperature';
  if (!isWithin(topP, topPMinOf(request, traits))) return 'top_p';
  return topK === undefined || isFree ? undefined : 'top_k';
}

function topPMinOf(request: ChatRequest, { sampling }: ModelTraits): number {
  const { temperature = 1 } = request;
  if (sampling === 'none' || (sampling === 'one' && temperature !== 1)) return 1;
  return asksToThink(request) ? topPOfThinkers : 0;
}

function isWithin(value: number | undefined, min: number): boolean {
  return value === undefined || (value >= min && value <= 1);
}

function findThinking(request: ChatRequest, traits: ModelTraits): string | undefined {
  const { reasoning, maxTokens } = request;
  if (!reasoning) return undefined;
  if (reasoning.effort === 'none')
    return traits.thinksByDefault === 'always' ? 'reasoning_effort' : undefined;
  if (traits.thinking === 'none') return 'reasoning_effort';
  if (traits.thinking === 'effort') return undefined;
  const isTight = maxTokens !== undefined && maxTokens <= budgetMin;
  return isTight || hasForeignCall(request.messages) ? 'reasoning_effort' : undefined;
}

/** A model that thinks by budget wants its own thoughts before the calls that were just answered. */
function hasForeignCall(messages: readonly Message[]): boolean {
  if (messages.at(-1)?.role !== 'tool') return false;
  const caller = messages.findLast(({ role }) => role === 'assistant');
  if (caller?.role !== 'assistant') return false;
  return !caller.parts.some(
    (part) =>
      part.type === 'reasoning' && signatureOf('anthropic', part.signature ?? part.redacted),
  );
}

function findTools(request: ChatRequest, traits: ModelTraits): string | undefined {
  const { toolChoice, tools } = request;
  const isForced = toolChoice === 'required' || typeof toolChoice === 'object';
  const isThinking = asksToThink(request);
  if (isForced && (isThinking || !traits.takesForcedTools)) return 'tool_choice';
  return traits.takesSchemas ? undefined : findStrict(tools);
}

/** Anthropic knows no JSON without a schema. */
function findOutput(output: OutputFormat | undefined, traits: ModelTraits): string | undefined {
  if (!output) return undefined;
  const isHeld = output.type === 'schema' && traits.takesSchemas && canHold(output.schema);
  return isHeld ? undefined : 'response_format';
}

function findInMessages(request: ChatRequest, traits: ModelTraits): string | undefined {
  const { messages } = request;
  const goesOn = messages.at(-1)?.role === 'assistant';
  if (goesOn && (!traits.takesPrefill || asksToThink(request))) return 'messages';
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'tool' && message.name !== undefined) return `messages[${index}].name`;
    const found = findInParts(message);
    if (found !== undefined) return found;
  }
  return undefined;
}

function findInParts(message: Message): string | undefined {
  if (message.role === 'user') return firstOf(message.parts);
  if (message.role !== 'tool') return undefined;
  for (const { content } of message.parts) {
    const found = firstOf(content);
    if (found !== undefined) return found;
  }
  return undefined;
}

function firstOf(parts: readonly (UserPart | TextPart | ImagePart)[]): string | undefined {
  for (const part of parts) {
    if (part.type === 'audio') return placeOfPart(part);
    if (part.type === 'text' || part.source.kind === 'url') continue;
    const { mediaType } = part.source;
    const known = part.type === 'image' ? imageTypes : documentTypes;
    if (!known.has(mediaType)) return placeOfPart(part);
  }
  return undefined;
}
