import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import {
  json,
  openAiAnswer,
  openAiChunk,
  openAiStream,
  startGateway,
  startProvider,
  stream,
  type Script,
  type ScriptedProvider,
} from '../../testing.ts';

let first: ScriptedProvider;
let second: ScriptedProvider;
let gateway: Awaited<ReturnType<typeof startGateway>>;

beforeAll(async () => {
  [first, second] = await Promise.all([startProvider(), startProvider()]);
  gateway = await startGateway({ environment: { GATEWAY_HEDGE_AFTER_MS: '100' } });
});

/** With new settings nothing is known of earlier failures. */
beforeEach(async () => {
  const models = [{ name: 'm', inputCostPerMToken: 1, outputCostPerMToken: 1 }];
  const dialect = 'openai';
  await gateway.put('one', { dialect, baseUrl: `${first.url}/v1`, models });
  await gateway.put('two', { dialect, baseUrl: `${second.url}/v1`, models, priority: 1 });
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await first[Symbol.asyncDispose]();
  await second[Symbol.asyncDispose]();
});

const messages = [{ role: 'user', content: 'hi' }];

const ask = (fields: object = {}) =>
  gateway.call('POST', '/v1/chat/completions', { model: 'm', messages, ...fields });

const after =
  (ms: number, script: Script): Script =>
  async (received, response) => {
    await sleep(ms);
    await script(received, response);
  };

const complaint = (message: string) =>
  json({ error: { message, type: 'invalid_request_error' } }, 400);

const countInFlight = async () => {
  const { text } = await gateway.call('GET', '/metrics');
  return Number(/^gateway_in_flight (\d+)/m.exec(text)?.[1]);
};

test.each([false, true])(
  'what the second of two finds wrong does not hinder the first, streamed: %j',
  async (isStream) => {
    const good = isStream ? stream(openAiStream(['good'])) : json(openAiAnswer('good'));
    first.script(after(400, good));
    second.script(complaint('I know no seed'));
    const answer = await ask({ stream: isStream });
    expect(answer.status).toBe(200);
    expect(answer.text).toContain('good');
    expect(await countInFlight()).toBe(0);
  },
);

test('what the second finds wrong is told when the first fails', async () => {
  first.script(after(400, json({ error: { message: 'down' } }, 500)));
  second.script(complaint('I know no seed'));
  const answer = await ask();
  expect(answer.status).toBe(400);
  expect(answer.body.error.message).toContain('I know no seed');
});

test('what the first finds wrong is told at once, and the second is let go', async () => {
  const letGo = vi.fn<() => void>();
  first.script(after(300, complaint('bad')));
  second.script((_received, response) => void response.on('close', letGo));
  const answer = await ask({ stream: true });
  expect(answer.status).toBe(400);
  await vi.waitFor(() => expect(letGo).toHaveBeenCalled());
  expect(await countInFlight()).toBe(0);
});

test.each([false, true])(
  'of two answers at the same moment one is given and both are paid for, streamed: %j',
  async (isStream) => {
    const before = await spent();
    const good = isStream ? stream(openAiStream(['good'])) : json(openAiAnswer('good'));
    let release: (() => void) | undefined;
    const isReleased = new Promise<void>((resolve) => (release = resolve));
    const atOnce: Script = async (received, response) => {
      await isReleased;
      await good(received, response);
    };
    first.script(atOnce);
    second.script(async (received, response) => {
      release?.();
      await atOnce(received, response);
    });
    expect((await ask({ stream: isStream })).text).toContain('good');
    await vi.waitFor(async () => expect(await countInFlight()).toBe(0));
    const now = await spent();
    expect(now.one).toBeGreaterThan(before.one);
    expect(now.two).toBeGreaterThan(before.two);
  },
);

async function spent() {
  const { body } = await gateway.call('GET', '/api/v1/spend?groupBy=provider');
  const of = (name: string): number =>
    body.spend.find(({ group }: { group: string }) => group === name)?.inputTokens ?? 0;
  return { one: of('one'), two: of('two') };
}

test('a caller who leaves takes the winning stream along', async () => {
  const letGo = vi.fn<() => void>();
  first.script(() => {});
  second.script((_received, response) => {
    response.on('close', letGo);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(openAiChunk({ content: 'w' }));
  });
  const leaving = new AbortController();
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.user}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages, stream: true }),
    signal: leaving.signal,
  });
  expect(answer.status).toBe(200);
  leaving.abort();
  await vi.waitFor(() => expect(letGo).toHaveBeenCalled());
  await vi.waitFor(async () => expect(await countInFlight()).toBe(0));
});
