import type { ChatRequest, Reasoning } from '../../conversation/request.ts';
import { findSilence } from '../silence.ts';
import { firstUnsaidInChat } from '../telling-fields.ts';
import { traitsOf, type ModelTraits } from './models.ts';

const choicesMax = 8;
const stopsMax = 5;

/** The first thing that Gemini, or this model of it, has no words for. */
export function findUnsupported(request: ChatRequest, model?: string): string | undefined {
  const traits = traitsOf(model ?? request.model.slice(request.model.lastIndexOf('/') + 1));
  return (
    findUnsaid(request, traits) ??
    findInMessages(request) ??
    firstUnsaidInChat(request.extras) ??
    findSilence(request)
  );
}

/** A stream has no end of its own, so of several answers in one nobody could tell whether all came. */
function findUnsaid(request: ChatRequest, traits: ModelTraits): string | undefined {
  const { choices = 1, reasoning, stop } = request;
  if (choices > (request.isStream ? 1 : choicesMax)) return 'n';
  if (stop && stop.length > stopsMax) return 'stop';
  if (reasoning && !saysThinking(reasoning, traits)) return 'reasoning_effort';
  return findPenalty(request, traits) ?? findInTools(request, traits);
}

function saysThinking({ effort }: Reasoning, { alwaysThinks, canThink }: ModelTraits): boolean {
  return effort === 'none' ? !alwaysThinks : canThink;
}

function findPenalty(request: ChatRequest, traits: ModelTraits): string | undefined {
  if (traits.takesPenalties) return undefined;
  if (request.frequencyPenalty) return 'frequency_penalty';
  return request.presencePenalty ? 'presence_penalty' : undefined;
}

/** Before its third generation Gemini either calls tools or writes JSON. */
function findInTools(request: ChatRequest, { isThird }: ModelTraits): string | undefined {
  if (request.tools.length === 0) return undefined;
  if (request.output && !isThird) return 'response_format';
  const isSingle = request.allowsParallelCalls === false && request.toolChoice !== 'none';
  return isSingle ? 'parallel_tool_calls' : undefined;
}

function findInMessages(request: ChatRequest): string | undefined {
  for (const [index, message] of request.messages.entries()) {
    if (message.role !== 'tool' && message.name !== undefined) return `messages[${index}].name`;
  }
  return undefined;
}
