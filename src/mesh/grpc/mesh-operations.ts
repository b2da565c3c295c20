import type { PeerIdentity } from '../certificates/spiffe.ts';

/** Whoever calls over gRPC, as its certificate says. */
export interface GrpcCallerIdentity extends Pick<PeerIdentity, 'agentId' | 'ownerId'> {
  /** `traceparent` of the call's metadata. */
  readonly traceparent: string | undefined;
  /** Of an ExecuteTask; of one owner, the same key gets the same outcome. */
  readonly idempotencyKey: string | undefined;
  /** Aborted when the caller gave up or its deadline passed. */
  readonly signal: AbortSignal;
}

/** A message of `proto/mesh.proto` with the field names of REST and plain JSON in free-form fields. */
export type Message = Readonly<Record<string, unknown>>;

/**
 * Does one thing; the request has the fields of the REST body, checked by its schema, the answer those of the REST answer. Throws a Fault otherwise.
 */
export type Operation<Request = Message> = (
  request: Request,
  caller: GrpcCallerIdentity,
) => Promise<object> | object;

/**
 * What the gRPC services do. The `agentId` of `register`, `deregister`, `joinSwarm`, `vote` and
 * `attest` is the certificate's when they are called.
 */
export interface MeshOperations {
  readonly register: Operation;
  readonly discover: Operation;
  readonly execute: Operation;
  readonly deregister: Operation<Message & { readonly agentId: string }>;
  readonly createSwarm: Operation;
  readonly joinSwarm: Operation<Message & SwarmMember>;
  readonly vote: Operation<Message & SwarmMember>;
  readonly swarmStatus: Operation<Message & { readonly swarmId: string }>;
  readonly attest: Operation<Message & { readonly agentId: string }>;
  readonly verify: Operation;
  readonly revoke: Operation<Message & { readonly attestationId: string }>;
}

export interface SwarmMember {
  readonly swarmId: string;
  readonly agentId: string;
}

export type OperationName = keyof MeshOperations;
