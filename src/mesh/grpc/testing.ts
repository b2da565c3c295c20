import {
  Client,
  credentials,
  experimental,
  Metadata,
  status,
  type ChannelCredentials,
  type MethodDefinition,
  type ServiceDefinition,
  type ServiceError,
} from '@grpc/grpc-js';
import type { callerWith, ReadJson } from '../../kit/http/testing.ts';
import { RevocationList } from '../../kit/identity/revocations.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import { silentLog } from '../../kit/testing.ts';
import type { AuthorityOptions, CertificateAuthority } from '../certificates/authority.ts';
import { RenewedIdentity, type IssuedIdentity } from '../certificates/renewed-identity.ts';
import { createRequest } from '../certificates/request.ts';
import { openAuthorityGround } from '../certificates/testing.ts';
import { loadDefinition, type MeshDefinition, type ServiceName } from './definition.ts';
import type { GrpcCallerIdentity, Message, MeshOperations } from './mesh-operations.ts';
import { MeshGrpcServer, type MeshServerOptions } from './mesh-server.ts';

/** What an operation was called with. */
export interface Seen {
  readonly operation: string;
  readonly request: Message;
  readonly caller: GrpcCallerIdentity;
}

const operationNames = [
  'register',
  'discover',
  'execute',
  'deregister',
  'createSwarm',
  'joinSwarm',
  'vote',
  'swarmStatus',
  'attest',
  'verify',
  'revoke',
] as const satisfies readonly (keyof MeshOperations)[];

/** Operations that note what they were called with and answer it. */
export function echoOperations(seen: Seen[]): MeshOperations {
  const entries = operationNames.map((operation) => [
    operation,
    async (request: Message, caller: GrpcCallerIdentity) => {
      seen.push({ operation, request, caller });
      return request;
    },
  ]);
  return Object.fromEntries(entries);
}

export interface GrpcGroundOptions extends Partial<Omit<MeshServerOptions, 'operations'>> {
  readonly operations?: Partial<MeshOperations>;
  readonly authority?: Partial<AuthorityOptions>;
}

/** A gRPC server of the mesh with an authority of its own. */
export async function startMeshGrpc(options: GrpcGroundOptions = {}) {
  const lifetime = new Lifetime(silentLog);
  const ground = lifetime.own('the ground', await openAuthorityGround());
  const authority = await ground.open(options.authority);
  const identity = await openOwnIdentity(authority);
  lifetime.defer('the identity', () => identity[Symbol.dispose]());
  const seen: Seen[] = [];
  const { operations, authority: _, ...rest } = options;
  const server = lifetime.own(
    'the server',
    await MeshGrpcServer.open({
      address: '127.0.0.1',
      port: 0,
      identity,
      ownerOf: () => undefined,
      revocations: new RevocationList(),
      log: silentLog,
      ...rest,
      operations: { ...echoOperations(seen), ...operations },
    }),
  );
  return {
    ground,
    authority,
    identity,
    server,
    seen,
    target: `localhost:${server.port}`,
    [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose](),
  };
}

/** The mesh's own identity, renewed whenever the authority's roots change. */
export async function openOwnIdentity(authority: CertificateAuthority): Promise<RenewedIdentity> {
  const identity = await RenewedIdentity.open({
    issue: () => authority.issueOwn(),
    onFailure: () => {},
  });
  authority.onChange(() => void identity.renew());
  return identity;
}

/** Credentials of a client that does not rotate. */
export function fixedCredentials({ ca, certificate, privateKey }: IssuedIdentity) {
  return credentials.createSsl(Buffer.from(ca), Buffer.from(privateKey), Buffer.from(certificate));
}

/** Credentials of a client that rotates. */
export function rotatingCredentials(identity: RenewedIdentity): ChannelCredentials {
  return experimental.createCertificateProviderChannelCredentials(identity, identity);
}

/** What a call came to. */
export interface CallAnswer {
  readonly code: status;
  readonly details: string;
  readonly metadata: Metadata;
  readonly body: ReadJson;
}

/** A client on a connection of its own. */
export class TestClient implements Disposable {
  readonly #client: Client;
  readonly #definition: MeshDefinition;

  constructor(definition: MeshDefinition, target: string, channel: ChannelCredentials) {
    this.#definition = definition;
    this.#client = new Client(target, channel, { 'grpc.use_local_subchannel_pool': 1 });
  }

  call(
    service: ServiceName | ServiceDefinition,
    method: string,
    { request, metadata = new Metadata(), deadlineMs = 10_000 }: TestCall,
  ): Promise<CallAnswer> {
    const definition = typeof service === 'string' ? this.#definition.services[service] : service;
    // The tests name methods that there are.
    const { path, requestSerialize, responseDeserialize } = definition[method] as MethodDefinition<
      object,
      object
    >;
    return new Promise((resolve) => {
      this.#client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        metadata,
        { deadline: Date.now() + deadlineMs },
        (error: ServiceError | null, body) => {
          if (error) {
            const { code, details } = error;
            return resolve({ code, details, metadata: error.metadata, body: undefined });
          }
          return resolve({ code: status.OK, details: '', metadata, body });
        },
      );
    });
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }
}

export interface TestCall {
  readonly request: object;
  readonly metadata?: Metadata;
  readonly deadlineMs?: number;
}

/** Opens clients of one target. */
export async function clientsOf(target: string) {
  const definition = await loadDefinition();
  return (channel: ChannelCredentials) => new TestClient(definition, target, channel);
}

/** A client with a certificate that the mesh has issued over REST. */
export async function certifiedClient(
  call: ReturnType<typeof callerWith>,
  { agentId, port }: { readonly agentId: string; readonly port: number },
): Promise<TestClient> {
  const { csr, privateKey } = await createRequest(agentId);
  const { status: code, body } = await call('POST', '/api/v1/certificates', { agentId, csr });
  if (code !== 201) throw new Error(`no certificate was issued: ${code}`);
  const { certificate, ca, expiresAt } = body;
  const open = await clientsOf(`localhost:${port}`);
  const expiresAtMs = Date.parse(expiresAt);
  return open(fixedCredentials({ certificate, ca, privateKey, expiresAtMs }));
}
