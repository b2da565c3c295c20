import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listTestDatabases } from '../../../src/kit/database/testing.ts';
import { startService } from '../../../src/kit/testing.ts';
import { notes } from './service.ts';

const databases = listTestDatabases(process.env['ENNEAD_TEST_POSTGRES_URL']);

/** Notes of one millisecond have no order. */
async function nextMillisecond(): Promise<void> {
  const start = Date.now();
  await expect.poll(() => Date.now(), { interval: 1 }).toBeGreaterThan(start);
}

describe.each(databases)('notes on $title', ({ isAvailable, open }) => {
  describe.skipIf(!isAvailable)('for its owner', () => {
    let service: Awaited<ReturnType<typeof startService>>;
    let owner: string;

    beforeAll(async () => {
      const database = await open();
      await database.query('drop schema if exists notes cascade');
      service = await startService(notes, { database });
      owner = await service.issuer.sign({ sub: 'usr_owner', permissions: ['notes:write'] });
    });

    afterAll(async () => {
      await service[Symbol.asyncDispose]();
      await service.host.database[Symbol.asyncDispose]();
    });

    const call = (method: 'GET' | 'POST', url: string, token: string, payload?: object) =>
      service.app.inject({
        method,
        url,
        headers: { authorization: `Bearer ${token}` },
        ...(payload ? { payload } : {}),
      });

    test('an empty note is refused', async () => {
      expect((await call('POST', '/api/v1/notes', owner, { text: '' })).statusCode).toBe(400);
    });

    test('a reader may not write', async () => {
      const reader = await service.issuer.sign({ permissions: ['notes:read'] });
      const answer = await call('POST', '/api/v1/notes', reader, { text: 'a' });
      expect(answer.statusCode).toBe(403);
    });

    test('a note is there for its owner and for nobody else', async () => {
      const created = await call('POST', '/api/v1/notes', owner, { text: 'mine' });
      expect(created.statusCode).toBe(201);
      const { id } = created.json<{ id: string }>();
      const read = await call('GET', `/api/v1/notes/${id}`, owner);
      expect(read.json()).toEqual(created.json());
      const other = await service.issuer.sign({ sub: 'usr_other', permissions: ['*'] });
      const refused = await call('GET', `/api/v1/notes/${id}`, other);
      expect(refused.statusCode).toBe(404);
      expect(refused.json()).toMatchObject({ error: { code: 'NOTE_NOT_FOUND' } });
    });

    test('a list is paged, newest first', async () => {
      const lister = await service.issuer.sign({ sub: 'usr_lister', permissions: ['notes:write'] });
      for (const text of ['a', 'b', 'c']) {
        await call('POST', '/api/v1/notes', lister, { text });
        await nextMillisecond();
      }
      const page = await call('GET', '/api/v1/notes?limit=2&offset=1', lister);
      expect(page.json()).toMatchObject({
        notes: [{ text: 'b' }, { text: 'a' }],
        total: 3,
        limit: 2,
        offset: 1,
      });
    });
  });
});
