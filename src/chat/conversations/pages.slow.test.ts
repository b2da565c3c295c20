import { expect, test } from 'vitest';
import { silentLog } from '../../kit/testing.ts';
import { openChatGround } from '../testing.ts';
import { StoredConversations } from './stored-conversations.ts';

test('pages of messages are never much more than 16 MiB', async () => {
  await using ground = await openChatGround();
  const { database: sql, bus } = ground;
  await using conversations = new StoredConversations({
    sql,
    bus,
    log: silentLog,
    stopTurn: async () => {},
  });
  const { id } = await conversations.create('a');
  const large = 'x'.repeat(1024 * 1024 - 1);
  for (let at = 0; at < 18; at += 6) {
    await conversations.append(
      'a',
      id,
      Array.from({ length: 6 }, () => ({ role: 'user' as const, content: large })),
    );
  }
  const first = await conversations.messages('a', id);
  expect(first).toHaveLength(17);
  const rest = await conversations.messages('a', id, { after: 17 });
  expect(rest.map(({ place }) => place)).toEqual([18]);
});
