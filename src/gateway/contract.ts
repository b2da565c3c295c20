import { Type, type Static } from 'typebox';
import { healthRoute, type Contract } from '../kit/contract.ts';
import { ChatChunk, ChatCompletion, ChatRequest } from '../models/contract.ts';
import { gatewayEnvelope } from './envelope.ts';

/** The interface's chat completion request; fields of OpenAI's API beyond it are taken too. */
export const CompletionRequest = Type.Object(
  {
    ...ChatRequest.properties,
    model: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description: 'a model, or `auto-route` (the default) to let the gateway choose',
      }),
    ),
    routing_strategy: Type.Optional(
      Type.Enum(['performance', 'quality'], { description: 'cost-optimised when absent' }),
    ),
    cache: Type.Optional(
      Type.Object({
        enabled: Type.Optional(Type.Boolean()),
        ttl: Type.Optional(Type.Integer({ minimum: 0, description: 'seconds' })),
        key: Type.Optional(Type.String({ maxLength: 256 })),
      }),
    ),
  },
  { $id: 'CompletionRequest', additionalProperties: true },
);
export type CompletionRequest = Static<typeof CompletionRequest>;

const Usage = Type.Object({
  prompt_tokens: Type.Integer(),
  completion_tokens: Type.Integer(),
  total_tokens: Type.Integer(),
  cost: Type.Number({ description: 'US dollars; 0 for local models' }),
});

export const Completion = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('chat.completion'),
    created: Type.Integer({ description: 'Unix seconds' }),
    model: Type.String(),
    provider: Type.String(),
    usage: Usage,
    choices: ChatCompletion.properties.choices,
  },
  { $id: 'Completion' },
);
export type Completion = Static<typeof Completion>;

/** A chunk of a streamed completion, with the provider that it came from. */
export const CompletionChunk = Type.Object(
  { ...ChatChunk.properties, usage: Type.Optional(Usage), provider: Type.String() },
  { $id: 'CompletionChunk' },
);
export type CompletionChunk = Static<typeof CompletionChunk>;

const ProviderHealth = Type.Object({
  status: Type.Union([Type.Literal('healthy'), Type.Literal('degraded')]),
  models: Type.Optional(Type.Integer()),
  latency: Type.Optional(Type.Number({ description: 'milliseconds of the probe' })),
  error: Type.Optional(Type.String()),
});
export type ProviderHealth = Static<typeof ProviderHealth>;

const Model = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('model'),
    created: Type.Integer({ description: 'Unix seconds' }),
    owned_by: Type.String({ description: 'the provider' }),
  },
  { $id: 'Model' },
);

const ModelList = Type.Object({ object: Type.Literal('list'), data: Type.Array(Model) });

/** What others may know of the gateway. */
export const gatewayContract = {
  name: 'gateway',
  title: 'Ennead Gateway',
  version: '1.0.0',
  description: 'One door to every model provider.',
  error: gatewayEnvelope.schema,
  routes: {
    completions: {
      method: 'POST',
      url: '/api/v1/chat/completions',
      aliases: ['/v1/chat/completions'],
      summary: 'Complete a chat',
      description: 'With `stream` the answer is server-sent events that end with `data: [DONE]`.',
      bodyBytesMax: 8 * 1024 * 1024,
      schema: { body: CompletionRequest, response: { 200: Completion }, stream: CompletionChunk },
    },
    listModels: {
      method: 'GET',
      url: '/api/v1/models',
      aliases: ['/v1/models'],
      summary: 'List the models that can be asked for',
      schema: { response: { 200: ModelList } },
    },
    readModel: {
      method: 'GET',
      url: '/api/v1/models/:model',
      aliases: ['/v1/models/:model'],
      summary: 'Read a model',
      schema: { params: Type.Object({ model: Type.String() }), response: { 200: Model } },
    },
    health: healthRoute('/api/health', {
      providers: Type.Record(Type.String(), ProviderHealth),
    }),
  },
} as const satisfies Contract;
