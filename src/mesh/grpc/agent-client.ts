import {
  Client,
  experimental,
  Metadata,
  type ChannelCredentials,
  type MethodDefinition,
  type ServiceError,
} from '@grpc/grpc-js';
import { LRUCache } from 'lru-cache';
import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import type { PeerCertificate } from 'node:tls';
import type { Egress } from '../../kit/egress/egress.ts';
import { Fault } from '../../kit/errors.ts';
import type { RenewedIdentity } from '../certificates/renewed-identity.ts';
import { peerIdentityOf, spiffeIdOf } from '../certificates/spiffe.ts';
import { faultOf } from './agent-faults.ts';
import { loadDefinition } from './definition.ts';
import { fromTaskResponse, toTaskRequest, type AskedTask, type TaskResponse } from './messages.ts';

export interface AgentClientOptions {
  /** Shown to agents, and whom to trust; exchanged as it is renewed. */
  readonly identity: RenewedIdentity;
  /** Judges the addresses of agents. */
  readonly egress: Pick<Egress, 'checkUrl' | 'lookup'>;
}

/** Whom a call is for: its certificate must say so. */
interface CalledAgent {
  /** `host:port` */
  readonly endpoint: string;
  readonly agentId: string;
  readonly ownerId: string;
}

export interface AgentTaskCall extends CalledAgent {
  readonly task: AskedTask;
  /** Of the task's span. */
  readonly traceparent: string;
  readonly signal?: AbortSignal | undefined;
}

type ExecuteTask = MethodDefinition<object, TaskResponse>;

const channelsMax = 1_000;
/** After which a name is looked up again, and an agent must show its certificate again. */
const channelMsMax = 600_000;
const idleMsMax = 300_000;
const resultBytesMax = 1024 * 1024;

/** Calls agents as `AgentCommunication.ExecuteTask`, with mutual TLS. */
export class AgentGrpcClient implements Disposable {
  readonly #options: AgentClientOptions;
  readonly #method: ExecuteTask;
  readonly #channels = new LRUCache<string, Client>({
    max: channelsMax,
    ttl: channelMsMax,
    dispose: (client) => client.close(),
  });

  private constructor(options: AgentClientOptions, method: ExecuteTask) {
    this.#options = options;
    this.#method = method;
  }

  /** Reads the .proto files; nothing is called yet. */
  static async open(options: AgentClientOptions): Promise<AgentGrpcClient> {
    const { services } = await loadDefinition();
    // The .proto file says what it is.
    return new AgentGrpcClient(options, services.AgentCommunication['ExecuteTask'] as ExecuteTask);
  }

  /**
   * Has an agent do a task. The server's certificate must be that agent's own, issued to its owner,
   * whatever host it runs on. Rejects with a Fault: `unavailable` when the agent had not
   * begun, or with the reason `connection_lost` when that is unknown; `exhausted` when it takes no task
   * now; `deadline`; the code that it refused the task with; else `upstream`. An abort rejects with the
   * signal's reason.
   */
  async execute(call: AgentTaskCall): Promise<TaskResponse> {
    const { signal } = call;
    signal?.throwIfAborted();
    const client = await this.#channel(call);
    signal?.throwIfAborted();
    return fromTaskResponse(await this.#answer(client, call));
  }

  [Symbol.dispose](): void {
    this.#channels.clear();
  }

  async #answer(client: Client, call: AgentTaskCall): Promise<TaskResponse> {
    const { signal } = call;
    try {
      return await this.#call(client, call);
    } catch (error) {
      signal?.throwIfAborted();
      const fault = faultOf(error as ServiceError);
      // The next call may find the agent at another address of its name.
      if (fault.code === 'unavailable') this.#channels.delete(keyOf(call));
      throw fault;
    }
  }

  #call(client: Client, { agentId, task, traceparent, signal }: AgentTaskCall) {
    const { path, requestSerialize, responseDeserialize } = this.#method;
    const metadata = new Metadata();
    metadata.set('traceparent', traceparent);
    metadata.set('idempotency-key', task.taskId);
    return new Promise<TaskResponse>((resolve, reject) => {
      const call = client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        toTaskRequest(agentId, task),
        metadata,
        { deadline: Date.now() + task.timeoutMs },
        (error, response) => {
          signal?.removeEventListener('abort', cancel);
          if (error) return reject(error);
          return resolve(response ?? {});
        },
      );
      const cancel = (): void => call.cancel();
      signal?.addEventListener('abort', cancel, { once: true });
    });
  }

  async #channel(agent: CalledAgent): Promise<Client> {
    const { endpoint } = agent;
    const key = keyOf(agent);
    const known = this.#channels.get(key);
    if (known) return known;
    const { hostname, target } = await this.#resolve(endpoint);
    // Another call may have made one while the name was looked up.
    const made = this.#channels.get(key);
    if (made) return made;
    const client = new Client(target, this.#credentials(agent), {
      'grpc.default_authority': endpoint,
      // No name may be asked for by an address (RFC 6066, section 3).
      'grpc.ssl_target_name_override': isIP(hostname) === 0 ? hostname : 'localhost',
      'grpc.max_receive_message_length': resultBytesMax,
      'grpc.client_idle_timeout_ms': idleMsMax,
      'grpc.service_config_disable_resolution': 1,
      'grpc.enable_http_proxy': 0,
      'grpc.enable_channelz': 0,
      'grpc.use_local_subchannel_pool': 1,
    });
    this.#channels.set(key, client);
    return client;
  }

  #credentials({ agentId, ownerId }: CalledAgent): ChannelCredentials {
    const { identity } = this.#options;
    const expected = spiffeIdOf(agentId);
    return experimental.createCertificateProviderChannelCredentials(identity, identity, {
      checkServerIdentity: (_, certificate: PeerCertificate) => {
        try {
          const peer = peerIdentityOf(certificate);
          if (peer.agentId === agentId && peer.ownerId === ownerId) return undefined;
        } catch (error) {
          return error as Error;
        }
        return new Error(`the server is not ${expected} of its owner`);
      },
    });
  }

  /** The addresses are looked up and judged here, so that the channel dials no other. */
  async #resolve(endpoint: string): Promise<{ hostname: string; target: string }> {
    const { egress } = this.#options;
    const [, port] = /^(?:\[[\da-fA-F:.]+\]|[^\s/?#@:[\]]+):(\d{1,5})$/.exec(endpoint) ?? [];
    if (port === undefined) {
      throw new Fault('invalid', 'the address of an agent must be host:port');
    }
    // The URL parser turns all forms of an address into the one that is judged and dialled.
    const hostname = egress.checkUrl(`https://${endpoint}`).hostname.replace(/^\[|\]$/g, '');
    const addresses = isIP(hostname) === 0 ? await this.#lookUp(hostname) : [hostname];
    const version = isIP(addresses[0] ?? '');
    const targets = addresses
      .filter((address) => isIP(address) === version)
      .map((address) => (version === 6 ? `[${address}]:${port}` : `${address}:${port}`));
    return { hostname, target: `ipv${version}:${targets.join(',')}` };
  }

  #lookUp(hostname: string): Promise<string[]> {
    return new Promise((resolve, reject) => {
      this.#options.egress.lookup(hostname, { all: true }, (error, found) => {
        if (error instanceof Fault) return reject(error);
        if (error) {
          const cause = { reason: 'agent_unreachable', cause: error };
          return reject(new Fault('unavailable', 'the agent cannot be reached', cause));
        }
        // All were asked for.
        return resolve((found as LookupAddress[]).map(({ address }) => address));
      });
    });
  }
}

function keyOf({ endpoint, agentId, ownerId }: CalledAgent): string {
  return JSON.stringify([agentId, ownerId, endpoint]);
}
