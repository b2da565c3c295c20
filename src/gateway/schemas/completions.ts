import { Type, type Static } from 'typebox';
import type { Route } from '../../kit/contract.ts';

/** OpenAI's APIs say null for what is absent. */
export const nullable = <T extends Parameters<typeof Type.Optional>[0]>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null()]));

export const bodyBytesMax = 32 * 1024 * 1024;
/** The body's size is the only bound of a list of messages: each takes two bytes at least. */
export const itemsMax = bodyBytesMax / 2;

const ModelName = Type.String({
  minLength: 1,
  maxLength: 256,
  description:
    'a model, `<provider>/<model>`, or `auto-route` (the default) to let the gateway choose',
});

const CacheWish = Type.Object(
  {
    enabled: nullable(Type.Boolean({ description: 'on by itself for temperature 0' })),
    ttl: nullable(Type.Integer({ minimum: 0, description: 'seconds' })),
    key: nullable(Type.String({ maxLength: 256, description: 'a namespace of your own' })),
  },
  { additionalProperties: true },
);

/** Fields for the gateway itself, which providers never see. */
export const ownFields = {
  routing_strategy: nullable(
    Type.Enum(['cost', 'performance', 'quality'], { description: 'the cheapest when absent' }),
  ),
  cache: nullable(CacheWish),
  fallbacks: nullable(
    Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
      maxItems: 16,
      description: 'models to ask, in this order, when the first one fails',
    }),
  ),
};

const Message = Type.Object(
  {
    role: Type.String({ maxLength: 64, description: '`system`, `user`, `assistant`, `tool`, …' }),
    content: Type.Optional(
      Type.Union([Type.String(), Type.Array(Type.Unknown(), { maxItems: 4_096 }), Type.Null()]),
    ),
  },
  { additionalProperties: true },
);

/** The interface's chat completion request; every field of OpenAI's API is taken too. */
export const CompletionRequest = Type.Object(
  {
    messages: Type.Array(Message, { minItems: 1, maxItems: itemsMax }),
    model: nullable(ModelName),
    max_tokens: nullable(Type.Integer({ minimum: 1 })),
    temperature: nullable(Type.Number({ minimum: 0, maximum: 2 })),
    stream: nullable(Type.Boolean()),
    ...ownFields,
  },
  { $id: 'CompletionRequest', additionalProperties: true },
);
export type CompletionRequest = Static<typeof CompletionRequest>;

const Usage = Type.Object(
  {
    prompt_tokens: Type.Integer(),
    completion_tokens: Type.Integer(),
    total_tokens: Type.Integer(),
    cost: Type.Optional(
      Type.Number({ description: 'US dollars; 0 for local models. Not under `/v1`' }),
    ),
  },
  { additionalProperties: true },
);

export const Completion = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('chat.completion'),
    created: Type.Integer({ description: 'Unix seconds' }),
    model: Type.String(),
    provider: Type.Optional(Type.String({ description: 'not under `/v1`' })),
    usage: Usage,
    choices: Type.Array(
      Type.Object(
        {
          index: Type.Integer(),
          message: Type.Object(
            {
              role: Type.Literal('assistant'),
              content: Type.Union([Type.String(), Type.Null()]),
            },
            { additionalProperties: true },
          ),
          finish_reason: Type.String({
            description: '`stop`, `length`, `tool_calls` or `content_filter`',
          }),
        },
        { additionalProperties: true },
      ),
    ),
  },
  { $id: 'Completion', additionalProperties: true },
);
export type Completion = Static<typeof Completion>;

/** A chunk of a streamed completion; one with usage comes where `stream_options` asks for it. */
export const CompletionChunk = Type.Object(
  {
    id: Type.String(),
    choices: Type.Array(
      Type.Object(
        {
          index: Type.Integer(),
          delta: Type.Object(
            { content: Type.Optional(Type.Union([Type.String(), Type.Null()])) },
            { additionalProperties: true },
          ),
          finish_reason: Type.Optional(Type.Union([Type.String(), Type.Null()])),
        },
        { additionalProperties: true },
      ),
    ),
    usage: nullable(Usage),
  },
  { $id: 'CompletionChunk', additionalProperties: true },
);
export type CompletionChunk = Static<typeof CompletionChunk>;

const summary = 'Complete a chat';
const description =
  'With `stream` the answer is server-sent events that end with `data: [DONE]`; a stream that ends without it, after an event with `error`, is not complete.';

/** The interface's endpoint, and OpenAI's own, which answers the provider's bytes as they are. */
export const completionRoutes = {
  completions: {
    method: 'POST',
    url: '/api/v1/chat/completions',
    isDirect: true,
    summary,
    description: `${description} The answer says \`provider\` and \`usage.cost\`.`,
    bodyCheck: 'handler',
    keepsText: true,
    bodyBytesMax,
    schema: { body: CompletionRequest, response: { 200: Completion }, stream: CompletionChunk },
  },
  openAiCompletions: {
    method: 'POST',
    url: '/v1/chat/completions',
    isDirect: true,
    summary: `${summary}, for OpenAI's clients`,
    description,
    bodyCheck: 'handler',
    keepsText: true,
    bodyBytesMax,
    schema: { body: CompletionRequest, response: { 200: Completion }, stream: CompletionChunk },
  },
} as const satisfies Readonly<Record<string, Route>>;
