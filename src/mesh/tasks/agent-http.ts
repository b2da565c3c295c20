import type { Egress, EgressRequest, EgressResponse } from '../../kit/egress/egress.ts';
import { Fault } from '../../kit/errors.ts';
import { parseJsonBody } from '../../kit/http/json-body.ts';
import type { Agent } from '../agents/agent.ts';
import { notStarted, outcomeUnknown, type AgentCall } from './caller.ts';

/** The most that an agent may answer. */
export const resultBytesMax = 1024 * 1024;

const cancelTimeoutMs = 5_000;

export interface AgentHttpRequest extends Pick<EgressRequest, 'method' | 'headers' | 'body'> {
  readonly url: string;
}

/**
 * Sends a request to an agent's own address: guarded, to nowhere else, bounded in time and size.
 * Rejects with a CallFailure, or with the signal's reason.
 */
export async function askAgent(
  egress: Pick<Egress, 'fetch'>,
  { agent, signal, deadlineAtMs }: AgentCall,
  { url, ...request }: AgentHttpRequest,
): Promise<EgressResponse> {
  try {
    return await egress.fetch(url, {
      ...request,
      // The signal is the clock; this bounds what does not heed it.
      timeoutMs: Math.max(1, deadlineAtMs - Date.now()) + 1_000,
      responseBytesMax: resultBytesMax,
      isRedirectFollowed: false,
      signal,
    });
  } catch (error) {
    signal.throwIfAborted();
    throw failureOf(agent, error);
  }
}

/** Sends what needs no answer; never rejects. */
export async function tellAgent(
  egress: Pick<Egress, 'fetch'>,
  { url, ...request }: AgentHttpRequest,
): Promise<void> {
  const options = { ...request, timeoutMs: cancelTimeoutMs, isRedirectFollowed: false };
  await egress.fetch(url, options).catch(() => {});
}

/** The JSON of an answer, null for an empty one; what is none, or forged, fails as `unknown`. */
export function jsonOf(agent: Agent, answer: EgressResponse): unknown {
  const text = answer.text();
  if (text.trim() === '') return null;
  try {
    return parseJsonBody(text);
  } catch (cause) {
    throw outcomeUnknown(agent, 'the agent answered what is no JSON', {
      cause,
      reason: 'invalid_answer',
    });
  }
}

function failureOf(agent: Agent, error: unknown) {
  const fault = Fault.from(error);
  if (fault.code === 'forbidden' || fault.code === 'invalid' || hasCode(fault.cause, unconnected)) {
    const reason = fault.code === 'forbidden' ? 'egress_blocked' : 'agent_unreachable';
    return notStarted(agent, reason, { cause: fault });
  }
  const reason = reasonOf(fault);
  return outcomeUnknown(agent, `the agent failed: ${fault.message}`, { cause: fault, reason });
}

/** The same words for the same thing as over gRPC. */
function reasonOf({ reason, cause }: Fault): string {
  if (reason === 'response_too_large') return 'result_too_large';
  return reason ?? (hasCode(cause, lost) ? 'connection_lost' : 'agent_failed');
}

/** A connection that stood, and does no more. */
const lost = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/** No connection stood: then the agent has seen nothing. */
const unconnected = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_NODATA',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

function hasCode(error: unknown, codes: ReadonlySet<string>): boolean {
  if (!(error instanceof Error)) return false;
  return 'code' in error && typeof error.code === 'string' && codes.has(error.code);
}
