import type { RuntimeLimit } from '../runtime.ts';
import type { Cgroups, Controller } from './cgroups.ts';

export interface LimitSettings {
  readonly processesMax: number;
  readonly filesMax: number;
  readonly cgroup?: string | undefined;
}

/** What this machine keeps of an agent's limits, said as it is. */
export function limitsOf(settings: LimitSettings, cgroups: Cgroups | undefined): RuntimeLimit[] {
  const { cgroup, filesMax, processesMax } = settings;
  const has = (controller: Controller) => cgroups?.has(controller) ?? false;
  const why =
    cgroup === undefined
      ? 'no control group is handed to the studio (STUDIO_CGROUP)'
      : `the control group ${cgroup} has no such controller for the studio`;
  return [
    {
      name: 'cpu',
      isEnforced: has('cpu'),
      means: has('cpu') ? byGroup('cpu') : `lower priority than the services only: ${why}`,
    },
    {
      name: 'memory',
      isEnforced: true,
      means: has('memory')
        ? byGroup('memory')
        : `looked at every 250 ms and ended above it, which a fast program passes for a moment: ${why}`,
    },
    {
      name: 'processes',
      isEnforced: true,
      means: has('pids')
        ? `${byGroup('pids')}: ${processesMax} with threads`
        : `counted every 250 ms and ended above ${processesMax}: ${why}`,
    },
    { name: 'files', isEnforced: true, means: `ulimit -n ${filesMax} of each process` },
  ];
}

function byGroup(name: Controller): string {
  return `control group, controller ${name}`;
}
