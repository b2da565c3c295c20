import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, test, vi } from 'vitest';
import { openBus } from '../../kit/bus/open-bus.ts';
import type { Database } from '../../kit/database/database.ts';
import { openTestDatabase } from '../../kit/database/testing.ts';
import { newId } from '../../kit/ids.ts';
import { silentLog } from '../../kit/testing.ts';
import { chat } from '../service.ts';
import { createHashModels, startSearch } from './testing.ts';

const { client: models } = createHashModels();

/** The tables as they were before words were those of the normal form. */
async function migrateToEarlier(database: Database): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'ennead-migrations-'));
  try {
    const files = await readdir(chat.migrations);
    for (const file of files.filter((name) => name < '009')) {
      await cp(join(fileURLToPath(chat.migrations), file), join(folder, file));
    }
    await database.query('drop schema if exists chat cascade');
    await database.migrate('chat', pathToFileURL(`${folder}/`));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Says texts in a conversation of `usr_old`, in the tables of then. */
async function storeEarlier(database: Database, texts: readonly string[]): Promise<void> {
  const conversationId = newId('cnv');
  await database.query(
    `insert into chat.conversations (id, owner_id, title, message_count, created_at, updated_at)
     values ($1, 'usr_old', 'A talk', $2, now(), now())`,
    [conversationId, texts.length],
  );
  await database.query(
    `insert into chat.messages (conversation_id, place, id, owner_id, role, content, status, created_at)
     select $1, place, id, 'usr_old', 'user', content, 'complete', now()
     from unnest($2::text[], $3::text[]) with ordinality as one(id, content, place)`,
    [conversationId, texts.map(() => newId('msg')), texts],
  );
}

/** From then on no message with this beginning can be changed. */
async function refuseChanges(database: Database, beginning: string): Promise<void> {
  await database.query(`create function chat.refuse() returns trigger language plpgsql
    as $$ begin raise exception 'not this one'; end $$`);
  await database.query(`create trigger refuse before update on chat.messages
    for each row when (new.content like '${beginning}%') execute function chat.refuse()`);
}

describe('messages that were stored before words were those of the normal form', () => {
  test('are found by their words after the upgrade, but for one that cannot be changed', async () => {
    await using database = await openTestDatabase();
    await using bus = await openBus({ log: silentLog });
    await migrateToEarlier(database);
    const offices = Array.from({ length: 130 }, (_, at) => `oﬃce ${at}`);
    await storeEarlier(database, [...offices, 'REFUSED oﬃce', ...offices, 'CO₂ & ﬁn']);
    await database.migrate('chat', chat.migrations);
    await refuseChanges(database, 'REFUSED');
    await using replica = await startSearch({ database, bus }, { models });
    await using second = await startSearch({ database, bus }, { models });
    await vi.waitFor(
      async () => {
        expect(await database.query('select 1 from chat.words_renewal')).toEqual([]);
      },
      { timeout: 30_000, interval: 50 },
    );
    const wordsOf = (query: string) =>
      database.query('select 1 from chat.messages where words @> chat.lexemes_of($1)', [query]);
    expect(await wordsOf('office')).toHaveLength(260);
    expect(await wordsOf('refused')).toHaveLength(1);
    const found = await Promise.all(
      [replica, second].map(({ search }) =>
        search.find('usr_old', { query: 'CO2', minScore: 0.3 }),
      ),
    );
    expect(found.map(({ hits }) => hits.map(({ content }) => content))).toEqual([
      ['CO₂ & ﬁn'],
      ['CO₂ & ﬁn'],
    ]);
  });
});
