import { afterAll, beforeAll, expect, test } from 'vitest';
import { Type } from 'typebox';
import type { Contract } from '../contract.ts';
import { plainEnvelope } from '../envelope.ts';
import { createTestServer, listenAnywhere } from '../testing.ts';
import { WrittenBytes, WrittenJson, WrittenJsonText } from '../written-json.ts';

const answerOf = { response: { 200: Type.Object({ word: Type.String() }) } };
const route = { method: 'GET', summary: 'Read it', auth: 'none', schema: answerOf } as const;

const contract = {
  name: 'written',
  title: 'Written',
  version: '1.0.0',
  description: 'Answers what was written before.',
  error: plainEnvelope.schema,
  routes: {
    value: { ...route, url: '/value' },
    json: { ...route, url: '/json' },
    text: { ...route, url: '/text' },
    other: { ...route, url: '/other' },
  },
} as const satisfies Contract;

const word = { word: `Grüße — ${'蓝'.repeat(20_000)}` };
const json = JSON.stringify(word);

let url: string;
let close: () => Promise<void>;

beforeAll(async () => {
  const { http } = await createTestServer(contract);
  http.serve(contract, {
    value: () => new WrittenJson(word),
    json: () => new WrittenJson(Buffer.from(json)),
    text: () => new WrittenJsonText(json),
    other: () => new WrittenBytes('ü', 'text/plain; charset=utf-8'),
  });
  url = await listenAnywhere(http);
  close = () => http.close(0);
});

afterAll(() => close());

test.each(['value', 'json', 'text'])('a %s that was written is answered as JSON', async (path) => {
  const answer = await fetch(`${url}/${path}`);
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(answer.headers.get('content-length')).toBe(String(Buffer.byteLength(json)));
  expect(await answer.json()).toEqual(word);
});

test('a text of another format is answered as it is', async () => {
  const answer = await fetch(`${url}/other`);
  expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(await answer.text()).toBe('ü');
});
