import type { ServiceDefinition } from '@grpc/grpc-js';
import {
  load,
  type AnyDefinition,
  type MessageTypeDefinition,
  type PackageDefinition,
} from '@grpc/proto-loader';
import { fileURLToPath } from 'node:url';
import type { GrpcMethod } from '../../kit/grpc/grpc-server.ts';
import { encodingOnce } from './discovered.ts';

/** What the .proto files say, ready to be served and called. */
export interface MeshDefinition {
  /** Of the mesh and the health service, for reflection. */
  readonly public: PackageDefinition;
  readonly services: Readonly<Record<ServiceName, ServiceDefinition>>;
  readonly health: ServiceDefinition;
  readonly details: Readonly<
    Record<'Status' | 'ErrorInfo' | 'RetryInfo', MessageTypeDefinition<object, object>>
  >;
}

export const serviceNames = ['AgentCommunication', 'SwarmCoordination', 'ACAPProtocol'] as const;
export type ServiceName = (typeof serviceNames)[number];

/** The protobuf package of the mesh. */
export const meshPackage = 'ennead.mesh.v1';

const folder = new URL('../../../proto/', import.meta.url);

// A field that was not sent stays absent, so that the same checks and defaults hold as over REST.
const options = { longs: Number, enums: String, arrays: true };

/** Reads the .proto files; rejects when they are missing. */
export async function loadDefinition(): Promise<MeshDefinition> {
  const [mesh, details] = await Promise.all([
    load([pathOf('mesh.proto'), pathOf('health.proto')], options),
    load(pathOf('status.proto'), options),
  ]);
  // The loader knows a definition's kind by its name only, as we do.
  const serviceOf = (name: string) => find(mesh, name) as ServiceDefinition;
  const detail = (name: string) =>
    find(details, `google.rpc.${name}`) as MessageTypeDefinition<object, object>;
  return {
    public: mesh,
    services: {
      AgentCommunication: encodingOnce(serviceOf(`${meshPackage}.AgentCommunication`)),
      SwarmCoordination: serviceOf(`${meshPackage}.SwarmCoordination`),
      ACAPProtocol: serviceOf(`${meshPackage}.ACAPProtocol`),
    },
    health: serviceOf('grpc.health.v1.Health'),
    details: {
      Status: detail('Status'),
      ErrorInfo: detail('ErrorInfo'),
      RetryInfo: detail('RetryInfo'),
    },
  };
}

/** A method of a service, ready to be served. */
export function methodOf(service: ServiceDefinition, name: string): GrpcMethod {
  const method = service[name];
  if (method) return method;
  throw new Error(`the .proto files have no method ${name}`);
}

function find(definitions: PackageDefinition, name: string): AnyDefinition {
  const found = definitions[name];
  if (found) return found;
  throw new Error(`the .proto files have no ${name}`);
}

function pathOf(name: string): string {
  return fileURLToPath(new URL(name, folder));
}
