import { Type, type Static } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { conversationLimits, UsageSchema } from './conversations.ts';
import { nullable } from './nullable.ts';

/** History, and pictures in it; a single text holds a megabyte. */
const bodyBytesMax = 12 * 1024 * 1024;
const messagesMax = 10_000;
const id = Type.String({ minLength: 1, maxLength: 100 });

const RequestMessage = Type.Object(
  {
    role: Type.String({ description: '`system`, `user`, `assistant`, `tool`' }),
    content: nullable(
      Type.Union([
        Type.String({ description: 'at most 1 MiB' }),
        Type.Array(Type.Unknown(), {
          maxItems: 4_096,
          description: "content parts of OpenAI's API",
        }),
      ]),
    ),
  },
  { additionalProperties: true },
);

const requestFields = {
  messages: Type.Array(RequestMessage, {
    minItems: 1,
    maxItems: messagesMax,
    description:
      'with `conversation_id` only the last message of the user is new, and the rest is read from what is stored; instructions (`system`) hold for this answer',
  }),
  model: nullable(
    Type.String({
      minLength: 1,
      maxLength: conversationLimits.modelLengthMax,
      description: "the conversation's when absent",
    }),
  ),
  temperature: nullable(Type.Number({ minimum: 0, maximum: 2 })),
  max_tokens: nullable(Type.Integer({ minimum: 1 })),
  stream: nullable(Type.Boolean()),
  conversation_id: nullable(id),
};

/** The interface's request; the further fields of OpenAI's API go to the model. */
export const ChatCompletionRequest = Type.Object(requestFields, {
  $id: 'ChatCompletionRequest',
  additionalProperties: true,
});
export type ChatCompletionRequest = Static<typeof ChatCompletionRequest>;

const ToolCallSchema = Type.Object({
  id: Type.String(),
  type: Type.Literal('function'),
  function: Type.Object({ name: Type.String(), arguments: Type.String() }),
});

const places = {
  conversation_id: Type.Optional(Type.String()),
  message_id: Type.String({ description: "the answer's" }),
};

export const ChatCompletion = Type.Object(
  {
    id: Type.String({ description: 'for `stop`' }),
    object: Type.Literal('chat.completion'),
    created: Type.Integer({ description: 'Unix seconds' }),
    model: Type.String(),
    choices: Type.Array(
      Type.Object({
        index: Type.Integer(),
        message: Type.Object({
          role: Type.Literal('assistant'),
          content: Type.Union([Type.String(), Type.Null()]),
          reasoning_content: Type.Optional(Type.String()),
          tool_calls: Type.Optional(Type.Array(ToolCallSchema)),
        }),
        finish_reason: Type.String({
          description:
            '`stop`, `length`, `content_filter`; `tool_calls` for calls that wait for the caller',
        }),
      }),
    ),
    usage: UsageSchema,
    ...places,
    pending_approvals: Type.Optional(
      Type.Array(Type.Object({ call_id: Type.String(), name: Type.String() }), {
        description: 'calls of tools that the answer waits for; it goes on when they are answered',
      }),
    ),
  },
  { $id: 'ChatCompletion' },
);
export type ChatCompletion = Static<typeof ChatCompletion>;

const StreamedToolCall = Type.Object({
  call_id: Type.String(),
  name: Type.String(),
  arguments: Type.String(),
  needs_approval: Type.Boolean(),
});

export const ChatCompletionChunk = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('chat.completion.chunk'),
    created: Type.Integer(),
    model: Type.String(),
    choices: Type.Array(
      Type.Object(
        {
          index: Type.Integer(),
          delta: Type.Object(
            { content: Type.Optional(Type.String()) },
            { additionalProperties: true },
          ),
          finish_reason: nullable(Type.String()),
        },
        { additionalProperties: true },
      ),
    ),
    ...places,
    usage: Type.Optional(UsageSchema),
    tool_call: Type.Optional(StreamedToolCall),
    approval: Type.Optional(Type.Object({ call_id: Type.String(), approved: Type.Boolean() })),
    tool_result: Type.Optional(
      Type.Object({
        call_id: Type.String(),
        name: Type.String(),
        content: Type.String(),
        is_error: Type.Boolean(),
      }),
    ),
  },
  { $id: 'ChatCompletionChunk' },
);

const streamed =
  'Server-sent events that end with `data: [DONE]`; a stream that ends without it, after an event with `error`, is not complete. A lost connection stops nothing: `Last-Event-ID` resumes the stream, within an hour.';
const repeated =
  'The same request with the same `Idempotency-Key` is one turn, for an hour after its end: it is asked once, and answered as often as it comes; one that failed is asked again.';

/** Questions to models. */
export const turnRoutes = {
  chatCompletions: {
    method: 'POST',
    url: '/api/chat/completions',
    isDirect: true,
    summary: 'Answer a chat',
    description: `With \`conversation_id\` the question and the answer are stored in it. ${repeated} With \`stream\`: ${streamed}`,
    bodyBytesMax,
    schema: {
      body: ChatCompletionRequest,
      response: { 200: ChatCompletion },
      stream: ChatCompletionChunk,
    },
  },
  chatStream: {
    method: 'POST',
    url: '/api/chat/stream',
    isDirect: true,
    summary: 'Answer a chat as it is written',
    description: `${streamed} With that header the body asks for nothing new. ${repeated}`,
    bodyBytesMax,
    schema: {
      body: ChatCompletionRequest,
      response: { 200: ChatCompletionChunk },
      stream: ChatCompletionChunk,
    },
  },
  resumeStream: {
    method: 'GET',
    url: '/api/chat/stream',
    summary: 'Go on reading an answer',
    description: 'Behind the event that `Last-Event-ID`, or `last_event_id`, names.',
    schema: {
      query: Type.Object({
        last_event_id: Type.Optional(
          Type.String({ maxLength: 200, description: 'for who cannot send `Last-Event-ID`' }),
        ),
      }),
      response: { 200: ChatCompletionChunk },
      stream: ChatCompletionChunk,
    },
  },
  stopAnswer: {
    method: 'POST',
    url: '/api/chat/stop',
    summary: 'End an answer that is being written',
    description: 'What was written stays in its conversation.',
    schema: {
      body: Type.Object({
        id: Type.Optional(
          Type.String({ minLength: 1, maxLength: 100, description: "a completion's" }),
        ),
        conversation_id: Type.Optional(id),
      }),
      response: {
        200: Type.Object({
          success: Type.Literal(true),
          stopped: Type.Boolean({ description: 'false: nothing was being written any more' }),
        }),
      },
    },
  },
} as const satisfies Readonly<Record<string, Route>>;
