import { Fault } from '../../kit/errors.ts';
import type { Database } from '../../kit/database/database.ts';
import { messageOf, type MessageRow } from './conversation-row.ts';
import type { Message } from './conversation.ts';

export type MessagesSql = Pick<Database, 'query'>;

/** Without a row where a conversation has no such messages, or all are too much. */
type PageRow = { readonly total_bytes: number } & (MessageRow | { readonly id: null });

/** What a reading found, and how many bytes of text it holds. */
export interface Reading<Value> {
  readonly value: Value;
  readonly bytes: number;
}

export interface BatchPage {
  /** The place behind which it begins. */
  readonly after: number;
  /** Of each conversation. */
  readonly limit: number;
}

/** Content in parts is shown by its text alone. */
const columns = `m.id, m.conversation_id, m.place, m.role, m.content, null as parts, m.status, m.turn_id,
  m.model, m.usage, m.tool_calls, m.tool_call_id, m.created_at`;
/** Of what stands beside the key of a message; no text is read for it. */
const measured = `conversation_id, place,
  octet_length(content) + coalesce(octet_length(tool_calls), 0) as bytes`;

/**
 * Messages of many conversations by one statement each; of another owner's there are none. Both reject
 * with `invalid` (`answer_too_large`) what would be more than so many bytes of text, and do not read it.
 */
export class MessageBatches {
  readonly #sql: MessagesSql;

  constructor(sql: MessagesSql) {
    this.#sql = sql;
  }

  /** A page of each conversation's messages, ordered by place within each. */
  ofConversations(
    ownerId: string,
    { ids, after, limit }: BatchPage & { readonly ids: readonly string[] },
    bytesMax: number,
  ): Promise<Reading<readonly Message[]>> {
    const wanted = `select p.* from unnest($1::text[]) as c(id)
         cross join lateral (
           select ${measured} from chat.messages
           where conversation_id = c.id and owner_id = $2 and place > $4::integer
           order by place limit $5::integer) p`;
    return this.#read(wanted, [ids, ownerId, bytesMax, after, limit]);
  }

  /** Messages by their ids, in any order; those that are gone are left out. */
  byIds(
    ownerId: string,
    ids: readonly string[],
    bytesMax: number,
  ): Promise<Reading<readonly Message[]>> {
    const wanted = `select ${measured} from chat.messages
         where id = any($1::text[]) and owner_id = $2`;
    return this.#read(wanted, [ids, ownerId, bytesMax]);
  }

  /** `wanted` is SQL for the keys of messages and their bytes; the third parameter is the bound. */
  async #read(
    wanted: string,
    [first, second, bytesMax, ...rest]: readonly [unknown, unknown, number, ...unknown[]],
  ): Promise<Reading<readonly Message[]>> {
    const rows = await this.#sql.query<PageRow>(
      `with wanted as materialized (${wanted}),
       total as (select coalesce(sum(bytes), 0)::float8 as total_bytes from wanted)
       select t.total_bytes, ${columns} from total t
       left join (wanted w join chat.messages m
         on m.conversation_id = w.conversation_id and m.place = w.place) on t.total_bytes <= $3::float8
       order by m.conversation_id, m.place`,
      [first, second, bytesMax, ...rest],
    );
    const bytes = rows[0]?.total_bytes ?? 0;
    if (bytes > bytesMax) throw answerTooLarge();
    return { value: rows.flatMap((row) => (row.id === null ? [] : messageOf(row))), bytes };
  }
}

/** The refusal of an answer that holds too much. */
export function answerTooLarge(): Fault {
  return new Fault('invalid', 'the answer is more than 16 MiB: ask for less at once', {
    reason: 'answer_too_large',
  });
}
