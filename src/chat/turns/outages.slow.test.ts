import { afterAll, beforeAll, expect, it } from 'vitest';
import { says, type Script } from '../gateway-testing.ts';
import {
  ask,
  detour,
  latch,
  openReplica,
  openTurnsGround,
  readAll,
  textOf,
  type TurnsGround,
} from './testing.ts';
import { leaseSeconds } from './turns-store.ts';

const ada = 'usr_ada';
let ground: TurnsGround;

beforeAll(async () => {
  ground = await openTurnsGround();
});

afterAll(() => ground[Symbol.asyncDispose]());

/** A way to the database on which everything waits while it is shut. */
function gate() {
  let way = latch();
  way.open();
  return {
    database: detour(ground.database, async (_text, run) => {
      await way.opened;
      return run();
    }),
    shut: () => void (way = latch()),
    open: () => way.open(),
  };
}

it('a stall longer than a lease ends no turn whose process lives, whoever is the first behind it', async () => {
  const last = latch();
  const script: Script = async (_asked, answer) => {
    answer.say('before ');
    await last.opened;
    answer.say('behind');
    answer.finish();
  };
  ground.gateway.script(script, says(['more']));
  const [own, others] = [gate(), gate()];
  const timing = { storeMs: 20, patienceMs: leaseSeconds * 1000 };
  await using runner = await openReplica({ ...ground, database: own.database }, { timing });
  await using other = await openReplica(
    { ...ground, database: others.database },
    { timing: { ...timing, sweepMs: 500 } },
  );
  const { id } = await runner.conversations.create(ada);
  const turn = await runner.turns.begin(ask('hello', id));
  const isHeld = (state: string) => () =>
    ground.database.query(`select 1 from chat.turns where id = $1 and lease_until ${state}`, [
      turn.id,
    ]);
  // Long enough that the other one has all the patience it needs, but for the stall.
  await expect
    .poll(isHeld(`> created_at + interval '${2 * leaseSeconds} seconds'`), { timeout: 20_000 })
    .not.toEqual([]);
  own.shut();
  others.shut();
  await expect.poll(isHeld('< now()'), { timeout: 20_000 }).not.toEqual([]);
  others.open();
  await using fresh = await openReplica(ground, { timing });
  // It sweeps again and again before the one that runs it can say a word.
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  own.open();
  await expect.poll(isHeld('> now()'), { timeout: 10_000 }).not.toEqual([]);
  last.open();
  for (const { turns } of [runner, other, fresh]) {
    const events = await readAll(turns, turn.id);
    expect(textOf(events)).toBe('before behind');
    expect(events.at(-1)).toMatchObject({ type: 'ended', status: 'completed' });
  }
}, 60_000);
