import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Contract } from '../contract.ts';
import { plainEnvelope } from '../envelope.ts';
import { createTestServer, listenAnywhere } from '../testing.ts';
import { formMediaType } from './form-body.ts';

const words = Type.Object({ word: Type.String(), count: Type.Optional(Type.Integer()) });
const route = {
  method: 'POST',
  summary: 'Say it back',
  auth: 'none',
  schema: { body: words, response: { 200: Type.Object({}, { additionalProperties: true }) } },
} as const;

const contract = {
  name: 'echo',
  title: 'Echo',
  version: '1.0.0',
  description: 'An echo for tests.',
  error: plainEnvelope.schema,
  routes: {
    either: { ...route, url: '/either', acceptsForm: true, bodyBytesMax: 1000 },
    json: { ...route, url: '/json' },
  },
} as const satisfies Contract;

let server: Awaited<ReturnType<typeof createTestServer>>;
let url: string;

beforeAll(async () => {
  server = await createTestServer(contract);
  server.http.serve(contract, { either: ({ body }) => body, json: ({ body }) => body });
  url = await listenAnywhere(server.http);
});

afterAll(() => server.http.close(100));

async function post(path: string, body: string, type: string = formMediaType) {
  const headers = { 'content-type': type };
  const answer = await fetch(`${url}${path}`, { method: 'POST', body, headers });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

describe('a form is refused', () => {
  const forms: [string, string, number, string][] = [
    ['that names a parameter twice', 'word=a&word=b', 400, 'INVALID_REQUEST'],
    ['that names one twice in two spellings', 'word=a&%77ord=a', 400, 'INVALID_REQUEST'],
    ['with U+0000', 'word=a%00b', 400, 'INVALID_REQUEST'],
    ['without the parameter', 'other=a', 400, 'VALIDATION_ERROR'],
    ['with a text in the place of a number', 'word=a&count=1', 400, 'VALIDATION_ERROR'],
    ['with only __proto__', '__proto__=a&constructor=b', 400, 'VALIDATION_ERROR'],
    ['that is empty', '', 400, 'VALIDATION_ERROR'],
    ['larger than the route allows', `word=${'a'.repeat(1000)}`, 413, 'TOO_LARGE'],
  ];
  test.each(forms)('%s', async (_name, form, status, code) => {
    const answer = await post('/either', form);
    expect(answer).toMatchObject({ status, body: { error: { code } } });
  });

  test('in another character set', async () => {
    const answer = await post('/either', 'word=a', `${formMediaType}; charset=utf-16`);
    expect(answer.status).toBe(415);
  });

  test('by a route that does not ask for forms', async () => {
    const answer = await post('/json', 'word=a');
    expect(answer).toMatchObject({
      status: 415,
      body: { error: { code: 'UNSUPPORTED_MEDIA_TYPE' } },
    });
  });
});

test('a route that takes forms reads the same from a form as from JSON', async () => {
  const word = 'a+b & ü';
  const form = await post('/either', String(new URLSearchParams({ word, unknown: 'x' })));
  const json = await post('/either', JSON.stringify({ word, unknown: 'x' }), 'application/json');
  expect(form).toEqual({ status: 200, body: { word } });
  expect(json).toEqual(form);
});

test('the OpenAPI document names forms only where they are taken', async () => {
  const { body: document } = await server.http.app
    .inject('/openapi.json')
    .then((answer) => ({ body: answer.json() }));
  const typesOf = (path: string) =>
    Object.keys(document.paths[path].post.requestBody.content as Record<string, unknown>);
  expect(typesOf('/either')).toEqual(['application/json', formMediaType]);
  expect(typesOf('/json')).toEqual(['application/json']);
});
