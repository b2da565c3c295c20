import { codes, Fault, type Code } from '../../kit/errors.ts';
import type { TurnEvent } from './turn.ts';

/** The refusal for a turn that is not there, or is not the caller's. */
export function turnNotFound(): Fault {
  return new Fault('not_found', 'there is no such turn', { reason: 'turn_not_found' });
}

export function conversationNotFound(): Fault {
  return new Fault('not_found', 'there is no such conversation', {
    reason: 'conversation_not_found',
  });
}

export function turnInProgress(): Fault {
  const message =
    'the last answer of this conversation is still being written, or waits for an approval';
  return new Fault('conflict', message, { reason: 'turn_in_progress' });
}

type Failure = Extract<TurnEvent, { type: 'failed' }>;

/** What is told of a failure: nothing of what is behind one of ours. */
export function failureOf(fault: Fault): Omit<Failure, 'seq'> {
  const { code, reason, message, retryAfter } = fault;
  return {
    type: 'failed',
    code: (reason ?? code).toUpperCase(),
    message,
    kind: code,
    ...(retryAfter === undefined ? {} : { retryAfter }),
  };
}

/** The failure as a Fault again, for answers that have no other words. */
export function faultOf({ code, message, kind, retryAfter }: Failure): Fault {
  const known: Code = kind !== undefined && kind in codes ? (kind as Code) : 'unavailable';
  return new Fault(known, message, {
    reason: code.toLowerCase(),
    ...(retryAfter === undefined ? {} : { retryAfter }),
  });
}

/** The failure of a turn that others have ended, or whose process stops. */
export function turnLost(): Fault {
  return new Fault('unavailable', 'the answer was interrupted', {
    reason: 'interrupted',
    retryAfter: 1,
  });
}

/** Why an answer was read no further though it goes on: its reader left, or the process stops. */
export function readingEnded({ aborted, reason }: AbortSignal): Fault {
  return aborted ? Fault.from(reason) : turnLost();
}

/** Why somebody is told no more: what waits for them would be too much. */
export function readTooSlowly(): Fault {
  return new Fault('exhausted', 'this is read too slowly: go on behind what came last', {
    reason: 'slow_reader',
  });
}

/** Why somebody is told no more: events of other replicas were lost on their way. */
export function eventsLost(): Fault {
  return new Fault('unavailable', 'events were lost: go on behind what came last', {
    reason: 'events_lost',
    retryAfter: 1,
  });
}

/** The refusal of new turns while the process stops. */
export function turnsClosed(): Fault {
  return new Fault('unavailable', 'the service is stopping', { retryAfter: 5 });
}
