import { DatabaseError } from 'pg';
import { Fault } from '../errors.ts';

/** The five-character SQLSTATE of an error that the database raised, else undefined. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof DatabaseError ? error.code : undefined;
}

/** True for SQLSTATE 23505, of the named constraint or index when one is given. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  if (!(error instanceof DatabaseError) || error.code !== '23505') return false;
  return constraint === undefined || error.constraint === constraint;
}

/** A server that restarts is back within seconds; what is tried sooner only adds to its load. */
const retryAfterSeconds = 5;
/** Somebody has to make room first. */
const fullDiskRetryAfterSeconds = 60;

/**
 * What a caller of the database sees of a thrown value: a lost or refused connection as Fault
 * `unavailable` with a time to try again, and so a full disk; a statement that ran too long as `deadline`,
 * everything else unchanged.
 */
export function translateError(error: unknown): unknown {
  const state = sqlState(error);
  if (state === '57014') {
    return new Fault('deadline', 'a database statement ran too long', { cause: error });
  }
  if (state === '53100') {
    return new Fault('unavailable', "the database's disk is full", {
      cause: error,
      reason: 'disk_full',
      retryAfter: fullDiskRetryAfterSeconds,
    });
  }
  const isGone = state === undefined ? isConnectionError(error) : isShutdownState(state);
  if (!isGone) return error;
  return databaseAway(error);
}

/** The Fault `unavailable` of a database that does not answer, with a time to try again. */
export function databaseAway(cause?: unknown): Fault {
  return new Fault('unavailable', 'the database does not answer', {
    cause,
    retryAfter: retryAfterSeconds,
  });
}

// Class 08 is a connection exception, 57P01-57P05 a server that shuts down or starts, 53300 one
// without a free connection.
function isShutdownState(state: string): boolean {
  return state.startsWith('08') || state.startsWith('57P0') || state === '53300';
}

// The driver throws plain Errors, told apart only by their sentences (pg and pg-pool 8).
const connectionSentences = [
  'Connection terminated',
  'Client has encountered a connection error',
  'Client was closed',
  'Cannot use a pool after calling end',
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Query read timeout',
];

function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof Fault) return false;
  if ('syscall' in error) return true;
  if (error instanceof AggregateError) return error.errors.some(isConnectionError);
  return connectionSentences.some((sentence) => error.message.startsWith(sentence));
}
