import { Type, type Static } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { ChatChunk, ChatCompletion, ChatRequest } from './chat-schemas.ts';
import { EmbeddingList, EmbeddingRequest, TextCompletion, TextRequest } from './text-schemas.ts';

export const ModelCard = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('model'),
    created: Type.Integer({ description: 'Unix seconds of the file' }),
    owned_by: Type.String({ description: '`local`, or the name of an external runtime' }),
    capabilities: Type.Array(Type.String(), {
      description: '`completion`, `tools`, `json`, `embedding`',
    }),
    context_length: Type.Optional(Type.Integer({ description: 'tokens, where it is known' })),
  },
  { $id: 'Model' },
);
export type ModelCard = Static<typeof ModelCard>;

const bodyBytesMax = 8 * 1024 * 1024;

/** OpenAI's API, as far as models speaks it. */
export const openAiRoutes = {
  chatCompletions: {
    method: 'POST',
    url: '/v1/chat/completions',
    isDirect: true,
    summary: 'Complete a chat with a local model',
    description: 'With `stream` the answer is server-sent events that end with `data: [DONE]`.',
    bodyBytesMax,
    schema: { body: ChatRequest, response: { 200: ChatCompletion }, stream: ChatChunk },
  },
  textCompletions: {
    method: 'POST',
    url: '/v1/completions',
    isDirect: true,
    summary: 'Continue a text with a local model',
    description: 'With `stream` the answer is server-sent events that end with `data: [DONE]`.',
    bodyBytesMax,
    schema: { body: TextRequest, response: { 200: TextCompletion }, stream: TextCompletion },
  },
  createEmbeddings: {
    method: 'POST',
    url: '/v1/embeddings',
    summary: 'Turn texts into vectors',
    bodyBytesMax,
    schema: { body: EmbeddingRequest, response: { 200: EmbeddingList } },
  },
  listModels: {
    method: 'GET',
    url: '/v1/models',
    summary: 'List the models',
    schema: {
      response: { 200: Type.Object({ object: Type.Literal('list'), data: Type.Array(ModelCard) }) },
    },
  },
  readModel: {
    method: 'GET',
    url: '/v1/models/:model',
    summary: 'Read a model',
    schema: {
      params: Type.Object({
        model: Type.String({ minLength: 1, maxLength: 256, description: 'as the list names it' }),
      }),
      response: { 200: ModelCard },
    },
  },
} as const satisfies Readonly<Record<string, Route>>;
