import { afterAll, beforeAll, expect, test } from 'vitest';
import { Type } from 'typebox';
import type { Contract } from '../contract.ts';
import { plainEnvelope } from '../envelope.ts';
import { createTestServer, listenAnywhere } from '../testing.ts';
import {
  asciiJson,
  WrittenAsciiJson,
  WrittenBytes,
  WrittenJson,
  WrittenJsonText,
} from '../answers/written-json.ts';

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
    ascii: { ...route, url: '/ascii' },
    direct: { ...route, url: '/direct', isDirect: true },
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
    ascii: () => new WrittenAsciiJson(asciiJson(word)),
    direct: () => new WrittenAsciiJson(asciiJson(word)),
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

test.each(['ascii', 'direct'])('JSON in ASCII says the same: %s', async (path) => {
  const answer = await fetch(`${url}/${path}`);
  const answered = await answer.text();
  expect(answered).toMatch(/^[\x20-\x7e]+$/);
  expect(answer.headers.get('content-length')).toBe(String(answered.length));
  expect(JSON.parse(answered)).toEqual(word);
});

test.each(['', '\u007f\u0080é€😀\ud800"\\', { 键: ['ÿ', null] }])(
  '%j is the same in ASCII',
  (value) => {
    expect(JSON.parse(asciiJson(value))).toEqual(value);
    expect(asciiJson(value)).not.toMatch(/[\u0080-\uffff]/);
  },
);
