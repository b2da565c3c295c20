import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { Type } from 'typebox';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Contract } from '../contract.ts';
import { plainEnvelope } from '../envelope.ts';
import { createTestServer, listenAnywhere } from '../testing.ts';

const contract = {
  name: 'notes',
  title: 'Notes',
  version: '1.0.0',
  description: 'Notes for tests.',
  error: plainEnvelope.schema,
  routes: {
    count: {
      method: 'GET',
      url: '/headers',
      summary: 'Say whether the last header came',
      auth: 'none',
      schema: { response: { 200: Type.Object({ last: Type.String() }) } },
    },
  },
} as const satisfies Contract;

let server: Awaited<ReturnType<typeof createTestServer>>;
let url: string;

beforeAll(async () => {
  server = await createTestServer(contract);
  server.http.serve(contract, {
    count: ({ headers }) => ({ last: String(headers['last'] ?? '') }),
  });
  url = await listenAnywhere(server.http);
});

afterAll(() => server.http.close(0));

/** Sends bytes as they are; what came back, once the server has closed. */
async function sendRaw(request: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write(request);
  return text(socket);
}

const close = 'connection: close\r\n\r\n';

test.each([
  ['without a host', `GET /headers HTTP/1.1\r\n${close}`, 400, 'INVALID_REQUEST'],
  [
    'with an expectation that nobody meets',
    `GET /headers HTTP/1.1\r\nhost: a\r\nexpect: tea\r\n${close}`,
    417,
    'EXPECTATION_FAILED',
  ],
  [
    'for a tunnel',
    `CONNECT example.org:443 HTTP/1.1\r\nhost: example.org\r\n${close}`,
    405,
    'METHOD_NOT_ALLOWED',
  ],
])('a request %s is refused in the envelope', async (_, request, status, code) => {
  const answer = await sendRaw(request);
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  const body: unknown = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')));
  expect(body).toMatchObject({ error: { code, message: expect.stringMatching(/./) } });
});

test('a request of HTTP/1.0 needs no host', async () => {
  expect(await sendRaw('GET /headers HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1.1 200 /);
});

test('no header is lost, however many came', async () => {
  const many = 'a:b\r\n'.repeat(2_500);
  const answer = await sendRaw(`GET /headers HTTP/1.1\r\nhost: a\r\n${many}last: yes\r\n${close}`);
  expect(answer).toContain('{"last":"yes"}');
});

test.each(['/docs', '/openapi.json', '/docs/start.js'])(
  'a wrong method at %s is told the right ones',
  async (path) => {
    const answer = await fetch(`${url}${path}`, { method: 'POST' });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('GET, HEAD');
    expect(answer.headers.get('x-request-id')).toMatch(/^req_/);
  },
);

test('a refused path names its request', async () => {
  const answer = await fetch(`${url}/nowhere`, { headers: { 'x-request-id': 'mine' } });
  expect(answer.status).toBe(404);
  expect(answer.headers.get('x-request-id')).toBe('mine');
});

test.each(['', '{'])(
  'what is not there is told as that, whatever the body is: %j',
  async (body) => {
    const request = { headers: { 'content-type': 'application/json' }, body };
    const nowhere = await fetch(`${url}/nowhere`, { method: 'POST', ...request });
    expect(nowhere.status).toBe(404);
    const wrong = await fetch(`${url}/headers`, { method: 'DELETE', ...request });
    expect(wrong.status).toBe(405);
    expect(wrong.headers.get('allow')).toBe('GET, HEAD');
  },
);
