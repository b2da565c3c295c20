import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Contract } from '../../kit/contract.ts';
import { createTestServer, listenAnywhere } from '../../kit/testing.ts';
import { chatEnvelope } from '../envelope.ts';
import { searchRoutes } from '../schemas/search.ts';
import type { Search, SearchRequest } from '../search/search.ts';
import { caller } from '../testing.ts';
import { searchHandlers } from './search.ts';

const contract = {
  name: 'chat',
  title: 'Chat',
  version: '0.1.0',
  description: 'Conversations.',
  error: chatEnvelope.schema,
  routes: searchRoutes,
} as const satisfies Contract;

const asked: { ownerId: string; request: SearchRequest }[] = [];
const search: Search = {
  find: async (ownerId, request) => {
    asked.push({ ownerId, request });
    const hit = {
      messageId: 'msg_1',
      conversationId: 'cnv_1',
      title: 'Birds',
      role: 'assistant' as const,
      content: 'a heron',
      score: 0.75,
      createdAtMs: Date.UTC(2026, 10, 22),
      snippet: 'a <mark>heron</mark>',
      embedder: 'ennead-embed',
      model: 'm-1',
    };
    return { hits: [hit], total: 1, isTotalExact: true, queryTimeMs: 1.23456 };
  },
  findConversations: async () => [],
};

let server: Awaited<ReturnType<typeof createTestServer>>;
let url: string;

beforeAll(async () => {
  server = await createTestServer(contract, { envelope: chatEnvelope });
  server.http.serve(contract, searchHandlers({ search }));
  url = await listenAnywhere(server.http);
});
afterAll(() => server.http.close(0));
beforeEach(() => asked.splice(0));

async function post(body: unknown, permissions: readonly string[] = []) {
  const token = await server.issuer.sign({ sub: 'usr_me', permissions: [...permissions] });
  return caller(url, token)('POST', '/api/search', { body });
}

describe('a search is refused', () => {
  test.each([
    [{}],
    [{ query: '' }],
    [{ query: 7 }],
    [{ query: 'x', limit: 0 }],
    [{ query: 'x', limit: 101 }],
    [{ query: 'x', limit: 1.5 }],
    [{ query: 'x', min_score: -0.1 }],
    [{ query: 'x', min_score: 1.1 }],
    [{ query: 'x', min_score: '0.5' }],
    [{ query: 'x', filters: { date_range: { start: 'yesterday' } } }],
    [{ query: 'x', filters: { date_range: { start: '2026-02-30' } } }],
    [{ query: 'x', filters: { date_range: { end: '2026-13-01T00:00:00Z' } } }],
    [{ query: 'x', filters: { date_range: { end: '' } } }],
    [{ query: 'x', filters: { date_range: { start: '2026-11-22', end: '2026-11-21' } } }],
    [{ query: 'x'.repeat(16_385) }],
  ])('with what is no search: %j', async (body) => {
    const answer = await post(body);
    expect([answer.status, answer.body]).toMatchObject([
      400,
      { success: false, code: 'VALIDATION_ERROR' },
    ]);
    expect(asked).toEqual([]);
  });

  test('to nobody', async () => {
    expect((await caller(url)('POST', '/api/search', { body: { query: 'x' } })).status).toBe(401);
  });

  test("in another's messages without the permission", async () => {
    const body = { query: 'x', filters: { user_id: 'usr_you' } };
    expect((await post(body, ['registry:call'])).status).toBe(403);
    expect(asked).toEqual([]);
  });
});

describe('a search is answered', () => {
  /** Of the caller, who may go. */
  const signal: unknown = expect.any(AbortSignal);

  test('as the interface shows it', async () => {
    const { status, body } = await post({ query: 'heron' });
    expect([status, body]).toEqual([
      200,
      {
        results: [
          {
            id: 'msg_1',
            content: 'a heron',
            score: 0.75,
            conversation_id: 'cnv_1',
            timestamp: '2026-11-22T00:00:00.000Z',
            metadata: {
              role: 'assistant',
              title: 'Birds',
              snippet: 'a <mark>heron</mark>',
              embedder: 'ennead-embed',
              model: 'm-1',
            },
          },
        ],
        total: 1,
        total_is_exact: true,
        query_time_ms: 1.235,
      },
    ]);
    expect(asked).toEqual([{ ownerId: 'usr_me', request: { query: 'heron', signal } }]);
  });

  test("in one's own messages by name, and in another's to an administrator", async () => {
    await post({ query: 'x', filters: { user_id: 'usr_me' } });
    await post({ query: 'x', filters: { user_id: 'usr_you' } }, ['chat:admin']);
    expect(asked.map(({ ownerId }) => ownerId)).toEqual(['usr_me', 'usr_you']);
  });

  test('with all that it was asked for; a day as an end is a whole one', async () => {
    const date_range = { start: '2026-11-01T10:00:00+02:00', end: '2026-11-22' };
    await post({ query: 'x', limit: 3, min_score: 0.5, filters: { date_range } });
    expect(asked[0]?.request).toEqual({
      query: 'x',
      signal,
      limit: 3,
      minScore: 0.5,
      from: new Date('2026-11-01T08:00:00Z'),
      to: new Date('2026-11-22T23:59:59.999Z'),
    });
  });
});
