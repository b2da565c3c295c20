import type { Role } from '../conversations/conversation.ts';
import type { SearchSql } from './embedders-store.ts';
import type { Span } from './owner-index.ts';
import type { Query, Term } from './query.ts';

/** A message that has a term. */
export interface Match {
  /** The term's place in the query; -1 when it has all of them. */
  readonly term: number;
  readonly messageId: string;
  readonly createdAtMs: number;
}

/** Messages that are read for a term, the latest ones; a term with so many is a common one. */
export const matchesMax = 120;
/** Of a message that is longer, the part around a term is read. */
const shownCharacters = 200_000;

interface Wanted {
  readonly ownerId: string;
  readonly terms: readonly Term[];
  readonly span: Span;
}

/** For each term, and for all together, the latest messages that have it. */
export async function findMatches(
  sql: SearchSql,
  { ownerId, terms, span }: Wanted,
): Promise<Match[]> {
  if (terms.length === 0) return [];
  const parameters: unknown[] = [ownerId, new Date(span.fromMs), new Date(span.toMs)];
  const conditions = terms.map((term) => conditionOf(term, parameters));
  const branches = conditions.map((condition, at) => branchOf(at, condition));
  if (conditions.length > 1) branches.push(branchOf(-1, conditions.join(' and ')));
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

/** A select of its own, so that it is planned by how common its own words are. */
function branchOf(term: number, condition: string): string {
  return `(select ${term} as term, m.id, m.created_at from chat.messages m
    where m.owner_id = $1 and m.created_at >= $2 and m.created_at <= $3
      and m.status <> 'pending' and ${condition}
    order by m.created_at desc limit ${matchesMax})`;
}

/** Whatever a term is, it is read as words. */
function conditionOf({ text, isAdjacent }: Term, parameters: unknown[]): string {
  const place = parameters.push(isAdjacent ? Array.from(text).join(' ') : text.toLowerCase());
  const words = hasWords(place);
  if (!isAdjacent) return words;
  return `(${words} and strpos(m.content, $${parameters.push(text)}) > 0)`;
}

/** Null where the text of a parameter has no words, so that nothing is found by it. */
function hasWords(place: number): string {
  return `m.words @> nullif(chat.lexemes_of($${place}), '{}')`;
}

/** Which of some messages have which terms, of those that also fulfil the query's conditions. */
export async function readMatches(
  sql: SearchSql,
  messageIds: readonly string[],
  { terms, phrases, excluded }: Pick<Query, 'terms' | 'phrases' | 'excluded'>,
): Promise<ReadonlyMap<string, readonly boolean[]>> {
  const parameters: unknown[] = [messageIds];
  const flags = terms.map((term) => conditionOf(term, parameters));
  const conditions = [
    'm.id = any($1)',
    ...phrases.map(
      (phrase) => `strpos(chat.lowered(m.content), $${parameters.push(phrase.toLowerCase())}) > 0`,
    ),
    ...excluded.map((word) => `(${hasWords(parameters.push(word.toLowerCase()))}) is not true`),
  ];
  const rows = await sql.query<{ id: string; has: boolean[] }>(
    `select m.id, array[${flags.join(', ')}]::boolean[] as has from chat.messages m
     where ${conditions.join(' and ')}`,
    parameters,
  );
  return new Map(rows.map(({ id, has }) => [id, has]));
}

/** A message as a hit shows it. */
export interface FoundMessage {
  readonly id: string;
  readonly conversationId: string;
  readonly title: string;
  readonly role: Role;
  readonly content: string;
  readonly model: string | undefined;
  readonly createdAtMs: number;
}

/** Of a long text the place of the first of some stems that it has; null when it has none. */
const placeOfStem = `(
  select strpos(whole.text, stem) from unnest($3::text[]) with ordinality as stems (stem, n)
  cross join (select chat.lowered(m.content) as text) whole
  where strpos(whole.text, stem) > 0 order by n limit 1)`;

/** Those of an owner's messages that are still there, by id. */
export async function readFound(
  sql: SearchSql,
  ownerId: string,
  { messageIds, stems }: { readonly messageIds: readonly string[]; readonly stems: string[] },
): Promise<ReadonlyMap<string, FoundMessage>> {
  const rows = await sql.query<FoundRow>(
    `select m.id, m.conversation_id, c.title, m.role, m.model, m.created_at,
       case when length(m.content) <= ${shownCharacters} then m.content else
         substr(m.content, greatest(1, ${placeOfStem} - ${shownCharacters / 2}), ${shownCharacters})
       end as content
     from chat.messages m join chat.conversations c on c.id = m.conversation_id
     where m.id = any($1) and m.owner_id = $2`,
    [messageIds, ownerId, stems],
  );
  return new Map(
    rows.map(({ conversation_id, created_at, model, ...row }) => [
      row.id,
      {
        ...row,
        conversationId: conversation_id,
        model: model ?? undefined,
        createdAtMs: created_at.getTime(),
      },
    ]),
  );
}

interface FoundRow {
  readonly id: string;
  readonly conversation_id: string;
  readonly title: string;
  readonly role: Role;
  readonly content: string;
  readonly model: string | null;
  readonly created_at: Date;
}
