import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '../../kit/testing.ts';
import { openGround, SetClock } from '../batches/testing.ts';
import { Triggers } from './triggers.ts';

let ground: Awaited<ReturnType<typeof openGround>>;
const clock = new SetClock();
const hourMs = 3_600_000;

beforeAll(async () => {
  ground = await openGround();
});

afterAll(() => ground[Symbol.asyncDispose]());

/** A replica whose timers do not run: the tests look themselves. */
function open(): Triggers {
  const { database: sql, engine, plans, sealer, bus } = ground;
  return new Triggers({ sql, engine, plans, sealer, bus, log: silentLog, now: clock.now });
}

test.each(['the process that fired', 'the next process'])(
  'a clock that was ahead and is set back keeps no schedule waiting, in %s',
  async (which) => {
    await using ahead = open();
    const settings = { type: 'schedule', cron: '0 * * * *' } as const;
    const owner = { workflowId: 'wfl_1', ownerId: 'usr_a', isEnabled: true, permissions: ['*'] };
    const { trigger } = await ahead.create({ ...settings, ...owner });
    const startedAtMs = clock.ms;
    const firedBefore = ground.engine.starts.length;
    clock.advance(30 * 24 * hourMs);
    await ahead.settle();
    expect(ground.engine.starts).toHaveLength(firedBefore + 1);
    clock.ms = startedAtMs;
    await using next = open();
    await (which === 'the next process' ? next : ahead).settle();
    // What was due first has been made up for by the clock that was ahead.
    for (const [hours, fired] of [
      [1, 1],
      [2, 2],
    ] as const) {
      clock.ms = startedAtMs + hours * hourMs;
      await next.settle();
      expect(ground.engine.starts).toHaveLength(firedBefore + fired);
    }
    await next.delete('wfl_1', trigger.id);
  },
);
