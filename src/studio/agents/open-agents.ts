import { authContract } from '../../auth/contract.ts';
import type { Host } from '../../kit/service.ts';
import { meshContract } from '../../mesh/contract.ts';
import type { StudioConfig } from '../config.ts';
import { templates } from '../program/templates/templates.ts';
import type { ProgramIdentity, Runtime } from '../runtimes/runtime.ts';
import type { Workspaces } from '../workspaces/workspace.ts';
import { createAgentParts, type AgentParts } from './agent-parts.ts';
import { AuthCredentials } from './credentials.ts';
import { MeshPresence } from './presence.ts';

/** The agents of a studio, with the suite around them; nothing is done before `start`. */
export function openAgents(
  host: Host<StudioConfig>,
  {
    workspaces,
    runtimes,
  }: {
    readonly workspaces: Pick<Workspaces, 'require' | 'find'>;
    readonly runtimes: readonly Runtime[];
  },
): AgentParts {
  const { database, bus, log, config } = host;
  return createAgentParts({
    database,
    bus,
    log,
    runtimes,
    templates,
    workspaces,
    credentials: new AuthCredentials(host.client(authContract)),
    presence: new MeshPresence(host.client(meshContract), bus),
    settings: {
      urls: addressesOf(host),
      heartbeatSeconds: config.agentHeartbeatSeconds,
      folderOf: async (workspaceId) => (await workspaces.find(workspaceId))?.path,
    },
    limits: {
      cpuMax: config.agentCpuMax,
      memoryMax: config.agentMemoryMax,
      ttlSecondsMax: config.agentTtlSecondsMax,
      agentsMax: config.agentsMax,
      ownerAgentsMax: config.ownerAgentsMax,
    },
    startTimeoutMs: config.agentStartSeconds * 1_000,
    stopGraceMs: config.agentStopSeconds * 1_000,
    warmAgents: config.warmAgents,
  });
}

function addressesOf({ peers, url }: Host<StudioConfig>): ProgramIdentity['urls'] {
  const urlOf = (wanted: string) => peers.find(({ name }) => name === wanted)?.url ?? '';
  return {
    mesh: urlOf('mesh'),
    auth: urlOf('auth'),
    gateway: urlOf('gateway'),
    registry: urlOf('registry'),
    tracer: urlOf('tracer'),
    studio: url,
  };
}
