import type { ToolCall } from '../conversations/conversation.ts';
import { readLastWord } from './beginnings-store.ts';
import { flaw } from './request-messages.ts';
import { conversationNotFound, turnInProgress } from './turn-faults.ts';
import type { RequestMessage, Turn } from './turn.ts';
import type { TurnSql } from './turns-store.ts';

/**
 * The place behind which the results at the end of `messages` belong. Refuses results of which no model would be
 * told, and those that leave a call of the last answer without one.
 */
export async function placeForResults(
  sql: TurnSql,
  turn: Pick<Turn, 'conversationId' | 'ownerId'>,
  messages: readonly RequestMessage[],
): Promise<number> {
  const last = await readLastWord(sql, turn);
  if (!last) throw conversationNotFound();
  if (last.status === 'pending') throw turnInProgress();
  checkResults(
    messages,
    last.tool_calls === null ? [] : (JSON.parse(last.tool_calls) as ToolCall[]),
  );
  return last.place;
}

function checkResults(messages: readonly RequestMessage[], calls: readonly ToolCall[]): void {
  const open = calls.map(({ id }) => id);
  const start = messages.findLastIndex(({ role }) => role !== 'tool') + 1;
  for (const [at, { tool_call_id: id }] of messages.slice(start).entries()) {
    const answered = open.findIndex((one) => one === id);
    if (answered < 0) {
      const path = `messages.${start + at}.tool_call_id`;
      throw flaw(path, 'must be the id of a call of the last answer, each once');
    }
    open.splice(answered, 1);
  }
  if (open.length === 0) return;
  throw flaw(
    'messages',
    `must hold results for all calls of the last answer, also ${open.join(', ')}`,
  );
}
