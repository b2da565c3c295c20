import { afterAll, beforeAll, expect, test } from 'vitest';
import type { OrchestrationRequest } from './orchestration.ts';
import { startScriptedMesh, type ScriptedMesh } from './scripted-mesh-testing.ts';
import {
  callerOf,
  openOrchestrationGround,
  openOrchestrations,
  untilEnded,
  type OrchestrationGround,
  type OrchestrationReplica,
} from './testing.ts';

/** What the mesh takes of a task. */
const megabyte = 1024 * 1024;
const long = `${'ä'.repeat(449_999)}😀`;
const list = Array.from({ length: 100_000 }, (_, index) => index);
let ground: OrchestrationGround;
let mesh: ScriptedMesh;
let replica: OrchestrationReplica;

beforeAll(async () => {
  ground = await openOrchestrationGround();
  mesh = await startScriptedMesh([
    { agentId: 'list', work: () => list },
    { agentId: 'long', work: () => long },
    { agentId: 'short', work: () => 'short' },
    { agentId: 'reader', work: ({ input }) => input.context.results.length },
  ]);
  replica = await openOrchestrations(ground, mesh.url);
});

afterAll(async () => {
  await replica[Symbol.asyncDispose]();
  await mesh[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

async function run(agents: readonly string[], over: Partial<OrchestrationRequest> = {}) {
  const request = { task: 'read', agents, isParallel: false, timeoutMs: 20_000, ...over };
  const started = await replica.orchestrations.start(callerOf('ada'), request);
  return untilEnded(replica.orchestrations, started);
}

/** What the agent that came last was handed. */
function lastInput() {
  const { input } = mesh.tasks.at(-1) ?? {};
  expect(Buffer.byteLength(JSON.stringify(input))).toBeLessThan(megabyte);
  return input.context.results;
}

test('results that are more than a task may hold are cut, the oldest first', async () => {
  expect(await run(['list', 'long', 'short', 'reader'])).toMatchObject({ status: 'completed' });
  const [oldest, older, newest] = lastInput();
  expect(oldest).toMatchObject({ agent: 'list', status: 'completed', truncated: true });
  expect(JSON.stringify(list).startsWith(oldest.result)).toBe(true);
  expect(oldest.result.length).toBeGreaterThan(10_000);
  expect(older.result === long).toBe(true);
  expect(older).not.toHaveProperty('truncated');
  expect(newest).toMatchObject({ agent: 'short', result: 'short' });
});

test('what has no room at all is still named', async () => {
  expect(await run(['short', 'long', 'long', 'reader'])).toMatchObject({ status: 'completed' });
  const [oldest, older, newest] = lastInput();
  expect(oldest).toMatchObject({ agent: 'short', status: 'completed' });
  expect(older.truncated).toBe(true);
  expect(long.startsWith(older.result)).toBe(true);
  expect(newest.result === long).toBe(true);
});

test('a task and a context that leave no room for results are refused at once', async () => {
  const before = mesh.tasks.length;
  const context = { text: 'x'.repeat(megabyte - 100_000) };
  await expect(run(['short', 'reader'], { context })).rejects.toMatchObject({
    code: 'too_large',
    reason: 'context_too_large',
  });
  expect(mesh.tasks).toHaveLength(before);
});
