import { buildSchema, getIntrospectionQuery, printSchema } from 'graphql/index.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { caller, openChatGround, type ChatGround } from '../testing.ts';
import { chatSchemaText } from './schema-text.ts';
import { startGraphql, type RunningGraphql } from './testing.ts';

let ground: ChatGround;
let running: RunningGraphql;

beforeAll(async () => {
  ground = await openChatGround();
  running = await startGraphql(ground);
});
afterAll(async () => {
  await running[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

type Variables = Readonly<Record<string, unknown>>;

async function askerAs(subject: string, permissions: readonly string[] = []) {
  const call = caller(running.url, await running.tokenOf(subject, permissions));
  return async (query: string, variables: Variables = {}) => {
    const { status, body, headers } = await call('POST', '', { body: { query, variables } });
    return { status, headers, ...body };
  };
}

function codesOf({ errors = [] }: { errors?: { extensions: { code: string } }[] }): string[] {
  return errors.map(({ extensions }) => extensions.code);
}

test('an answer has its fields in the order in which they were asked for', async () => {
  const ask = await askerAs('usr_order');
  const { data } = await ask('mutation { createConversation(title: "T") { id } }');
  const { id } = data.createConversation;
  // What comes first takes longest.
  const answer = await ask(`{
    found: searchConversations(query: "T") { id }
    list: conversations { title messages { id } id }
    one: conversation(id: "${id}") { id }
    __typename
  }`);
  expect(Object.keys(answer.data)).toEqual(['found', 'list', 'one', '__typename']);
  expect(Object.keys(answer.data.list[0])).toEqual(['title', 'messages', 'id']);
});

describe('the schema', () => {
  test('holds what the interface names, to the letter', () => {
    const schema = buildSchema(chatSchemaText);
    const fieldsOf = (name: string) => {
      const type = schema.getType(name) as { getFields(): Record<string, { type: unknown }> };
      return Object.keys(type.getFields());
    };
    expect(fieldsOf('Conversation')).toEqual(
      expect.arrayContaining(['id', 'title', 'createdAt', 'updatedAt', 'messageCount', 'messages']),
    );
    expect(fieldsOf('Message')).toEqual(
      expect.arrayContaining(['id', 'role', 'content', 'model', 'timestamp', 'usage']),
    );
    expect(fieldsOf('Usage')).toEqual(
      expect.arrayContaining(['promptTokens', 'completionTokens', 'totalTokens']),
    );
    expect(fieldsOf('SearchHit')).toEqual(['id', 'title', 'relevanceScore', 'messages']);
    expect(fieldsOf('AgentHealth')).toEqual([
      'status',
      'uptime',
      'requestCount',
      'errorRate',
      'metrics',
    ]);
    expect(fieldsOf('AgentMetrics')).toEqual(['latency', 'throughput', 'tokenUsage']);
    expect(fieldsOf('MessageInput')).toEqual(
      expect.arrayContaining(['conversationId', 'content', 'model', 'stream']),
    );
    expect(fieldsOf('StreamToken')).toEqual(
      expect.arrayContaining(['id', 'token', 'finished', 'model']),
    );
    expect(fieldsOf('AgentProgress')).toEqual([
      'agentId',
      'taskId',
      'progress',
      'status',
      'message',
    ]);
    const text = printSchema(schema);
    for (const operation of [
      'searchConversations(',
      'agentHealth(',
      'sendMessage(input: MessageInput!)',
      'messageStream(',
      'agentProgress(',
    ]) {
      expect(text).toContain(operation);
    }
  });

  test('describes everything in it, and shows that to who asks', async () => {
    const ask = await askerAs('usr_schema');
    const { data } = await ask(getIntrospectionQuery());
    const own = data['__schema'].types.filter(
      ({ name }: { name: string }) => !name.startsWith('__'),
    );
    expect(own.filter((type: { description?: string }) => !type.description)).toEqual([]);
  });
});

describe('who may ask', () => {
  test('nobody without a token', async () => {
    const { status, body } = await caller(running.url)('POST', '', { body: { query: '{ x }' } });
    expect(status).toBe(401);
    expect(body).toMatchObject({ success: false, code: 'INVALID_TOKEN' });
    expect((await caller(running.url)('GET', '?query={__typename}')).status).toBe(401);
  });

  test("another's conversations are not there, whatever is done with them", async () => {
    const { id } = await running.conversations.create('usr_owner', { title: 'Mine' });
    const ask = await askerAs('usr_stranger');
    for (const operation of [
      `{ conversation(id: "${id}") { title } }`,
      `mutation { renameConversation(id: "${id}", title: "Yours") { title } }`,
      `mutation { deleteConversation(id: "${id}") }`,
      `mutation { stop(conversationId: "${id}") }`,
      `mutation { sendMessage(input: {conversationId: "${id}", content: "x"}) { id } }`,
    ]) {
      const answer = await ask(operation);
      expect(answer.status).toBe(200);
      expect(codesOf(answer)).toEqual(['CONVERSATION_NOT_FOUND']);
    }
    expect((await ask('{ conversations { id } }')).data).toEqual({ conversations: [] });
    expect((await running.conversations.find('usr_owner', id)).title).toBe('Mine');
  });

  test('tasks for agents need a permission', async () => {
    const operation = `mutation { orchestrate(input: {task: "T", agents: ["agt_a"]}) { id status } }`;
    const refused = await askerAs('usr_task');
    expect(codesOf(await refused(operation))).toEqual(['INSUFFICIENT_PERMISSIONS']);
    const ask = await askerAs('usr_task', ['agent:execute']);
    const { orchestrate } = (await ask(operation)).data;
    expect(orchestrate).toMatchObject({ status: 'running' });
    const query = `{ orchestration(id: "${orchestrate.id}") { task steps { agentId status } endedAt } }`;
    expect((await ask(query)).data.orchestration).toEqual({
      task: 'T',
      steps: [{ agentId: 'agt_a', status: 'pending' }],
      endedAt: null,
    });
    const stranger = await askerAs('usr_stranger', ['agent:execute']);
    expect(codesOf(await stranger(query))).toEqual(['ORCHESTRATION_NOT_FOUND']);
  });

  test('where the schema is kept back, only administrators see it', async () => {
    await using kept = await startGraphql(ground, { introspection: 'permission' });
    const query = { query: '{ __schema { queryType { name } } }' };
    const asUser = caller(kept.url, await kept.tokenOf('usr_a'));
    const asAdmin = caller(kept.url, await kept.tokenOf('usr_b', ['chat:admin']));
    expect((await asAdmin('POST', '', { body: query })).body.data).toHaveProperty('__schema');
    // The document is known by now, which must not help.
    const refused = await asUser('POST', '', { body: query });
    expect(refused.status).toBe(403);
    expect(codesOf(refused.body)).toEqual(['INSUFFICIENT_PERMISSIONS']);
    const { body } = await asUser('POST', '', {
      body: { query: '{ conversation { id } __typename }' },
    });
    expect(JSON.stringify(body)).not.toContain('Did you mean');
    const named = await asUser('POST', '', { body: { query: '{ __typename }' } });
    expect(named.body.data).toEqual({ __typename: 'Query' });
  });
});

describe('conversations', () => {
  test('come with their messages by one statement, whatever their number', async () => {
    for (let at = 0; at < 12; at += 1) {
      const { id } = await running.conversations.create('usr_list', { title: `Number ${at}` });
      await running.conversations.append('usr_list', id, [
        { role: 'user', content: `question ${at}` },
        {
          role: 'assistant',
          content: `answer ${at}`,
          model: 'm',
          usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3, cost: 0.5 },
        },
      ]);
    }
    const ask = await askerAs('usr_list');
    const before = running.countStatements();
    const { data } = await ask(`{ conversations(limit: 10) {
      id title createdAt updatedAt messageCount totalTokens cost
      messages(limit: 10) { role content model timestamp place status
        usage { promptTokens completionTokens totalTokens cost } toolCalls { id } }
    } }`);
    expect(running.countStatements() - before).toBe(1);
    expect(data.conversations).toHaveLength(10);
    expect(data.conversations[0]).toEqual({
      id: expect.stringMatching(/^cnv_/),
      title: 'Number 11',
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      updatedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      messageCount: 2,
      totalTokens: 3,
      cost: 0.5,
      messages: [
        {
          role: 'user',
          content: 'question 11',
          model: null,
          timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
          place: 1,
          status: 'complete',
          usage: null,
          toolCalls: [],
        },
        {
          role: 'assistant',
          content: 'answer 11',
          model: 'm',
          timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
          place: 2,
          status: 'complete',
          usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3, cost: 0.5 },
          toolCalls: [],
        },
      ],
    });
    const paged = await ask(
      '{ conversations(limit: 2, offset: 10) { title messages(after: 1) { place } } }',
    );
    expect(paged.data.conversations).toEqual([
      { title: 'Number 1', messages: [{ place: 2 }] },
      { title: 'Number 0', messages: [{ place: 2 }] },
    ]);
  });

  test('are found by what is said in them, with the messages that fit', async () => {
    const { id } = await running.conversations.create('usr_find');
    const messages = await running.conversations.append('usr_find', id, [
      { role: 'user', content: 'where is the lighthouse' },
      { role: 'assistant', content: 'the lighthouse stands here', model: 'm' },
      { role: 'user', content: 'thanks' },
    ]);
    running.others.remember(...messages);
    const ask = await askerAs('usr_find');
    const { data } = await ask(
      `query ($query: String!) {
      searchConversations(query: $query) { id title relevanceScore messages { content model } }
    }`,
      { query: 'lighthouse' },
    );
    expect(data.searchConversations).toEqual([
      {
        id,
        title: 'Found',
        relevanceScore: 0.75,
        messages: [
          { content: 'where is the lighthouse', model: null },
          { content: 'the lighthouse stands here', model: 'm' },
        ],
      },
    ]);
  });

  test('are created, renamed and deleted', async () => {
    const ask = await askerAs('usr_edit');
    const { createConversation: made } = (
      await ask(
        'mutation { createConversation(title: "One", model: "m") { id title model messages { id } } }',
      )
    ).data;
    expect(made).toEqual({ id: expect.any(String), title: 'One', model: 'm', messages: [] });
    const renamed = await ask(
      `mutation ($id: ID!) { renameConversation(id: $id, title: "Two") { title } }`,
      made,
    );
    expect(renamed.data).toEqual({ renameConversation: { title: 'Two' } });
    const deleted = await ask('mutation ($id: ID!) { deleteConversation(id: $id) }', made);
    expect(deleted.data).toEqual({ deleteConversation: true });
    expect(codesOf(await ask('query ($id: ID!) { conversation(id: $id) { id } }', made))).toEqual([
      'CONVERSATION_NOT_FOUND',
    ]);
  });

  test('have titles as long as over REST, counted in whole characters', async () => {
    const ask = await askerAs('usr_long_title');
    const title = '🙂'.repeat(200);
    const mutation = 'mutation ($t: String) { createConversation(title: $t) { title } }';
    expect((await ask(mutation, { t: title })).data).toEqual({ createConversation: { title } });
  });

  test.each([
    ['a page of 101', '{ conversations(limit: 101) { id } }'],
    ['a page of none', '{ conversations(limit: 0) { id } }'],
    ['a negative offset', '{ conversations(offset: -1) { id } }'],
    ['more than 1,000 messages', '{ conversations { messages(limit: 1001) { id } } }'],
    ['a title of spaces', 'mutation { createConversation(title: "  ") { id } }'],
    ['a title of 201', `mutation { createConversation(title: "${'x'.repeat(201)}") { id } }`],
    [
      'a name of 201',
      `mutation { renameConversation(id: "x", title: "${'x'.repeat(201)}") { id } }`,
    ],
    ['a model of 257', `mutation { createConversation(model: "${'x'.repeat(257)}") { id } }`],
    ['a query of 16,385', `{ searchConversations(query: "${'x'.repeat(16_385)}") { id } }`],
    [
      'a question to a model of 257',
      `mutation { sendMessage(input: {content: "x", model: "${'x'.repeat(257)}"}) { id } }`,
    ],
    ['a content of nothing', 'mutation { sendMessage(input: {content: ""}) { id } }'],
    ['U+0000 in an escape', '{ searchConversations(query: "\\u0000") { id } }'],
    ['a search for nothing', '{ searchConversations(query: "") { id } }'],
    ['a score above 1', '{ searchConversations(query: "x", minScore: 2) { id } }'],
  ])('are not asked for with %s', async (_name, query) => {
    const ask = await askerAs('usr_list');
    const answer = await ask(query);
    expect(new Set(codesOf(answer))).toEqual(new Set(['VALIDATION_ERROR']));
    expect(answer.status).toBe(200);
  });
});

describe('an agent', () => {
  test('has its health told, where there is one', async () => {
    const ask = await askerAs('usr_agent');
    const query = `query ($id: ID!) { agentHealth(agentId: $id) {
      status uptime requestCount errorRate metrics { latency throughput tokenUsage } } }`;
    expect((await ask(query, { id: 'agt_a' })).data.agentHealth).toEqual({
      status: 'active',
      uptime: 12.5,
      requestCount: 3,
      errorRate: 0.5,
      metrics: { latency: 20, throughput: 2, tokenUsage: 0 },
    });
    expect(codesOf(await ask(query, { id: 'agt_b' }))).toEqual(['AGENT_NOT_FOUND']);
  });
});

describe('a message', () => {
  const send = `mutation ($input: MessageInput!) { sendMessage(input: $input) {
    id role content model status conversationId usage { totalTokens } } }`;

  test('is answered by the answer itself, in a conversation of its own', async () => {
    const ask = await askerAs('usr_send');
    running.turns.onBegin = ({ id }) => {
      running.turns.say(id, 'Hel', 'lo');
      void running.turns.finish(id);
    };
    const before = running.countCompletions();
    const { sendMessage } = (await ask(send, { input: { content: 'Hi' } })).data;
    expect(running.countCompletions() - before).toBe(1);
    expect(sendMessage).toEqual({
      id: expect.stringMatching(/^msg_/),
      role: 'assistant',
      content: 'Hello',
      model: 'some-model',
      status: 'complete',
      conversationId: expect.stringMatching(/^cnv_/),
      usage: { totalTokens: 7 },
    });
    const { data } = await ask('{ conversations { title messages { role content } } }');
    expect(data.conversations[0]).toEqual({
      title: 'Hi',
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Hello' },
      ],
    });
    const { caller: asked } = running.turns.requests.at(-1)!;
    expect(asked.identity.subject).toBe('usr_send');
    expect(asked.credential).toMatch(/\./);
  });

  test('with `stream` is answered at once by the pending one, which can be stopped', async () => {
    const ask = await askerAs('usr_send');
    running.turns.onBegin = () => {};
    const { sendMessage } = (
      await ask(send, { input: { content: 'Hi', stream: true, model: 'other' } })
    ).data;
    expect(sendMessage).toMatchObject({ role: 'assistant', content: '', status: 'pending' });
    const { conversationId } = sendMessage;
    const stop = 'mutation ($id: ID!) { stop(conversationId: $id) }';
    expect((await ask(stop, { id: conversationId })).data).toEqual({ stop: true });
    expect((await ask(stop, { id: conversationId })).data).toEqual({ stop: false });
  });

  test('begins a conversation with the model that it names', async () => {
    const ask = await askerAs('usr_send_model');
    running.turns.onBegin = () => {};
    await ask(send, { input: { content: 'Hi', stream: true, model: 'other' } });
    const { data } = await ask('{ conversations { model } }');
    expect(data.conversations).toEqual([{ model: 'other' }]);
  });

  test('that is refused leaves no conversation behind', async () => {
    const ask = await askerAs('usr_refused');
    const content = 'x'.repeat(1024 * 1024 + 1);
    expect((await ask(send, { input: { content } })).errors).toHaveLength(1);
    expect((await ask('{ conversations { id } }')).data).toEqual({ conversations: [] });
  });

  test('whose turn fails is answered by why', async () => {
    const ask = await askerAs('usr_send');
    running.turns.onBegin = ({ id }) =>
      running.turns.tell(id, {
        type: 'failed',
        code: 'PROVIDER_ERROR',
        message: 'the model is away',
      });
    const answer = await ask(send, { input: { content: 'Hi' } });
    expect(answer.data).toBeNull();
    expect(answer.errors[0]).toMatchObject({
      message: 'the model is away',
      extensions: { code: 'PROVIDER_ERROR' },
      path: ['sendMessage'],
    });
  });

  test('that waits for an approval is answered by the message that asks', async () => {
    const ask = await askerAs('usr_send');
    running.turns.onBegin = ({ id }) =>
      running.turns.tell(id, {
        type: 'tool-call',
        call: { id: 'call_1', name: 'files__write', arguments: '{}' },
        needsApproval: true,
      });
    const { sendMessage } = (await ask(send, { input: { content: 'Hi' } })).data;
    expect(sendMessage).toMatchObject({ role: 'assistant', status: 'pending' });
  });
});
