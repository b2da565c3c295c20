import { on } from 'node:events';
import { resolve as resolvePath } from 'node:path';
import { WebSocket } from 'ws';
import { addressBook } from '../addresses.ts';
import { authContract } from '../auth/contract.ts';
import { createClient, type Client } from '../kit/client.ts';
import { processEnvironment, readConfig } from '../kit/config.ts';
import { Fault } from '../kit/errors.ts';
import { addressSetting, suiteSettings } from '../suite-settings.ts';
import { tracerContract } from '../tracer/contract.ts';
import type { AdministrationOptions } from './administration.ts';
import { tracer } from './auth-session.ts';
import { logIn } from './login.ts';

export type TracerClient = Client<typeof tracerContract>;

/** The tracer of a running suite, with the operator's identity. */
export interface TraceAccess extends AsyncDisposable {
  readonly client: TracerClient;
  /** Opens the stream of traces and subscribes with the filters. */
  tail(filters: TailFilters): Promise<AsyncIterable<unknown>>;
}

/** As the stream takes them; absent ones let everything through. */
export interface TailFilters {
  readonly agents?: readonly string[];
  /** Milliseconds. */
  readonly minDuration?: number;
  readonly status?: readonly string[];
}

/** Finds the tracer that the settings name. */
export async function openTraces(options: AdministrationOptions): Promise<TraceAccess> {
  const place = readPlace();
  const login = await logIn(place, options);
  const { token, forgetToken } = login;
  const client = createClient(tracerContract, {
    baseUrl: place.tracerUrl,
    tracer,
    token,
    ...(forgetToken ? { forgetToken } : {}),
  });
  return {
    client,
    tail: (filters) => tail({ ...place, token }, filters),
    [Symbol.asyncDispose]: () => login[Symbol.asyncDispose](),
  };
}

/** Says what to do about a tracer that is not there. */
export function explainTracer(error: unknown): unknown {
  const isAway = error instanceof Fault && error.code === 'unavailable';
  if (!isAway) return error;
  const { tracerUrl } = readPlace();
  const sentence = `tracer cannot be reached at ${tracerUrl}: is the suite running? Start it with "ennead up"`;
  return new Fault('unavailable', sentence, { cause: error });
}

function readPlace() {
  const groups = {
    suite: suiteSettings,
    addresses: {
      auth: addressSetting(authContract.name),
      tracer: addressSetting(tracerContract.name),
    },
  };
  const { suite, addresses } = readConfig(groups, processEnvironment());
  const addressOf = (service: string) =>
    service === authContract.name ? addresses.auth : addresses.tracer;
  const book = addressBook({ suite, addressOf }, []);
  return {
    suite,
    authUrl: book.urlOf(authContract.name),
    tracerUrl: book.urlOf(tracerContract.name),
    dataFolder: resolvePath(suite.dataFolder),
  };
}

interface TailPlace {
  readonly tracerUrl: string;
  readonly token: () => Promise<string>;
}

async function tail(
  { tracerUrl, token }: TailPlace,
  filters: TailFilters,
): Promise<AsyncIterable<unknown>> {
  const url = `${tracerUrl.replace(/^http/, 'ws')}/api/v1/traces/stream`;
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${await token()}` } });
  const events = readEvents(socket);
  await opened(socket);
  socket.send(JSON.stringify({ action: 'subscribe', filters }));
  return events;
}

/** Waits until the stream is open; throws what the service refused it with. */
function opened(socket: WebSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve());
    socket.once('unexpected-response', (_, { statusCode = 502 }) => {
      reject(new Fault(Fault.codeOf(statusCode), `tracer refused the stream (${statusCode})`));
    });
    socket.once('error', (cause) => {
      reject(new Fault('unavailable', 'tracer cannot be reached', { cause }));
    });
  });
}

/** Each message as it comes; ends when the service closes, throws when the stream breaks off. */
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
