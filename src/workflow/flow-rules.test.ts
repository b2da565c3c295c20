import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWorkflow } from './testing.ts';

const root = '/api/v1/workflows';
const merge = (id: string, inputs: unknown) => ({ id, type: 'Merge', data: { inputs } });
let running: Awaited<ReturnType<typeof startWorkflow>>;

beforeAll(async () => {
  running = await startWorkflow();
});

afterAll(() => running[Symbol.asyncDispose]());

async function ada(method: string, path: string, body?: unknown) {
  const call = await running.callAs('usr_ada');
  return call(method, path, { body });
}

async function create(flow: unknown): Promise<string> {
  const { status, body } = await ada('POST', root, { name: 'Test', flow });
  expect({ status, body }).toMatchObject({ status: 201 });
  return body.id;
}

test('what is pinned takes the way that its output says, and no node that there is not', async () => {
  const cases = [{ when: 'inputs.n == 1', handle: 'a' }];
  const flow = {
    nodes: [
      { id: 'ask', type: 'Approval', data: { message: 'Go on?' } },
      { id: 'pick', type: 'Switch', data: { cases, default: 'b' } },
      { id: 'read', type: 'FileSystemRead', data: { path: 'x' }, onError: 'continue' },
      { id: 'old', type: 'Placeholder', data: { handles: ['x', 'y'] } },
      ...['yes', 'no', 'a', 'b', 'good', 'bad', 'x', 'y'].map((id) => merge(id, { id })),
    ],
    edges: [
      ['ask', 'yes', 'approved'],
      ['ask', 'no', 'rejected'],
      ['pick', 'a', 'a'],
      ['pick', 'b', 'b'],
      ['read', 'good', undefined],
      ['read', 'bad', 'error'],
      ['old', 'x', 'x'],
      ['old', 'y', 'y'],
    ].map(([source, target, sourceHandle]) => ({ source, target, sourceHandle })),
  };
  const id = await create(flow);
  const pinned = {
    ask: { approved: true },
    pick: { case: 'b' },
    read: { error: { code: 'GONE', message: 'gone' } },
    old: { handle: 'y' },
  };
  const expected = ['yes', 'b', 'bad', 'y'].map((node) => ({
    cel: `nodes.${node}.merged.id == '${node}'`,
  }));
  const tests = [{ name: 'ways', pinned, expect: expected }];
  expect((await ada('PUT', `${root}/${id}/tests`, { tests })).status).toBe(200);
  const { body } = await ada('POST', `${root}/${id}/tests/run`, {});
  expect(body).toMatchObject({ passed: true, results: [{ failures: [] }] });
  for (const lost of [{ pinned: { Ask: { approved: true } } }, { expect: [{ node: 'Yes' }] }]) {
    const refused = await ada('PUT', `${root}/${id}/tests`, {
      tests: [{ name: 'lost', expect: [], ...lost }],
    });
    expect(refused).toMatchObject({ status: 400 });
    expect(refused.body.error.message).toMatch(/which the flow has not/);
  }
  await ada('PUT', `${root}/${id}`, { flow: { nodes: [merge('a', {})], edges: [] } });
  expect((await ada('POST', `${root}/${id}/tests/run`, {})).status).toBe(400);
});

test('a Loop and a Parallel take a timeout and onError as other nodes do', async () => {
  const rules = { timeout: 100, onError: 'continue', retry: { enabled: true } };
  const flow = {
    nodes: [
      { id: 'each', type: 'Loop', data: { items: [1] }, ...rules },
      { id: 'all', type: 'Parallel', ...rules },
      merge('end', {}),
      merge('late', { why: '{{ all.error.message }}' }),
      merge('turn', {}),
    ],
    edges: [
      { source: 'each', target: 'turn' },
      { source: 'turn', target: 'each' },
      { source: 'all', target: 'end' },
      { source: 'all', target: 'late', sourceHandle: 'error' },
    ],
  };
  expect((await ada('POST', `${root}/validate`, { flow })).body).toMatchObject({
    valid: true,
    faults: [],
  });
  const { components } = (await ada('GET', '/api/v1/components')).body;
  const timeless = (components as { name: string; timeout?: number }[])
    .filter(({ timeout }) => timeout === undefined)
    .map(({ name }) => name);
  expect(timeless.toSorted()).toEqual(['Approval', 'Loop', 'Parallel', 'SubWorkflow', 'Wait']);
});

test('a Loop may be called loop: its results are read behind it, its rounds within it', async () => {
  const id = await create({
    nodes: [
      { id: 'loop', type: 'Loop', data: { items: ['a', 'b'] } },
      merge('turn', { text: '{{ loop.item }}{{ loop.index }}' }),
      merge('end', { all: '{{ loop.results }}' }),
      merge('none', {}),
    ],
    edges: [
      { source: 'loop', target: 'turn' },
      { source: 'turn', target: 'loop' },
      { source: 'loop', target: 'end', sourceHandle: 'done', condition: 'loop.count == 2' },
      { source: 'loop', target: 'none', sourceHandle: 'done', condition: 'loop.count == 0' },
    ],
  });
  const options = { async: false };
  const { body } = await ada('POST', `${root}/${id}/execute`, { inputs: {}, options });
  const all = ['a0', 'b1'].map((text) => ({ merged: { text } }));
  expect(body).toMatchObject({ status: 'completed', result: { end: { merged: { all } } } });
  expect(body.result.none).toBeUndefined();
});

test.each([
  [{ node: 'a', path: 'merged.x', equal: 'no' }, /additional properties/i],
  [{ node: 'a', Equals: 'no' }, /additional properties/i],
  [{ node: 'a', path: 'merged.x' }, /expectation 0 of the test “vain” says neither equals/],
  [{}, /says neither equals nor contains nor cel/],
  [{ cel: 'true', equals: 1 }, /cel, which stands by itself/],
])('an expectation that says nothing is refused: %j', async (expectation, message) => {
  const id = await create({ nodes: [merge('a', { x: 'yes' })] });
  const tests = [{ name: 'vain', expect: [expectation] }];
  const { status, body } = await ada('PUT', `${root}/${id}/tests`, { tests });
  expect(status).toBe(400);
  expect(JSON.stringify(body.error)).toMatch(message);
});

test('a test with a misspelt field is refused: what it pins would really run', async () => {
  const id = await create({ nodes: [merge('a', { x: 'yes' })] });
  const tests = [{ name: 'vain', pined: { a: {} }, expect: [] }];
  expect((await ada('PUT', `${root}/${id}/tests`, { tests })).status).toBe(400);
});

test.each([
  ['Wait', { duration: 1, until: '2026-12-24T18:00:00Z' }, false],
  ['Wait', { until: 'tomorrow' }, false],
  ['Wait', { until: '2027-02-30T00:00:00Z' }, false],
  ['Wait', { until: '2026-12-24T18:00:00Z' }, true],
  ['Wait', { until: '{{ inputs.when }}', duration: '{{ inputs.ms }}' }, true],
  // It may come with the inputs, as any setting may.
  ['Wait', {}, true],
  ['Transform', { expression: '$sum(' }, false],
])('whether a %s of %j can be saved: %s', async (type, data, valid) => {
  const flow = { nodes: [{ id: 'a', type, data }], edges: [] };
  const { body } = await ada('POST', `${root}/validate`, { flow });
  expect(body).toMatchObject({
    valid,
    faults: valid ? [] : [{ code: 'BAD_SETTING', nodeId: 'a' }],
  });
});

test('a placeholder that finds nothing gives nothing, and not what came before', async () => {
  const id = await create({
    nodes: [
      merge('a', { secret: 1 }),
      { id: 't', type: 'Transform', data: { input: '{{ inputs.x }}', expression: '$' } },
      { id: 'all', type: 'Transform', data: { expression: '$' } },
      merge('m', '{{ inputs.x }}'),
    ],
    edges: ['t', 'm', 'all'].map((target) => ({ source: 'a', target })),
  });
  const run = async (inputs: object) => {
    const body = { inputs, options: { async: false } };
    const { result } = (await ada('POST', `${root}/${id}/execute`, body)).body;
    return [result.t.result, result.m.merged, result.all.result.a.merged];
  };
  expect(await run({})).toEqual([null, {}, { secret: 1 }]);
  expect(await run({ x: null })).toEqual([null, {}, { secret: 1 }]);
  expect(await run({ x: { y: 2 } })).toEqual([{ y: 2 }, { y: 2 }, { secret: 1 }]);
});
