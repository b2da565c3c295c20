import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openBus } from '../../kit/bus/open-bus.ts';
import { openDatabase } from '../../kit/database/database.ts';
import { spawnModule } from '../../kit/database/testing.ts';
import { silentLog } from '../../kit/testing.ts';
import { calls, saysThen, says, startScriptedGateway } from '../gateway-testing.ts';
import { ask, callerOf, openReplica, readAll, scriptTools, textOf } from './testing.ts';

/** Begins an answer, a call without and one with approval, none of which ends; then it is killed. */
const doomed = `
  const [folder, migrations, url] = parameters;
  const { openDatabase } = await open('./database.ts');
  const { openBus } = await open('../bus/open-bus.ts');
  const { silentLog } = await open('../testing.ts');
  const testing = await open('../../chat/turns/testing.ts');
  const database = await openDatabase({ folder });
  await database.migrate('chat', new URL(migrations));
  const bus = await openBus({ log: silentLog });
  const hang = () => new Promise(() => {});
  const { tools, made } = testing.scriptTools({ read: () => ({ content: 'read', isError: false }), write: hang });
  const gateway = { url };
  const { turns, conversations } = await testing.openReplica({ database, bus, gateway }, { tools, timing: { storeMs: 20 } });
  const rules = { allow: ['x__*'], approval: 'writes' };
  const ids = [];
  for (const text of ['plain', 'approved', 'waiting']) {
    const { id } = await conversations.create('usr_ada', text === 'plain' ? {} : { tools: rules });
    const turn = await turns.begin(testing.ask(text, id));
    if (text !== 'plain') {
      const isCall = ({ type, call }) => type === 'tool-call' && call.name === 'write';
      await testing.readAll(turns, turn.id, { until: isCall });
    }
    if (text === 'approved') {
      await turns.approve(testing.callerOf('usr_ada'), turn.id, [{ callId: 'c2', isApproved: true }]);
      while (made.length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
    }
    ids.push(id, turn.id);
  }
  await new Promise((resolve) => setTimeout(resolve, 200));
  print(JSON.stringify(ids));
`;

it('a process that is killed loses nothing that was stored, and no begun call is made again', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ennead-turns-'));
  const migrations = new URL('../migrations/', import.meta.url).href;
  const toolCalls = calls(['c1', 'read', {}], ['c2', 'write', { f: 'a' }]);
  await using gateway = await startScriptedGateway(
    saysThen(['half ', 'an answer'], 'hang'),
    toolCalls,
    toolCalls,
    says(['Hello', ' again.']),
  );
  const child = spawnModule(doomed, [folder, migrations, gateway.url]);
  let complaints = '';
  child.stderr.on('data', (text) => (complaints += String(text)));
  const [line] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
  expect(String(line) + complaints).toMatch(/^\["cnv_/);
  const [plain = '', plainTurn = '', approved = '', , waiting = '', waitingTurn = ''] = JSON.parse(
    String(line),
  ) as string[];
  child.kill('SIGKILL');
  await once(child, 'exit');

  await using database = await openDatabase({ folder });
  await using bus = await openBus({ log: silentLog });
  const { tools, made } = scriptTools({
    read: () => ({ content: 'read', isError: false }),
    write: () => ({ content: 'written', isError: false }),
  });
  await using replica = await openReplica({ database, bus, gateway }, { tools, isAlone: true });
  const { turns, conversations } = replica;
  expect((await conversations.messages('usr_ada', plain))[1]).toMatchObject({
    content: 'half an answer',
    status: 'interrupted',
  });
  const events = await readAll(turns, plainTurn);
  expect(textOf(events)).toBe('half an answer');
  expect(events.at(-1)).toMatchObject({ type: 'failed', code: 'INTERRUPTED' });

  expect((await conversations.messages('usr_ada', approved)).slice(2)).toMatchObject([
    { role: 'tool', toolCallId: 'c1', content: 'read' },
    { role: 'tool', toolCallId: 'c2', content: expect.stringContaining('unknown') },
  ]);
  await readAll(turns, (await turns.begin(ask('Go on.', approved))).id);
  expect(gateway.asked.at(-1)?.body.messages.map(({ role }: { role: string }) => role)).toEqual([
    'user',
    'assistant',
    'tool',
    'tool',
    'user',
  ]);
  expect(made).toEqual([]);

  expect(await turns.find('usr_ada', waitingTurn)).toMatchObject({ status: 'waiting' });
  await turns.approve(callerOf('usr_ada'), waitingTurn, [{ callId: 'c2', isApproved: true }]);
  const rest = await readAll(turns, waitingTurn);
  expect(rest.at(-1)).toMatchObject({ type: 'ended', status: 'completed' });
  expect(rest.filter(({ type }) => type === 'tool-result')).toHaveLength(2);
  expect(made.map(({ id }) => id)).toEqual(['c2']);
  expect((await conversations.messages('usr_ada', waiting)).at(-1)).toMatchObject({
    content: 'Hello again.',
  });
  await rm(folder, { recursive: true, force: true });
});
