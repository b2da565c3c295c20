import type {
  Client,
  ClientOptions,
  ConnectOptions,
  JSONRPCMessage,
  JsonSchemaValidator,
  PriorDiscovery,
  Transport,
} from '@modelcontextprotocol/client';
import type { Egress } from '../../kit/egress/egress.ts';
import { Fault } from '../../kit/errors.ts';
import type { Connection, RemoteEndpoint } from '../connections/connection.ts';
import type { SpawnServer } from '../processes/spawned.ts';
import { HttpTransport } from './http-transport.ts';
import { faultAnswer, isOfOtherEra, isOverQuestion, notMcp, toLinkFault } from './link-faults.ts';
import { LinkFetch, type Credentials } from './link-fetch.ts';
import type { ServerIdentity } from './link.ts';
import { McpLink } from './mcp-link.ts';
import { ProgressReports } from './progress-reports.ts';
import { ResumingFetch } from './resuming-fetch.ts';
import { WebSocketTransport } from './websocket-transport.ts';

export interface DialOptions {
  readonly egress: Pick<Egress, 'checkUrl' | 'dispatcher' | 'lookup'>;
  readonly spawn: SpawnServer;
  /** The access tokens for a server at this address, when somebody authorized the registry there. */
  readonly credentialsOf?: ((connectionId: string, url: string) => Credentials) | undefined;
  /** Of the registry, as servers are told. */
  readonly version: string;
  /** The most bytes of one message. */
  readonly bytesMax?: number;
}

export interface DialRequest {
  /** Gives up, and ends what was begun. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** What the server was the last time. */
  readonly prior?: PriorDiscovery | undefined;
  /** Called when the server says that its lists have changed. */
  readonly onOfferChanged: () => void;
  /** Called once, when the link ended, by whomever. */
  readonly onClosed: (failure: Fault | undefined) => void;
}

export interface Dialled {
  readonly link: McpLink;
  readonly verdict: PriorDiscovery;
}

/** Opens links; rejects as `Link` does, and leaves nothing open then. */
export type Dial = (connection: Connection, request: DialRequest) => Promise<Dialled>;

const defaultBytesMax = 10 * 1024 * 1024;
/** How long a server of one shared channel may ignore what it does not know. */
const silentProbeMs = 3_000;

type Sdk = typeof import('@modelcontextprotocol/client');

interface Wire {
  readonly transport: Transport;
  readonly pid?: number;
}

/** The one way in which links are opened. */
export function createDial(options: DialOptions): Dial {
  return async (connection, request) => {
    // A quarter of a second to load: the registry starts without it.
    const sdk = await import('@modelcontextprotocol/client');
    const dialling = new Dialling(sdk, options, { connection, request });
    try {
      return await dialling.run();
    } catch (error) {
      throw toLinkFault(error, request.signal);
    }
  };
}

interface Conversation {
  readonly client: Client;
  readonly progress: ProgressReports;
}

interface Target {
  readonly connection: Connection;
  readonly request: DialRequest;
}

class Dialling {
  readonly #sdk: Sdk;
  readonly #options: DialOptions;
  readonly #target: Target;
  #failure: Fault | undefined;

  constructor(sdk: Sdk, options: DialOptions, target: Target) {
    this.#sdk = sdk;
    this.#options = options;
    this.#target = target;
  }

  async run(): Promise<Dialled> {
    const prior = this.#believed;
    try {
      return await this.#open(prior);
    } catch (error) {
      if (prior) return this.#openAnew(error);
      return this.#openAsLegacy(error);
    }
  }

  /** On a shared channel the question costs little, and a wrong belief would stay unnoticed. */
  get #believed(): PriorDiscovery | undefined {
    const { connection, request } = this.#target;
    const isShared = connection.protocol !== 'http';
    return isShared && request.prior?.kind === 'modern' ? undefined : request.prior;
  }

  /** A server that refuses to begin as it did may have changed its protocol era since. */
  async #openAnew(error: unknown): Promise<Dialled> {
    const isAborted = this.#target.request.signal.aborted;
    const asked = { era: 'modern', isProbe: true } as const;
    if (isAborted || !isOfOtherEra(toLinkFault(error), asked)) throw this.#failure ?? error;
    this.#failure = undefined;
    return this.#open(undefined).catch((again: unknown) => this.#openAsLegacy(again));
  }

  /** It ignored the question, failed or ended over it, as servers from before the question do. */
  async #openAsLegacy(error: unknown): Promise<Dialled> {
    if (!this.#mayBeLegacy(error)) throw this.#failure ?? error;
    this.#failure = undefined;
    return this.#open({ kind: 'legacy' }).catch((again: unknown) => {
      throw this.#failure ?? again;
    });
  }

  #mayBeLegacy(error: unknown): boolean {
    const { connection, request } = this.#target;
    if (request.signal.aborted || !(error instanceof Error) || !('code' in error)) return false;
    const hasFailed = error.code === 'ERA_NEGOTIATION_FAILED';
    if (connection.protocol === 'http') return hasFailed && isOverQuestion(toLinkFault(error));
    return hasFailed || error.code === 'REQUEST_TIMEOUT';
  }

  async #open(prior: PriorDiscovery | undefined): Promise<Dialled> {
    const { connection, request } = this.#target;
    const wire = await this.#wire();
    const progress = new ProgressReports();
    const client = new this.#sdk.Client(
      { name: 'ennead-registry', version: this.#options.version },
      clientOptions(connection, request.timeoutMs),
    );
    // The SDK's clients have no other way to be listened to.
    // oxlint-disable-next-line unicorn/prefer-add-event-listener
    client.onerror = (error) => {
      if (error instanceof Fault) this.#failure ??= error;
    };
    // oxlint-disable-next-line unicorn/prefer-add-event-listener
    wire.transport.onmessage = (message) => {
      progress.take(message);
      this.#answerStray(message, wire.transport);
    };
    const closeWire = () => void wire.transport.close().catch(() => {});
    request.signal.addEventListener('abort', closeWire, { once: true });
    try {
      if (request.signal.aborted) throw request.signal.reason;
      await client.connect(wire.transport, connectOptions(request, prior));
    } catch (error) {
      await wire.transport.close().catch(() => {});
      throw error;
    } finally {
      request.signal.removeEventListener('abort', closeWire);
    }
    return this.#finish({ client, progress }, wire);
  }

  /** What answers a request but is no answer comes again as one: the client would pass it over. */
  #answerStray(message: JSONRPCMessage, { onmessage }: Transport): void {
    if ('method' in message || message.id === undefined) return;
    const isAnswer: boolean = this.#sdk.isJSONRPCResponse(message);
    if (!isAnswer) onmessage?.(faultAnswer(message.id, notMcp(message)));
  }

  #finish({ client, progress }: Conversation, { pid }: Wire): Dialled {
    const { connection, request } = this.#target;
    // Over HTTP each exchange fails by itself and says why: the link goes on.
    const failure = () => (connection.protocol === 'http' ? undefined : this.#failure);
    const server = identityOf(client, connection);
    const { tools } = connection.offer ?? {};
    const link = new McpLink({ client, server, pid, tools, progress, failure });
    // oxlint-disable-next-line unicorn/prefer-add-event-listener
    client.onclose = () => {
      link.markClosed();
      request.onClosed(failure());
    };
    watchLists(client, request.onOfferChanged);
    // Heard already, before what came after it.
    client.setNotificationHandler('notifications/progress', () => {});
    if (connection.protocol !== 'http') void listen(client);
    const discover = client.getDiscoverResult();
    return { link, verdict: discover ? { kind: 'modern', discover } : { kind: 'legacy' } };
  }

  async #wire(): Promise<Wire> {
    const { connection, request } = this.#target;
    if (connection.protocol === 'stdio') {
      const { id, endpoint, approval } = connection;
      const { signal } = request;
      return this.#options.spawn({ id, endpoint, approval }, { signal });
    }
    const { protocol, id, endpoint } = connection;
    if (protocol === 'http') {
      return { transport: this.#http(endpoint, this.#options.credentialsOf?.(id, endpoint.url)) };
    }
    // MCP's authorization is for HTTP: whatever opens a WebSocket stands in its headers.
    const { egress, bytesMax = defaultBytesMax } = this.#options;
    const { url, headers = {} } = endpoint;
    return { transport: new WebSocketTransport({ egress, url, headers, bytesMax }) };
  }

  #http({ url, headers }: RemoteEndpoint, credentials: Credentials | undefined): Transport {
    const { egress, bytesMax = defaultBytesMax } = this.#options;
    const linkFetch = new LinkFetch({ egress, headers, credentials, bytesMax });
    const resuming = new ResumingFetch(linkFetch);
    const inner = new this.#sdk.StreamableHTTPClientTransport(egress.checkUrl(url), {
      fetch: (target, init) => resuming.fetch(target, init),
    });
    return new HttpTransport(inner, { linkFetch, resuming });
  }
}

function clientOptions(connection: Connection, timeoutMs: number): ClientOptions {
  // A server of its own address that is slow is no old one: there the whole time is given.
  const isShared = connection.protocol !== 'http';
  const probe = { timeoutMs: isShared ? Math.min(silentProbeMs, timeoutMs) : timeoutMs };
  return {
    versionNegotiation: { mode: 'auto', probe },
    inputRequired: { autoFulfill: false },
    // Schemas are the server's own and may hold patterns that take for ever: callers check.
    jsonSchemaValidator: { getValidator: acceptAll },
  };
}

function acceptAll<T>(): JsonSchemaValidator<T> {
  // Nobody has checked it: that is the point.
  return (input) => ({ valid: true, data: input as T, errorMessage: undefined });
}

function connectOptions(request: DialRequest, prior: PriorDiscovery | undefined): ConnectOptions {
  const { signal, timeoutMs } = request;
  return { signal, timeout: timeoutMs, ...(prior ? { prior } : {}) };
}

function identityOf(client: Client, connection: Connection): ServerIdentity {
  const { name = connection.name, version = '', title } = client.getServerVersion() ?? {};
  const instructions = client.getInstructions();
  return {
    name: name.slice(0, 200),
    version: version.slice(0, 100),
    ...(title === undefined ? {} : { title: title.slice(0, 200) }),
    ...(instructions === undefined ? {} : { instructions: instructions.slice(0, 16_384) }),
    protocolVersion: client.getNegotiatedProtocolVersion() ?? '',
    era: client.getProtocolEra() ?? 'legacy',
    eraFoundAtMs: Date.now(),
  };
}

const listChanges = [
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
] as const;

function watchLists(client: Client, onOfferChanged: () => void): void {
  for (const method of listChanges) client.setNotificationHandler(method, onOfferChanged);
}

/** On a shared channel listening costs nothing; over HTTP it would hold a request open for ever. */
async function listen(client: Client): Promise<void> {
  if (client.getProtocolEra() !== 'modern') return;
  const { tools, prompts, resources } = client.getServerCapabilities() ?? {};
  const filter = {
    ...(tools?.listChanged ? { toolsListChanged: true } : {}),
    ...(prompts?.listChanged ? { promptsListChanged: true } : {}),
    ...(resources?.listChanged ? { resourcesListChanged: true } : {}),
  };
  if (Object.keys(filter).length === 0) return;
  // Without it the lists are asked for again from time to time.
  await client.listen(filter).catch(() => {});
}
