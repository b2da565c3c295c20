import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client';
import { Fault } from '../../kit/errors.ts';
import { readRetryAfter } from '../../kit/time/retry-after.ts';
import type { ServerIdentity } from './link.ts';

/** Reasons of failures that struck before the server got the message: repeating it is safe. */
const neverSentReasons: ReadonlySet<string> = new Set(['link_closed', 'session_lost']);
/** Of errors that strike before there is a connection. */
const unconnectedCodes: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);
/** How messages are refused that a server takes for none of its protocol. */
const strangeStatuses: ReadonlySet<unknown> = new Set([400, 404, 405]);
const invalidRequest = -32_600;
const methodNotFound = -32_601;
const internalError = -32_603;
const unsupportedProtocolVersion = -32_022;
/** Legacy servers need not know `ping`: `methodNotFound` from one tells nothing. */
const strangeCodes: Readonly<Record<ServerIdentity['era'], ReadonlySet<unknown>>> = {
  modern: new Set([invalidRequest, methodNotFound, unsupportedProtocolVersion]),
  legacy: new Set([invalidRequest, unsupportedProtocolVersion]),
};
/** What the client says when the server answers `initialize` with a revision that it does not know. */
const unknownRevision = /^Server's protocol version is not supported: ([\w.-]{1,32})$/;
const messageLengthMax = 1_000;
const scopeLengthMax = 500;
const dataBytesMax = 16 * 1024;
const retrySecondsMax = 24 * 60 * 60;

/** Whether the server cannot have begun what failed, so that a new link may carry it again. */
export function isNeverSent(error: unknown): boolean {
  return error instanceof Fault && neverSentReasons.has(error.reason ?? '');
}

/** Whether nothing of it was sent: not even a connection to the server came about. */
export function isUnsent(error: unknown): boolean {
  if (isNeverSent(error)) return true;
  if (!(error instanceof Fault) || error.reason !== 'unreachable') return false;
  const { cause } = error;
  return cause instanceof Error && 'code' in cause && unconnectedCodes.has(cause.code);
}

/** How something was asked that failed. */
export interface Asked {
  readonly era: ServerIdentity['era'];
  /** By `Link.probe`, which no server of the same era has a reason to refuse. */
  readonly isProbe: boolean;
}

/** Whether a server of the other protocol era would have refused it so, before it began anything. */
export function isOfOtherEra(error: unknown, { era, isProbe }: Asked): boolean {
  if (!(error instanceof Fault)) return false;
  const { reason, detail } = error;
  if (reason === 'http_status') return strangeStatuses.has(detail['status']);
  if (reason !== 'server_error') return false;
  return (isProbe && era === 'modern') || strangeCodes[era].has(detail['code']);
}

/** Whether a server that was reached may have failed over a question that it does not know. */
export function isOverQuestion({ reason, detail }: Fault): boolean {
  if (reason === 'http_status') return Number(detail['status']) >= 500;
  return reason === 'answer_cut_off' || reason === 'not_mcp';
}

/** Any error of the MCP client as the Fault that `Link` promises; the signal is the caller's own. */
export function toLinkFault(thrown: unknown, signal?: AbortSignal): Fault {
  if (signal?.aborted) return abortFault(signal.reason);
  const fault = findFault(thrown);
  if (fault) return fault;
  if (!(thrown instanceof Error)) return notMcp(thrown);
  if ('requiredScope' in thrown) return insufficientScope(thrown.requiredScope, thrown);
  const revision = unknownRevision.exec(thrown.message)?.[1];
  if (revision !== undefined) return protocolUnsupported(revision, thrown);
  const code = 'code' in thrown ? thrown.code : undefined;
  if (typeof code === 'number') return serverError(thrown, code);
  const refusal = findRefusal(thrown);
  if (refusal) return statusFault(refusal.status, { message: refusal.message, cause: thrown });
  return (faultsByCode.get(String(code)) ?? fallback)(thrown);
}

function protocolUnsupported(protocolVersion: string, cause: Error): Fault {
  const message = `the server speaks MCP ${protocolVersion}, which is not known here`;
  return new Fault('upstream', message, {
    reason: 'protocol_unsupported',
    detail: { protocolVersion },
    cause,
  });
}

/** The access token does not reach so far; the server may say what would. */
function insufficientScope(required: unknown, cause: Error): Fault {
  const detail = typeof required === 'string' ? { scope: required.slice(0, scopeLengthMax) } : {};
  return new Fault('upstream', 'the server requires an authorization with a wider scope', {
    reason: 'insufficient_scope',
    detail,
    cause,
  });
}

/** The server wants to be called with an access token, or with another one. */
export function authorizationRequired(cause?: unknown): Fault {
  return new Fault('upstream', 'the server requires authorization', {
    reason: 'authorization_required',
    cause,
  });
}

/** The refusal of an answer that is larger than its bound. */
export function answerTooLarge(bytesMax: number): Fault {
  return new Fault('upstream', `the server's answer is larger than ${bytesMax} bytes`, {
    reason: 'answer_too_large',
  });
}

/** The link was closed before this exchange, or under it. */
export function linkClosed(cause?: unknown): Fault {
  return new Fault('unavailable', 'the connection to the server was closed', {
    reason: 'link_closed',
    cause,
  });
}

/** The connection ended after the message went out: whether the server acted on it is unknown. */
export function answerCutOff(cause?: unknown): Fault {
  return new Fault('unavailable', 'the connection ended before the answer was complete', {
    reason: 'answer_cut_off',
    cause,
  });
}

/** One sentence for a closed port, a silent one and an unknown name. */
export function unreachable(cause?: unknown): Fault {
  return new Fault('unavailable', 'the server cannot be reached', { reason: 'unreachable', cause });
}

/** An answer in place of one that cannot be taken, so that who waits for it learns of that. */
export function faultAnswer(id: RequestId, fault: Fault): JSONRPCMessage {
  return {
    jsonrpc: '2.0',
    id,
    error: { code: internalError, message: fault.message, data: fault },
  };
}

/** The answer is no message of MCP. */
export function notMcp(cause?: unknown): Fault {
  return new Fault('upstream', 'the server did not answer as an MCP server does', {
    reason: 'not_mcp',
    cause,
  });
}

/** The answer came, under an id that nobody had asked with. */
export function wrongId(): Fault {
  return new Fault('upstream', 'the server answered under another id than that of the request', {
    reason: 'wrong_id',
  });
}

export interface StatusFacts {
  /** What it said as a JSON-RPC error: any other body may tell what only its operator may know. */
  readonly message?: string | undefined;
  /** Its `Retry-After`. */
  readonly retryAfter?: string | null | undefined;
  readonly cause?: unknown;
}

const tooManyRequests = 429;

/** Whether a server limits its callers: it is there, and would only be asked the more by checks. */
export function isRateLimited({ reason, detail }: Fault): boolean {
  return reason === 'http_status' && detail['status'] === tooManyRequests;
}

/** The server answered with a status that says no; 401 asks for authorization. */
export function statusFault(
  status: number,
  { message, retryAfter, cause }: StatusFacts = {},
): Fault {
  if (status === 401) return authorizationRequired(cause);
  const said = message === undefined ? '' : `: ${message}`;
  const asked = readRetryAfter(retryAfter);
  const seconds = asked === undefined ? undefined : Math.min(asked, retrySecondsMax);
  const wait = seconds === undefined ? '' : `, and asks to wait ${seconds} s`;
  return new Fault('upstream', `the server answered with the HTTP status ${status}${wait}${said}`, {
    reason: 'http_status',
    detail: { status, ...(message === undefined ? {} : { message }) },
    ...(seconds === undefined ? {} : { retryAfter: seconds }),
    cause,
  });
}

/** A status that asks to wait, with the time and with the words of a JSON-RPC error. */
export function waitFault(status: number, retryAfter: string, body: string): Fault {
  return statusFault(status, { retryAfter, message: findErrorMessage(body) });
}

const fallback = notMcp;

const faultsByCode: ReadonlyMap<string, (cause: Error) => Fault> = new Map([
  [
    'REQUEST_TIMEOUT',
    (cause) =>
      new Fault('deadline', 'the server did not answer in time', { reason: 'timeout', cause }),
  ],
  ['CONNECTION_CLOSED', answerCutOff],
  ['NOT_CONNECTED', linkClosed],
  [
    'UNSUPPORTED_RESULT_TYPE',
    (cause) =>
      new Fault('upstream', 'the server asks for further input, which nobody here can give', {
        reason: 'input_required',
        cause,
      }),
  ],
  [
    'CAPABILITY_NOT_SUPPORTED',
    (cause) =>
      new Fault('upstream', 'the server does not offer this', {
        reason: 'server_error',
        detail: { code: methodNotFound, message: 'not offered' },
        cause,
      }),
  ],
]);

function findFault(thrown: unknown): Fault | undefined {
  let error = thrown;
  for (let depth = 0; depth < 8 && error instanceof Error; depth++) {
    if (error instanceof Fault) return error;
    if ('data' in error && error.data instanceof Fault) return error.data;
    if (error.message === 'Not connected') return linkClosed(error);
    error = error.cause;
  }
  return undefined;
}

interface Refusal {
  readonly status: number;
  readonly message: string | undefined;
}

/** The status of an answer that said no, and the words of the JSON-RPC error that came with it. */
function findRefusal(error: Error): Refusal | undefined {
  const data: unknown = 'data' in error ? error.data : undefined;
  const isStatus = typeof data === 'object' && data !== null && 'status' in data;
  if (!isStatus || typeof data.status !== 'number') return undefined;
  const text = 'text' in data && typeof data.text === 'string' ? data.text : '';
  return { status: data.status, message: findErrorMessage(text) };
}

function findErrorMessage(body: string): string | undefined {
  try {
    // Whatever else it is shows when it is read.
    const answer = JSON.parse(body) as { readonly error?: { readonly message?: unknown } } | null;
    const message = answer?.error?.message;
    return typeof message === 'string' ? message.slice(0, messageLengthMax) : undefined;
  } catch {
    return undefined;
  }
}

function serverError(error: Error, code: number): Fault {
  const message = error.message.slice(0, messageLengthMax);
  const data: unknown = 'data' in error ? error.data : undefined;
  const isDataKept = data !== undefined && JSON.stringify(data).length <= dataBytesMax;
  return new Fault('upstream', `the server refused: ${message}`, {
    reason: 'server_error',
    detail: { code, message, ...(isDataKept ? { data } : {}) },
    cause: error,
  });
}

function abortFault(reason: unknown): Fault {
  if (reason instanceof Fault) return reason;
  const isLate = reason instanceof Error && reason.name === 'TimeoutError';
  if (isLate) return new Fault('deadline', 'the server did not answer in time', { cause: reason });
  return new Fault('cancelled', 'the caller gave up', { cause: reason });
}
