import { Fault } from '../../kit/errors.ts';
import type { SocketRoute } from '../../kit/contract.ts';
import type { Connection } from '../../kit/sockets/connection.ts';
import { SubscribeMessages } from '../../kit/sockets/subscription.ts';

/** Where the events of one subscription go. */
export interface Reader {
  /** Resolves once the reader has room for it: nothing is left out for a slow one. */
  send(event: object): Promise<void>;
  close(code: number, reason: string): void;
  /** Aborted with the connection, and by a subscription that replaces this one. */
  readonly signal: AbortSignal;
}

/**
 * Serves a stream whose events lie in the database: it begins at once, and `{action: 'subscribe'}` begins
 * it anew behind its `after`. Events that cannot be read close with 1013.
 */
export function serveReplay<R extends SocketRoute>(
  connection: Connection<R>,
  {
    after: first,
    tell,
  }: {
    readonly after: number;
    readonly tell: (after: number, reader: Reader) => Promise<void>;
  },
): void {
  const messages = new SubscribeMessages(connection);
  let current = new AbortController();
  connection.signal.addEventListener('abort', () => current.abort(), { once: true });
  const begin = (after: number): void => {
    current.abort();
    current = new AbortController();
    const reader = readerOf(connection, current.signal);
    tell(after, reader).catch((error: unknown) => {
      if (reader.signal.aborted) return;
      connection.sendFault(Fault.from(error));
      connection.close(1013, 'events cannot be read now: come again');
    });
  };
  connection.onMessage((text) => {
    const message = messages.read(text);
    if (!message) return;
    const { after = 0, ack = false } = message;
    if (ack) connection.send({ type: 'subscribed', seq: after });
    begin(after);
  });
  begin(first);
}

function readerOf(
  connection: Pick<Connection, 'send' | 'room' | 'close'>,
  signal: AbortSignal,
): Reader {
  return {
    signal,
    send: async (event) => {
      while (!signal.aborted && !connection.send(event)) await connection.room();
    },
    close: (code, reason) => {
      if (!signal.aborted) connection.close(code, reason);
    },
  };
}
