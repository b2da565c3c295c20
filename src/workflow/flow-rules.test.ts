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

test('a Loop or a Parallel takes no timeout and no onError, which nothing would keep', async () => {
  const rules = { timeout: 100, onError: 'continue', retry: { enabled: true } };
  const flow = {
    nodes: [
      { id: 'each', type: 'Loop', data: { items: [1] }, ...rules },
      { id: 'all', type: 'Parallel', retry: { enabled: true } },
      merge('end', {}),
    ],
    edges: [{ source: 'all', target: 'end' }],
  };
  const { body } = await ada('POST', `${root}/validate`, { flow });
  expect(body.valid).toBe(false);
  const faults = body.faults as { code: string; nodeId: string }[];
  const refused = faults.filter(({ code }) => code === 'BAD_SETTING');
  expect(refused.map(({ nodeId }) => nodeId)).toEqual(['each', 'each']);
  const { components } = (await ada('GET', '/api/v1/components')).body;
  const timeless = (components as { name: string; timeout?: number }[])
    .filter(({ timeout }) => timeout === undefined)
    .map(({ name }) => name);
  expect(timeless.toSorted()).toEqual(['Approval', 'Loop', 'Parallel', 'SubWorkflow', 'Wait']);
});
