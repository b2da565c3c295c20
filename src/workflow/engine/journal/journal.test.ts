import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { newId } from '../../../kit/ids.ts';
import { silentLog } from '../../../kit/testing.ts';
import type { StoredExecution } from './execution-row.ts';
import { readExecution } from './executions-store.ts';
import { Journal } from './journal.ts';
import type { JournalEntry, NodeEntry } from './journal-row.ts';
import type { EngineSql } from './journal-store.ts';
import { readNodes } from './node-runs-store.ts';
import { openEngineGround, type EngineGround } from '../testing.ts';

let ground: EngineGround;

beforeAll(async () => {
  ground = await openEngineGround();
});
afterAll(() => ground[Symbol.asyncDispose]());

/** A journal whose statements wait at a gate while it is shut. */
function openJournal() {
  const held: (() => void)[] = [];
  let isShut = false;
  const sql: EngineSql = {
    query: async (...statement) => {
      if (isShut) await new Promise<void>((pass) => held.push(pass));
      return ground.database.query(...statement);
    },
  };
  const journal = new Journal({ sql, log: silentLog, patienceMs: 0, isAlone: false });
  return {
    journal,
    held,
    shut: () => {
      isShut = true;
    },
    open: () => {
      isShut = false;
      for (const pass of held.splice(0)) pass();
    },
  };
}

function executionOf(given: Partial<StoredExecution> = {}): StoredExecution {
  return {
    id: newId('exe'),
    workflowId: 'wfl_test',
    version: 1,
    status: 'running',
    trigger: 'api',
    ownerId: 'usr_test',
    request: { inputs: {} },
    replica: 'here',
    epoch: 1,
    signals: 0,
    resumes: 0,
    startedAtMs: 0,
    tokensUsed: 0,
    cost: 0,
    ...given,
  };
}

function nodeOf(nodeId: string, place: number): NodeEntry {
  const body = { place, attempt: 1, startedAtMs: 0 };
  return { nodeId, iteration: '', status: 'completed', output: '1', body };
}

function entryOf({ id, epoch }: StoredExecution, node: NodeEntry): JournalEntry {
  return { executionId: id, epoch, nodes: [node], events: [] };
}

it('two statements are under way at most, and all that waits is stored', async () => {
  const { journal, held, shut, open } = openJournal();
  shut();
  const executions = Array.from({ length: 30 }, () => executionOf());
  const started = executions.map((execution) => journal.start(execution));
  await vi.waitFor(() => expect(held).toHaveLength(2));
  const last = journal.start(executionOf());
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(held).toHaveLength(2);
  open();
  expect(await Promise.all([...started, last])).toEqual(Array(31).fill(true));
});

it('what an execution adds while a statement of it is under way comes after it, and others do not wait', async () => {
  const { journal, held, shut, open } = openJournal();
  const one = executionOf();
  const others = Array.from({ length: 10 }, () => executionOf());
  await Promise.all([one, ...others].map((execution) => journal.start(execution)));
  shut();
  const first = journal.write(entryOf(one, nodeOf('first', 1)));
  await vi.waitFor(() => expect(held).toHaveLength(1));
  const change = { status: 'completed', tokensUsed: 0, cost: 0, signals: 0 } as const;
  const last = journal.write({ ...entryOf(one, nodeOf('last', 2)), change });
  const late = journal.write(entryOf(one, nodeOf('late', 3)));
  const written = others.map((other) => journal.write(entryOf(other, nodeOf('first', 1))));
  await vi.waitFor(() => expect(held).toHaveLength(2));
  held.pop()?.();
  expect(await Promise.all(written)).toEqual(others.map(() => true));
  expect(held).toHaveLength(1);
  open();
  expect(await Promise.all([first, last])).toEqual([true, true]);
  // The execution was over by then.
  expect(await late).toBe(false);
  const nodes = (await readNodes(ground.database, [one.id])).get(one.id) ?? [];
  expect(nodes.map(({ nodeId }) => nodeId).toSorted()).toEqual(['first', 'last']);
  expect(await readExecution(ground.database, one.id)).toMatchObject({ status: 'completed' });
});

it('starts with the same keys at once are taken once each', async () => {
  const keys = Array.from({ length: 20 }, (_, index) => `key ${index}`);
  const { journal } = openJournal();
  const starts = [...keys, ...keys.toReversed()].map((idempotencyKey) =>
    journal.start(executionOf({ idempotencyKey })),
  );
  const taken = (await Promise.all(starts)).filter((isTaken) => isTaken);
  expect(taken).toHaveLength(keys.length);
});
