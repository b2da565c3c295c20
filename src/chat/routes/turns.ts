import type { Cancellation } from '../../kit/cancellation.ts';
import { Fault } from '../../kit/errors.ts';
import type { Call, Handler } from '../../kit/http/call.ts';
import type { Identity } from '../../kit/identity/identity.ts';
import type { PushedAnswer } from '../../kit/answers/pushed-answer.ts';
import { WrittenJsonText } from '../../kit/answers/written-json.ts';
import { formatTraceparent } from '../../kit/trace/trace-context.ts';
import { ownerOf, type Conversations } from '../conversations/conversation.ts';
import { isIdempotencyKey } from '../schemas/idempotency.ts';
import type { ChatCompletionRequest, turnRoutes as routes } from '../schemas/turns.ts';
import { CompletionWriter } from '../turns/chunks.ts';
import type { Turn, TurnRequest, Turns } from '../turns/turn.ts';
import { faultOf, readingEnded, turnNotFound } from '../turns/turn-faults.ts';
import { stopAnswer } from '../turns/stop-answer.ts';
import { readFeed } from '../turns/turn-feed.ts';
import type { FeedHolder } from '../turns/turn-feeds.ts';
import { streamTurn } from './turn-stream.ts';

type TurnHandlers = { readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]> };

export interface TurnHandlerParts {
  readonly turns: Turns;
  /** `StoredTurns` itself. */
  readonly feeds: FeedHolder;
  readonly conversations: Pick<Conversations, 'find'>;
  /** Throws `exhausted` when its caller has asked too often. */
  readonly completionLimit: { takeFor(call: Pick<AskingCall, 'identity' | 'setHeader'>): void };
}

interface AskingCall extends Pick<Call, 'span' | 'headers' | 'cancellation' | 'setHeader'> {
  readonly identity: Identity;
  readonly credential: string;
  readonly body: ChatCompletionRequest;
}

/** The edge of the turns. */
export function turnHandlers(parts: TurnHandlerParts): TurnHandlers {
  const { turns, feeds, completionLimit } = parts;
  const begin = (call: AskingCall) => {
    completionLimit.takeFor(call);
    return turns.begin(toRequest(call));
  };
  const stream = async (call: AskingCall) => {
    const place = call.headers['last-event-id'];
    if (typeof place === 'string') return resume(parts, place, call);
    return open(parts, await begin(call), { after: 0, cancellation: call.cancellation });
  };
  return {
    chatCompletions: async (call) => {
      if (call.body.stream === true) return stream(call);
      return complete(feeds, await begin(call), call.cancellation);
    },
    chatStream: stream,
    resumeStream: (call) => {
      const header = call.headers['last-event-id'];
      const place = typeof header === 'string' ? header : call.query.last_event_id;
      if (place === undefined) throw missing('last_event_id', 'names the event to go on behind');
      return resume(parts, place, call);
    },
    stopAnswer: async (call) => {
      const { id, conversation_id: conversationId } = call.body;
      const ownerId = ownerOf(call);
      if (id !== undefined) {
        return { success: true, stopped: await stopAnswer(parts, ownerId, { turnId: id }) };
      }
      if (conversationId === undefined) throw missing('id', 'or conversation_id must be given');
      return { success: true, stopped: await stopAnswer(parts, ownerId, { conversationId }) };
    },
  };
}

interface Reading {
  readonly after: number;
  readonly cancellation: Cancellation;
}

function open(parts: TurnHandlerParts, turn: Turn, reading: Reading): PushedAnswer {
  return streamTurn({ turn, feeds: parts.feeds, ...reading });
}

async function resume(
  parts: TurnHandlerParts,
  place: string,
  { identity, cancellation }: { readonly identity: Identity; readonly cancellation: Cancellation },
): Promise<PushedAnswer> {
  const [, turnId, seq] = /^(trn_[0-9a-f]{32}):(\d{1,9})$/.exec(place) ?? [];
  if (turnId === undefined) throw turnNotFound();
  const turn = await parts.turns.find(ownerOf({ identity }), turnId);
  return open(parts, turn, { after: Number(seq), cancellation });
}

/** The whole answer; the turn goes on when nobody waits for it any longer. */
async function complete(
  feeds: FeedHolder,
  turn: Turn,
  { signal }: Cancellation,
): Promise<WrittenJsonText> {
  using held = await feeds.hold(turn);
  const writer = new CompletionWriter(turn);
  for await (const event of readFeed(held.feed, 0, signal)) {
    if (event.type === 'failed') throw faultOf(event);
    const completion = writer.take(event);
    if (completion) return new WrittenJsonText(JSON.stringify(completion));
    if (event.type !== 'tool-call' || !event.needsApproval) continue;
    // All that it waits for is told at once.
    for (const other of held.feed.log.since(event.seq)) writer.take(other);
    return new WrittenJsonText(JSON.stringify(writer.waiting()));
  }
  throw readingEnded(signal);
}

function toRequest({ identity, credential, body, span, headers }: AskingCall): TurnRequest {
  const { messages, model, conversation_id: conversationId, stream: _, ...options } = body;
  return {
    caller: { identity, credential },
    messages,
    options,
    traceparent: formatTraceparent(span.spanContext()),
    ...keyOf(headers['idempotency-key']),
    ...(model === undefined || model === null ? {} : { model }),
    ...(conversationId === undefined || conversationId === null ? {} : { conversationId }),
  };
}

function keyOf(header: string | readonly string[] | undefined): Pick<TurnRequest, 'key'> {
  if (header === undefined) return {};
  if (typeof header === 'string' && isIdempotencyKey(header)) return { key: header };
  throw new Fault('invalid', 'Idempotency-Key must be 1 to 255 printable ASCII characters', {
    reason: 'validation_error',
    detail: { param: 'Idempotency-Key' },
  });
}

function missing(param: string, message: string): Fault {
  return new Fault('invalid', `${param} ${message}`, {
    reason: 'validation_error',
    detail: { param, errors: [{ path: param, message }] },
  });
}
