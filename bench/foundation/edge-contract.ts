import { Type } from 'typebox';
import type { Contract, Route } from '../../src/kit/contract.ts';
import { plainEnvelope } from '../../src/kit/envelope.ts';
import type { Shot } from '../harness/load.ts';

const Message = Type.Object({
  role: Type.Enum(['system', 'user', 'assistant']),
  content: Type.String({ maxLength: 100_000 }),
});

const Chat = Type.Object({
  model: Type.String({ minLength: 1, maxLength: 256 }),
  messages: Type.Array(Message, { minItems: 1, maxItems: 1_000 }),
  temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
  max_tokens: Type.Optional(Type.Integer({ minimum: 1 })),
  stream: Type.Optional(Type.Boolean()),
});

const Completion = Type.Object({
  id: Type.String(),
  model: Type.String(),
  created: Type.Integer(),
  message: Message,
  usage: Type.Object({ prompt_tokens: Type.Integer(), completion_tokens: Type.Integer() }),
});

const Model = Type.Object({ id: Type.String(), owner: Type.String(), created: Type.Integer() });

const params = Type.Object({ id: Type.String({ maxLength: 256 }) });

const chat = { body: Chat, response: { 200: Completion } };
const model = { params, response: { 200: Model } };

const open = { auth: 'none', rateLimit: 'none', trace: 'none' } as const;

/** The routes that both servers have; the open ones are the kit's own, without its gate. */
export const edgeContract = {
  name: 'bench',
  title: 'Bench',
  version: '1.0.0',
  description: 'What the edge is measured with.',
  error: plainEnvelope.schema,
  routes: {
    chat: { ...post('/chat'), permission: 'bench:write' },
    model: { ...get('/models/:id'), permission: ['bench:read', 'bench:write'] },
    openChat: { ...post('/open/chat'), ...open },
    openModel: { ...get('/open/models/:id'), ...open },
  },
} as const satisfies Contract;

function post(url: string) {
  return { method: 'POST', url, summary: 'Chat', schema: chat } as const satisfies Route;
}

function get(url: string) {
  return { method: 'GET', url, summary: 'A model', schema: model } as const satisfies Route;
}

/** What each route answers, with a field that the response schema must cut off. */
export const completion = {
  id: 'chatcmpl_0123456789abcdef',
  model: 'small-1',
  created: 1_767_225_600,
  message: {
    role: 'assistant' as const,
    content: 'Paris has about two million inhabitants. '.repeat(5),
  },
  usage: { prompt_tokens: 212, completion_tokens: 45 },
  secret: 'never leaves',
};

export const modelCard = { owner: 'ennead', created: 1_767_225_600, secret: 'never leaves' };

const sentence =
  'The quick brown fox jumps over the lazy dog, and then it asks what comes after that. ';

/** About 1.2 kB: seven chat messages. */
export const chatBody = JSON.stringify({
  model: 'small-1',
  messages: Array.from({ length: 7 }, (_, at) => ({
    role: at === 0 ? 'system' : at % 2 === 1 ? 'user' : 'assistant',
    content: sentence.repeat(2).slice(0, 128),
  })),
  temperature: 0.7,
  max_tokens: 256,
  stream: false,
});

export const postChat: Shot = { method: 'POST', path: '/chat', body: chatBody };

/** On the bare server only: the same, with this much CPU time spent in the handler. */
export const busyMicros = 20;
export const postBusyChat: Shot = { ...postChat, path: '/busy/chat' };

export const getModel: Shot = { method: 'GET', path: '/models/small-1' };
