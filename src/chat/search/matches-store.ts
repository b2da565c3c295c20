import type { SearchSql } from './embedders-store.ts';
import type { Span } from './owner-index.ts';
import type { Query, Term } from './query.ts';

/** A message that has a term's words. */
export interface Match {
  /** The term's place in the query; -1 when it has all of them. */
  readonly term: number;
  readonly messageId: string;
  readonly createdAtMs: number;
}

/** Messages that are taken for a term, the latest ones; a term with so many is a common one. */
export const matchesMax = 120;
/** The same where the texts tell later which of them have a term. */
export const possibleMax = 1_000;

/** Messages that are read for what no index knows. */
export const latestMax = 10_000;

interface Wanted {
  readonly ownerId: string;
  readonly terms: readonly Term[];
  readonly span: Span;
}

/**
 * For each term, and for all together, the latest messages that have its words; of a term whose
 * characters stand side by side, those that have the characters.
 */
export async function findMatches(
  sql: SearchSql,
  { ownerId, terms, span }: Wanted,
): Promise<Match[]> {
  if (terms.length === 0) return [];
  const parameters: unknown[] = [ownerId, new Date(span.fromMs), new Date(span.toMs)];
  const conditions = terms.map((term) => conditionOf(term, parameters));
  const branches = conditions.map((condition, at) =>
    branchOf(at, condition, limitOf(terms.slice(at, at + 1))),
  );
  if (conditions.length > 1) {
    branches.push(branchOf(-1, conditions.join(' and '), limitOf(terms)));
  }
  const rows = await sql.query<{ term: number; id: string; created_at: Date }>(
    branches.join(' union all '),
    parameters,
    { isPlannedAnew: true },
  );
  return rows.map(({ term, id, created_at }) => ({
    term,
    messageId: id,
    createdAtMs: created_at.getTime(),
  }));
}

/** The latest messages, the last first. */
export async function findLatest(
  sql: SearchSql,
  { ownerId, span }: Omit<Wanted, 'terms'>,
): Promise<Omit<Match, 'term'>[]> {
  const rows = await sql.query<{ id: string; created_at: Date }>(
    `select m.id, m.created_at from chat.messages m
     where m.owner_id = $1 and m.created_at >= $2 and m.created_at <= $3 and m.status <> 'pending'
     order by m.created_at desc limit ${latestMax}`,
    [ownerId, new Date(span.fromMs), new Date(span.toMs)],
  );
  return rows.map(({ id, created_at }) => ({ messageId: id, createdAtMs: created_at.getTime() }));
}

function limitOf(terms: readonly Term[]): number {
  return terms.some(({ isAdjacent }) => isAdjacent) ? possibleMax : matchesMax;
}

/** A select of its own, so that it is planned by how common its own words are. */
function branchOf(term: number, condition: string, limit: number): string {
  return `(select ${term} as term, m.id, m.created_at from chat.messages m
    where m.owner_id = $1 and m.created_at >= $2 and m.created_at <= $3
      and m.status <> 'pending' and ${condition}
    order by m.created_at desc limit ${limit})`;
}

/** Whatever a term is, it is read as words. */
function conditionOf({ text, isAdjacent }: Term, parameters: unknown[]): string {
  return hasWords(parameters.push(isAdjacent ? Array.from(text).join(' ') : text.toLowerCase()));
}

/** Null where the text of a parameter has no words, so that nothing is found by it. */
function hasWords(place: number): string {
  return `m.words @> nullif(chat.lexemes_of($${place}), '{}')`;
}

/**
 * Which of some messages have the words of which terms, of those without what the query excludes; in the
 * order of the ids.
 */
export async function readMatches(
  sql: SearchSql,
  messageIds: readonly string[],
  { terms, excluded }: Pick<Query, 'terms' | 'excluded'>,
): Promise<ReadonlyMap<string, readonly boolean[]>> {
  const parameters: unknown[] = [messageIds];
  const flags = terms.map((term) => conditionOf(term, parameters));
  const conditions = [
    'm.id = any($1)',
    ...excluded.map((word) => `(${hasWords(parameters.push(word.toLowerCase()))}) is not true`),
  ];
  const rows = await sql.query<{ id: string; has: boolean[] }>(
    `select m.id, array[${flags.join(', ')}]::boolean[] as has from chat.messages m
     where ${conditions.join(' and ')}`,
    parameters,
  );
  const order = new Map(messageIds.map((id, at) => [id, at]));
  const ordered = rows.toSorted(
    (one, other) => (order.get(one.id) ?? 0) - (order.get(other.id) ?? 0),
  );
  return new Map(ordered.map(({ id, has }) => [id, has]));
}
