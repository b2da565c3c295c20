import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { calls, says } from '../gateway-testing.ts';
import {
  ask,
  detour,
  latch,
  openReplica,
  openTurnsGround,
  readAll,
  scriptTools,
  type TurnsGround,
} from './testing.ts';

const ada = 'usr_ada';
let ground: TurnsGround;

beforeAll(async () => {
  ground = await openTurnsGround();
});

afterAll(() => ground[Symbol.asyncDispose]());

/** A turn here whose model has said all, and whose end is not stored before it is let go. */
async function openEnding() {
  const [reached, go] = [latch(), latch()];
  const database = detour(ground.database, async (text, run) => {
    if (!text.includes('insert into chat.turn_events')) return run();
    reached.open();
    await go.opened;
    return run();
  });
  const { tools } = scriptTools({ write: () => ({ content: 'wrote', isError: false }) });
  const timing = { storeMs: 1_000_000, renewMs: 1_000_000 };
  const replica = await openReplica({ ...ground, database }, { tools, timing });
  const other = await openReplica(ground, { timing: { pollMs: 50 } });
  const { id } = await replica.conversations.create(ada, {
    tools: { allow: ['*'], approval: 'writes' },
  });
  const turn = await replica.turns.begin(ask('hello', id));
  await reached.opened;
  return { id, turn, replica, other, go };
}

describe.each(['replica', 'other'] as const)(
  'a stop at the end of an answer, asked of the %s',
  (which) => {
    it('says that nothing was stopped where the answer stands', async () => {
      ground.gateway.script(says(['All of it.']));
      const { id, turn, go, ...scene } = await openEnding();
      await using replica = scene.replica;
      await using other = scene.other;
      const stopping = { replica, other }[which].turns.stop(ada, { turnId: turn.id });
      go.open();
      expect(await stopping).toBe(false);
      expect((await readAll(replica.turns, turn.id)).at(-1)).toMatchObject({ status: 'completed' });
      expect((await other.conversations.messages(ada, id))[1]).toMatchObject({
        content: 'All of it.',
        status: 'complete',
      });
    });

    it('ends a turn that has just begun to wait for its user', async () => {
      ground.gateway.script(calls(['c1', 'write', {}]));
      const { turn, go, ...scene } = await openEnding();
      await using replica = scene.replica;
      await using other = scene.other;
      const stopping = { replica, other }[which].turns.stop(ada, { turnId: turn.id });
      go.open();
      expect(await stopping).toBe(true);
      expect((await readAll(other.turns, turn.id)).at(-1)).toMatchObject({ status: 'stopped' });
    });
  },
);
