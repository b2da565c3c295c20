import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createClient } from '../../kit/client.ts';
import { Tracer } from '../../kit/trace/trace.ts';
import { workflowContract } from '../../workflow/contract.ts';
import { startWorkflow } from '../../workflow/testing.ts';
import type { WorkflowClient } from './workflow-access.ts';
import { makeWorkflow, runTests } from './workflow-making.ts';

let folder: string;
let service: Awaited<ReturnType<typeof startWorkflow>>;
let client: WorkflowClient;
let printed: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ennead-workflow-making-'));
  service = await startWorkflow();
  client = createClient(workflowContract, {
    baseUrl: service.url,
    token: () => service.tokenOf('usr_ada'),
    tracer: new Tracer(() => {}),
  });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

beforeEach(() => {
  printed = '';
  const write = (text: string | Uint8Array) => {
    printed += String(text);
    return true;
  };
  vi.spyOn(process.stdout, 'write').mockImplementation(write);
  vi.spyOn(process.stderr, 'write').mockImplementation(write);
});
afterEach(() => {
  vi.restoreAllMocks();
});

async function fileOf(value: unknown): Promise<string> {
  const path = join(folder, 'flow.json');
  await writeFile(path, JSON.stringify(value));
  return path;
}

/** How many workflows there are that are not archived. */
async function countOpen(): Promise<number> {
  const page = { limit: 100, offset: 0 };
  const { workflows } = await client.listWorkflows({ query: page });
  return workflows.filter(({ status }) => status !== 'archived').length;
}

const flow = {
  nodes: [{ id: 'echo', type: 'Merge', data: { inputs: { said: '{{ inputs.word }}' } } }],
};
const says = {
  name: 'says the word',
  inputs: { word: 'x' },
  expect: [{ node: 'echo', path: 'merged.said', equals: 'x' }],
};

test('a flow that does not hold is refused, and all its faults are told', async () => {
  const nodes = [
    { id: 'a', type: 'Nope', retry: { backoff: 'never' } },
    { id: 'b', type: 'Merge', data: { inputs: '{{ c.d }}' } },
  ];
  const path = await fileOf({ flow: { nodes, edges: [{ source: 'a', target: 'z' }] } });
  await expect(makeWorkflow(client, path, false)).rejects.toThrow('the flow does not hold');
  for (const code of ['BAD_SHAPE', 'UNKNOWN_COMPONENT', 'DANGLING_EDGE', 'UNKNOWN_REFERENCE']) {
    expect(printed).toContain(code);
  }
  expect(await countOpen()).toBe(0);
});

test('tests of a file are run on a draft that does not stay', async () => {
  expect(await runTests(client, await fileOf({ flow, tests: [says] }), {})).toBe(0);
  expect(printed).toContain('1 of 1 passed');
  const failing = { ...says, expect: [{ cel: 'echo.merged.said == "y"' }] };
  expect(await runTests(client, await fileOf({ flow, tests: [failing] }), {})).toBe(1);
  expect(printed).toContain('0 of 1 passed');
  expect(await runTests(client, await fileOf({ flow }), {})).toBe(1);
  expect(printed).toContain('there are no tests');
  expect(await countOpen()).toBe(0);
});

test('a workflow whose tests hold no sense does not stay', async () => {
  const path = await fileOf({ flow, tests: [{ name: 'no more' }] });
  await expect(makeWorkflow(client, path, false)).rejects.toThrow('tests.0');
  await expect(runTests(client, path, {})).rejects.toThrow('tests.0');
  expect(await countOpen()).toBe(0);
});

test('a workflow of a file has its tests', async () => {
  const { id } = await makeWorkflow(client, await fileOf({ flow, tests: [says] }), false);
  expect(await runTests(client, id, {})).toBe(0);
  expect(printed).toContain('1 of 1 passed');
});
