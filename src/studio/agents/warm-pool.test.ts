import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { testIdentity } from '../../kit/identity/testing.ts';
import type { AgentParts, AgentPartsOptions } from './agent-parts.ts';
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

/** On a machine of its own, and on credentials of its own unless those of an earlier start are given. */
async function start(
  { credentials = new ScriptedCredentials() }: { readonly credentials?: ScriptedCredentials } = {},
  options: Partial<AgentPartsOptions> = {},
) {
  const machine = new ScriptedMachine();
  const parts = await startAgents({ ...ground, machine, credentials }, options);
  open.push(parts);
  return { ...parts, machine, credentials, parts };
}

describe('the key of a warm program', () => {
  const spareKeys = async () => {
    const rows = await ground.database.query<{ key_id: string }>('select * from studio.spare_keys');
    return rows.map(({ key_id: keyId }) => keyId);
  };

  test('is made while it waits, and is that of the agent which it becomes', async () => {
    const { agents, machine, credentials } = await start({}, { warmAgents: 1 });
    await expect.poll(spareKeys).toEqual(['key_1']);
    const [warm] = machine.programs;
    const { id } = await agents.spawn(ada, asked);
    expect(warm?.identity?.apiKey).toBe(warm?.credential?.apiKey);
    await expect.poll(spareKeys).toEqual(['key_2']);
    await agents.stop(ada, id);
    expect([...credentials.live]).toEqual(['key_2']);
  });

  test('ends with the program, and with the studio', async () => {
    const { parts, machine, credentials } = await start({}, { warmAgents: 1 });
    await expect.poll(spareKeys).toEqual(['key_1']);
    machine.programs[0]?.end({ exitCode: 1 });
    await expect.poll(spareKeys).toEqual([]);
    expect(credentials.live.size).toBe(0);
    const again = await start({ credentials }, { warmAgents: 1 });
    await expect.poll(spareKeys).toEqual(['key_2']);
    await again.parts[Symbol.asyncDispose]();
    await parts[Symbol.asyncDispose]();
    expect(await spareKeys()).toEqual([]);
    expect(credentials.live.size).toBe(0);
  });

  test('that a killed studio left is revoked by the next', async () => {
    const credentials = new ScriptedCredentials();
    const { keyId } = await credentials.create('agt_1');
    const left = `insert into studio.spare_keys values ($1, 'dead', now() - interval '1 hour')`;
    await ground.database.query(left, [keyId]);
    await start({ credentials });
    await expect.poll(spareKeys).toEqual([]);
    expect(credentials.live.size).toBe(0);
  });

  test('that auth does not make now is made when the agent is spawned', async () => {
    const credentials = new ScriptedCredentials();
    credentials.isAway = true;
    const { agents, machine } = await start({ credentials }, { warmAgents: 1 });
    await expect.poll(() => machine.programs.length).toBe(1);
    credentials.isAway = false;
    expect(await agents.spawn(ada, asked)).toMatchObject({ status: 'running' });
    expect(await spareKeys()).not.toContain(machine.programs[0]?.identity?.apiKey);
  });
});
