import { Fault } from '../../kit/errors.ts';
import type { Conversations, Usage } from '../conversations/conversation.ts';
import { unknownOutcome } from './history.ts';
import { notMade, refusedByUser, type CallResult } from './tool-calls.ts';
import { failureOf, turnLost } from './turn-faults.ts';
import type { NewEvent } from './turn-feed.ts';
import type { TurnLog } from './turn-log.ts';
import type { TurnRecord } from './turn-record.ts';
import type { CallState, PastMessage, StoredTurn, TurnGround } from './turn-row.ts';

export interface Orphan {
  readonly stored: StoredTurn;
  readonly record: TurnRecord;
  /** Of its conversation, as it is stored; absent without one. */
  readonly ground: TurnGround | undefined;
}

/**
 * Ends a turn whose process died, or could not store its end: what it had written until then stays, what
 * is known of its calls is stored, and nothing is asked or called again.
 */
export async function endOrphan({ stored, record, ground }: Orphan): Promise<void> {
  const { log } = record.feed;
  const after = log.lastSeq;
  const content = answerIn(log, stored.turn.messageId);
  const last = ground?.history.at(-1);
  if (isWhole(last)) {
    // Its readers may lack a part: they must not take it for all.
    const end = last.content === content ? endOf(stored, 'completed') : failureOf(turnLost());
    return record.save({ status: 'completed' }, [{ ...end, after }]);
  }
  const status = stored.isStopping ? 'stopped' : 'interrupted';
  await record.completeMessage(status, { content, usage: undefined }).catch((error: unknown) => {
    // It ended before its turn could. A turn whose message could not be ended is not ended either.
    if (Fault.from(error).code !== 'not_found') throw error;
  });
  const results = missingResults(stored.calls, log, ground?.history ?? []);
  if (results.length > 0) await record.append(results);
  const end = stored.isStopping
    ? endOf(stored, 'stopped', log.usageOfCalls)
    : failureOf(turnLost());
  await record.save({ status }, [{ ...end, after }]);
}

/** Closes the calls of a waiting turn that its user stops. */
export async function closeCalls(
  conversations: Pick<Conversations, 'append'>,
  { turn, calls }: StoredTurn,
): Promise<void> {
  const { ownerId, conversationId, id: turnId } = turn;
  if (conversationId === undefined) return;
  const open = calls.filter(({ phase }) => phase !== 'done');
  const messages = open.map(({ call, phase }) => ({
    role: 'tool' as const,
    status: 'complete' as const,
    content: phase === 'refused' ? refusedByUser : notMade,
    toolCallId: call.id,
    turnId,
  }));
  await conversations.append(ownerId, conversationId, messages);
}

/** The last event of a turn that ends without an answer of the model. */
export function endOf(
  { turn }: StoredTurn,
  status: 'completed' | 'stopped',
  usage?: Usage,
): Extract<NewEvent, { readonly type: 'ended' }> {
  const { messageId, model } = turn;
  const ended = { type: 'ended', status, finishReason: 'stop', messageId, model } as const;
  return { ...ended, ...(usage ? { usage } : {}) };
}

/** The answer was stored, and only its turn was not ended. */
function isWhole(last: PastMessage | undefined): last is PastMessage {
  return last?.role === 'assistant' && last.status === 'complete' && last.tool_calls === null;
}

function answerIn(log: TurnLog, messageId: string): string {
  const begun = log.begunAt(log.lastSeq);
  if (begun?.messageId !== messageId) return '';
  return log
    .since(begun.seq)
    .map((event) => (event.type === 'delta' ? event.content : ''))
    .join('');
}

function missingResults(
  calls: readonly CallState[],
  log: TurnLog,
  history: readonly PastMessage[],
): CallResult[] {
  const round = history.slice(history.findLastIndex(({ tool_calls: made }) => made !== null) + 1);
  const stored = new Set(round.map(({ tool_call_id: id }) => id));
  const told = log.begunAt(log.lastSeq)?.seq ?? 0;
  const results = new Map(
    log
      .since(told)
      .flatMap((event) => (event.type === 'tool-result' ? [[event.callId, event] as const] : [])),
  );
  return calls
    .filter(({ call }) => !stored.has(call.id))
    .map(({ call, phase }) => {
      const result = results.get(call.id);
      const content = result?.content ?? outcomeOf(phase);
      return { call, content, isError: result?.isError ?? true };
    });
}

function outcomeOf(phase: CallState['phase']): string {
  if (phase === 'refused') return refusedByUser;
  return phase === 'begun' ? unknownOutcome : notMade;
}
