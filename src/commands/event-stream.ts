import { on } from 'node:events';
import { WebSocket } from 'ws';
import { Fault } from '../kit/errors.ts';

export interface StreamPlace {
  /** http or https; the socket is of the same host. */
  readonly url: string;
  readonly token: () => Promise<string>;
  /** The service, for what is said of it. */
  readonly service: string;
  /** Is sent once the stream is open, where it has to be subscribed to. */
  readonly subscription?: object;
}

/**
 * Opens a stream: each event as it comes, until the service closes. Throws what the service refused
 * it with, and `unavailable` when it breaks off.
 */
export async function openEvents({
  url,
  token,
  service,
  subscription,
}: StreamPlace): Promise<AsyncIterable<unknown>> {
  const headers = { authorization: `Bearer ${await token()}` };
  const socket = new WebSocket(url.replace(/^http/, 'ws'), { headers });
  const events = readEvents(socket);
  await opened(socket, service);
  if (subscription) socket.send(JSON.stringify(subscription));
  return events;
}

function opened(socket: WebSocket, service: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve());
    socket.once('unexpected-response', (_, { statusCode = 502 }) => {
      reject(new Fault(Fault.codeOf(statusCode), `${service} refused the stream (${statusCode})`));
    });
    socket.once('error', (cause) => {
      reject(new Fault('unavailable', `${service} cannot be reached`, { cause }));
    });
  });
}

function readEvents(socket: WebSocket): AsyncIterable<unknown> {
  // Heard from now on, so that nothing which comes before the first is asked for gets lost.
  const messages = on(socket, 'message', { close: ['close'] });
  const ended = new Promise<Fault | undefined>((resolve) => {
    socket.once('close', (code) => {
      const isUsual = code === 1000 || code === 1001;
      resolve(isUsual ? undefined : new Fault('unavailable', `the stream broke off (${code})`));
    });
  });
  return parseAll(messages, ended);
}

async function* parseAll(
  messages: AsyncIterable<unknown[]>,
  ended: Promise<Fault | undefined>,
): AsyncGenerator {
  // A client gives each message as one Buffer unless told otherwise.
  try {
    for await (const [data] of messages) yield JSON.parse((data as Buffer).toString());
  } catch (cause) {
    throw new Fault('unavailable', 'the stream broke off', { cause });
  }
  const fault = await ended;
  if (fault) throw fault;
}
