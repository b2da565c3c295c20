import { Fault } from '../../kit/errors.ts';
import type { WholeEvent } from './turn-log.ts';
import type { CallState, StoredTurn } from './turn-row.ts';

/** What the user says to a call that needs their approval. */
export interface CallAnswer {
  readonly callId: string;
  readonly isApproved: boolean;
}

export interface Decision {
  readonly calls: readonly CallState[];
  readonly entries: readonly WholeEvent[];
  /** Nothing is left to ask: from now on the approved calls count as begun. */
  readonly isDecided: boolean;
}

/**
 * A waiting turn's calls with its user's answers. Refuses with `conflict` a turn that does not wait
 * (`turn_not_waiting`) and a call that was answered before (`call_answered`), and with `invalid`
 * (`unknown_call`) an answer to what it does not ask.
 */
export function decideCalls(
  { turn, calls, lastSeq }: StoredTurn,
  answers: readonly CallAnswer[],
): Decision {
  if (turn.status !== 'waiting') {
    throw new Fault('conflict', 'the turn waits for no approval', { reason: 'turn_not_waiting' });
  }
  const given = new Map(answers.map(({ callId, isApproved }) => [callId, isApproved]));
  for (const callId of given.keys()) requireAsked(calls, callId);
  const answered = calls.map((state): CallState => {
    const isApproved = given.get(state.call.id);
    if (isApproved === undefined || state.phase !== 'asked') return state;
    return { ...state, phase: isApproved ? 'approved' : 'refused' };
  });
  const isDecided = answered.every(({ phase }) => phase !== 'asked');
  return {
    calls: isDecided ? answered.map(begin) : answered,
    entries: [...given].map(([callId, isApproved], index) => ({
      type: 'approval',
      seq: lastSeq + 1 + index,
      callId,
      isApproved,
    })),
    isDecided,
  };
}

function requireAsked(calls: readonly CallState[], callId: string): void {
  const phase = calls.find(({ call }) => call.id === callId)?.phase;
  if (phase === 'asked') return;
  if (phase === 'approved' || phase === 'refused') {
    throw new Fault('conflict', 'this call was answered already', {
      reason: 'call_answered',
      detail: { call_id: callId },
    });
  }
  throw new Fault('invalid', 'the turn does not ask about this call', {
    reason: 'unknown_call',
    detail: { call_id: callId.slice(0, 100) },
  });
}

function begin(state: CallState): CallState {
  return state.phase === 'approved' ? { ...state, phase: 'begun' } : state;
}
