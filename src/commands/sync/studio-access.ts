import { WebSocket } from 'ws';
import { createClient, type Client } from '../../kit/client.ts';
import { Fault } from '../../kit/errors.ts';
import { studioContract } from '../../studio/contract.ts';
import type { AdministrationOptions } from '../operator/work.ts';
import { tracer } from '../operator/auth-session.ts';
import { FileTransfers, type StudioIdentity } from './file-transfers.ts';
import { accessService, type ServiceAccess } from '../operator/service-access.ts';

export type StudioClient = Client<typeof studioContract>;

/** The studio of a running suite, with the operator's identity. */
export interface StudioAccess {
  readonly client: StudioClient;
  readonly files: FileTransfers;
  /** Opens the stream of a workspace's changes behind `lastSeq`. */
  readonly follow: (place: StreamPlace) => Promise<ChangeStream>;
}

export interface StreamPlace {
  readonly workspaceId: string;
  readonly deviceId: string;
  /** Called for each message as it comes. */
  readonly onMessage: (message: StreamMessage) => void;
}

/** What the stream says of a file; other types have other data. */
export interface StreamMessage {
  readonly type: string;
  readonly seq?: number;
  readonly data?: {
    readonly path?: string;
    readonly operation?: string;
    readonly hash?: string;
    readonly size?: number;
    readonly executable?: boolean;
  };
}

export interface ChangeStream {
  readonly isOpen: boolean;
  /** Resolves once nothing more comes, whoever ended it. */
  readonly ended: Promise<void>;
  /** All changes up to this one are on this device. */
  ack(seq: number): void;
  close(): void;
}

/** Finds the studio that the settings name. */
export async function openStudio(
  options: AdministrationOptions,
): Promise<StudioAccess & Pick<ServiceAccess<typeof studioContract>, 'explain'> & AsyncDisposable> {
  const service = await accessService(studioContract, options);
  const { url, token, forgetToken } = service;
  return {
    ...accessStudio(url, { token, ...(forgetToken ? { forgetToken } : {}) }),
    explain: (error) => service.explain(error),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

/** A studio at an address. */
export function accessStudio(url: string, { token, forgetToken }: StudioIdentity): StudioAccess {
  const identity = { token, ...(forgetToken ? { forgetToken } : {}) };
  return {
    client: createClient(studioContract, { baseUrl: url, tracer, ...identity }),
    files: new FileTransfers(url, identity),
    follow: (stream) => openStream(url, token, stream),
  };
}

const silenceMsMax = 90_000;

async function openStream(
  url: string,
  token: () => Promise<string>,
  { workspaceId, deviceId, onMessage }: StreamPlace,
): Promise<ChangeStream> {
  const headers = { authorization: `Bearer ${await token()}` };
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/api/v1/sync/stream`, {
    headers,
    handshakeTimeout: 10_000,
    maxPayload: 4 * 1024 * 1024,
  });
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  // The server asks now and then whether somebody is there; one that does not is gone.
  let silence = setTimeout(() => socket.terminate(), silenceMsMax);
  const hear = () => {
    clearTimeout(silence);
    silence = setTimeout(() => socket.terminate(), silenceMsMax);
  };
  socket.on('ping', hear);
  void ended.then(() => clearTimeout(silence));
  await subscribed(socket, { workspaceId, deviceId }, (message) => {
    hear();
    onMessage(message);
  });
  return {
    get isOpen() {
      return socket.readyState === WebSocket.OPEN;
    },
    ended,
    ack: (seq) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ action: 'ack', seq }));
    },
    close: () => socket.close(),
  };
}

/** Resolves once changes are told; rejects with what the studio refused it with. */
function subscribed(
  socket: WebSocket,
  place: object,
  onMessage: (message: StreamMessage) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (message: string, cause?: unknown) => {
      socket.terminate();
      reject(new Fault('unavailable', message, { cause }));
    };
    socket.on('open', () =>
      socket.send(JSON.stringify({ action: 'subscribe', ...place, ack: true })),
    );
    socket.on('error', (cause) => fail('the stream of changes broke off', cause));
    socket.on('close', () => fail('the stream of changes was closed'));
    socket.on('message', (bytes: Buffer) => {
      const message = JSON.parse(bytes.toString()) as StreamMessage;
      if (message.type === 'subscribed') resolve();
      else if (message.type === 'error') fail('the studio refused the stream of changes');
      else onMessage(message);
    });
  });
}
