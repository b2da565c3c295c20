import { Type, type Static } from 'typebox';
import { healthRoute, type Contract } from '../kit/contract.ts';
import { modelsEnvelope } from './envelope.ts';

const TextPart = Type.Object({ type: Type.Literal('text'), text: Type.String() });

export const ChatMessage = Type.Object(
  {
    role: Type.Union([Type.Literal('system'), Type.Literal('user'), Type.Literal('assistant')]),
    content: Type.Union([Type.String(), Type.Array(TextPart, { maxItems: 256 })]),
  },
  { $id: 'ChatMessage' },
);
export type ChatMessage = Static<typeof ChatMessage>;

/** A chat completion as OpenAI's API words it. */
export const ChatRequest = Type.Object(
  {
    model: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
    messages: Type.Array(ChatMessage, { minItems: 1, maxItems: 2048 }),
    max_tokens: Type.Optional(Type.Integer({ minimum: 1 })),
    max_completion_tokens: Type.Optional(Type.Integer({ minimum: 1 })),
    temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
    top_p: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    seed: Type.Optional(Type.Integer()),
    stop: Type.Optional(
      Type.Union([
        Type.String({ minLength: 1, maxLength: 256 }),
        Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 4 }),
      ]),
    ),
    stream: Type.Optional(Type.Boolean()),
    stream_options: Type.Optional(Type.Object({ include_usage: Type.Optional(Type.Boolean()) })),
  },
  // What a model does not know is refused by name, so it must be seen.
  { $id: 'ChatRequest', additionalProperties: true },
);
export type ChatRequest = Static<typeof ChatRequest>;

const FinishReason = Type.Union([Type.Literal('stop'), Type.Literal('length')]);

const Usage = Type.Object(
  {
    prompt_tokens: Type.Integer(),
    completion_tokens: Type.Integer(),
    total_tokens: Type.Integer(),
  },
  { $id: 'Usage' },
);

export const ChatCompletion = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('chat.completion'),
    created: Type.Integer({ description: 'Unix seconds' }),
    model: Type.String(),
    choices: Type.Array(
      Type.Object({
        index: Type.Integer(),
        message: Type.Object({ role: Type.Literal('assistant'), content: Type.String() }),
        finish_reason: FinishReason,
      }),
    ),
    usage: Usage,
  },
  { $id: 'ChatCompletion' },
);
export type ChatCompletion = Static<typeof ChatCompletion>;

/** One chunk of a streamed completion; the last one has the usage and no choices. */
export const ChatChunk = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('chat.completion.chunk'),
    created: Type.Integer(),
    model: Type.String(),
    choices: Type.Array(
      Type.Object({
        index: Type.Integer(),
        delta: Type.Object({
          role: Type.Optional(Type.Literal('assistant')),
          content: Type.Optional(Type.String()),
        }),
        finish_reason: Type.Union([FinishReason, Type.Null()]),
      }),
    ),
    usage: Type.Optional(Usage),
  },
  { $id: 'ChatChunk' },
);
export type ChatChunk = Static<typeof ChatChunk>;

export const ModelCard = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('model'),
    created: Type.Integer({ description: 'Unix seconds of the file' }),
    owned_by: Type.Literal('local'),
  },
  { $id: 'Model' },
);
export type ModelCard = Static<typeof ModelCard>;

/** What others may know of models. */
export const modelsContract = {
  name: 'models',
  title: 'Ennead Models',
  version: '1.0.0',
  description: 'Local inference at no cost.',
  error: modelsEnvelope.schema,
  routes: {
    chatCompletions: {
      method: 'POST',
      url: '/v1/chat/completions',
      summary: 'Complete a chat with a local model',
      bodyBytesMax: 8 * 1024 * 1024,
      schema: { body: ChatRequest, response: { 200: ChatCompletion }, stream: ChatChunk },
    },
    listModels: {
      method: 'GET',
      url: '/v1/models',
      summary: 'List the installed models',
      schema: {
        response: {
          200: Type.Object({ object: Type.Literal('list'), data: Type.Array(ModelCard) }),
        },
      },
    },
    health: healthRoute('/health', {
      models: Type.Integer({ description: 'installed' }),
      loaded: Type.Array(Type.String(), { description: 'in memory now' }),
      runtime: Type.String({ description: '`idle`, `starting`, `ready` or `crashed`' }),
    }),
  },
} as const satisfies Contract;
