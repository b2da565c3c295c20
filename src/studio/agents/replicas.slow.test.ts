import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { LocalBus } from '../../kit/bus/local-bus.ts';
import { emptySchema, listTestDatabases } from '../../kit/database/testing.ts';
import type { Database } from '../../kit/database/database.ts';
import { testIdentity } from '../../kit/identity/testing.ts';
import { silentLog } from '../../kit/testing.ts';
import type { AgentParts, AgentPartsOptions } from './agent-parts.ts';
import { ScriptedCredentials, ScriptedMachine, startAgents } from './testing.ts';

const migrations = new URL('../migrations/', import.meta.url);
const ada = testIdentity('ada');
const asked = { type: 'assistant' };
const [, postgres] = listTestDatabases(process.env['ENNEAD_TEST_POSTGRES_URL']);

describe.skipIf(!postgres?.isAvailable)(`replicas on one ${postgres?.title}`, () => {
  let database: Database;
  let bus: LocalBus;
  const open: AgentParts[] = [];
  let machine: ScriptedMachine;
  let credentials: ScriptedCredentials;

  beforeAll(async () => {
    if (!postgres) throw new Error('there is no PostgreSQL');
    database = await postgres.open();
    await emptySchema(database, 'studio', migrations);
    bus = new LocalBus({ log: silentLog });
  });

  afterAll(async () => {
    await bus[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  afterEach(async () => {
    for (const parts of open.splice(0)) await parts[Symbol.asyncDispose]();
    await database.query('delete from studio.agents');
  });

  async function replica(options: Partial<AgentPartsOptions> = {}) {
    const parts = await startAgents({ database, bus, machine, credentials }, options);
    open.push(parts);
    return parts;
  }

  function fresh() {
    machine = new ScriptedMachine();
    credentials = new ScriptedCredentials();
  }

  /** As `kill -9` would; the lease is over when asked for. */
  async function kill(parts: AgentParts, leaseAgeSeconds: number) {
    // What it would still write, nobody would after a `kill -9`.
    await parts.logs.flush();
    await database.query(
      `update studio.agents set replica = 'dead',
         lease_until = now() - $1::integer * interval '1 second' where replica is not null`,
      [leaseAgeSeconds],
    );
    machine.setDeaf(true);
    open.splice(open.indexOf(parts), 1);
    await parts[Symbol.asyncDispose]();
    machine.setDeaf(false);
  }

  const statusOn = async ({ agents }: AgentParts, id: string) => (await agents.find(id))?.status;

  test('an agent is run by one, seen by all, and stopped through any', async () => {
    fresh();
    const [one, two] = [await replica(), await replica()];
    const { id } = await one.agents.spawn(ada, asked);
    await expect.poll(() => statusOn(two, id)).toBe('running');
    expect(two.agents.running().map((agent) => agent.id)).toEqual([id]);
    await two.logs.read(id, { limit: 1 });
    expect(await two.agents.stop(ada, id)).toMatchObject({ status: 'stopped' });
    expect(machine.of(id).isEnded).toBe(true);
    expect(machine.programs).toHaveLength(1);
  });

  test('an agent is seen by those whom no bus tells of it', async () => {
    fresh();
    await using deaf = new LocalBus({ log: silentLog });
    const [one, two] = [await replica(), await replica({ bus: deaf })];
    const { id } = await one.agents.spawn(ada, asked);
    const seen = () => two.agents.running().map((agent) => agent.id);
    await expect.poll(seen, { timeout: 10_000 }).toEqual([id]);
    await one.agents.stop(ada, id);
    await expect.poll(seen, { timeout: 10_000 }).toEqual([]);
  });

  test('another takes over what a dead one ran, on the same machine once the lease is over', async () => {
    fresh();
    const one = await replica();
    const { id } = await one.agents.spawn(ada, asked);
    const two = await replica();
    await kill(one, -2);
    await new Promise((resolve) => setTimeout(resolve, 500));
    const [held] = await database.query<{ replica: string }>('select replica from studio.agents');
    expect(held?.replica).toBe('dead');
    await expect
      .poll(async () => (await two.logs.read(id, { limit: 9 })).map(({ text }) => text))
      .toContain('found running after a restart of the studio');
    expect(machine.programs).toHaveLength(1);
  });

  test('a local agent of another machine is left alone for ten minutes, a container is not', async () => {
    fresh();
    const one = await replica({ place: 'here' });
    const local = await one.agents.spawn(ada, asked);
    const boxed = await one.agents.spawn(ada, { ...asked, runtime: 'docker' });
    const two = await replica({ place: 'there' });
    await kill(one, 60);
    await expect
      .poll(async () => (await two.logs.read(boxed.id, { limit: 9 })).map(({ text }) => text))
      .toContain('found running after a restart of the studio');
    const owners = async () =>
      database.query<{ replica: string }>('select replica from studio.agents where id = $1', [
        local.id,
      ]);
    expect(await owners()).toEqual([{ replica: 'dead' }]);
    await database.query(
      `update studio.agents set lease_until = now() - interval '11 minutes' where id = $1`,
      [local.id],
    );
    await expect.poll(async () => (await two.agents.find(local.id))?.restarts).toBe(1);
    await expect.poll(() => statusOn(two, local.id)).toBe('running');
  });

  test('who lost an agent to another says nothing more of it', async () => {
    fresh();
    const one = await replica();
    const { id } = await one.agents.spawn(ada, asked);
    await database.query(
      `update studio.agents set replica = 'other', lease_until = now() + interval '1 hour'`,
    );
    machine.of(id).end({ exitCode: 1 });
    await new Promise((resolve) => setTimeout(resolve, 200));
    const [row] = await database.query<{ status: string; replica: string }>(
      'select status, replica from studio.agents',
    );
    expect(row).toEqual({ status: 'running', replica: 'other' });
    expect(machine.programs).toHaveLength(1);
  });
});
