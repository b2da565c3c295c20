import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { newId } from '../../kit/ids.ts';
import { calls, says, saysThen } from '../gateway-testing.ts';
import { ask, openReplica, openTwoReplicas, readAll } from './testing.ts';

let scene: Awaited<ReturnType<typeof openTwoReplicas>>;

beforeAll(async () => {
  scene = await openTwoReplicas();
});

afterAll(() => scene[Symbol.asyncDispose]());

beforeEach(() => scene.ground.gateway.script(says(['Hello.'])));

const open = async () => (await scene.here.conversations.create('usr_ada', {})).id;

async function say(text: string, conversationId: string, { turns } = scene.here): Promise<void> {
  const { id } = await turns.begin(ask(text, conversationId));
  await readAll(turns, id);
}

/** What the model was told last. */
function told(): unknown[] {
  const { messages = [] } = scene.ground.gateway.asked.at(-1)?.body ?? {};
  return (messages as { readonly content: unknown }[]).map(({ content }) => content);
}

test('a model is told what this replica and others have said, whoever was last', async () => {
  const { here, there } = scene;
  const id = await open();
  await say('one', id, here);
  await say('two', id, here);
  expect(told()).toEqual(['one', 'Hello.', 'two']);
  await say('three', id, there);
  await say('four', id, there);
  await say('five', id, here);
  const answered = ['one', 'two', 'three', 'four'].flatMap((text) => [text, 'Hello.']);
  expect(told()).toEqual([...answered, 'five']);
});

test('it is told what came into the conversation by another way', async () => {
  const { conversations } = scene.there;
  const id = await open();
  await say('one', id);
  await conversations.append('usr_ada', id, [{ role: 'system', content: 'be brief' }]);
  await say('two', id);
  expect(told()).toEqual(['one', 'Hello.', 'be brief', 'two']);
});

test('of a conversation that was deleted and created anew it is told nothing old', async () => {
  const { conversations } = scene.there;
  const id = newId('cnv');
  await conversations.ensure('usr_ada', id);
  await say('old', id);
  await conversations.remove('usr_ada', id);
  await conversations.ensure('usr_ada', id);
  await conversations.append('usr_ada', id, [
    { role: 'user', content: 'new' },
    { role: 'assistant', content: 'New.' },
  ]);
  await say('newer', id);
  expect(told()).toEqual(['new', 'New.', 'newer']);
});

test('it is told of calls of tools and their results', async () => {
  const { conversations, turns } = scene.here;
  const tools = { allow: ['read'], approval: 'never' } as const;
  const { id } = await conversations.create('usr_ada', { tools });
  scene.ground.gateway.script(calls(['call_1', 'read', {}]), says(['Hello.']));
  await readAll(turns, (await turns.begin(ask('one', id))).id);
  scene.ground.gateway.script(says(['Hello.']));
  await say('two', id);
  expect(told()).toEqual(['one', null, 'read {}', 'Hello.', 'two']);
});

test('it is told what a process had answered that died, by the one that ended that turn', async () => {
  const { ground } = scene;
  const never = { sweepMs: 1_000_000, renewMs: 1_000_000 };
  await using heir = await openReplica(ground, { timing: { sweepMs: 50, pollMs: 100 } });
  await using dead = await openReplica(ground, { timing: { storeMs: 20, ...never } });
  const id = await open();
  await say('one', id, heir);
  ground.gateway.script(saysThen(['Half'], 'hang'));
  const turn = await dead.turns.begin(ask('two', id));
  const stored = () =>
    ground.database.query('select 1 from chat.turn_events where turn_id = $1', [turn.id]);
  await expect.poll(stored).not.toEqual([]);
  const lapsed = `update chat.turns set lease_until = now() - interval '1 second' where id = $1`;
  await ground.database.query(lapsed, [turn.id]);
  const statusOf = async () => (await heir.turns.find('usr_ada', turn.id)).status;
  // A sweep that fails is made up for only when the next lease lapses, after ten seconds.
  await expect.poll(statusOf, { timeout: 6_000 }).toBe('interrupted');
  ground.gateway.script(says(['Hello.']));
  await say('three', id, heir);
  expect(told()).toEqual(['one', 'Hello.', 'two', 'Half', 'three']);
});

test('a conversation that is deleted while a turn begins leaves nothing behind', async () => {
  const { here, there, ground } = scene;
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const id = await open();
    await Promise.allSettled([say('one', id, here), there.conversations.remove('usr_ada', id)]);
    const rows = await ground.database.query(
      `select id from chat.turns where conversation_id = $1
       union all select id from chat.messages where conversation_id = $1`,
      [id],
    );
    expect(rows).toEqual([]);
  }
});

test('a question and its answer are found by their words once the answer has ended', async () => {
  const id = await open();
  scene.ground.gateway.script(says(['A platypus.']));
  await say('Which mammals lay eggs?', id);
  const rows = await scene.ground.database.query(
    'select words from chat.messages where conversation_id = $1 order by place',
    [id],
  );
  expect(rows).toEqual([
    { words: expect.arrayContaining(['mammal', 'egg']) as unknown },
    { words: expect.arrayContaining(['platypus']) as unknown },
  ]);
});
