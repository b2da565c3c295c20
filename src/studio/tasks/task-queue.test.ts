import { array, assert, constantFrom, integer, nat, oneof, property, record } from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Agent } from '../agents/agent.ts';
import { AgentLoads } from './agent-loads.ts';
import { ableAgents, chooseAgent } from './placement.ts';
import type { OpenTask } from './stored-task.ts';
import { TaskQueue } from './task-queue.ts';
import { taskPriorities, type TaskPriority } from './task.ts';

const ageingMs = 600_000;

function taskOf(id: number, given: Partial<OpenTask> = {}): OpenTask {
  return {
    id: `tsk_${String(id).padStart(6, '0')}`,
    version: 1,
    type: 'code_generation',
    priority: 'normal',
    requirements: { capabilities: [], timeoutMs: 1_000 },
    status: 'queued',
    ownerId: 'usr_ada',
    attempt: 0,
    createdAtMs: id,
    ...given,
  };
}

/** The next task, when a place has become free. */
function takeOne(queue: TaskQueue): OpenTask | undefined {
  let taken: OpenTask | undefined;
  queue.drain((task) => {
    if (taken) return 'blocked';
    taken = task;
    return 'placed';
  });
  return taken;
}

const arrivals = array(
  record({
    atMs: integer({ min: 0, max: 3 * ageingMs }),
    priority: constantFrom(...taskPriorities),
    owner: constantFrom('usr_ada', 'usr_bob', 'usr_eve'),
  }),
  { maxLength: 60 },
);

describe('The queue', () => {
  test('lets nobody wait behind what came the ageing time later, however urgent', () => {
    assert(
      property(arrivals, (given) => {
        const queue = new TaskQueue(ageingMs);
        for (const [id, { atMs, priority, owner }] of given.entries()) {
          queue.add(taskOf(id, { createdAtMs: atMs, priority, ownerId: owner }));
        }
        const left = new Set(given.keys());
        for (let task = takeOne(queue); task; task = takeOne(queue)) {
          left.delete(Number(task.id.slice(4)));
          const { createdAtMs } = task;
          const overtaken = [...left].filter((id) => given[id]!.atMs < createdAtMs - ageingMs);
          expect(overtaken).toEqual([]);
        }
        expect(left.size).toBe(0);
        expect(queue.size).toBe(0);
      }),
    );
  });

  test('takes the more urgent first of those that came together, else the older', () => {
    assert(
      property(arrivals, (given) => {
        const queue = new TaskQueue(ageingMs);
        for (const [id, { priority, owner }] of given.entries()) {
          queue.add(taskOf(id, { createdAtMs: 0, priority, ownerId: owner }));
        }
        const ranks: number[] = [];
        for (let task = takeOne(queue); task; task = takeOne(queue)) {
          ranks.push(taskPriorities.indexOf(task.priority));
        }
        expect(ranks).toEqual(ranks.toSorted((a, b) => b - a));
      }),
    );
  });

  test('gives back each task once, whatever is added and removed', () => {
    const steps = array(
      oneof(
        record({ add: nat(30), priority: constantFrom(...taskPriorities) }),
        record({ remove: nat(30) }),
      ),
    );
    assert(
      property(steps, (given) => {
        const queue = new TaskQueue(ageingMs);
        const held = new Map<number, TaskPriority>();
        for (const step of given) {
          if ('remove' in step) {
            queue.remove(taskOf(step.remove).id);
            held.delete(step.remove);
          } else {
            queue.add(taskOf(step.add, { priority: step.priority }));
            if (!held.has(step.add)) held.set(step.add, step.priority);
          }
        }
        const taken: string[] = [];
        for (let task = takeOne(queue); task; task = takeOne(queue)) taken.push(task.id);
        const ids = [...held.keys()].map((id) => taskOf(id).id);
        expect(taken.toSorted()).toEqual(ids.toSorted());
      }),
    );
  });

  test('goes on behind a task that finds no place with those that others can do', () => {
    const queue = new TaskQueue(ageingMs);
    queue.add(taskOf(1, { wantedAgent: 'agt_busy', priority: 'critical' }));
    queue.add(taskOf(2, { wantedAgent: 'agt_busy' }));
    queue.add(taskOf(3, { wantedAgent: 'agt_free', priority: 'low' }));
    const asked: string[] = [];
    queue.drain((task) => {
      asked.push(task.id);
      return task.wantedAgent === 'agt_busy' ? 'blocked' : 'placed';
    });
    expect(asked).toEqual(['tsk_000001', 'tsk_000003']);
    expect(queue.size).toBe(2);
  });
});

const GiB = 2 ** 30;

function agentOf(id: string, given: Partial<Agent> = {}): Agent {
  return {
    id,
    name: id,
    type: 'coder',
    template: 'coder',
    status: 'running',
    capabilities: [],
    runtime: 'local',
    ownerId: 'usr_ada',
    resources: { cpu: 1, memory: GiB },
    createdAtMs: 0,
    restarts: 0,
    ...given,
  };
}

describe('An agent', () => {
  test('never gets more than it has, whatever comes and goes', () => {
    const sizes = array(
      record({
        milli: integer({ min: 0, max: 600 }),
        memory: integer({ max: GiB, min: 0 }),
      }),
      { maxLength: 40 },
    );
    assert(
      property(sizes, array(nat(39)), (given, ends) => {
        const loads = new AgentLoads();
        const agents = [
          agentOf('agt_a'),
          agentOf('agt_b', { resources: { cpu: 0.5, memory: GiB } }),
        ];
        const placed: { readonly agent: Agent; readonly task: OpenTask }[] = [];
        for (const [id, { milli, memory }] of given.entries()) {
          const resources = { cpu: milli / 1_000, memory };
          const task = taskOf(id, {
            requirements: { capabilities: [], timeoutMs: 1, resources },
          });
          const able = ableAgents(task, agents);
          const agent = chooseAgent(task, able, { loads, agentTasksMax: 4 });
          if (agent) {
            loads.add(agent.id, task);
            placed.push({ agent, task });
          }
          const [ended] = placed.splice((ends[id] ?? 99) % 50, 1);
          if (ended) loads.remove(ended.agent.id, ended.task);
          for (const { id: agentId, resources: has } of agents) {
            const own = placed.filter((one) => one.agent.id === agentId);
            const taken = own.map((one) => one.task.requirements.resources!);
            expect(own.length).toBeLessThanOrEqual(4);
            expect(taken.reduce((sum, { cpu }) => sum + cpu, 0)).toBeLessThanOrEqual(
              has.cpu + 1e-6,
            );
            expect(taken.reduce((sum, { memory: m }) => sum + m, 0)).toBeLessThanOrEqual(
              has.memory,
            );
          }
        }
      }),
    );
  });

  test('of another owner, another workspace or with less than is asked for gets nothing', () => {
    const one = (task: Partial<OpenTask>, agent: Partial<Agent>) =>
      ableAgents(taskOf(1, task), [agentOf('agt_a', agent)]).length;
    expect(one({}, {})).toBe(1);
    expect(one({}, { ownerId: 'usr_bob' })).toBe(0);
    expect(one({}, { workspaceId: 'wsp_1' })).toBe(0);
    expect(one({ workspaceId: 'wsp_1' }, {})).toBe(0);
    expect(one({ workspaceId: 'wsp_1' }, { workspaceId: 'wsp_1', ownerId: 'usr_bob' })).toBe(1);
    const needs = (requirements: Partial<OpenTask['requirements']>) => ({
      requirements: { capabilities: [], timeoutMs: 1, ...requirements },
    });
    expect(one(needs({ capabilities: ['rust'] }), { capabilities: ['js'] })).toBe(0);
    expect(one(needs({ capabilities: ['js'] }), { capabilities: ['js'] })).toBe(1);
    expect(one(needs({ resources: { cpu: 2, memory: 0 } }), {})).toBe(0);
  });

  test('that names the type among its capabilities comes before those that do not', () => {
    const tester = agentOf('agt_tester', { capabilities: ['test'] });
    const able = ableAgents(taskOf(1, { type: 'test' }), [agentOf('agt_any'), tester]);
    expect(able).toEqual([tester]);
    expect(ableAgents(taskOf(1, { type: 'refactor' }), [tester])).toEqual([tester]);
  });
});
