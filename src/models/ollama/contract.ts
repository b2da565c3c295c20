import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import {
  AnyBody,
  CopyBody,
  DeleteBody,
  EmbedAnswer,
  EmbedBody,
  EmbeddingBody,
  Progress,
  PullBody,
  RunningList,
  ShowAnswer,
  ShowBody,
  TagList,
} from './model-schemas.ts';
import { ChatBody, ChatLine, GenerateBody, GenerateLine } from './schemas.ts';

const bodyBytesMax = 8 * 1024 * 1024;
const permission = 'models:manage';
const refused = { body: AnyBody, response: { 200: Progress } };

/** Ollama's API, as its own clients speak it. */
export const ollamaRoutes = {
  ollamaBanner: {
    method: 'GET',
    url: '/',
    summary: 'Tell Ollama’s clients that they are in the right place',
    description: 'The answer is plain text.',
    auth: 'none',
    schema: { response: { 200: Type.String() } },
  },
  ollamaVersion: {
    method: 'GET',
    url: '/api/version',
    summary: 'Say which version answers',
    auth: 'none',
    schema: { response: { 200: Type.Object({ version: Type.String() }) } },
  },
  ollamaGenerate: {
    method: 'POST',
    url: '/api/generate',
    isDirect: true,
    summary: 'Answer a prompt, as a stream of lines unless told otherwise',
    bodyBytesMax,
    schema: { body: GenerateBody, response: { 200: GenerateLine }, lines: GenerateLine },
  },
  ollamaChat: {
    method: 'POST',
    url: '/api/chat',
    isDirect: true,
    summary: 'Answer a chat, as a stream of lines unless told otherwise',
    bodyBytesMax,
    schema: { body: ChatBody, response: { 200: ChatLine }, lines: ChatLine },
  },
  ollamaEmbed: {
    method: 'POST',
    url: '/api/embed',
    summary: 'Turn texts into vectors',
    bodyBytesMax,
    schema: { body: EmbedBody, response: { 200: EmbedAnswer } },
  },
  ollamaEmbeddings: {
    method: 'POST',
    url: '/api/embeddings',
    summary: 'Turn a text into a vector, as older clients ask for it',
    bodyBytesMax,
    schema: {
      body: EmbeddingBody,
      response: { 200: Type.Object({ embedding: Type.Array(Type.Number()) }) },
    },
  },
  ollamaTags: {
    method: 'GET',
    url: '/api/tags',
    summary: 'List the models',
    schema: { response: { 200: TagList } },
  },
  ollamaShow: {
    method: 'POST',
    url: '/api/show',
    summary: 'Describe a model',
    schema: { body: ShowBody, response: { 200: ShowAnswer } },
  },
  ollamaPs: {
    method: 'GET',
    url: '/api/ps',
    summary: 'List the models that are in memory',
    schema: { response: { 200: RunningList } },
  },
  ollamaPull: {
    method: 'POST',
    url: '/api/pull',
    summary: 'Fetch a model, with its progress as a stream of lines unless told otherwise',
    permission,
    schema: { body: PullBody, response: { 200: Progress }, lines: Progress },
  },
  ollamaDelete: {
    method: 'DELETE',
    url: '/api/delete',
    summary: 'Delete a model',
    permission,
    schema: { body: DeleteBody, response: { 200: Progress } },
  },
  ollamaCopy: {
    method: 'POST',
    url: '/api/copy',
    summary: 'Give a model a second name',
    permission,
    schema: { body: CopyBody, response: { 200: Progress } },
  },
  ollamaCreate: {
    method: 'POST',
    url: '/api/create',
    summary: 'Refuse to make a model',
    permission,
    schema: refused,
  },
  ollamaPush: {
    method: 'POST',
    url: '/api/push',
    summary: 'Refuse to publish a model',
    permission,
    schema: refused,
  },
} as const satisfies Readonly<Record<string, Route>>;
