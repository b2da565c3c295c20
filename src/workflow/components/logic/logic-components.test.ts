import { describe, expect, test } from 'vitest';
import type { Execution, StartRequest } from '../../engine/execution.ts';
import type { Component } from '../component.ts';
import { createContext } from '../testing.ts';
import { logicComponents, type LogicDependencies } from './logic-components.ts';

const nowMs = Date.parse('2026-11-22T10:00:00Z');

function open(fields: Partial<LogicDependencies> = {}): (name: string) => Component {
  const components = logicComponents({
    now: () => nowMs,
    approvalLink: ({ executionId, nodeId, expiresAtMs }) =>
      `https://ennead.test/${executionId}/${nodeId}/${expiresAtMs}`,
    starter: () => {
      throw new Error('nothing is to be started');
    },
    requireNameable: async () => {},
    ...fields,
  });
  return (name) => {
    const found = components.find((component) => component.name === name);
    if (!found) throw new Error(`there is no ${name}`);
    return found;
  };
}

const component = open();
const run = (name: string, data: Record<string, unknown>, context = createContext()) =>
  component(name).run(data, context);

function handlesOf(name: string, data: Record<string, unknown>): readonly string[] | undefined {
  const { handles } = component(name);
  return typeof handles === 'function' ? handles(data) : handles;
}

describe('A Condition', () => {
  test.each([
    [true, 'true'],
    [false, 'false'],
  ])('that is %s ends on that handle', async (result, handle) => {
    const outcome = await run('Condition', { condition: result });
    expect(outcome).toEqual({ kind: 'done', output: { result }, handle });
  });

  test('that nobody evaluated decides nothing', async () => {
    const failure = run('Condition', { condition: '1 == 1' });
    await expect(failure).rejects.toMatchObject({ code: 'internal' });
  });
});

describe('A Switch', () => {
  const cases = [
    { when: false, handle: 'a' },
    { when: true, handle: 'b' },
    { when: true, handle: 'c' },
  ];

  test('takes the first case that holds', async () => {
    const outcome = await run('Switch', { cases });
    expect(outcome).toEqual({ kind: 'done', output: { case: 'b' }, handle: 'b' });
  });

  test('takes the default when none holds', async () => {
    const none = cases.slice(0, 1);
    expect(await run('Switch', { cases: none })).toMatchObject({ handle: 'default' });
    expect(await run('Switch', { cases: none, default: 'x' })).toMatchObject({ handle: 'x' });
  });

  test('can end on the handles of its cases and its default, whatever its settings are', () => {
    expect(handlesOf('Switch', { cases, default: 'x' })).toEqual(['a', 'b', 'c', 'x']);
    expect(handlesOf('Switch', { cases: [null, { handle: 7 }, 'a'] })).toEqual(['default']);
    expect(handlesOf('Switch', { cases: '{{ cases }}' })).toEqual(['default']);
  });
});

describe('A Merge', () => {
  const merged = async (data: Record<string, unknown>, predecessors = {}): Promise<unknown> => {
    const outcome = await run('Merge', data, createContext({ predecessors }));
    return (outcome.output as { merged: unknown }).merged;
  };

  test('gives an object for an object and a list for a list, with null but without skipped branches', async () => {
    expect(await merged({ inputs: { a: 1, b: null, c: undefined, d: false } })).toEqual({
      a: 1,
      b: null,
      d: false,
    });
    expect(await merged({ inputs: [1, null, '', undefined, 0] })).toEqual([1, null, '', 0]);
  });

  test('takes the outputs of the nodes before when it names none', async () => {
    expect(await merged({}, { x: { n: 1 }, y: 'two' })).toEqual({ x: { n: 1 }, y: 'two' });
  });

  test('combines objects, the later ones win', async () => {
    const inputs = [{ a: 1, b: 1 }, null, { b: 2 }];
    expect(await merged({ inputs, mode: 'combine' })).toEqual({ a: 1, b: 2 });
  });

  test('never writes to a prototype', async () => {
    const hostile: unknown = JSON.parse('{"__proto__": {"polluted": 1}}');
    const result = await merged({ inputs: [hostile], mode: 'combine' });
    expect(result).not.toHaveProperty('polluted');
    expect({}).not.toHaveProperty('polluted');
  });

  test('refuses to combine what are no objects', async () => {
    const failure = merged({ inputs: [{ a: 1 }, [2]], mode: 'combine' });
    await expect(failure).rejects.toMatchObject({ code: 'invalid', reason: 'merge_not_object' });
  });

  test('makes one list of lists, and finds the first that is there', async () => {
    expect(await merged({ inputs: { a: [1, 2], b: 3, c: null }, mode: 'concat' })).toEqual([
      1,
      2,
      3,
      null,
    ]);
    expect(await merged({ inputs: { a: null, b: 'b', c: 'c' }, mode: 'first' })).toBe('b');
    expect(await merged({ inputs: [], mode: 'first' })).toBeNull();
  });
});

describe.each(['Loop', 'Parallel'])('A %s', (name) => {
  test('is walked and never run', async () => {
    await expect(run(name, { items: [] })).rejects.toMatchObject({ code: 'internal' });
  });
});

describe('A Wait', () => {
  test('parks for its duration, and goes on with the time', async () => {
    const until = '2026-11-22T10:01:00.000Z';
    expect(await run('Wait', { duration: 60_000 })).toEqual({
      kind: 'parked',
      reason: 'wait',
      wakeAtMs: nowMs + 60_000,
      output: { until },
      detail: { until },
    });
  });

  test('parks until a time with an offset', async () => {
    const outcome = await run('Wait', { until: '2026-11-22T12:00:00+01:00' });
    expect(outcome).toMatchObject({ kind: 'parked', wakeAtMs: nowMs + 3_600_000 });
  });

  test('goes on at once when the time is over', async () => {
    expect(await run('Wait', { until: '2020-01-01T00:00:00Z' })).toMatchObject({ kind: 'done' });
    expect(await run('Wait', { duration: 0 })).toMatchObject({ kind: 'done' });
  });

  test.each([
    [{}],
    [{ duration: 1, until: '2026-11-23T10:00:00Z' }],
    [{ until: 'tomorrow' }],
    [{ until: '2026-11-23T10:00:00' }],
    [{ until: '2026-13-45T10:00:00Z' }],
    [{ until: '2027-02-30T00:00:00Z' }],
    [{ until: '2030-01-01T00:00:00Z' }],
  ])('refuses %j', async (data) => {
    await expect(run('Wait', data)).rejects.toMatchObject({
      code: 'invalid',
      reason: 'bad_setting',
    });
  });
});

describe('An Approval', () => {
  test('parks with a link for whoever is to decide', async () => {
    const outcome = await run('Approval', { message: 'Publish?', timeout: 60_000 });
    expect(outcome).toEqual({
      kind: 'parked',
      reason: 'approval',
      wakeAtMs: nowMs + 60_000,
      detail: { message: 'Publish?', link: `https://ennead.test/exe_1/node/${nowMs + 60_000}` },
    });
  });

  test('shows no link where only some may decide', async () => {
    const outcome = await run('Approval', { message: 'Publish?', approvers: ['usr_2'] });
    expect(outcome).toMatchObject({ detail: { message: 'Publish?', approvers: ['usr_2'] } });
    expect(outcome).not.toHaveProperty('detail.link');
    const nobody = await run('Approval', { message: 'Publish?', approvers: [] });
    expect(nobody).toHaveProperty('detail.link');
  });
});

describe('A SubWorkflow', () => {
  /** An engine in which every execution was started from within as many others. */
  function startAt(depth: number | undefined, earlier: readonly Execution[] = []) {
    const started: StartRequest[] = [];
    const execution = {
      id: 'exe_child',
      workflowId: 'wfl_2',
      version: 1,
      status: 'running',
      trigger: 'workflow',
      ownerId: 'usr_1',
      inputs: {},
      startedAtMs: nowMs,
      tokensUsed: 0,
      cost: 0,
    } as const;
    const parent = depth === undefined ? {} : { parent: { ...place, depth } };
    const openChild = open({
      starter: () => ({
        start: async (request) => {
          started.push(request);
          return execution;
        },
        find: async () => ({ ...execution, ...parent }),
        cancelAbandoned: async () => {},
        goOn: async () => false,
        list: async () => ({ executions: [...earlier], total: earlier.length }),
      }),
    });
    return { started, child: openChild('SubWorkflow') };
  }
  const place = { executionId: 'exe_0', nodeId: 'a', iteration: '' };
  const orphaned: Execution = {
    id: 'exe_orphan',
    workflowId: 'wfl_2',
    version: 1,
    status: 'running',
    trigger: 'workflow',
    ownerId: 'usr_1',
    inputs: {},
    startedAtMs: 0,
    tokensUsed: 0,
    cost: 0,
  };

  test('starts the other workflow for the same owner, and waits for it', async () => {
    const { started, child } = startAt(undefined);
    const data = { workflowId: 'wfl_2', version: 3, inputs: { a: { b: 1 } }, timeout: 5_000 };
    const context = createContext({ iteration: '3', callerToken: async () => 'token' });
    expect(await child.run(data, context)).toEqual({
      kind: 'parked',
      reason: 'child',
      detail: { executionId: 'exe_child', workflowId: 'wfl_2' },
    });
    expect(started).toEqual([
      {
        workflowId: 'wfl_2',
        version: 3,
        inputs: { a: { b: 1 } },
        inputUses: { a: 'as-is' },
        ownerId: 'usr_1',
        trigger: 'workflow',
        timeoutMs: 5_000,
        callerToken: 'token',
        idempotencyKey: context.idempotencyKey,
        parent: { executionId: 'exe_1', nodeId: 'node', iteration: '3', depth: 0 },
        traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/),
      },
    ]);
  });

  test('goes on at once where it need not wait', async () => {
    const { child } = startAt(undefined);
    const outcome = await child.run({ workflowId: 'wfl_2', wait: false }, createContext());
    expect(outcome).toEqual({ kind: 'done', output: { executionId: 'exe_child' } });
  });

  test('takes over what an earlier life started and did not store, unless that failed', async () => {
    const earlier = (status: Execution['status']) => ({ ...orphaned, status });
    const orphan = startAt(undefined, [earlier('running')]);
    const resumed = createContext({ resumes: 1 });
    expect(await orphan.child.run({ workflowId: 'wfl_2' }, resumed)).toMatchObject({
      detail: { executionId: 'exe_orphan' },
    });
    expect(orphan.started).toEqual([]);
    const failed = startAt(undefined, [earlier('failed')]);
    await failed.child.run({ workflowId: 'wfl_2' }, resumed);
    expect(failed.started).toHaveLength(1);
  });

  test('counts how deep it lies, and ends at eight', async () => {
    const seventh = startAt(6);
    await seventh.child.run({ workflowId: 'wfl_2' }, createContext());
    expect(seventh.started).toMatchObject([{ parent: { depth: 7 } }]);
    const eighth = startAt(7);
    const failure = eighth.child.run({ workflowId: 'wfl_2' }, createContext());
    await expect(failure).rejects.toMatchObject({ code: 'invalid', reason: 'workflow_too_deep' });
    expect(eighth.started).toEqual([]);
  });
});
