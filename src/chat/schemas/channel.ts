import { Type, type Static } from 'typebox';
import type { SocketRoute } from '../../kit/contract.ts';
import { callIdLengthMax } from '../turns/model-answer.ts';
import {
  conversationLimits,
  ConversationSchema,
  MessageSchema,
  UsageSchema,
} from './conversations.ts';
import { IdempotencyKey } from './idempotency.ts';
import { nullable } from './nullable.ts';

/** Of a client's frame: a text of 1 MiB, however its characters are escaped. */
export const frameBytesMax = 8 * 1024 * 1024;

const { modelLengthMax } = conversationLimits;
const id = Type.String({ minLength: 1, maxLength: 100 });
const agentSubscription = Type.Object({
  type: Type.Literal('agent_progress'),
  agent_id: Type.String({ minLength: 1, maxLength: 256 }),
});

/** What a client may send, over Socket.IO and plain WebSockets alike. */
export const clientEvents = {
  chat_message: Type.Object({
    conversation_id: nullable(id),
    message: Type.String({ pattern: '\\S', description: 'a text that is not blank' }),
    model: nullable(Type.String({ minLength: 1, maxLength: modelLengthMax })),
    stream: nullable(
      Type.Boolean({ description: 'false: this socket gets the finished answer alone' }),
    ),
    idempotency_key: nullable(IdempotencyKey),
  }),
  voice_command: Type.Object({
    transcription: Type.String({ minLength: 1, maxLength: 10_000 }),
    confidence: Type.Number({ minimum: 0, maximum: 1 }),
    session_id: Type.Optional(id),
  }),
  subscribe: agentSubscription,
  unsubscribe: agentSubscription,
  /** One of both. */
  stop: Type.Object({ turn_id: Type.Optional(id), conversation_id: Type.Optional(id) }),
  approve: Type.Object({
    turn_id: id,
    answers: Type.Array(
      Type.Object({
        call_id: Type.String({ minLength: 1, maxLength: callIdLengthMax }),
        approved: Type.Boolean(),
      }),
      { minItems: 1, maxItems: 128 },
    ),
  }),
  resume: Type.Object({
    turn_id: id,
    after: Type.Optional(Type.Integer({ minimum: 0, description: 'the last `seq` that was seen' })),
  }),
};

export type ClientEvents = {
  readonly [K in keyof typeof clientEvents]: Static<(typeof clientEvents)[K]>;
};

/** A piece of an answer, or with `finished` its end. */
const chatResponse = Type.Object({
  conversation_id: id,
  message_id: id,
  token: Type.String({ description: 'what is new, never what came before' }),
  finished: Type.Boolean(),
  model: Type.String(),
  id: Type.String({ description: "the turn's" }),
  seq: Type.Integer({
    description:
      "the event's number in its turn; the end of a turn whose process died has one that is behind all others",
  }),
  after: Type.Optional(
    Type.Integer({
      description:
        'at the end of a turn whose process died: the last `seq` that is stored; what was told behind it is lost',
    }),
  ),
  reasoning: Type.Optional(Type.String()),
  finish_reason: Type.Optional(Type.String()),
  usage: Type.Optional(UsageSchema),
  error: Type.Optional(Type.Object({ code: Type.String(), message: Type.String() })),
});

const ofTurn = {
  id: Type.String(),
  seq: Type.Integer(),
  conversation_id: id,
  call_id: Type.String(),
};

/** What the server sends, by event. */
const serverEvents = {
  chat_response: chatResponse,
  agent_progress: Type.Object({
    agent_id: Type.String(),
    task_id: Type.String(),
    progress: Type.Number({ minimum: 0, maximum: 1 }),
    status: Type.String(),
    message: Type.String(),
  }),
  voice_feedback: Type.Object({
    speech: Type.String(),
    action: Type.String(),
    session_id: Type.String(),
  }),
  conversation: Type.Object({
    type: Type.String({ description: '`created`, `changed` or `deleted`' }),
    conversation_id: id,
    conversation: Type.Optional(ConversationSchema),
  }),
  message: Type.Object({ conversation_id: id, message: MessageSchema }),
  tool_call: Type.Object({
    ...ofTurn,
    message_id: id,
    name: Type.String(),
    arguments: Type.String(),
    needs_approval: Type.Boolean(),
  }),
  approval: Type.Object({ ...ofTurn, approved: Type.Boolean() }),
  tool_result: Type.Object({
    ...ofTurn,
    name: Type.String(),
    content: Type.String(),
    is_error: Type.Boolean(),
  }),
  gap: Type.Object({
    id: Type.Optional(
      Type.String({
        description:
          'the turn, conversation or agent of which events were lost; absent: of any, because another replica could not tell of them',
      }),
    ),
    from: Type.Integer(),
    to: Type.Integer(),
  }),
  resumed: Type.Object({
    id: Type.String(),
    after: Type.Integer({
      description:
        'where the events go on, at most what was asked for: what was told behind it comes again, or is lost',
    }),
  }),
  error: Type.Object(
    { success: Type.Literal(false), code: Type.String(), event: Type.Optional(Type.String()) },
    { additionalProperties: true },
  ),
};

const serverFrame = Type.Union(
  Object.entries(serverEvents).map(([event, data]) =>
    Type.Object({ event: Type.Literal(event), data }),
  ),
);
const clientFrame = Type.Union(
  Object.entries(clientEvents).map(([event, data]) =>
    Type.Object({ event: Type.Literal(event), data }),
  ),
);

function channelSocket<U extends string>(url: U) {
  return {
    url,
    summary: 'The chat channel: `{event, data}` both ways; Socket.IO has the same events',
    authFrame: true,
    messageBytesMax: frameBytesMax,
    subscribe: clientFrame,
    event: serverFrame,
  } as const satisfies SocketRoute;
}

export const channelSockets = { channel: channelSocket('/'), channelAlias: channelSocket('/ws') };
