import { afterAll, beforeAll, expect, it } from 'vitest';
import { openBus } from '../../kit/bus/open-bus.ts';
import { silentLog } from '../../kit/testing.ts';
import { calls, says, saysThen } from '../gateway-testing.ts';
import {
  ask,
  openReplica,
  openTurnsGround,
  readAll,
  scriptTools,
  textOf,
  type TurnsGround,
} from './testing.ts';
import { adoptTurns } from './leases-store.ts';
import { requirePlace } from './turn-feed.ts';

const ada = 'usr_ada';
let ground: TurnsGround;

beforeAll(async () => {
  ground = await openTurnsGround();
});

afterAll(() => ground[Symbol.asyncDispose]());

/** As if the process that runs it had said nothing for long. */
const silence = (turnId: string) =>
  ground.database.query(
    `update chat.turns set lease_until = now() - interval '1 second' where id = $1`,
    [turnId],
  );

it('a turn of a silent replica is ended by another, and the silent one learns of it', async () => {
  ground.gateway.script(saysThen(['half ', 'an answer'], 'hang'));
  const timing = { storeMs: 20, sweepMs: 1_000_000, renewMs: 1_000_000 };
  await using silent = await openReplica(ground, { timing });
  const { id } = await silent.conversations.create(ada);
  const turn = await silent.turns.begin(ask('hello', id));
  await expect
    .poll(() =>
      ground.database.query(
        `select 1 from chat.turn_events where turn_id = $1 and entries like '%an answer%'`,
        [turn.id],
      ),
    )
    .not.toEqual([]);
  await silence(turn.id);
  await using other = await openReplica(ground, { timing: { pollMs: 100 } });
  expect(await other.turns.find(ada, turn.id)).toMatchObject({ status: 'interrupted' });
  const events = await readAll(other.turns, turn.id);
  expect(textOf(events)).toBe('half an answer');
  expect(events.at(-1)).toMatchObject({ type: 'failed', code: 'INTERRUPTED' });
  expect((await other.conversations.messages(ada, id))[1]).toMatchObject({
    content: 'half an answer',
    status: 'interrupted',
  });
  expect(await silent.turns.stop(ada, { turnId: turn.id })).toBe(true);
  expect((await readAll(silent.turns, turn.id)).at(-1)).toMatchObject({ code: 'INTERRUPTED' });
  expect((await other.conversations.messages(ada, id))[1]).toMatchObject({ status: 'interrupted' });
});

it('what a dead process told and did not store is stored by the one that heard it', async () => {
  ground.gateway.script(saysThen(['told, ', 'not stored'], 'hang'));
  const timing = { storeMs: 20, sweepMs: 1_000_000, renewMs: 1_000_000 };
  await using dead = await openReplica(ground, { timing });
  await using heir = await openReplica(ground, { timing: { sweepMs: 50, pollMs: 100 } });
  const turn = await dead.turns.begin(ask('hello'));
  const reading = readAll(heir.turns, turn.id);
  const read = () =>
    ground.database.query(
      `select 1 from chat.turn_events where turn_id = $1 and entries like '%not stored%'`,
      [turn.id],
    );
  await expect.poll(read).not.toEqual([]);
  await readAll(heir.turns, turn.id, {
    until: (event) => event.type === 'delta' && event.content.endsWith('not stored'),
  });
  await ground.database.query('delete from chat.turn_events where turn_id = $1', [turn.id]);
  await silence(turn.id);
  expect((await reading).at(-1)).toMatchObject({ type: 'failed', code: 'INTERRUPTED' });
  expect(await read()).not.toEqual([]);
  const again = await readAll(heir.turns, turn.id);
  expect(textOf(again)).toBe('told, not stored');
  expect(again.at(-1)).toMatchObject({ type: 'failed', code: 'INTERRUPTED' });
  expect(await readAll(heir.turns, turn.id, { after: 99 })).toEqual(again.slice(-1));
});

it('who was told more than a dead process stored is told the end from any place', async () => {
  ground.gateway.script(calls(['c1', 'read', {}]), saysThen(['told, ', 'not ', 'stored'], 'hang'));
  const { tools } = scriptTools({ read: () => ({ content: 'read', isError: false }) });
  const never = 1_000_000;
  const timing = { storeMs: never, sweepMs: never, renewMs: never };
  await using dead = await openReplica(ground, { tools, timing });
  const { id } = await dead.conversations.create(ada, {
    tools: { allow: ['x__*'], approval: 'never' },
  });
  const turn = await dead.turns.begin(ask('hello', id));
  const told = await readAll(dead.turns, turn.id, {
    until: (event) => event.type === 'delta' && event.content.endsWith('stored'),
  });
  const lastTold = told.at(-1)?.seq ?? 0;
  await silence(turn.id);
  // One that has heard nothing of it.
  await using bus = await openBus({ log: silentLog });
  await using heir = await openReplica({ ...ground, bus }, { timing: { pollMs: 100 } });
  const stored = await readAll(heir.turns, turn.id);
  expect(textOf(stored)).toBe('');
  const end = stored.at(-1);
  expect(end).toMatchObject({ type: 'failed', code: 'INTERRUPTED', after: stored.at(-2)?.seq });
  expect(stored.at(-2)?.seq).toBeLessThan(lastTold);
  expect(end?.seq).toBeGreaterThan(lastTold + 1_000_000);
  for (let after = stored.length - 1; after <= lastTold + 1; after += 1) {
    expect(await readAll(heir.turns, turn.id, { after })).toEqual([end]);
  }
  using held = await heir.turns.hold(turn);
  expect(requirePlace(held.feed, lastTold)).toBe(stored.at(-2)?.seq);
});

it('a reader elsewhere who was told more than the heir knows is told the end too', async () => {
  ground.gateway.script(saysThen(['told, ', 'not ', 'stored'], 'hang'));
  const never = 1_000_000;
  const timing = { storeMs: never, sweepMs: never, renewMs: never };
  await using dead = await openReplica(ground, { timing });
  await using reader = await openReplica(ground, { timing: { ...timing, pollMs: 100 } });
  const turn = await dead.turns.begin(ask('hello'));
  const reading = readAll(reader.turns, turn.id);
  await readAll(reader.turns, turn.id, {
    until: (event) => event.type === 'delta' && event.content.endsWith('stored'),
  });
  await silence(turn.id);
  await using bus = await openBus({ log: silentLog });
  await using heir = await openReplica({ ...ground, bus });
  const told = await reading;
  expect(await heir.turns.find(ada, turn.id)).toMatchObject({ status: 'interrupted' });
  expect(textOf(told)).toBe('told, not stored');
  expect(told.at(-1)).toMatchObject({ type: 'failed', code: 'INTERRUPTED', after: 0 });
  expect(textOf(await readAll(reader.turns, turn.id))).toBe('');
});

it('an answer that cannot be stored is ended once it can be, though its replica runs on', async () => {
  const { database, gateway } = ground;
  const refusing = 'alter table chat.messages add constraint refusing';
  await database.query(
    `${refusing} check (content <> 'the answer' or status = 'pending') not valid`,
  );
  gateway.script(says(['the ', 'answer']), saysThen([], 'hang'));
  const timing = { storeMs: 20, renewMs: 20, sweepMs: 20 };
  await using replica = await openReplica(ground, { timing });
  const { turns, conversations } = replica;
  const { id } = await conversations.create(ada);
  const turn = await turns.begin(ask('hello', id));
  expect((await readAll(turns, turn.id)).at(-1)).toMatchObject({ type: 'failed' });
  // What else it runs keeps its leases.
  await turns.begin(ask('more'));
  const isHeld = `select 1 from chat.turns where id = $1 and status = 'running' and lease_until > now()`;
  // Whoever takes it over again has tried to end it before.
  for (let time = 0; time < 2; time += 1) {
    await silence(turn.id);
    await expect.poll(() => database.query(isHeld, [turn.id])).not.toEqual([]);
  }
  expect((await conversations.messages(ada, id))[1]).toMatchObject({ status: 'pending' });
  await database.query('alter table chat.messages drop constraint refusing');
  await silence(turn.id);
  const end = { content: 'the answer', status: 'interrupted' };
  await expect.poll(async () => (await conversations.messages(ada, id))[1]).toMatchObject(end);
});

it('what was said stays, though nothing of it could be stored for longer than a lease', async () => {
  const { database, gateway } = ground;
  await database.query('alter table chat.turn_events rename to elsewhere');
  await database.query(
    `alter table chat.messages add constraint refusing check (content not like 'long%') not valid`,
  );
  gateway.script(says(['long ', 'remembered']));
  const timing = { storeMs: 20, renewMs: 20, sweepMs: 20 };
  await using replica = await openReplica(ground, { timing });
  const { turns, conversations } = replica;
  const { id } = await conversations.create(ada);
  const turn = await turns.begin(ask('hello', id));
  expect((await readAll(turns, turn.id)).at(-1)).toMatchObject({ type: 'failed' });
  await silence(turn.id);
  await expect
    .poll(() =>
      database.query('select 1 from chat.turns where id = $1 and lease_until > now()', [turn.id]),
    )
    .not.toEqual([]);
  await database.query('alter table chat.elsewhere rename to turn_events');
  await database.query('alter table chat.messages drop constraint refusing');
  const end = { content: 'long remembered', status: 'interrupted' };
  await expect
    .poll(async () => {
      await silence(turn.id);
      return (await conversations.messages(ada, id))[1];
    })
    .toMatchObject(end);
});

it('no turn is taken over by who was long without an answer, nor by a statement that is done late', async () => {
  const { database, gateway } = ground;
  gateway.script(saysThen([], 'hang'));
  const never = 1_000_000;
  await using silent = await openReplica(ground, { timing: { sweepMs: never, renewMs: never } });
  const turn = await silent.turns.begin(ask('hello'));
  await silence(turn.id);
  const [clock] = await database.query<{ now: Date }>('select now()');
  const ago = (seconds: number) => new Date((clock?.now.getTime() ?? 0) - seconds * 1000);
  const adopts = async (since: number, last: number) => {
    const contact = { since: ago(since), last: ago(last) };
    const heir = { isAlone: false, contact, patienceMs: 500_000, breakMs: 250_000 };
    const adopted = await adoptTurns(database, 'rep_heir', heir);
    return adopted.some((stored) => stored.turn.id === turn.id);
  };
  expect(await adopts(0, 0)).toBe(false);
  expect(await adopts(1_000, 900)).toBe(false);
  expect(await adopts(1_000, 0)).toBe(true);
});

it('a stop that the bus has lost is found with the lease', async () => {
  ground.gateway.script(saysThen(['so far'], 'hang'));
  await using replica = await openReplica(ground, { timing: { renewMs: 50, sweepMs: 100 } });
  const turn = await replica.turns.begin(ask('hello'));
  await silence(turn.id);
  await ground.database.query('update chat.turns set is_stopping = true where id = $1', [turn.id]);
  expect((await readAll(replica.turns, turn.id)).at(-1)).toMatchObject({ status: 'stopped' });
});

it('a process that ends in order interrupts what it runs', async () => {
  ground.gateway.script(saysThen(['so far'], 'hang'));
  const replica = await openReplica(ground);
  const { id } = await replica.conversations.create(ada);
  const turn = await replica.turns.begin(ask('hello', id));
  await readAll(replica.turns, turn.id, { until: ({ type }) => type === 'delta' });
  await replica[Symbol.asyncDispose]();
  await expect(replica.turns.begin(ask('more', id))).rejects.toMatchObject({ code: 'unavailable' });
  await using other = await openReplica(ground);
  expect(await other.turns.find(ada, turn.id)).toMatchObject({ status: 'interrupted' });
  expect((await other.conversations.messages(ada, id))[1]).toMatchObject({ content: 'so far' });
});

it('what ended an hour ago is forgotten', async () => {
  ground.gateway.script(saysThen([], 'fail'));
  await using replica = await openReplica(ground, { timing: { sweepMs: 50 } });
  const turn = await replica.turns.begin(ask('hello'));
  await readAll(replica.turns, turn.id);
  await ground.database.query(
    `update chat.turns set ended_at = now() - interval '61 minutes' where id = $1`,
    [turn.id],
  );
  await expect(replica.turns.find(ada, turn.id)).rejects.toMatchObject({ code: 'not_found' });
  await expect
    .poll(() =>
      ground.database.query('select 1 from chat.turn_events where turn_id = $1', [turn.id]),
    )
    .toEqual([]);
});
