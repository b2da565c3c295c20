import { checkTexts, type Checked } from './checks.ts';
import type { SearchSql } from './embedders-store.ts';
import { findLatest, latestMax, readMatches } from './matches-store.ts';
import type { Span } from './owner-index.ts';
import type { Query } from './query.ts';
import type { Candidate } from './ranking.ts';
import type { Texts } from './texts.ts';

interface Scope {
  readonly ownerId: string;
  readonly span: Span;
  readonly texts: Texts;
}

/** Messages by phrases that have no word, which no index knows: the latest ones are read. */
export async function findBySigns(
  sql: SearchSql,
  query: Query,
  { ownerId, span, texts }: Scope,
): Promise<Checked<readonly Candidate[]>> {
  if (query.phrases.length === 0) return { kept: [], isAll: true };
  const latest = await findLatest(sql, { ownerId, span });
  const ids = latest.map(({ messageId }) => messageId);
  const { kept, isAll } = await checkTexts(texts, await readMatches(sql, ids, query), query);
  const found = latest
    .filter(({ messageId }) => kept.has(messageId))
    .map((match) => ({ ...match, near: undefined, words: 1 }));
  return { kept: found, isAll: isAll && latest.length < latestMax };
}
