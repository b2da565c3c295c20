import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorkflow, type Caller } from '../testing.ts';

interface NodeView {
  readonly nodeId: string;
  readonly iteration?: string;
  readonly status: string;
}

let running: Awaited<ReturnType<typeof startWorkflow>>;
let call: Caller;

beforeAll(async () => {
  running = await startWorkflow();
  call = await running.callAs('usr_ada');
});
afterAll(() => running[Symbol.asyncDispose]());

async function run(flow: object, inputs: object): Promise<string> {
  const made = await call('POST', '/api/v1/workflows', { body: { name: 'Long', flow } });
  const path = `/api/v1/workflows/${made.body.id as string}/execute`;
  const { body } = await call('POST', path, { body: { inputs } });
  return body.executionId as string;
}

async function runToEnd(flow: object, inputs: object): Promise<string> {
  const id = await run(flow, inputs);
  const { body } = await call('GET', `/api/v1/executions/${id}?wait=60`);
  expect(body.status).toBe('completed');
  return id;
}

/** All pages, one after the other. */
async function pagesOf(id: string, query = ''): Promise<NodeView[]> {
  const nodes: NodeView[] = [];
  for (;;) {
    const path = `/api/v1/executions/${id}/nodes?limit=100&offset=${nodes.length}${query}`;
    const { body } = await call('GET', path);
    const page = body.nodes as NodeView[];
    nodes.push(...page);
    expect(page.length).toBeLessThanOrEqual(100);
    if (page.length === 0) {
      expect(nodes).toHaveLength(body.total as number);
      return nodes;
    }
  }
}

const rounds = {
  nodes: [
    { id: 'each', type: 'Loop', data: { items: '{{ inputs.items }}' } },
    { id: 'turn', type: 'Merge', data: { inputs: { n: '{{ loop.index }}' } } },
    { id: 'last', type: 'Merge', data: { inputs: { count: '{{ each.count }}' } } },
  ],
  edges: [
    { source: 'each', target: 'turn' },
    { source: 'turn', target: 'each' },
    { source: 'each', target: 'last', sourceHandle: 'done' },
  ],
};

describe('an execution with more nodes than a status shows', () => {
  it('shows the newest and their number, and all of them in pages', async () => {
    const items = Array.from({ length: 1_200 }, (_, index) => index);
    const id = await runToEnd(rounds, { items });
    const { body } = await call('GET', `/api/v1/executions/${id}`);
    expect(body.nodesTotal).toBe(1_202);
    const shown = body.nodes as NodeView[];
    expect(shown).toHaveLength(1_000);
    expect(shown.at(-1)).toMatchObject({ nodeId: 'last', status: 'completed' });
    expect(shown.at(0)).toMatchObject({ nodeId: 'turn', iteration: '201' });
    const all = await pagesOf(id);
    expect(all.map(({ nodeId }) => nodeId).slice(0, 2)).toEqual(['each', 'turn']);
    expect(all.slice(202)).toEqual(shown);
    expect(await pagesOf(id, '&nodeId=last')).toMatchObject([{ nodeId: 'last' }]);
    expect(await pagesOf(id, '&nodeId=turn&iteration=7')).toMatchObject([{ iteration: '7' }]);
    expect(await pagesOf(id, '&status=failed')).toEqual([]);
  });

  it('is shown whole where no loop makes it long', async () => {
    const id = await runToEnd(rounds, { items: [1, 2] });
    const { body } = await call('GET', `/api/v1/executions/${id}`);
    expect(body.nodes).toHaveLength(4);
    expect(body).not.toHaveProperty('nodesTotal');
  });
});

it('shows no more outputs than an answer should carry, and all of them page by page', async () => {
  const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
  const text = '{{ inputs.text | append: inputs.text }}';
  const nodes = ids.map((id) => ({ id, type: 'Merge', data: { inputs: { text } } }));
  const edges = ids.slice(1).map((id, index) => ({ source: ids[index], target: id }));
  const id = await runToEnd({ nodes, edges }, { text: 'x'.repeat(900_000) });
  const { body } = await call('GET', `/api/v1/executions/${id}`);
  expect(body.nodesTotal).toBe(6);
  expect(body.nodes).toMatchObject([
    { nodeId: 'c' },
    { nodeId: 'd' },
    { nodeId: 'e' },
    { nodeId: 'f' },
  ]);
  expect((await pagesOf(id)).map(({ nodeId }) => nodeId)).toEqual(ids);
});

it('lists what waits and what runs in the order of their start, between what has ended', async () => {
  const id = await run(
    {
      nodes: [
        { id: 'each', type: 'Loop', data: { items: '{{ inputs.items }}' } },
        { id: 'turn', type: 'Merge', data: { inputs: { n: '{{ loop.index }}' } } },
        { id: 'ask', type: 'Approval', data: { message: 'Go on?' } },
      ],
      edges: [
        { source: 'each', target: 'turn' },
        { source: 'turn', target: 'ask' },
        { source: 'ask', target: 'each' },
      ],
    },
    { items: [1, 2] },
  );
  await expect.poll(async () => pagesOf(id, '&status=waiting')).toMatchObject([{ nodeId: 'ask' }]);
  expect(await pagesOf(id)).toMatchObject([
    { nodeId: 'each', status: 'running' },
    { nodeId: 'turn', status: 'completed' },
    { nodeId: 'ask', status: 'waiting' },
  ]);
  expect(await pagesOf(id, '&status=running')).toMatchObject([{ nodeId: 'each' }]);
  const second = await call('GET', `/api/v1/executions/${id}/nodes?limit=1&offset=1`);
  expect(second.body).toMatchObject({ nodes: [{ nodeId: 'turn' }], total: 3, limit: 1, offset: 1 });
  await call('POST', `/api/v1/executions/${id}/cancel`);
  expect((await pagesOf(id, '&status=cancelled')).map(({ nodeId }) => nodeId)).toEqual([
    'each',
    'ask',
  ]);
});

it('shows nobody the nodes of what is not theirs', async () => {
  const id = await runToEnd(rounds, { items: [] });
  const other = await running.callAs('usr_eve');
  expect(await other('GET', `/api/v1/executions/${id}/nodes`)).toMatchObject({ status: 404 });
});
