import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Fault } from '../../kit/errors.ts';
import { createTestServer } from '../../kit/testing.ts';
import type { Conversation, ConversationChange, Message } from '../conversations/conversation.ts';
import type { ChatModel } from '../models/gateway-models.ts';
import { modelRoutes } from '../schemas/models.ts';
import { toolRoutes } from '../schemas/tools.ts';
import { voiceRoutes } from '../schemas/voice.ts';
import { RegistryTools } from '../tools/registry-tools.ts';
import { aTool, reads, scriptRegistry } from '../tools/testing.ts';
import type { TurnStatus } from '../turns/turn.ts';
import { openVoice, says } from '../voice/testing.ts';
import { chatEnvelope } from '../envelope.ts';
import { modelHandlers } from './models.ts';
import { toolHandlers } from './tools.ts';
import { voiceHandlers } from './voice.ts';

const contract = {
  name: 'chat',
  title: 'Chat',
  version: '0.1.0',
  description: 'Tools, models and voice.',
  error: chatEnvelope.schema,
  routes: { ...toolRoutes, ...modelRoutes, ...voiceRoutes },
} as const;

const { registry, clients } = scriptRegistry();
const { voice, turns: spoken } = openVoice();
let conversation: Conversation;
let messages: Message[];
let status: TurnStatus;
let approvals: unknown[];
let models: ChatModel[] | Fault;
let server: Awaited<ReturnType<typeof createTestServer>>;
let tokens: { readonly caller: string; readonly nobody: string; readonly other: string };

function requireOwn(ownerId: string, id: string): void {
  if (ownerId === conversation.ownerId && id === conversation.id) return;
  throw new Fault('not_found', 'no such conversation', { reason: 'conversation_not_found' });
}

const conversations = {
  find: async (ownerId: string, id: string) => {
    requireOwn(ownerId, id);
    return conversation;
  },
  change: async (_ownerId: string, _id: string, change: ConversationChange) => {
    conversation = { ...conversation, ...change };
    return conversation;
  },
  messages: async (_ownerId: string, _id: string, { after = 0 } = {}) =>
    messages.filter(({ place }) => place > after),
};
const turn = {
  id: 'trn_1',
  conversationId: 'cnv_1',
  messageId: 'msg_2',
  model: 'm',
  createdAtMs: 0,
};
const turns = {
  find: async (ownerId: string, id: string) => {
    if (ownerId === 'usr_one' && id === 'trn_1') return { ...turn, ownerId, status };
    throw new Fault('not_found', 'no such turn', { reason: 'turn_not_found' });
  },
  approve: async (_caller: unknown, _id: string, answers: unknown) => {
    approvals.push(answers);
    return { ...turn, ownerId: 'usr_one', status: 'running' } as const;
  },
};

beforeAll(async () => {
  server = await createTestServer(contract, { envelope: chatEnvelope });
  server.http.serve(contract, {
    ...toolHandlers({ tools: new RegistryTools({ clients }), conversations, turns }),
    ...modelHandlers({
      models: {
        list: async () => {
          if (models instanceof Fault) throw models;
          return models;
        },
      },
    }),
    ...voiceHandlers({ voice }),
  });
  await server.http.app.ready();
  const { issuer } = server;
  tokens = {
    caller: await issuer.sign({ sub: 'usr_one', permissions: ['agent:execute'] }),
    nobody: await issuer.sign({ sub: 'usr_one', jti: 'tok_nobody' }),
    other: await issuer.sign({ sub: 'usr_two', permissions: ['*'] }),
  };
});

afterAll(() => server.http.close(0));

beforeEach(() => {
  registry.tools = [aTool('a__read', { ...reads, title: 'Reading' }), aTool('my.srv__write')];
  const base = { title: 'Tea', messageCount: 3, totalTokens: 0, cost: 0 };
  conversation = { ...base, id: 'cnv_1', ownerId: 'usr_one', createdAtMs: 0, updatedAtMs: 0 };
  messages = [];
  approvals = [];
  status = 'waiting';
  models = [];
});

async function call(
  method: 'GET' | 'PUT' | 'POST',
  url: string,
  { token = tokens.caller, payload }: { readonly token?: string; readonly payload?: object } = {},
) {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await server.http.app.inject({
    method,
    url,
    headers,
    ...(payload && { payload }),
  });
  return { status: answer.statusCode, body: answer.json() };
}

describe('tools', () => {
  test('are listed for those who may call them', async () => {
    expect(await call('GET', '/api/tools', { token: tokens.nobody })).toMatchObject({
      status: 403,
    });
    expect(await call('GET', '/api/tools')).toEqual({
      status: 200,
      body: {
        tools: [
          {
            name: 'a__read',
            model_name: 'a__read',
            connection: 'a',
            title: 'Reading',
            description: 'does a__read',
            needs_approval: false,
          },
          {
            name: 'my.srv__write',
            model_name: expect.stringMatching(/^my_srv__write_[0-9a-f]{8}$/),
            connection: 'my.srv',
            description: 'does my.srv__write',
            needs_approval: true,
          },
        ],
        total: 2,
        limit: 100,
        offset: 0,
      },
    });
  });

  test('are listed in pages, and of one connection', async () => {
    const { body } = await call('GET', '/api/tools?limit=1&offset=1');
    expect(body).toMatchObject({
      tools: [{ connection: 'my.srv' }],
      total: 2,
      limit: 1,
      offset: 1,
    });
    const one = await call('GET', '/api/tools?connection=a');
    expect(one.body).toMatchObject({ tools: [{ connection: 'a' }], total: 1 });
  });

  test('are allowed to a conversation, and taken away', async () => {
    const payload = { allow: ['a__*', 'my.srv__write'], approval: 'always' };
    const put = await call('PUT', '/api/conversations/cnv_1/tools', { payload });
    expect(put).toMatchObject({
      status: 200,
      body: {
        ...payload,
        tools: [{ name: 'a__read', needs_approval: true }, { name: 'my.srv__write' }],
        left_out: [],
        missing: [],
      },
    });
    expect(conversation.tools).toEqual(payload);
    const got = await call('GET', '/api/conversations/cnv_1/tools', { token: tokens.nobody });
    expect(got.body).toEqual(put.body);
    const none = { payload: { allow: [] }, token: tokens.nobody };
    const cleared = await call('PUT', '/api/conversations/cnv_1/tools', none);
    expect(cleared.body).toMatchObject({ allow: [], approval: 'writes', tools: [] });
  });

  test.each([
    [{ allow: ['a__nothing'] }, 400],
    [{ allow: ['nonsense'] }, 400],
    [{ allow: [''] }, 400],
    [{ allow: 'a__*' }, 400],
    [{ allow: [], approval: 'sometimes' }, 400],
    [{}, 400],
  ])('are not allowed by %j', async (payload, expected) => {
    const answer = await call('PUT', '/api/conversations/cnv_1/tools', { payload });
    expect(answer.status).toBe(expected);
    expect(conversation.tools).toBeUndefined();
  });

  test('are not allowed by who may call none, nor to another’s conversation', async () => {
    const payload = { allow: ['a__*'] };
    const url = '/api/conversations/cnv_1/tools';
    expect((await call('PUT', url, { payload, token: tokens.nobody })).status).toBe(403);
    expect((await call('PUT', url, { payload, token: tokens.other })).status).toBe(404);
    expect((await call('GET', url, { token: tokens.other })).status).toBe(404);
    expect(conversation.tools).toBeUndefined();
  });
});

describe('approvals', () => {
  const url = '/api/conversations/cnv_1/approvals';
  const toolCalls = [
    { id: 'call_1', name: 'a__read', arguments: '{}' },
    { id: 'call_2', name: 'a__write', arguments: '{"a":1}' },
  ];
  const base = {
    conversationId: 'cnv_1',
    content: '',
    status: 'complete',
    createdAtMs: 0,
  } as const;
  const asked = (): Message[] => [
    { ...base, id: 'msg_1', place: 1, role: 'user' },
    { ...base, id: 'msg_2', place: 2, role: 'assistant', turnId: 'trn_1', toolCalls },
    { ...base, id: 'msg_3', place: 3, role: 'tool', toolCallId: 'call_1' },
  ];

  test('that wait are the calls without a result', async () => {
    expect((await call('GET', url)).body).toEqual({ approvals: [] });
    messages = asked();
    expect((await call('GET', url)).body).toEqual({
      turn_id: 'trn_1',
      approvals: [
        { call_id: 'call_2', message_id: 'msg_2', name: 'a__write', arguments: '{"a":1}' },
      ],
    });
    status = 'completed';
    expect((await call('GET', url)).body).toEqual({ approvals: [] });
    messages = messages.map((one) => ({ ...one, turnId: 'trn_forgotten' }));
    expect((await call('GET', url)).body).toEqual({ approvals: [] });
    expect((await call('GET', url, { token: tokens.other })).status).toBe(404);
  });

  test('are given by the owner who may call tools', async () => {
    const answers = [{ call_id: 'call_2', approved: true }];
    const payload = { turn_id: 'trn_1', answers };
    expect((await call('POST', url, { payload, token: tokens.nobody })).status).toBe(403);
    expect((await call('POST', url, { payload, token: tokens.other })).status).toBe(404);
    expect(approvals).toEqual([]);
    expect(await call('POST', url, { payload })).toEqual({
      status: 200,
      body: { turn_id: 'trn_1', conversation_id: 'cnv_1', message_id: 'msg_2', status: 'running' },
    });
    expect(approvals).toEqual([[{ callId: 'call_2', isApproved: true }]]);
  });

  test('are given once for each call', async () => {
    const [yes, no] = [true, false].map((approved) => ({ call_id: 'call_2', approved }));
    const payload = { turn_id: 'trn_1', answers: [no, yes] };
    expect((await call('POST', url, { payload })).status).toBe(400);
    expect(approvals).toEqual([]);
  });

  test('may be refused without any permission', async () => {
    const payload = { turn_id: 'trn_1', answers: [{ call_id: 'call_2', approved: false }] };
    expect((await call('POST', url, { payload, token: tokens.nobody })).status).toBe(200);
  });

  test('of another conversation’s turn, or of no call, are refused', async () => {
    const answers = [{ call_id: 'call_2', approved: true }];
    const other = await call('POST', '/api/conversations/cnv_2/approvals', {
      payload: { turn_id: 'trn_1', answers },
    });
    expect(other.status).toBe(404);
    for (const payload of [{ turn_id: 'trn_1', answers: [] }, { answers }, { turn_id: 'trn_1' }]) {
      expect((await call('POST', url, { payload })).status).toBe(400);
    }
    expect(approvals).toEqual([]);
  });
});

describe('models', () => {
  test('are listed as the interface has them', async () => {
    const model = {
      id: 'm',
      name: 'm',
      provider: 'p',
      contextWindow: 8_192,
      maxOutput: 1_024,
      capabilities: ['chat'],
      costPer1kTokens: { input: 0.001, output: 0.002 },
      isPriceUnknown: false,
    };
    models = [model, { ...model, id: 'n', isPriceUnknown: true }];
    const { body } = await call('GET', '/api/models', { token: tokens.nobody });
    const listed = {
      id: 'm',
      name: 'm',
      provider: 'p',
      context_window: 8_192,
      max_output: 1_024,
      capabilities: ['chat'],
      cost_per_1k_tokens: { input: 0.001, output: 0.002 },
    };
    expect(body).toEqual({ models: [listed, { ...listed, id: 'n', is_price_unknown: true }] });
  });

  test('answer 503 while the gateway is away', async () => {
    models = new Fault('unavailable', 'gateway cannot be reached');
    expect((await call('GET', '/api/models')).status).toBe(503);
  });
});

describe('a spoken command', () => {
  test('is done, and goes on in its session', async () => {
    spoken.scripts = [says('Hello.')];
    const command = { transcription: 'say hello to me', confidence: 1 };
    const { status: code, body } = await call('POST', '/api/voice/command', { payload: command });
    expect([code, body]).toEqual([
      200,
      {
        speech: 'Hello.',
        action: 'send_message',
        session_id: expect.stringMatching(/^vse_/),
        conversation_id: 'cnv_1',
        turn_id: 'trn_1',
      },
    ]);
    const payload = { ...command, transcription: 'delete this chat', session_id: body.session_id };
    const next = await call('POST', '/api/voice/command', { payload });
    expect(next.body).toMatchObject({
      action: 'confirm_delete_conversation',
      session_id: body.session_id,
    });
  });

  test.each([
    [{ transcription: '', confidence: 1 }],
    [{ transcription: 'x', confidence: 1.5 }],
    [{ transcription: 'x' }],
    [{ transcription: 7, confidence: 1 }],
    [{ transcription: 'x'.repeat(10_001), confidence: 1 }],
    [{ transcription: 'x', confidence: 1, session_id: 'x'.repeat(129) }],
  ])('is refused as %j', async (payload) => {
    expect((await call('POST', '/api/voice/command', { payload })).status).toBe(400);
  });
});
