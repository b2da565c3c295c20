import { Type } from 'typebox';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Contract } from '../contract.ts';
import { plainEnvelope } from '../envelope.ts';
import { createTestServer, listenAnywhere } from '../testing.ts';

const contract = {
  name: 'finder',
  title: 'Finder',
  version: '1.0.0',
  description: 'Finds for tests.',
  error: plainEnvelope.schema,
  routes: {
    find: {
      method: 'POST',
      url: '/find',
      summary: 'Find what has all of the tags',
      auth: 'none',
      isDirect: true,
      bodiesRecur: true,
      schema: {
        body: Type.Object({
          tags: Type.Array(Type.String({ maxLength: 10 }), { maxItems: 100 }),
          limit: Type.Integer({ default: 5 }),
        }),
        response: { 200: Type.Any() },
      },
    },
  },
} as const satisfies Contract;

interface Found {
  readonly tags: readonly string[];
  readonly limit: number;
  /** Which of the bodies that came so far it is; each counts once. */
  readonly body: number;
  readonly isFrozen: boolean;
}

let server: Awaited<ReturnType<typeof createTestServer>>;
let url: string;

beforeAll(async () => {
  const bodies: unknown[] = [];
  server = await createTestServer(contract);
  server.http.serve(contract, {
    find: ({ body }) => {
      if (!bodies.includes(body)) bodies.push(body);
      const isFrozen = Object.isFrozen(body) && Object.isFrozen(body.tags);
      return { ...body, body: bodies.indexOf(body), isFrozen };
    },
  });
  url = await listenAnywhere(server.http);
});

afterAll(() => server.http.close(100));

function post(body: string): Promise<Response> {
  return fetch(`${url}/find`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
}

const find = async (body: string) => (await (await post(body)).json()) as Found;
const wanted = (...tags: string[]) => JSON.stringify({ tags });

test('a body that comes again is read once, is frozen, and says the same', async () => {
  const first = await find(wanted('a', 'b'));
  expect(first).toMatchObject({ tags: ['a', 'b'], limit: 5, isFrozen: true });
  expect(await find(wanted('a', 'b'))).toEqual(first);
  const other = await find(wanted('a', 'c'));
  expect(other.tags).toEqual(['a', 'c']);
  expect(other.body).not.toBe(first.body);
  expect(await find(wanted('a', 'b'))).toEqual(first);
});

test('a body that is refused is refused each time', async () => {
  for (const body of ['{"tags":["a"', '{"tags":[1]}', wanted('longer than ten')]) {
    const refusals = [await post(body), await post(body)];
    expect(refusals.map(({ status }) => status)).toEqual([400, 400]);
    const [one, two] = (await Promise.all(refusals.map((refusal) => refusal.json()))) as {
      error: { message: string };
    }[];
    expect(one?.error.message).toBe(two?.error.message);
  }
});

test('a long body is read each time', async () => {
  const long = wanted(...Array.from({ length: 60 }, (_, at) => `tag${at}`));
  const first = await find(long);
  const second = await find(long);
  expect(second.tags).toEqual(first.tags);
  expect(second.body).not.toBe(first.body);
});

test('what is asked for now and then outlives what is asked for once', async () => {
  const first = await find(wanted('kept'));
  const forgotten = await find(wanted('forgotten'));
  for (let round = 0; round < 4; round += 1) {
    const others = Array.from({ length: 550 }, (_, at) => wanted(`${round}-${at}`));
    await Promise.all(others.map(find));
    expect((await find(wanted('kept'))).body).toBe(first.body);
  }
  expect((await find(wanted('forgotten'))).body).not.toBe(forgotten.body);
});
