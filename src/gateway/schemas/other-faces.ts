import { Type, type Static } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { bodyBytesMax, itemsMax, ownFields } from './completions.ts';

const ModelName = Type.String({ minLength: 1, maxLength: 256 });
const Answer = Type.Object(
  { id: Type.String(), model: Type.String() },
  { additionalProperties: true },
);

/** Anthropic's Messages API, whose own words are checked by the face that reads them. */
const MessagesRequest = Type.Object(
  {
    model: Type.Optional(ModelName),
    messages: Type.Array(Type.Unknown(), { minItems: 1, maxItems: itemsMax }),
    max_tokens: Type.Optional(Type.Integer({ minimum: 1 })),
    stream: Type.Optional(Type.Boolean()),
    ...ownFields,
  },
  { $id: 'MessagesRequest', additionalProperties: true },
);

/** OpenAI's Responses API, whose own words are checked by the face that reads them. */
const ResponsesRequest = Type.Object(
  {
    model: Type.Optional(ModelName),
    input: Type.Union([Type.String(), Type.Array(Type.Unknown(), { maxItems: itemsMax })]),
    stream: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
    ...ownFields,
  },
  { $id: 'ResponsesRequest', additionalProperties: true },
);

const Text = Type.String();
const Tokens = Type.Array(Type.Integer({ minimum: 0 }), { minItems: 1, maxItems: 65_536 });

export const EmbeddingBody = Type.Object(
  {
    model: Type.Optional(ModelName),
    input: Type.Union([
      Text,
      Tokens,
      Type.Array(Text, { minItems: 1, maxItems: 2_048 }),
      Type.Array(Tokens, { minItems: 1, maxItems: 2_048 }),
    ]),
    encoding_format: Type.Optional(Type.Enum(['float', 'base64'])),
    dimensions: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_536 })),
  },
  { $id: 'EmbeddingRequest', additionalProperties: true },
);
export type EmbeddingBody = Static<typeof EmbeddingBody>;

const EmbeddingList = Type.Object(
  {
    object: Type.Literal('list'),
    data: Type.Array(
      Type.Object({
        object: Type.Literal('embedding'),
        index: Type.Integer(),
        embedding: Type.Union([Type.Array(Type.Number()), Type.String({ description: 'base64' })]),
      }),
    ),
    model: Type.String(),
    usage: Type.Object({ prompt_tokens: Type.Integer(), total_tokens: Type.Integer() }),
  },
  { $id: 'EmbeddingList' },
);

const Model = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('model'),
    created: Type.Integer({ description: 'Unix seconds' }),
    owned_by: Type.String({ description: 'the provider' }),
  },
  { $id: 'Model' },
);

const inOtherWords =
  'With the header `anthropic-version` the answer is as Anthropic’s Models API has it.';

/** The APIs of OpenAI and Anthropic beside chat completions. */
export const otherFaceRoutes = {
  messages: {
    method: 'POST',
    url: '/v1/messages',
    isDirect: true,
    aliases: ['/api/v1/messages'],
    summary: "Complete a chat, for Anthropic's clients",
    bodyCheck: 'handler',
    keepsText: true,
    bodyBytesMax,
    schema: { body: MessagesRequest, response: { 200: Answer }, stream: Type.Unknown() },
  },
  responses: {
    method: 'POST',
    url: '/v1/responses',
    isDirect: true,
    aliases: ['/api/v1/responses'],
    summary: "Complete a chat, for OpenAI's Responses API",
    description: 'Nothing is stored: `previous_response_id` is refused.',
    bodyCheck: 'handler',
    keepsText: true,
    bodyBytesMax,
    schema: { body: ResponsesRequest, response: { 200: Answer }, stream: Type.Unknown() },
  },
  embeddings: {
    method: 'POST',
    url: '/v1/embeddings',
    isDirect: true,
    aliases: ['/api/v1/embeddings'],
    summary: 'Turn texts into vectors',
    bodyBytesMax,
    schema: { body: EmbeddingBody, response: { 200: EmbeddingList } },
  },
  listModels: {
    method: 'GET',
    url: '/api/v1/models',
    aliases: ['/v1/models'],
    summary: 'List the models that can be asked for',
    description: `${inOtherWords} The query is for these.`,
    schema: {
      query: Type.Object({
        limit: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: 1_000,
            description: 'at most so many models; all of them when absent',
          }),
        ),
        after_id: Type.Optional(
          Type.String({ maxLength: 256, description: 'only those behind this model' }),
        ),
        before_id: Type.Optional(
          Type.String({ maxLength: 256, description: 'only those before this model' }),
        ),
      }),
      response: { 200: Type.Object({ object: Type.Literal('list'), data: Type.Array(Model) }) },
    },
  },
  readModel: {
    method: 'GET',
    url: '/api/v1/models/:model',
    aliases: [
      '/v1/models/:model',
      '/api/v1/models/:provider/:model',
      '/v1/models/:provider/:model',
      '/api/v1/models/:provider/:owner/:model',
      '/v1/models/:provider/:owner/:model',
    ],
    summary: 'Read a model',
    description: inOtherWords,
    schema: {
      params: Type.Object({
        model: Type.String({ maxLength: 256, description: 'as the list names it' }),
        provider: Type.Optional(Type.String({ maxLength: 128, description: 'as in `groq/…`' })),
        owner: Type.Optional(Type.String({ maxLength: 128, description: 'as in `groq/openai/…`' })),
      }),
      response: { 200: Model },
    },
  },
} as const satisfies Readonly<Record<string, Route>>;
