import { afterAll, beforeAll, expect, it } from 'vitest';
import { Fault } from '../../kit/errors.ts';
import type { Script } from '../gateway-testing.ts';
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

const ada = 'usr_ada';
let ground: TurnsGround;

beforeAll(async () => {
  ground = await openTurnsGround();
});

afterAll(() => ground[Symbol.asyncDispose]());

const isWrite = (text: string) => text.includes('insert into chat.turn_events');
const away = () => new Fault('unavailable', 'the database has said nothing');

/** Goes on with each step as it is let. */
function stepwise() {
  const steps = Array.from({ length: 3 }, latch);
  const script: Script = async (_asked, answer) => {
    for (const [at, step] of steps.entries()) {
      answer.say(`piece ${at} `);
      await step.opened;
    }
    answer.finish();
  };
  return { script, go: (at: number) => steps[at]?.open() };
}

it.each(['before it is repeated', 'behind its repetition'])(
  'a write whose answer is lost, and that is done %s, leaves no hole',
  async (when) => {
    const { script, go } = stepwise();
    ground.gateway.script(script);
    const written: (() => Promise<unknown>)[] = [];
    let late: (() => Promise<unknown>) | undefined;
    const database = detour(ground.database, async (text, run) => {
      if (!isWrite(text)) return run();
      written.push(run);
      if (written.length > 1) return run();
      if (when === 'before it is repeated') await run();
      else late = run;
      // What follows has to be in the repetition.
      go(0);
      throw away();
    });
    await using replica = await openReplica({ ...ground, database }, { timing: { storeMs: 20 } });
    const { id } = await replica.conversations.create(ada);
    const turn = await replica.turns.begin(ask('hello', id));
    await expect.poll(() => written.length).toBeGreaterThan(1);
    go(1);
    const isStored = `select 1 from chat.turn_events where turn_id = $1 and entries like '%piece 2%'`;
    await expect.poll(() => ground.database.query(isStored, [turn.id])).not.toEqual([]);
    await late?.();
    go(2);
    const whole = 'piece 0 piece 1 piece 2 ';
    expect(textOf(await readAll(replica.turns, turn.id))).toBe(whole);
    await using other = await openReplica(ground);
    for (const after of [0, 2]) {
      const events = await readAll(other.turns, turn.id, { after });
      expect(events.at(-1)).toMatchObject({ type: 'ended', status: 'completed' });
      expect(whole.endsWith(textOf(events))).toBe(true);
    }
    expect(textOf(await readAll(other.turns, turn.id))).toBe(whole);
    expect((await other.conversations.messages(ada, id))[1]).toMatchObject({
      content: whole,
      status: 'complete',
    });
  },
);
