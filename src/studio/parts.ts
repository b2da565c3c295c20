import { join } from 'node:path';
import { processEnvironment } from '../kit/config.ts';
import { entryCommand } from '../kit/entry-file.ts';
import { openTogether, type Lifetime } from '../kit/lifecycle.ts';
import type { Host } from '../kit/service.ts';
import { meshContract } from '../mesh/contract.ts';
import { workflowContract } from '../workflow/contract.ts';
import type { AgentParts } from './agents/agent-parts.ts';
import { agentIdOf } from './agents/credentials.ts';
import { openAgents } from './agents/open-agents.ts';
import type { Agents } from './agents/agent.ts';
import type { StudioConfig } from './config.ts';
import { studioContract } from './contract.ts';
import { Blobs } from './files/blobs.ts';
import { StoredFiles } from './files/stored-files.ts';
import { WorkspaceFolder } from './files/workspace-folder.ts';
import { openRuntimes, type Runtimes } from './runtimes/runtimes.ts';
import { Devices } from './sync/devices.ts';
import { StoredTasks } from './tasks/stored-tasks.ts';
import { taskLimitsOf } from './tasks/task-settings.ts';
import { WorkspaceDirectory, workspaceNotFound } from './workspaces/workspace-directory.ts';

/** The service's parts, put together; disposing them ends what they do. */
export interface StudioParts extends AsyncDisposable {
  readonly host: Host<StudioConfig>;
  readonly workspaces: WorkspaceDirectory;
  readonly files: StoredFiles;
  readonly devices: Devices;
  readonly agentParts: AgentParts;
  readonly agents: Agents;
  readonly tasks: StoredTasks;
}

/** Opens everything; rejects when the database or the bus does not allow it. */
export function openParts(host: Host<StudioConfig>): Promise<StudioParts> {
  return openTogether(host.log, (lifetime) => open(host, lifetime));
}

async function open(host: Host<StudioConfig>, lifetime: Lifetime) {
  const { database: sql, bus, log, dataFolder, config } = host;
  const { quotaBytes } = config;
  const root = config.root ?? join(dataFolder, 'workspaces');
  const clear = async (workspaceId: string) => {
    await agentParts.agents.removeWorkspace(workspaceId);
    await tasks.removeWorkspace(workspaceId);
    await files.remove(workspaceId);
  };
  const agentSubjects = {
    isAgent: (subject: string) => agentIdOf(subject) !== undefined,
    workspaceOf: (subject: string) => agentParts.agents.workspaceOf(subject),
  };
  const workspaces = new WorkspaceDirectory({
    sql,
    bus,
    log,
    root,
    quotaBytes,
    clear,
    agents: agentSubjects,
  });
  const files = lifetime.own('the files', openFiles(host, workspaces));
  await files.start();
  const runtimes = lifetime.own('the runtimes', await openAllRuntimes(host, root));
  const usable = { workspaces, runtimes: runtimes.all };
  const agentParts = lifetime.own('the agents', openAgents(host, usable));
  const tasks = lifetime.own('the tasks', openTasks(host, { workspaces, agentParts }));
  await agentParts.start();
  await tasks.start();
  // Last, for it goes on with deletions, and those end agents and tasks.
  lifetime.own('the workspaces', workspaces);
  await workspaces.start();
  const devices = lifetime.own('the devices', new Devices({ sql, bus, log }));
  await devices.start();
  const shown = { agentParts, agents: agentParts.agents, tasks };
  return { host, workspaces, files, devices, ...shown };
}

function openAllRuntimes(
  { config, dataFolder, log }: Host<StudioConfig>,
  workspacesRoot: string,
): Promise<Runtimes> {
  const program = { beside: import.meta.url, name: 'program/main' };
  return openRuntimes({
    config,
    command: (nodeOptions) => entryCommand(program, nodeOptions),
    dataFolder,
    workspacesRoot,
    version: studioContract.version,
    environment: processEnvironment(),
    log,
  });
}

function openTasks(
  host: Host<StudioConfig>,
  given: { readonly workspaces: WorkspaceDirectory; readonly agentParts: AgentParts },
): StoredTasks {
  const { database: sql, bus, log, tracer, config } = host;
  const { workspaces, agentParts } = given;
  const mesh = host.client(meshContract);
  const workflow = host.client(workflowContract);
  const { agents } = agentParts;
  const limits = taskLimitsOf(config);
  return new StoredTasks({ sql, bus, log, tracer, agents, workspaces, mesh, workflow, limits });
}

function openFiles(host: Host<StudioConfig>, workspaces: WorkspaceDirectory): StoredFiles {
  const { database: sql, bus, log, dataFolder, config } = host;
  return new StoredFiles({
    sql,
    bus,
    log,
    blobs: new Blobs(join(dataFolder, 'studio', 'blobs'), config.fileBytesMax),
    changesKept: config.changesKept,
    placeOf: async (workspaceId) => {
      const workspace = await workspaces.find(workspaceId);
      if (!workspace) throw workspaceNotFound(workspaceId);
      const quotaBytes = workspace.settings.quotaBytes ?? config.quotaBytes;
      return { workspaceId, folder: new WorkspaceFolder(workspace.path), quotaBytes };
    },
  });
}
