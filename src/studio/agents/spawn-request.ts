import { Fault } from '../../kit/errors.ts';
import type { Agent, Resources, SpawnOptions } from './agent.ts';
import { formatCpu, formatMemory } from '../quantities.ts';

/** What agents can be made of. */
export interface Template {
  readonly name: string;
  readonly description: string;
  readonly capabilities: readonly string[];
  readonly resources: Resources;
}

/** What the operator allows. */
export interface SpawnLimits {
  readonly cpuMax: number;
  readonly memoryMax: number;
  /** Absent: agents may live for ever. */
  readonly ttlSecondsMax?: number | undefined;
  readonly agentsMax: number;
  readonly ownerAgentsMax: number;
}

/** Below this no program starts. */
const memoryMin = 64 * 2 ** 20;
const cpuMin = 0.01;
const templateDefault = 'assistant';

/** An agent as it is to be, all but its id; `invalid` for what the operator does not allow. */
export function drawUp(
  options: SpawnOptions,
  {
    templates,
    limits,
    ownerId,
  }: {
    readonly templates: readonly Template[];
    readonly limits: SpawnLimits;
    readonly ownerId: string;
  },
): Omit<Agent, 'id'> {
  const { type, workspaceId, runtime = 'local' } = options;
  const template = templateOf(type, templates);
  const resources = { ...template.resources, ...options.resources };
  requireWithin(resources, limits);
  const ttlSeconds = ttlOf(options, limits);
  const createdAtMs = Date.now();
  return {
    name: options.name ?? type,
    type,
    template: template.name,
    status: 'starting',
    capabilities: [...new Set(options.capabilities ?? template.capabilities)],
    runtime,
    ...(workspaceId === undefined ? {} : { workspaceId }),
    ownerId,
    resources,
    createdAtMs,
    ...(ttlSeconds === undefined ? {} : { expiresAtMs: createdAtMs + ttlSeconds * 1_000 }),
    restarts: 0,
  };
}

/** Unknown words are the general one. */
function templateOf(type: string, templates: readonly Template[]): Template {
  const found =
    templates.find(({ name }) => name === type) ??
    templates.find(({ name }) => name === templateDefault);
  if (!found) throw new TypeError('there is no template for agents of any type');
  return found;
}

function requireWithin({ cpu, memory }: Resources, { cpuMax, memoryMax }: SpawnLimits): void {
  if (cpu < cpuMin || cpu > cpuMax) {
    throw outside('cpu', `${formatCpu(cpuMin)} to ${formatCpu(cpuMax)}`);
  }
  if (memory < memoryMin || memory > memoryMax) {
    throw outside('memory', `${formatMemory(memoryMin)} to ${formatMemory(memoryMax)}`);
  }
}

function ttlOf({ ttlSeconds }: SpawnOptions, { ttlSecondsMax }: SpawnLimits): number | undefined {
  if (ttlSecondsMax === undefined) return ttlSeconds;
  if (ttlSeconds !== undefined && ttlSeconds > ttlSecondsMax) {
    throw outside('ttl', `1 to ${ttlSecondsMax} seconds`);
  }
  return ttlSeconds ?? ttlSecondsMax;
}

function outside(name: string, range: string): Fault {
  return new Fault('invalid', `${name} of an agent may be ${range} here`, {
    reason: 'invalid_resources',
    detail: { [name]: range },
  });
}
