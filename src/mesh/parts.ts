import { gatewayContract } from '../gateway/contract.ts';
import { hasUnheardWriters } from '../kit/bus/unheard-writers.ts';
import { openTogether, type Lifetime } from '../kit/lifecycle.ts';
import type { Host } from '../kit/service.ts';
import { ActivityFeed } from './activity/activity-feed.ts';
import { MeshMetrics } from './activity/mesh-metrics.ts';
import { AgentRegistry } from './agents/registry.ts';
import { openAttestationParts, type AttestationParts } from './attestation/parts.ts';
import { ProofChecker } from './attestation/proof-checker.ts';
import { CertificateAuthority, type RootChange } from './certificates/authority.ts';
import { RenewedIdentity } from './certificates/renewed-identity.ts';
import type { MeshConfig } from './config.ts';
import { meshGrpc, rootTopic } from './events.ts';
import { AgentGrpcClient } from './grpc/agent-client.ts';
import type { MeshOperations } from './grpc/mesh-operations.ts';
import { MeshGrpcServer } from './grpc/mesh-server.ts';
import { meshOperations } from './grpc/operations.ts';
import { SwarmCount } from './swarms/swarm-count.ts';
import { Swarms } from './swarms/swarms.ts';
import { startAssistant } from './tasks/assistant.ts';
import { openTaskParts, type TaskParts } from './tasks/task-parts.ts';

/** The service's parts, put together; disposing them ends what they do. */
export interface MeshParts extends AsyncDisposable {
  readonly host: Host<MeshConfig>;
  readonly activity: ActivityFeed;
  readonly metrics: MeshMetrics;
  readonly registry: AgentRegistry;
  readonly tasks: TaskParts;
  readonly swarms: Swarms;
  readonly swarmCount: SwarmCount;
  readonly attestation: AttestationParts;
  readonly authority: CertificateAuthority;
  readonly grpc: MeshGrpcServer;
}

/** Opens everything; rejects when the database, the bus or a port does not allow it. */
export function openParts(host: Host<MeshConfig>): Promise<MeshParts> {
  return openTogether(host.log, (lifetime) => open(host, lifetime));
}

async function open(host: Host<MeshConfig>, lifetime: Lifetime) {
  const base = await openAgents(host, lifetime);
  const { registry, activity, metrics, swarmCount, attestation } = base;
  const { authority, identity } = await openCertificates(host, lifetime);
  const { database, bus, egress, tracer, log } = host;
  const agentClient = await AgentGrpcClient.open({ identity, egress });
  lifetime.defer('the calls of agents', () => agentClient[Symbol.dispose]());
  const tasks = lifetime.own(
    'the tasks',
    await openTaskParts({
      database,
      bus,
      egress,
      tracer,
      log,
      directory: registry.directory,
      activity,
      grpc: agentClient,
    }),
  );
  const swarms = new Swarms({
    sql: database,
    directory: registry.directory,
    runner: tasks.runner,
    activity,
    meshId: host.url,
    log,
  });
  lifetime.own('the swarms', swarms);
  await swarms.start();
  swarmCount.start(swarms);
  lifetime.defer('the count of swarms', () => swarmCount.stop());
  const operations = meshOperations({ registry, tasks, swarms, attestation, metrics });
  const grpc = await openGrpc(host, { registry, metrics, operations, identity });
  lifetime.own('gRPC', grpc);
  // While both doors still answer: inbox agents come with their results, and callers get theirs.
  const farewell = () => {
    grpc.stop();
    tasks.inbox.stopWaits();
    return tasks.runner.stop();
  };
  host.http.app.addHook('preClose', farewell);
  lifetime.defer('the tasks under way', farewell);
  openAssistant(host, tasks, lifetime);
  return {
    host,
    activity,
    metrics,
    registry,
    tasks,
    swarms,
    swarmCount,
    attestation,
    authority,
    grpc,
  };
}

interface GrpcParts extends Pick<MeshParts, 'registry' | 'metrics'> {
  readonly operations: MeshOperations;
  readonly identity: RenewedIdentity;
}

function openGrpc(host: Host<MeshConfig>, parts: GrpcParts): Promise<MeshGrpcServer> {
  const { registry, metrics, operations, identity } = parts;
  const { address, ports, limiter, revocations, database, log } = host;
  return MeshGrpcServer.open({
    address,
    port: ports[meshGrpc] ?? 0,
    identity,
    operations,
    limiter,
    revocations,
    ownerOf: (agentId) => registry.ownerOf(agentId),
    isWorking: () =>
      database.ping().then(
        () => true,
        () => false,
      ),
    onCall: (operation, code) => metrics.grpcCall(operation, code),
    log,
  });
}

/** An agent that works from the first minute on. */
function openAssistant(host: Host<MeshConfig>, { local }: TaskParts, lifetime: Lifetime): void {
  if (host.config.hasAssistant === 'off') return;
  const { version } = host.health();
  const assistant = startAssistant({
    meshUrl: host.url,
    token: () => host.ownToken.get(),
    gateway: host.client(gatewayContract),
    local,
    tracer: host.tracer,
    version,
    log: host.log,
  });
  lifetime.own('the assistant', assistant);
}

/** Agents, what happens to them, and what is proved of them. */
async function openAgents(host: Host<MeshConfig>, lifetime: Lifetime) {
  const { database, bus, egress, config, dataFolder, log, url } = host;
  const swarmCount = new SwarmCount();
  const metrics: MeshMetrics = new MeshMetrics({
    agents: () => registry.directory.all(),
    activeSwarms: () => swarmCount.value,
  });
  const activity = new ActivityFeed({
    bus,
    log,
    onEvent: (type, data) => metrics.event(type, data),
  });
  lifetime.own('the activity', activity);
  const checker = lifetime.own('the checking of proofs', new ProofChecker());
  // The registry asks what the attestations know, and they ask the registry.
  let attestation: AttestationParts | undefined;
  const registry = new AgentRegistry({
    sql: database,
    bus,
    egress,
    activity,
    log,
    checkKeyProof: (agentId, publicKey, proof) => checker.checkKeyProof(agentId, publicKey, proof),
    isAttested: (agentId, capability) =>
      attestation?.attestations.isAttested(agentId, capability) ?? false,
    heartbeatInterval: config.heartbeatSeconds,
    agentsMax: config.agentsMax,
  });
  lifetime.own('the agents', registry);
  await registry.start();
  const agents = {
    find: (agentId: string) => registry.directory.find(agentId),
    seek: (agentId: string) => registry.seek(agentId),
  };
  attestation = lifetime.own(
    'the attestations',
    await openAttestationParts({
      database,
      bus,
      agents,
      activity,
      checker,
      dataFolder,
      url,
      log,
    }),
  );
  return { metrics, activity, registry, attestation, swarmCount };
}

async function openCertificates(host: Host<MeshConfig>, lifetime: Lifetime) {
  const { database: sql, bus, dataFolder, log, url } = host;
  const authority = lifetime.own(
    'the certificate authority',
    await CertificateAuthority.open({
      sql,
      topic: bus.topic<RootChange>(rootTopic),
      hasUnheardWriters: () => hasUnheardWriters(bus, sql),
      dataFolder,
      log,
      hostNames: [new URL(url).hostname],
    }),
  );
  const identity = await RenewedIdentity.open({
    issue: () => authority.issueOwn(),
    onFailure: (err) => log.error({ err }, 'the certificate of the mesh could not be renewed'),
  });
  lifetime.defer('the certificate of the mesh', () => identity[Symbol.dispose]());
  authority.onChange(() => void identity.renew());
  return { authority, identity };
}
