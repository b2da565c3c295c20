import type { SuiteMember } from '../../kit/service.ts';
import type { Health } from './neighbours.ts';

/** A service in the words of container tools. */
export interface Container {
  readonly name: string;
  readonly status: string;
  readonly ports: string;
  readonly image: string;
  readonly error?: string;
}

export interface Sight {
  /** Absent when it did not answer within a second. */
  readonly health: Health | undefined;
  /** Unix milliseconds. */
  readonly now: number;
}

/** A service as `docker ps` would show it. */
export function describeContainer(member: SuiteMember, sight: Sight): Container {
  const { name, status, failure } = member;
  const isUp = status === 'running' || (status === 'elsewhere' && sight.health !== undefined);
  const version =
    status === 'elsewhere' ? (sight.health?.version ?? member.version) : member.version;
  return {
    name,
    status: statusOf(member, sight),
    ports: isUp ? portsOf(member.url) : '',
    image: `ennead/${name}:${version}`,
    ...(failure === undefined ? {} : { error: failure }),
  };
}

function statusOf({ status, sinceMs, failure }: SuiteMember, { health, now }: Sight): string {
  if (status === 'elsewhere') {
    if (!health) return 'Unreachable, elsewhere';
    return `Up ${durationOf(health.uptime)} (${health.status}), elsewhere`;
  }
  const seconds = sinceMs === undefined ? 0 : Math.max(0, Math.floor((now - sinceMs) / 1000));
  if (status === 'stopped') {
    return `Exited (${failure === undefined ? 0 : 1}) ${durationOf(seconds)} ago`;
  }
  return `Up ${durationOf(seconds)} (${health?.status ?? 'unhealthy'})`;
}

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** In its largest unit: `3 minutes`, `1 second`. */
function durationOf(seconds: number): string {
  const [unit, size] = units.find(([, least]) => seconds >= least) ?? (['second', 1] as const);
  const amount = Math.floor(seconds / size);
  return `${amount} ${unit}${amount === 1 ? '' : 's'}`;
}

/** An address as containers publish it: `127.0.0.1:7404->7404/tcp`. */
function portsOf(url: string): string {
  const { protocol, hostname, port } = new URL(url);
  const number = port === '' ? (protocol === 'https:' ? '443' : '80') : port;
  return `${hostname}:${number}->${number}/tcp`;
}
