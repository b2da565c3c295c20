import type { Call, Handlers } from '../../kit/http/call.ts';
import type { PushedAnswer } from '../../kit/answers/pushed-answer.ts';
import type { WrittenBytes } from '../../kit/answers/written-json.ts';
import type { gatewayContract } from '../contract.ts';
import { noHeaders, type Body, type ChatAsk } from '../exchange/ask.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Provenance } from '../exchange/parts.ts';
import { anthropicFace } from '../faces/anthropic.ts';
import type { Face } from '../faces/face.ts';
import { openAiFace } from '../faces/openai.ts';
import { ItemMemory } from '../faces/responses/item-memory.ts';
import { responsesFace } from '../faces/responses.ts';
import type { GatewayParts } from '../parts.ts';
import { tellProvenance } from './provenance.ts';

type ChatHandlers = Pick<
  Handlers<typeof gatewayContract>,
  'completions' | 'openAiCompletions' | 'messages' | 'responses'
>;

type AnyCall = Omit<Call, 'params' | 'query' | 'body'> & { readonly body: Body };

/** The routes that ask a model. */
export function chatHandlers({ exchange }: Pick<GatewayParts, 'exchange'>): ChatHandlers {
  const items = new ItemMemory();
  const answer = (call: AnyCall, face: Face, isAnnotated = false) =>
    answerChat(exchange, toAsk(call, face, isAnnotated), call);
  return {
    completions: (call) => answer(call, openAiFace, true),
    openAiCompletions: (call) => answer(call, openAiFace),
    messages: (call) => {
      // Where Anthropic's clients look for it.
      call.setHeader('request-id', call.requestId);
      return answer(call, anthropicFace);
    },
    responses: (call) => answer(call, items.faceOf(responsesFace, call.identity.subject)),
  };
}

function answerChat(
  exchange: Exchange,
  ask: ChatAsk,
  call: AnyCall,
): PushedAnswer | Promise<WrittenBytes> {
  const tell = (provenance: Provenance) => tellProvenance(call, provenance);
  if (ask.body['stream'] === true) return exchange.stream(ask, tell);
  return exchange.complete(ask, tell);
}

function toAsk(call: AnyCall, face: Face, isAnnotated: boolean): ChatAsk {
  const { identity, text, span, headers } = call;
  return {
    face,
    body: call.body,
    text,
    payer: { subject: identity.subject, name: identity.name },
    span,
    cancellation: call.cancellation,
    startedAt: performance.now(),
    isAnnotated,
    headers: face === anthropicFace ? anthropicHeaders(headers) : noHeaders,
  };
}

const passedOn = ['anthropic-version', 'anthropic-beta'] as const;

/** Which version of its API, and which of its trials, a client of Anthropic's speaks. */
function anthropicHeaders(headers: Call['headers']): Readonly<Record<string, string>> {
  const passed: Record<string, string> = {};
  for (const name of passedOn) {
    const value = headers[name];
    if (typeof value === 'string') passed[name] = value;
  }
  return passed;
}
