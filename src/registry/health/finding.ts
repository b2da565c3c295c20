import { Fault } from '../../kit/errors.ts';
import { isRateLimited } from '../links/link-faults.ts';

/** What one exchange with a server showed. */
export type Finding =
  | { readonly isAnswered: true; readonly responseTimeMs: number }
  | ({ readonly isAnswered: false; readonly responseTimeMs: number } & Failure);

/** Why there was no answer. */
export interface Failure {
  /** Lower snake case; see `sentences`. */
  readonly reason: string;
  /** A sentence that is safe for callers. */
  readonly message: string;
}

/** A refusal does not pass by itself: the first one says all. */
const refusals: ReadonlySet<string> = new Set([
  'command_not_allowed',
  'approval_required',
  'command_changed',
  'authorization_required',
  'insufficient_scope',
  'egress_blocked',
]);

const sentences: Readonly<Record<string, string>> = {
  command_not_allowed: 'the command is not among those that may run here',
  approval_required: 'nobody who may run commands has approved this one',
  authorization_required: 'the server asks for an authorization',
  insufficient_scope: 'the server asks for an authorization with a wider scope',
  authorization_server_away: 'the authorization server could not be reached to renew the access',
  egress_blocked: 'the address is one that must not be called',
  // The same for a closed port and an unknown name, as `timeout` is for a filtered port and a silent one.
  unreachable: 'no MCP server answered there',
  timeout: 'the server did not answer in time',
  protocol_unsupported: 'the server speaks a revision of MCP that is not known here',
  not_mcp: 'what answered there is no MCP server',
  wrong_id: 'the server answered under another id than that of the request',
  answer_too_large: 'the server answered more than is taken',
  process_exited: 'the process has ended',
  spawn_failed: 'the command could not be run',
  restarting_too_often: 'the process ended too often and waits before it is run again',
  too_many_processes: 'too many processes run already',
  memory_exceeded: 'the process took more memory than it may',
  redirect_refused: 'the server points to an address that cannot be called',
  redirect_loop: 'the server points elsewhere more often than is followed',
  server_error: 'the server answered with an error',
  http_status: 'the server answered with an HTTP status that says no',
  input_required: 'the server asks for further input',
  answer_cut_off: 'the connection ended before the answer was complete',
  link_closed: 'the connection was closed',
  session_lost: 'the server forgot the session',
  process_not_reading: 'the process does not take what is written to it',
  command_changed: 'the command is another one than it was when it was approved',
  calls_failed: 'calls of the server failed',
  connection_lost: 'the connection broke',
  no_endpoint: 'it named nothing that could be asked',
  disconnected: 'it was disconnected',
};

const methodNotFound = -32_601;

export function isRefusal(reason: string): boolean {
  return refusals.has(reason);
}

/** The failure with this reason, in words. */
export function failureOf(reason: string): Failure {
  return { reason, message: sentences[reason] ?? 'the check failed' };
}

/**
 * Why an exchange failed; `wasOpen`: there was a server at the other end already. Silence is `timeout`
 * whether a server hangs or a port is filtered, so that it tells no more than how long the check took.
 */
export function explain(error: unknown, wasOpen: boolean): Failure {
  const { code, reason } = Fault.from(error);
  if (reason !== undefined && reason in sentences) return failureOf(reason);
  if (code === 'deadline' || code === 'cancelled') return failureOf('timeout');
  if (code === 'upstream' && wasOpen) return failureOf('server_error');
  return failureOf(code === 'upstream' ? 'not_mcp' : 'unreachable');
}

/** True when the server answered that it does not know the question, or not so often: it is there. */
export function isAnswerAfterAll(error: unknown): boolean {
  if (!(error instanceof Fault)) return false;
  const isUnknown = error.reason === 'server_error' && error.detail['code'] === methodNotFound;
  return isUnknown || isRateLimited(error);
}
