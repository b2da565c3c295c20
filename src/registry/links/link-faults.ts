import { Fault } from '../../kit/errors.ts';

/** Reasons of failures that struck before the server got the message: repeating it is safe. */
const neverSentReasons: ReadonlySet<string> = new Set(['link_closed', 'session_lost']);
const messageLengthMax = 1_000;
const dataBytesMax = 16 * 1024;

/** Whether the server cannot have begun what failed, so that a new link may carry it again. */
export function isNeverSent(error: unknown): boolean {
  return error instanceof Fault && neverSentReasons.has(error.reason ?? '');
}

/** Any error of the MCP client as the Fault that `Link` promises; the signal is the caller's own. */
export function toLinkFault(thrown: unknown, signal?: AbortSignal): Fault {
  if (signal?.aborted) return abortFault(signal.reason);
  const fault = findFault(thrown);
  if (fault) return fault;
  if (!(thrown instanceof Error)) return notMcp(thrown);
  const code = 'code' in thrown ? thrown.code : undefined;
  if (typeof code === 'number') return serverError(thrown, code);
  const status = findStatus(thrown);
  if (status !== undefined) return statusFault(status, thrown);
  return (faultsByCode.get(String(code)) ?? fallback)(thrown);
}

/** The server wants to be called with an access token, or with a wider one. */
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

/** The answer is no message of MCP. */
export function notMcp(cause?: unknown): Fault {
  return new Fault('upstream', 'the server did not answer as an MCP server does', {
    reason: 'not_mcp',
    cause,
  });
}

/** The server answered with a status that says no; 401 asks for authorization. */
export function statusFault(status: number, cause?: unknown): Fault {
  if (status === 401) return authorizationRequired(cause);
  return new Fault('upstream', `the server answered with the HTTP status ${status}`, {
    reason: 'http_status',
    detail: { status },
    cause,
  });
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
        detail: { code: -32_601, message: 'not offered' },
        cause,
      }),
  ],
]);

function findFault(thrown: unknown): Fault | undefined {
  let error = thrown;
  for (let depth = 0; depth < 8 && error instanceof Error; depth++) {
    if (error instanceof Fault) return error;
    if (error.message === 'Not connected') return linkClosed(error);
    error = error.cause;
  }
  return undefined;
}

function findStatus(error: Error): number | undefined {
  const data: unknown = 'data' in error ? error.data : undefined;
  const isStatus = typeof data === 'object' && data !== null && 'status' in data;
  return isStatus && typeof data.status === 'number' ? data.status : undefined;
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
