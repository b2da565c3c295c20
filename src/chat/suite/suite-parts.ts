import type { Contract } from '../../kit/contract.ts';
import type { Host, SuiteChange, SuiteControl } from '../../kit/service.ts';
import { ChatMetrics } from './chat-metrics.ts';
import { CompletionLimit } from './completion-limit.ts';
import { Neighbours } from './neighbours.ts';
import { glanceAt, Probe } from './probe.ts';
import { Report } from './report.ts';
import { ServiceControl } from './service-control.ts';

/** What tells of chat and its suite, and limits what people ask of it. */
export interface SuiteParts {
  readonly contract: Contract;
  readonly report: Report;
  readonly control: ServiceControl;
  readonly metrics: ChatMetrics;
  readonly completionLimit: CompletionLimit;
}

type SuiteHost = Pick<Host<unknown>, 'peers' | 'rate' | 'suite' | 'health' | 'tracer' | 'database'>;

/** Makes them; none has to be started or closed. */
export function createSuiteParts(host: SuiteHost, contract: Contract): SuiteParts {
  const others = host.peers.filter(({ name }) => name !== contract.name);
  const neighbours = new Neighbours({ peers: others, tracer: host.tracer });
  const database = new Probe(async () => {
    await host.database.query('select 1');
    return true;
  });
  // So that the first health answer knows something.
  void Promise.all([neighbours.look(), database.measure()]);
  return {
    contract,
    report: new Report({
      contract,
      peers: host.peers,
      health: () => host.health(),
      glance: () => neighbours.glance(),
      hasDatabase: async () => {
        await glanceAt([database]);
        return database.value === true;
      },
    }),
    control: new ServiceControl({
      suite: host.suite ?? noControl(host.peers, contract),
      look: () => neighbours.look(),
      self: { name: contract.name, health: () => host.health() },
    }),
    metrics: new ChatMetrics(),
    completionLimit: new CompletionLimit(host.rate),
  };
}

/** Of a process that hosts services in a way of its own: all are others' to start and stop. */
function noControl(peers: Host<unknown>['peers'], { version }: Contract): SuiteControl {
  return {
    services: () =>
      peers.map(({ name, url }) => ({
        name,
        url,
        version,
        status: 'elsewhere',
        isLasting: false,
      })),
    start: refuseAll,
    stop: refuseAll,
  };
}

async function refuseAll(names: readonly string[]): Promise<SuiteChange> {
  const reason = 'it is not hosted by this process';
  return { changed: [], refused: names.map((name) => ({ name, reason })) };
}
