import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWorkflow, type Caller } from '../testing.ts';
import { documentOf, type Drawn } from './n8n/testing.ts';

interface Received {
  readonly method: string;
  readonly url: string;
  readonly type: string | undefined;
  readonly body: string;
}

let service: Awaited<ReturnType<typeof startWorkflow>>;
let call: Caller;
let received: Received[] = [];
let address = '';

/** Answers with what it got, with the status of `/status/…`, or leads on. */
const target = createServer((request, response) => {
  void echo(request, response);
});

async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await readText(request);
  const { method = '', url = '', headers } = request;
  const got = { method, url, type: headers['content-type'], body };
  received.push(got);
  const status = Number(/^\/status\/(\d+)/.exec(url)?.[1] ?? 200);
  response.writeHead(status, { 'content-type': 'application/json', location: '/moved' });
  response.end(JSON.stringify(got));
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of request) text += String(part);
  return text;
}

beforeAll(async () => {
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(target.address() as AddressInfo).port}`;
  service = await startWorkflow();
  call = await service.callAs('usr_1');
});
afterAll(async () => {
  target.close();
  await service[Symbol.asyncDispose]();
});

/** Imports a document and runs it once. */
async function run(document: unknown, inputs: object = {}) {
  received = [];
  const made = await call('POST', '/api/v1/workflows/import', { body: { document } });
  const { report, status, id } = made.body;
  const statuses = report.nodes.map((node: { status: string }) => node.status);
  if (status !== 'active') return { status, statuses, report };
  const body = { inputs, options: { async: false } };
  const answer = await call('POST', `/api/v1/workflows/${id}/execute`, { body });
  return { status: answer.body.status, statuses, report, ...answer.body };
}

const text = (name: string, value: unknown, type = 'string') => ({ name, value, type });
const set = (assignments: readonly unknown[], rest: object = {}): Drawn => ({
  type: 'set',
  typeVersion: 3.4,
  parameters: { assignments: { assignments }, ...rest },
});
const manual = { type: 'manualTrigger' };

describe('n8n', () => {
  const post = (path: string, parameters: object = {}, rest: object = {}): Drawn => ({
    type: 'httpRequest',
    parameters: { method: 'POST', url: address + path, ...parameters },
    ...rest,
  });

  test('what no trigger leads to never runs', async () => {
    const made = await run(
      documentOf(
        { Start: manual, A: set([text('x', '1')]), Lone: post('/lone'), Behind: set([]) },
        'Start > A',
        'Lone > Behind',
      ),
    );
    expect(made).toMatchObject({ status: 'completed', result: { a: { result: { x: '1' } } } });
    expect(received).toEqual([]);
  });

  test('only the way of the trigger that the inputs name is taken', async () => {
    const document = documentOf(
      { Start: manual, Hook: { type: 'webhook' }, A: set([text('x', '1')]), P: post('/hook') },
      'Start > A',
      'Hook > P',
    );
    const plain = await run(document);
    expect(plain).toMatchObject({ status: 'completed', result: { a: { result: { x: '1' } } } });
    expect(received).toEqual([]);
    const hooked = await run(document, { trigger: 'Hook' });
    expect(hooked.result).not.toHaveProperty('a');
    expect(received).toMatchObject([{ url: '/hook' }]);
    expect(plain.statuses).toEqual(['adapted', 'adapted', 'adapted', 'exact', 'exact']);
  });

  test('a form is sent as a form', async () => {
    const bodyParameters = {
      parameters: [
        { name: 'a b', value: 'c & d' },
        { name: 'e', value: '={{ $json.e }}!' },
      ],
    };
    const parameters = { sendBody: true, contentType: 'form-urlencoded', bodyParameters };
    await run(documentOf({ Start: manual, P: post('/', parameters) }, 'Start > P'), { e: 'ü&=' });
    expect(received).toMatchObject([
      { type: 'application/x-www-form-urlencoded', body: 'a+b=c+%26+d&e=%C3%BC%26%3D!' },
    ]);
  });

  test('a status is an answer where that is said', async () => {
    const response = { response: { neverError: true, fullResponse: true } };
    const made = await run(
      documentOf(
        {
          Start: manual,
          P: post('/status/404', { options: { response } }),
          Z: set([text('z', '={{ $json.statusCode }}', 'number')]),
        },
        'Start > P',
        'P > Z',
      ),
    );
    expect(made).toMatchObject({ status: 'completed', result: { z: { result: { z: 404 } } } });
    expect(made.statuses).toEqual(['exact', 'adapted', 'exact']);
  });

  test('a redirect is not followed where that is said', async () => {
    const options = { redirect: { redirect: { followRedirects: false } } };
    const get = post('/status/302', { method: 'GET', options });
    expect((await run(documentOf({ Start: manual, P: get }, 'Start > P'))).status).toBe('failed');
    expect(received).toHaveLength(1);
    const response = { response: { neverError: true, fullResponse: true } };
    const told = post('/status/302', { method: 'GET', options: { ...options, response } });
    const made = await run(documentOf({ Start: manual, P: told }, 'Start > P'));
    expect(made.result.p).toMatchObject({ status: 302, headers: { location: '/moved' } });
    expect(received).toHaveLength(1);
  });

  const rule = (operation: string, rightValue: unknown, type = 'string') => ({
    conditions: {
      options: { caseSensitive: true, typeValidation: 'strict' },
      conditions: [{ leftValue: '={{ $json.k }}', rightValue, operator: { type, operation } }],
      combinator: 'and',
    },
  });
  const switchOf = (options: object) =>
    documentOf(
      {
        Start: manual,
        Sw: {
          type: 'switch',
          typeVersion: 3.2,
          parameters: {
            rules: { values: [rule('contains', 'a'), rule('contains', 'b')] },
            options,
          },
        },
        A: set([]),
        B: set([]),
        X: set([]),
      },
      'Start > Sw',
      'Sw:0 > A',
      'Sw:1 > B',
      'Sw:2 > X',
    );

  test.each([
    [{}, 'ab', ['a']],
    [{}, 'zz', []],
    [{ fallbackOutput: 1 }, 'zz', ['b']],
    [{ fallbackOutput: 'extra' }, 'zz', ['x']],
    [{ allMatchingOutputs: true }, 'ab', ['a', 'b']],
    [{ allMatchingOutputs: true }, 'b', ['b']],
    [{ allMatchingOutputs: true, fallbackOutput: 'extra' }, 'zz', ['x']],
    [{ allMatchingOutputs: true, fallbackOutput: 0 }, 'zz', ['a']],
  ])('a switch %j on %s leads to %j', async (options, k, expected) => {
    const made = await run(switchOf(options), { k });
    expect(made.statuses[1]).toBe('exact');
    const ended = Object.keys(made.result).filter((id) => ['a', 'b', 'x'].includes(id));
    expect(ended.toSorted()).toEqual(expected);
  });

  test.each([
    ['equals', 'a', 'string', {}, false],
    ['notEquals', 'a', 'string', {}, true],
    ['false', undefined, 'boolean', {}, true],
    ['true', undefined, 'boolean', {}, false],
    ['gt', 5, 'number', {}, false],
    ['equals', 3, 'number', { k: 3 }, true],
    ['contains', 2, 'array', {}, false],
    ['notContains', 'a', 'string', {}, true],
    ['lengthLt', 1, 'array', {}, true],
    ['empty', undefined, 'object', {}, true],
    ['regex', '/^A.C$/i', 'string', { k: 'abc' }, true],
    ['equals', '5', 'string', { k: 5 }, 'failed'],
    ['true', undefined, 'boolean', { k: 'true' }, 'failed'],
  ])('an If %s %j of a %s on %j is %s', async (operation, right, type, inputs, expected) => {
    const parameters = rule(operation, right, type);
    const made = await run(
      documentOf(
        { Start: manual, One: { type: 'if', parameters }, A: set([]) },
        'Start > One',
        'One > A',
      ),
      inputs,
    );
    expect(made.statuses[1]).toBe('exact');
    if (expected === 'failed') expect(made.status).toBe('failed');
    else expect('a' in made.result).toBe(expected);
  });

  test.each([
    [
      { includeOtherFields: true, include: 'selected', includeFields: 'k, l' },
      { k: 'b', x: 1 },
    ],
    [
      { includeOtherFields: true, include: 'except', excludeFields: 'k' },
      { z: 1, x: 1 },
    ],
    [{ includeOtherFields: true }, { k: 'b', z: 1, x: 1 }],
    [{}, { x: 1 }],
  ])('fields that stay: %j', async (rest, expected) => {
    const document = documentOf(
      { Start: manual, A: set([text('x', 1, 'number')], rest) },
      'Start > A',
    );
    const made = await run(document, { k: 'b', z: 1 });
    expect(made.statuses).toEqual(['exact', 'exact']);
    expect(made.result.a.result).toEqual(expected);
  });

  test('fields have the types that are said', async () => {
    const fields = [
      text('n', '={{ $json.s }}', 'number'),
      text('s', '={{ $json.n }}', 'string'),
      text('b', '={{ $json.b }}', 'boolean'),
      text('l', '={{ $json.l }}', 'array'),
      text('none', '={{ $json.none }}', 'string'),
      text('a.b', 1, 'number'),
    ];
    const a = set(fields, { options: { dotNotation: false } });
    const inputs = { s: '42', n: 42, b: 'false', l: '[1]' };
    const made = await run(documentOf({ Start: manual, A: a }, 'Start > A'), inputs);
    expect(made.result.a.result).toEqual({
      n: 42,
      s: '42',
      b: false,
      l: [1],
      none: null,
      'a.b': 1,
    });
    expect(made.statuses).toEqual(['exact', 'exact']);
    const failed = await run(documentOf({ Start: manual, A: a }, 'Start > A'), { l: 'x' });
    expect(failed.status).toBe('failed');
  });

  test('behind an error output there is the error, and that is said', async () => {
    const made = await run(
      documentOf(
        {
          Start: manual,
          H: post('/status/500', {}, { onError: 'continueErrorOutput' }),
          A: set([]),
          B: set([text('code', '={{ $json.error.code }}')]),
        },
        'Start > H',
        'H:0 > A',
        'H:1 > B',
      ),
    );
    expect(made.result).toEqual({ b: { result: { code: 'HTTP_500' } } });
    expect(made.statuses).toEqual(['exact', 'adapted', 'exact', 'exact']);
  });

  test('a merge that chooses an input brings its data', async () => {
    const merge = { type: 'merge', parameters: { mode: 'chooseBranch', useDataOfInput: 2 } };
    const made = await run(
      documentOf(
        {
          Start: manual,
          A: set([text('a', '1')]),
          B: set([text('b', '2')]),
          M: merge,
          Z: set([text('z', '={{ $json.b }}')]),
        },
        'Start > A',
        'Start > B',
        'A > M:0',
        'B > M:1',
        'M > Z',
      ),
    );
    expect(made.result).toEqual({ z: { result: { z: '2' } } });
  });
});

describe('Serverless Workflow', () => {
  const tasksOf = (tasks: string) =>
    `document: {dsl: '1.0.0', namespace: a, name: test, version: '1.0.0'}\ndo:\n${tasks}`;

  test('what an expression does not find is null', async () => {
    const made = await run(
      tasksOf(`- a: {set: {x: 1, y: '\${ .nope }', z: '\${ .s }'}}
- h: {call: http, with: {method: post, endpoint: '${address}/e', body: '\${ . }'}}`),
      { s: '' },
    );
    expect(made.statuses).toEqual(['exact', 'exact']);
    expect(received).toMatchObject([{ body: '{"x":1,"y":null,"z":""}' }]);
  });

  test('the last output is what it is said to be', async () => {
    const made = await run(tasksOf("- a: {set: {x: 1, y: 2}, output: {as: '${ .x }'}}"));
    expect(made.statuses).toEqual(['exact', 'exact']);
    expect(made.result).toEqual({ a_output: { merged: 1 } });
  });

  test('a value in an address adds nothing to it', async () => {
    const get = `{call: http, with: {method: get, endpoint: '${address}/e/{p}?q={q}'}}`;
    await run(tasksOf(`- h: ${get}`), { p: 'a b/c', q: '1&admin=true+' });
    expect(received).toMatchObject([{ url: '/e/a%20b%2Fc?q=1%26admin%3Dtrue%2B' }]);
  });

  test('a response has the names of the language, a raw answer is base64', async () => {
    const get = (output: string) =>
      `{call: http, with: {method: get, endpoint: '${address}/x', output: ${output}}}`;
    const read = "{set: {s: '${ .statusCode }', m: '${ .content.method }'}}";
    const made = await run(tasksOf(`- h: ${get('response')}\n- z: ${read}`));
    expect(made.result).toEqual({ z: { result: { s: 200, m: 'GET' } } });
    expect(made.statuses).toEqual(['adapted', 'exact', 'exact']);
    const raw = await run(tasksOf(`- h: ${get('raw')}`));
    const decoded = Buffer.from(raw.result.h.body, 'base64').toString();
    expect(JSON.parse(decoded)).toMatchObject({ method: 'GET', url: '/x' });
  });

  test('a redirect is a failure where it is not asked for', async () => {
    const get = (redirect: string) =>
      `- h: {call: http, with: {method: get, endpoint: '${address}/status/302'${redirect}}}`;
    expect((await run(tasksOf(get('')))).status).toBe('failed');
    expect(received).toHaveLength(1);
    expect((await run(tasksOf(get(', redirect: true')))).status).toBe('completed');
    expect(received).toMatchObject([{ url: '/status/302' }, { url: '/moved' }]);
  });
});
