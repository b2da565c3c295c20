import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Fault } from '../../kit/errors.ts';
import type { Agent, AgentStatus } from './agent.ts';
import type { AgentParts, AgentPartsOptions } from './agent-parts.ts';
import { isFinal } from './agent-record.ts';
import { subjectOf } from './credentials.ts';
import { testIdentity } from '../../kit/identity/testing.ts';
import { openAgentGround, ScriptedCredentials, ScriptedMachine, startAgents } from './testing.ts';

const migrations = new URL('../migrations/', import.meta.url);
const ada = testIdentity('ada');
const asked = { type: 'assistant' };

let ground: Awaited<ReturnType<typeof openAgentGround>>;
const open: AgentParts[] = [];

beforeAll(async () => {
  ground = await openAgentGround(migrations);
});

afterAll(async () => ground[Symbol.asyncDispose]());

afterEach(async () => {
  for (const parts of open.splice(0)) await parts[Symbol.asyncDispose]();
  await ground.database.query('delete from studio.agents');
});

/** On a machine and credentials of its own, unless those of an earlier start are given. */
async function start(
  shared: Partial<Pick<typeof ground, 'machine' | 'credentials'>> = {},
  options: Partial<AgentPartsOptions> = {},
) {
  const { machine = new ScriptedMachine(), credentials = new ScriptedCredentials() } = shared;
  const parts = await startAgents({ ...ground, machine, credentials }, options);
  open.push(parts);
  return { ...parts, machine, credentials, parts };
}

/** Ends a start as `kill -9` would: what it runs runs on, and it says nothing more to the database. */
async function kill({ parts, machine }: Awaited<ReturnType<typeof start>>): Promise<void> {
  await ground.database.query(
    `update studio.agents set replica = 'dead', lease_until = now()
     where replica is not null`,
  );
  machine.setDeaf(true);
  open.splice(open.indexOf(parts), 1);
  await parts[Symbol.asyncDispose]();
  machine.setDeaf(false);
}

async function until(parts: Pick<AgentParts, 'agents'>, id: string, status: AgentStatus) {
  await expect.poll(async () => (await parts.agents.find(id))?.status).toBe(status);
  const agent = await parts.agents.find(id);
  if (!agent) throw new Error('the agent is gone');
  return agent;
}

const textsOf = async ({ logs }: AgentParts, id: string) => {
  await logs.flush();
  return (await logs.read(id, { limit: 100 })).map(({ text }) => text);
};

describe('a spawn is refused', () => {
  test('with what is missing when the runtime cannot be used, and leaves nothing', async () => {
    const { agents, machine, credentials } = await start();
    machine.missing = 'no daemon at /run/docker.sock';
    const refused = agents.spawn(ada, { ...asked, runtime: 'docker' });
    await expect(refused).rejects.toMatchObject({
      code: 'unavailable',
      reason: 'runtime_unavailable',
      detail: { missing: 'no daemon at /run/docker.sock' },
    });
    expect((await agents.list(ada, { limit: 10, offset: 0 })).total).toBe(0);
    expect(credentials.live.size).toBe(0);
  });

  test.each([
    ['more cores than are allowed', { resources: { cpu: 64 } }],
    ['no cores', { resources: { cpu: 0 } }],
    ['more memory than is allowed', { resources: { memory: 2 ** 40 } }],
    ['memory in which nothing starts', { resources: { memory: 1 } }],
  ])('for %s', async (_what, options) => {
    const { agents } = await start();
    await expect(agents.spawn(ada, { ...asked, ...options })).rejects.toMatchObject({
      code: 'invalid',
      reason: 'invalid_resources',
    });
  });

  test('for a longer life than is allowed', async () => {
    const limits = {
      cpuMax: 4,
      memoryMax: 2 ** 32,
      agentsMax: 8,
      ownerAgentsMax: 6,
      ttlSecondsMax: 60,
    };
    const { agents } = await start({}, { limits });
    const refused = agents.spawn(ada, { ...asked, ttlSeconds: 61 });
    await expect(refused).rejects.toMatchObject({ code: 'invalid' });
    const agent = await agents.spawn(ada, asked);
    expect(agent.expiresAtMs).toBe(agent.createdAtMs + 60_000);
  });

  test('beyond what one owner may have, also when all are asked for at once', async () => {
    const limits = { cpuMax: 4, memoryMax: 2 ** 32, agentsMax: 8, ownerAgentsMax: 6 };
    const { agents, credentials } = await start({}, { limits });
    const spawned = await Promise.allSettled(
      Array.from({ length: 8 }, async () => agents.spawn(ada, asked)),
    );
    const refused = spawned.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(2);
    expect(refused[0]).toMatchObject({ reason: { code: 'exhausted', reason: 'too_many_agents' } });
    expect(credentials.live.size).toBe(6);
    await expect(agents.spawn(testIdentity('bob'), asked)).resolves.toMatchObject({
      status: 'running',
    });
  });

  test('when auth makes no credential, and nothing is stored', async () => {
    const credentials = new ScriptedCredentials();
    credentials.isAway = true;
    const { agents, machine } = await start({ credentials });
    await expect(agents.spawn(ada, asked)).rejects.toMatchObject({ code: 'unavailable' });
    expect(machine.programs.filter(({ isEnded }) => !isEnded)).toEqual([]);
    expect((await agents.list(ada, { limit: 10, offset: 0 })).total).toBe(0);
  });
});

describe('a start that fails', () => {
  test('because the program ends is told with the last lines, and its key is revoked', async () => {
    const { agents, machine, credentials, parts } = await start();
    machine.onTold = (program) => {
      // The studio listens by then.
      setTimeout(() => {
        program.print('cannot join: 401', 'stderr');
        program.end({ exitCode: 3 });
      }, 5);
    };
    const fault = await agents.spawn(ada, asked).catch((error: unknown) => error);
    expect(fault).toMatchObject({ code: 'upstream', reason: 'exited' });
    expect(String(fault)).toContain('exit code 3; the last it printed: cannot join: 401');
    const { agents: found } = await agents.list(ada, { limit: 10, offset: 0 });
    expect(found).toMatchObject([{ status: 'failed', failure: { reason: 'exited' } }]);
    expect(credentials.live.size).toBe(0);
    expect(await textsOf(parts, found[0]?.id ?? '')).toContain('cannot join: 401');
  });

  test('because the mesh never hears it ends the program', async () => {
    const { agents, machine } = await start({}, { startTimeoutMs: 30 });
    machine.onTold = () => {};
    await expect(agents.spawn(ada, asked)).rejects.toMatchObject({
      code: 'deadline',
      reason: 'start_timeout',
    });
    expect(machine.programs[0]?.isEnded).toBe(true);
  });

  test('in the runtime keeps the runtime’s own reason', async () => {
    const { agents, machine } = await start();
    machine.startFault = new Fault('unavailable', 'build it with …', { reason: 'image_missing' });
    const refused = agents.spawn(ada, { ...asked, runtime: 'docker' });
    await expect(refused).rejects.toMatchObject({ code: 'unavailable', reason: 'image_missing' });
  });
});

describe('an agent', () => {
  test('is running when spawn answers, with a key of its own that only its program gets', async () => {
    const { agents, machine } = await start();
    const agent = await agents.spawn(ada, { ...asked, name: 'A', capabilities: ['x', 'x', 'y'] });
    expect(agent).toMatchObject({ status: 'running', name: 'A', capabilities: ['x', 'y'] });
    expect(agents.running()).toEqual([agent]);
    const { apiKey = '' } = machine.of(agent.id).identity ?? {};
    expect(apiKey).toMatch(/^enn_/);
    const rows = await ground.database.query('select * from studio.agents');
    expect(JSON.stringify(rows)).not.toContain(apiKey);
  });

  test('that ends is started again with a new key, the old one is revoked, and why is kept', async () => {
    const started = await start();
    const { agents, machine, credentials } = started;
    const { id } = await agents.spawn(ada, asked);
    const first = machine.of(id);
    first.end({ exitCode: null, signal: 'SIGKILL' });
    await expect.poll(() => machine.of(id)).not.toBe(first);
    const again = await until(started, id, 'running');
    expect(again).toMatchObject({ restarts: 1, failure: { reason: 'exited' } });
    expect(again.failure?.message).toContain('SIGKILL');
    expect([...credentials.live]).toEqual(['key_2']);
  });

  test('that ends again is told with what it printed since it was started last', async () => {
    const started = await start();
    const { agents, machine } = started;
    const { id } = await agents.spawn(ada, asked);
    machine.of(id).print('of the first');
    machine.of(id).end({ exitCode: 1 });
    await expect.poll(async () => (await agents.find(id))?.restarts).toBe(1);
    await until(started, id, 'running');
    machine.of(id).print('of the second');
    machine.of(id).end({ exitCode: 2 });
    await expect
      .poll(async () => (await agents.find(id))?.failure?.message)
      .toBe('it ended with exit code 2; the last it printed: of the second');
  });

  test('that took too much memory says so', async () => {
    const started = await start();
    const { id } = await started.agents.spawn(ada, asked);
    started.machine.of(id).end({ reason: 'out_of_memory', signal: 'SIGKILL' });
    const failed = await expect
      .poll(async () => (await started.agents.find(id))?.failure)
      .toMatchObject({ reason: 'out_of_memory', message: 'it took more than 256Mi' });
    return failed;
  });

  test('that ends over and over fails after five restarts', async () => {
    const started = await start();
    const { agents, machine, credentials } = started;
    const { id } = await agents.spawn(ada, asked);
    machine.onTold = (program) => setTimeout(() => program.end({ exitCode: 1 }), 1);
    machine.of(id).end({ exitCode: 1 });
    const failed = await until(started, id, 'failed');
    expect(failed).toMatchObject({ restarts: 5, failure: { reason: 'restarts_exhausted' } });
    expect(machine.programs).toHaveLength(6);
    expect(credentials.live.size).toBe(0);
  });

  test('is ended when its time is over', async () => {
    const started = await start();
    const { id } = await started.agents.spawn(ada, { ...asked, ttlSeconds: 1 });
    const ended = await until(started, id, 'expired');
    expect(ended.endedAtMs).toBeGreaterThanOrEqual(ended.expiresAtMs ?? Infinity);
    expect(started.machine.of(id).isEnded).toBe(true);
    expect(started.credentials.live.size).toBe(0);
  });

  test('that is stopped stays stopped, with its log', async () => {
    const { agents, machine, parts } = await start();
    const { id } = await agents.spawn(ada, asked);
    machine.of(id).print('hello');
    expect(await agents.stop(ada, id)).toMatchObject({ status: 'stopped' });
    expect(machine.of(id).stoppedWithMs).toBe(1_000);
    expect(await agents.stop(ada, id)).toMatchObject({ status: 'stopped' });
    expect(await textsOf(parts, id)).toEqual(['running', 'hello', 'stopped']);
    expect(machine.programs).toHaveLength(1);
  });

  test('that is stopped while it starts does not come up', async () => {
    const { agents, machine } = await start();
    machine.onTold = () => {};
    const spawning = agents.spawn(ada, asked).catch((error: unknown) => error);
    await expect.poll(() => machine.programs.length).toBe(1);
    const id = machine.programs[0]?.spec.agentId ?? '';
    expect(await agents.stop(ada, id)).toMatchObject({ status: 'stopped' });
    expect(await spawning).toMatchObject({ reason: 'agent_stopped' });
    expect(machine.of(id).isEnded).toBe(true);
  });

  test('that is removed is gone with its log', async () => {
    const { agents, machine, parts } = await start();
    const { id } = await agents.spawn(ada, asked);
    await agents.remove(ada, id);
    expect(machine.of(id).isEnded).toBe(true);
    await expect(agents.require(ada, id, 'view')).rejects.toMatchObject({ code: 'not_found' });
    expect(await textsOf(parts, id)).toEqual([]);
  });

  test('does not exist for others, and does for who administers the studio', async () => {
    const { agents } = await start();
    const { id } = await agents.spawn(ada, asked);
    const bob = testIdentity('bob', ['agent:read', 'agent:execute']);
    for (const denied of [agents.stop(bob, id), agents.remove(bob, id), agents.health(bob, id)]) {
      await expect(denied).rejects.toMatchObject({ reason: 'agent_not_found' });
    }
    expect((await agents.list(bob, { limit: 10, offset: 0 })).total).toBe(0);
    const root = testIdentity('root', ['studio:admin']);
    expect((await agents.health(root, id)).use).toEqual({ cpu: 0.125, memory: 87 * 2 ** 20 });
  });
});

describe('what an agent prints', () => {
  test('is kept in order, without keys, cut at 8 KiB and without what no database takes', async () => {
    const { agents, machine, parts } = await start();
    const { id } = await agents.spawn(ada, asked);
    const program = machine.of(id);
    program.print(`key ${program.identity?.apiKey} end`);
    program.print('a\0b\ud800');
    program.print('ä'.repeat(9_000), 'stderr');
    const [, key, strange, long] = await textsOf(parts, id);
    expect(key).toBe('key enn_*** end');
    expect(strange).toBe('ab\ufffd');
    expect(Buffer.byteLength(long ?? '')).toBeLessThanOrEqual(8 * 1024);
  });

  test('is bounded in lines, also when it comes faster than it can be kept', async () => {
    const { agents, machine, parts } = await start();
    const { id } = await agents.spawn(ada, asked);
    for (let at = 0; at < 14_000; at += 1) {
      machine.of(id).print(`line ${at}`);
      if (at % 1_500 === 0) await parts.logs.flush();
    }
    await parts.logs.flush();
    const [row] = await ground.database.query<{ count: number; bytes: number }>(
      'select count(*) as count, sum(octet_length(text)) as bytes from studio.agent_logs',
    );
    expect(row?.count).toBeGreaterThan(5_000);
    expect(row?.count).toBeLessThanOrEqual(10_000);
  });

  test('can be followed to its end', async () => {
    const { agents, machine, parts } = await start();
    const { id } = await agents.spawn(ada, asked);
    const { signal } = new AbortController();
    const isOver = async () => isFinal((await agents.find(id)) as Agent);
    const texts: string[] = [];
    const following = (async () => {
      for await (const { text } of parts.logs.follow(id, { after: 0, isOver, signal })) {
        texts.push(text);
      }
    })();
    machine.of(id).print('one');
    await expect.poll(() => texts).toEqual(['running', 'one']);
    await agents.stop(ada, id);
    await following;
    expect(texts.at(-1)).toBe('stopped');
  });
});

describe('when the studio is killed', () => {
  test('what still runs is found again and is not started twice', async () => {
    const before = await start();
    const { id, startedAtMs } = await before.agents.spawn(ada, asked);
    await kill(before);
    const after = await start(before);
    await expect
      .poll(() => textsOf(after.parts, id))
      .toContain('found running after a restart of the studio');
    expect(await until(after, id, 'running')).toMatchObject({ restarts: 0, startedAtMs });
    expect(before.machine.programs).toHaveLength(1);
    after.machine.of(id).print('still here');
    expect(await textsOf(after.parts, id)).toContain('still here');
  });

  test('what died meanwhile is started again, and counts as a failure', async () => {
    const before = await start();
    const { id } = await before.agents.spawn(ada, asked);
    await kill(before);
    before.machine.of(id).end({ signal: 'SIGKILL' });
    const after = await start(before);
    await expect.poll(() => before.machine.programs.length).toBe(2);
    expect(await until(after, id, 'running')).toMatchObject({
      restarts: 1,
      failure: { reason: 'lost' },
    });
  });

  test('what was to be stopped is stopped', async () => {
    const before = await start();
    const { id } = await before.agents.spawn(ada, asked);
    await kill(before);
    await ground.database.query(
      `update studio.agents set wanted = 'stopped', status = 'stopping' where id = $1`,
      [id],
    );
    const after = await start(before);
    await until(after, id, 'stopped');
    expect(before.machine.of(id).isEnded).toBe(true);
  });

  test('what has outlived its time meanwhile is ended', async () => {
    const before = await start();
    const { id } = await before.agents.spawn(ada, asked);
    await kill(before);
    await ground.database.query(
      `update studio.agents set expires_at = now() - interval '1 second' where id = $1`,
      [id],
    );
    const after = await start(before);
    await until(after, id, 'expired');
    expect(before.machine.of(id).isEnded).toBe(true);
  });
});

describe('when the studio stops cleanly', () => {
  test('local agents stop with it and are started again, which is no failure', async () => {
    const before = await start();
    const { id } = await before.agents.spawn(ada, asked);
    await before.parts[Symbol.asyncDispose]();
    expect(before.machine.of(id).isEnded).toBe(true);
    const after = await start(before);
    expect(await until(after, id, 'running')).toMatchObject({ restarts: 0 });
    expect(before.machine.programs).toHaveLength(2);
    expect(before.credentials.live.size).toBe(1);
  });

  test('agents of containers run on and are found again', async () => {
    const before = await start();
    const { id } = await before.agents.spawn(ada, { ...asked, runtime: 'docker' });
    await before.parts[Symbol.asyncDispose]();
    expect(before.machine.of(id).isEnded).toBe(false);
    const after = await start(before);
    await expect
      .poll(() => textsOf(after.parts, id))
      .toContain('found running after a restart of the studio');
    expect(before.machine.programs).toHaveLength(1);
  });
});

describe('a warm program', () => {
  test('becomes the agent that asks for its limits, and another takes its place', async () => {
    const started = await start({}, { warmAgents: 1 });
    const { agents, machine } = started;
    await expect.poll(() => machine.programs.length).toBe(1);
    const [warm] = machine.programs;
    expect(warm?.spec.identity).toBeUndefined();
    const agent = await agents.spawn(ada, asked);
    expect(agent.id).toBe(warm?.spec.agentId);
    expect(warm?.identity?.agentId).toBe(agent.id);
    await expect.poll(() => machine.programs.length).toBe(2);
    const other = await agents.spawn(ada, { ...asked, resources: { cpu: 2 } });
    expect(machine.of(other.id).spec.resources.cpu).toBe(2);
    const [, spare] = machine.programs;
    await started.parts[Symbol.asyncDispose]();
    expect(spare?.isEnded).toBe(true);
  });

  test('that has died while it waited is no failure: the agent is started cold', async () => {
    const { agents, machine } = await start({}, { warmAgents: 1 });
    await expect.poll(() => machine.programs.length).toBe(1);
    const warm = machine.of(machine.programs[0]?.spec.agentId ?? '');
    warm.tell = () => Promise.reject(new Fault('upstream', 'it is gone', { reason: 'exited' }));
    const agent = await agents.spawn(ada, asked);
    expect(agent).toMatchObject({ id: warm.spec.agentId, status: 'running', restarts: 0 });
    expect(machine.of(agent.id).identity?.agentId).toBe(agent.id);
  });
});

test('an agent has a subject of its own, by which its workspace is known', async () => {
  const { agents } = await start();
  const { id } = await agents.spawn(ada, asked);
  expect(subjectOf(id)).toBe(`studio-agt-${id.slice(4)}`);
  expect(agents.workspaceOf(subjectOf(id))).toBeUndefined();
  expect(agents.workspaceOf('ada')).toBeUndefined();
});
