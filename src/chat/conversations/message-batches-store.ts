import { Fault } from '../../kit/errors.ts';
import type { Database } from '../../kit/database/database.ts';
import { messageOf, type MessageRow } from './conversation-row.ts';
import type { Message } from './conversation.ts';

export type MessagesSql = Pick<Database, 'query'>;

/** Without a row where a conversation has no such messages, or all are too much. */
type PageRow = { readonly total_bytes: number } & (MessageRow | { readonly id: null });

const columns = `m.id, m.conversation_id, m.place, m.role, m.content, m.parts, m.status, m.turn_id, m.model,
  m.usage, m.tool_calls, m.tool_call_id, m.created_at`;
const bytesMax = 16 * 1024 * 1024;

/** Messages of many conversations by one statement each; of another owner's there are none. */
export class MessageBatches {
  readonly #sql: MessagesSql;

  constructor(sql: MessagesSql) {
    this.#sql = sql;
  }

  /**
   * A page of each conversation's messages, ordered by place within each. Rejects with
   * `invalid` (`answer_too_large`) what would be more than 16 MiB of text.
   */
  async ofConversations(
    ownerId: string,
    conversationIds: readonly string[],
    { after, limit }: { readonly after: number; readonly limit: number },
  ): Promise<readonly Message[]> {
    const rows = await this.#sql.query<PageRow>(
      `with wanted as materialized (
         select p.* from unnest($1::text[]) as c(id)
         cross join lateral (
           select conversation_id, place, octet_length(content) as bytes from chat.messages
           where conversation_id = c.id and owner_id = $2 and place > $3::integer
           order by place limit $4::integer) p
       ), total as (select coalesce(sum(bytes), 0)::float8 as total_bytes from wanted)
       select t.total_bytes, ${columns} from total t
       left join (wanted w join chat.messages m
         on m.conversation_id = w.conversation_id and m.place = w.place) on t.total_bytes <= $5::float8
       order by m.conversation_id, m.place`,
      [conversationIds, ownerId, after, limit, bytesMax],
    );
    if ((rows[0]?.total_bytes ?? 0) > bytesMax) throw tooLarge();
    return rows.flatMap((row) => (row.id === null ? [] : messageOf(row)));
  }

  /** Messages by their ids, in any order; those that are gone are left out. */
  async byIds(ownerId: string, ids: readonly string[]): Promise<readonly Message[]> {
    const rows = await this.#sql.query<MessageRow>(
      `select ${columns} from chat.messages m where m.id = any($1::text[]) and m.owner_id = $2`,
      [ids, ownerId],
    );
    return rows.map(messageOf);
  }
}

function tooLarge(): Fault {
  return new Fault('invalid', 'these messages are more than 16 MiB: ask for fewer at once', {
    reason: 'answer_too_large',
  });
}
