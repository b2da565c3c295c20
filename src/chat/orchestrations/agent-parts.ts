import { openTogether, type Lifetime } from '../../kit/lifecycle.ts';
import type { Host } from '../../kit/service.ts';
import { meshContract } from '../../mesh/contract.ts';
import { tracerContract } from '../../tracer/contract.ts';
import type { CallerClients } from '../caller-clients.ts';
import type { Caller } from '../caller.ts';
import { MeasuredAgentHealths } from './measured-agent-healths.ts';
import { MeshOrchestrations } from './mesh-orchestrations.ts';
import type { AgentHealths, AgentProgress, Orchestrations } from './orchestration.ts';
import { ProgressFeed } from './progress-feed.ts';
import { TaskWatch } from './task-watch.ts';

export type AgentPartsHost = Pick<
  Host<unknown>,
  'database' | 'bus' | 'peers' | 'ownToken' | 'client' | 'tracer' | 'log'
>;

export interface AgentParts extends AsyncDisposable {
  readonly orchestrations: Orchestrations;
  readonly agentHealths: AgentHealths;
}

/** What chat knows of agents and has them do; the mesh is watched while somebody listens. */
export function openAgentParts(host: AgentPartsHost, clients: CallerClients): Promise<AgentParts> {
  return openTogether(host.log, (lifetime) => open(host, clients, lifetime));
}

async function open(host: AgentPartsHost, clients: CallerClients, lifetime: Lifetime) {
  const { database, bus, log, tracer } = host;
  const progress = await openProgress(host, lifetime);
  const readerOf = (caller: Pick<Caller, 'credential'>) => clients(meshContract, caller);
  const tasks = host.client(meshContract);
  const orchestrations = lifetime.own(
    'the orchestrations',
    new MeshOrchestrations({ database, bus, readerOf, tasks, progress, tracer, log }),
  );
  await orchestrations.open();
  const metrics = host.client(tracerContract);
  return {
    orchestrations,
    agentHealths: new MeasuredAgentHealths({ readerOf, tracer: metrics, log }),
  };
}

/** What replicas tell one another, and what the mesh tells each of them. */
async function openProgress(
  { bus, log, peers, ownToken: token }: AgentPartsHost,
  lifetime: Lifetime,
): Promise<ProgressFeed> {
  const meshUrl = peers.find(({ name }) => name === meshContract.name)?.url;
  const onProgress = (one: AgentProgress): void => progress.tellHere(one);
  const watch =
    meshUrl === undefined ? undefined : new TaskWatch({ meshUrl, token, onProgress, log });
  if (watch) lifetime.own('the watch over tasks', watch);
  const progress: ProgressFeed = lifetime.own(
    'the progress',
    new ProgressFeed({ bus, log, onAudience: (isThere) => watch?.set(isThere) }),
  );
  await progress.start();
  return progress;
}
