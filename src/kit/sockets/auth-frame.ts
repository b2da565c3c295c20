import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { Fault, type Code } from '../errors.ts';
import { tryParseJsonBody } from '../http/json-body.ts';
import { invalidToken } from '../identity/claims.ts';
import type { SocketConnection } from './connection.ts';

const authFrame = Type.Object({ auth: Type.Object({ token: Type.String({ minLength: 1 }) }) });

/** Codes for private use (RFC 6455, section 7.4.2), after the statuses of HTTP. */
const closeCodes: Partial<Record<Code, number>> = {
  unauthenticated: 4401,
  forbidden: 4403,
  not_found: 4404,
  exhausted: 4429,
  unavailable: 1013,
};

export interface AuthFrameOptions {
  /** How long the peer may take to say who they are. */
  readonly limitMs: number;
  /** Lets the peer in by the token; what it throws closes the connection. */
  readonly admit: (token: string) => Promise<void>;
}

/**
 * Takes the first message of a connection, which must say who its peer is. What comes behind it waits
 * until somebody is there to handle it.
 */
export function awaitAuthFrame(
  connection: SocketConnection,
  { limitMs, admit }: AuthFrameOptions,
): void {
  const refuse = (fault: Fault) =>
    connection.close(closeCodes[fault.code] ?? 1011, reasonOf(fault.message));
  const timer = setTimeout(() => refuse(invalidToken('no token came in time')), limitMs).unref();
  connection.signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
  connection.onMessage(async (text) => {
    connection.offMessage();
    try {
      await admit(readToken(text));
    } catch (error) {
      refuse(Fault.from(error));
    } finally {
      clearTimeout(timer);
    }
  });
}

function readToken(text: string): string {
  const frame = tryParseJsonBody(text);
  if (Value.Check(authFrame, frame)) return frame.auth.token;
  throw invalidToken('the first message must be {"auth": {"token": …}}', 'token_missing');
}

const reasonBytesMax = 123;

/** As much as fits in a close frame (RFC 6455, section 5.5). */
function reasonOf(message: string): string {
  return Buffer.from(message).subarray(0, reasonBytesMax).toString().replace(/�+$/u, '');
}
