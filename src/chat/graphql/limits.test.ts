import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { caller, openChatGround, type Answer, type ChatGround } from '../testing.ts';
import { startGraphql, type RunningGraphql } from './testing.ts';

let ground: ChatGround;
let running: RunningGraphql;
let token: string;

beforeAll(async () => {
  ground = await openChatGround();
  running = await startGraphql(ground);
  token = await running.tokenOf('usr_bomb');
});
afterAll(async () => {
  await running[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

function post(body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return caller(running.url, token)('POST', '', { body, headers });
}

function get(query: string): Promise<Answer> {
  return caller(running.url, token)('GET', `?query=${encodeURIComponent(query)}`);
}

function nested(levels: number): string {
  return `${'{ ofType '.repeat(levels)}{ name }${' }'.repeat(levels)}`;
}

const bombs: readonly (readonly [string, string])[] = [
  ['nested too deep', `{ __type(name: "Message") { fields { type ${nested(9)} } } }`],
  [
    'of too many aliases',
    `{ ${Array.from({ length: 16 }, (_, at) => `a${at}: conversations { id }`).join(' ')} }`,
  ],
  ['of too many tokens', `{ ${'__typename '.repeat(2_000)} }`],
  ['of a megabyte', `{ ${'__typename '.repeat(95_000)} }`],
  ['of a megabyte of brackets', '{a'.repeat(500_000)],
  ['of too many directives', `{ __typename ${'@include(if: true) '.repeat(51)} }`],
  ['of a fragment in itself', 'query { ...a } fragment a on Query { __typename ...a }'],
  [
    'of fragments in a circle',
    'query { ...a } fragment a on Query { ...b } fragment b on Query { ...c } fragment c on Query { ...a }',
  ],
  [
    'of fragments that double each other',
    `query { ...f0 } ${Array.from(
      { length: 20 },
      (_, at) =>
        `fragment f${at} on Query { ...f${at + 1} x: conversation(id: 1) { id } ...f${at + 1} }`,
    ).join(' ')} fragment f20 on Query { __typename }`,
  ],
  [
    'of lists of the schema in each other',
    '{ __schema { types { fields { type { fields { type { fields { type { fields { name } } } } } } } } } }',
  ],
  ['of a field that there is not', '{ conversation(id: 1) { secrets } }'],
  ['of two operations without a name', 'query A { __typename } query B { __typename }'],
  [
    'of two root fields in a subscription',
    'subscription { agentProgress(agentId: 1) { status } b: agentProgress(agentId: 2) { status } }',
  ],
  ['that does not parse', '{ conversations'],
  ['of nothing', ''],
];

describe('a document', () => {
  test.each(bombs)('%s is refused in good time, and not run', async (_name, query) => {
    const startMs = performance.now();
    const { status, body } = await post({ query });
    expect(performance.now() - startMs).toBeLessThan(5_000);
    expect(status).toBe(400);
    expect(body.data).toBeUndefined();
    expect(body.errors[0].message).toMatch(/./);
    expect(body.errors[0].extensions.code).toMatch(/^[A-Z_]+$/);
  });

  test('that is within the limits is run', async () => {
    const aliases = Array.from({ length: 15 }, (_, at) => `a${at}: __typename`);
    expect((await post({ query: `{ ${aliases.join(' ')} }` })).body.errors).toBeUndefined();
  });

  test('that reads too many rows is refused however few its tokens are', async () => {
    const owner = 'usr_rows';
    const { id } = await running.conversations.create(owner);
    const lines = Array.from({ length: 1_000 }, () => ({ role: 'user' as const, content: 'x' }));
    await running.conversations.append(owner, id, lines);
    const { id: other } = await running.conversations.create(owner);
    await running.conversations.append(owner, other, lines);
    const call = caller(running.url, await running.tokenOf(owner));
    const ask = async (count: number) => {
      const pages = Array.from(
        { length: count },
        (_, at) => `a${at}: messages(limit: 1000) { id }`,
      );
      return (
        await call('POST', '', { body: { query: `{ conversations { ${pages.join(' ')} } }` } })
      ).body;
    };
    const before = running.countStatements();
    expect((await ask(2)).errors).toBeUndefined();
    // Pages of the same places are read but once.
    expect(running.countStatements() - before).toBe(1);
    const refused = await ask(14);
    expect(refused.data).toBeNull();
    expect(refused.errors[0].extensions.code).toBe('TOO_MANY_ROWS');
  });

  test('that is only long in one text is run', async () => {
    const query = `{ searchConversations(query: ${JSON.stringify('x '.repeat(4_000))}) { id } }`;
    expect((await post({ query })).body).toEqual({ data: { searchConversations: [] } });
  });
});

describe('a request', () => {
  test('holds at most five operations', async () => {
    const operation = { query: '{ __typename }' };
    const five = await post(Array.from({ length: 5 }, () => operation));
    expect(five.body).toEqual(Array.from({ length: 5 }, () => ({ data: { __typename: 'Query' } })));
    for (const count of [0, 6, 1_000]) {
      const { status, body } = await post(Array.from({ length: count }, () => operation));
      expect(status).toBe(400);
      expect(body).toMatchObject({ success: false, code: 'VALIDATION_ERROR' });
    }
  });

  test.each([
    ['a text', '"query"'],
    ['a number in place of the document', '{"query": 1}'],
    ['no document', '{}'],
    ['variables in a list', '{"query": "{ __typename }", "variables": [1]}'],
    ['U+0000', '{"query": "{ __typename }", "variables": {"a": "\\u0000"}}'],
    ['half a JSON', '{"query": '],
  ])('of %s is a bad one', async (_name, text) => {
    const { status, body } = await post(text);
    expect(status).toBe(400);
    expect(body).toMatchObject({ success: false, code: expect.stringMatching(/^[A-Z_]+$/) });
  });

  test('of another media type is refused', async () => {
    const { status } = await post('{ __typename }', { 'content-type': 'application/graphql' });
    expect([400, 415]).toContain(status);
  });

  test('is answered in the media type that it asks for', async () => {
    const accept = 'application/graphql-response+json';
    const { headers, body } = await post({ query: '{ __typename }' }, { accept });
    expect(headers.get('content-type')).toBe(`${accept}; charset=utf-8`);
    expect(body).toEqual({ data: { __typename: 'Query' } });
    const plain = await post({ query: '{ __typename }' });
    expect(plain.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  test('by GET runs a query, and no mutation', async () => {
    expect((await get('{ __typename }')).body).toEqual({ data: { __typename: 'Query' } });
    const call = caller(running.url, token);
    const query = encodeURIComponent(
      'query ($text: String!) { searchConversations(query: $text) { id } }',
    );
    const variables = encodeURIComponent('{"text": "x"}');
    expect((await call('GET', `?query=${query}&variables=${variables}`)).body.data).toEqual({
      searchConversations: [],
    });
    expect((await call('GET', `?query=${query}&variables=[1]`)).status).toBe(400);
    const { status, headers, body } = await get('mutation { createConversation { id } }');
    expect(status).toBe(404);
    expect(body.code).toBe('METHOD_NOT_ALLOWED');
    expect(headers.get('allow')).toBe('POST');
    expect(await running.conversations.list('usr_bomb', { limit: 1, offset: 0 })).toMatchObject({
      total: 0,
    });
    expect((await call('GET', '')).status).toBe(400);
  });

  test('with a session cookie writes from the same origin only', async () => {
    const anonymous = caller(running.url);
    const send = (origin?: string) =>
      anonymous('POST', '', {
        body: { query: 'mutation { createConversation(title: "T") { title } }' },
        headers: { cookie: `session=${token}`, ...(origin === undefined ? {} : { origin }) },
      });
    expect((await send()).status).toBe(403);
    expect((await send('https://elsewhere.example')).status).toBe(403);
    expect((await send(new URL(running.url).origin)).body.data).toBeDefined();
  });
});
