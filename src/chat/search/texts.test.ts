import { describe, expect, test } from 'vitest';
import type { SearchSql } from './embedders-store.ts';
import { Texts } from './texts.ts';

const mebibyte = 1024 * 1024;

/** Messages of a size, of which a statement gets as many as a portion holds. */
function messagesOf(count: number, size: number) {
  const ids = Array.from({ length: count }, (_, at) => `msg_${at}`);
  const statements: number[] = [];
  const content = 'x'.repeat(size);
  const sql: SearchSql = {
    query: async <Row>(_text: string, parameters: readonly unknown[] = []) => {
      const [wanted, , bytes] = parameters as [string[], string, number];
      const rows = wanted
        .slice(0, Math.ceil(bytes / size))
        .map((id) => ({ id, content, created_at: new Date() }));
      statements.push(rows.length);
      // What a row has besides is not looked at here.
      return rows as Row[];
    },
  };
  return { ids, sql, statements };
}

describe('the texts of a search', () => {
  test('are read a mebibyte at a time, in order', async () => {
    const { ids, sql, statements } = messagesOf(10, mebibyte / 4);
    const seen: string[] = [];
    const left = await new Texts({ sql, ownerId: 'usr_1' }).visit(ids, ({ id }) => seen.push(id));
    expect(left).toEqual([]);
    expect(seen).toEqual(ids);
    expect(statements).toEqual([4, 4, 2]);
  });

  test('are left out behind 16 MiB', async () => {
    const { ids, sql } = messagesOf(300, mebibyte / 2);
    const seen: string[] = [];
    const left = await new Texts({ sql, ownerId: 'usr_1' }).visit(ids, ({ id }) => seen.push(id));
    expect(seen).toEqual(ids.slice(0, 32));
    expect(left).toEqual(ids.slice(32));
  });

  test('are read no further once nobody waits', async () => {
    const { ids, sql, statements } = messagesOf(10, mebibyte);
    const gone = new AbortController();
    const texts = new Texts({ sql, ownerId: 'usr_1', signal: gone.signal });
    const reason = new Error('hung up');
    const reading = texts.visit(ids, ({ id }) => {
      if (id === 'msg_2') gone.abort(reason);
    });
    await expect(reading).rejects.toBe(reason);
    expect(statements).toEqual([1, 1, 1]);
  });
});
