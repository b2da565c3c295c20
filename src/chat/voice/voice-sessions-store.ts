import type { Database } from '../../kit/database/database.ts';
import { newId } from '../../kit/ids.ts';
import { toStorableText } from '../../kit/storable-json.ts';
import { VoiceSession, type PendingUntil, type VoiceSessions } from './voice-sessions.ts';

interface SessionRow {
  readonly conversation_id: string | null;
  readonly orchestration_id: string | null;
  readonly pending: string | null;
}

const idleMinutes = 30;

/** The sessions of all who speak, the same on every replica, for half an hour after the last command. */
export class StoredVoiceSessions implements VoiceSessions {
  readonly #sql: Pick<Database, 'query'>;

  constructor(sql: Pick<Database, 'query'>) {
    this.#sql = sql;
  }

  async open(ownerId: string, id?: string): Promise<VoiceSession> {
    if (id === undefined) return new VoiceSession(newId('vse'));
    const [row] = await this.#sql.query<SessionRow>(
      `with forgotten as (
         delete from chat.voice_sessions
         where used_at < now() - make_interval(mins => ${idleMinutes})
       ), held as (
         select * from chat.voice_sessions where owner_id = $1 and id = $2
           and used_at >= now() - make_interval(mins => ${idleMinutes})
         for update
       ), taken as (
         update chat.voice_sessions s set pending = null, used_at = now() from held
         where s.owner_id = held.owner_id and s.id = held.id
       )
       select conversation_id, orchestration_id, pending from held`,
      [ownerId, toStorableText(id)],
    );
    const {
      conversation_id: conversationId,
      orchestration_id: orchestrationId,
      pending,
    } = row ?? nothing;
    return new VoiceSession(id, {
      conversationId: conversationId ?? undefined,
      orchestrationId: orchestrationId ?? undefined,
      pending: pending === null ? undefined : (JSON.parse(pending) as PendingUntil),
    });
  }

  async save(ownerId: string, session: VoiceSession): Promise<void> {
    const { id, conversationId, orchestrationId, pending, changes } = session;
    if (changes.length === 0) return;
    const pendingText = pending === undefined ? null : JSON.stringify(pending);
    await this.#sql.query(
      `insert into chat.voice_sessions as s
         (owner_id, id, conversation_id, orchestration_id, pending, used_at)
       values ($1, $2, $3, $4, $5, now())
       on conflict (owner_id, id) do update set
         conversation_id = case when 'conversation' = any($6::text[])
           then excluded.conversation_id else s.conversation_id end,
         orchestration_id = case when 'orchestration' = any($6::text[])
           then excluded.orchestration_id else s.orchestration_id end,
         pending = case when 'pending' = any($6::text[]) then excluded.pending else s.pending end,
         used_at = now()`,
      [ownerId, toStorableText(id), conversationId, orchestrationId, pendingText, changes],
    );
  }
}

const nothing: SessionRow = { conversation_id: null, orchestration_id: null, pending: null };
