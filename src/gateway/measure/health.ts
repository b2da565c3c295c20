import type { FailureKind } from '../dialects/failure.ts';
import type { Provider } from '../providers/provider.ts';
import type { Probe } from './probes.ts';
import type { Standing, Standings } from './standing.ts';

const soundAvailability = 0.9;

/** Everybody may read these, so that nothing of a provider's own words stands in them. */
const reasons: Readonly<Partial<Record<FailureKind, string>>> = {
  refused: "it refuses the gateway's key, or wants to be paid",
  missing: 'it does not have the model',
  broken: 'it answered with an error',
  unreachable: 'it cannot be reached',
  late: 'it was too slow',
  truncated: 'it broke its answer off',
};
const reasonOtherwise = 'it failed';

/** How a provider does: by its real traffic of the last minutes, else by a probe. */
export function describeHealth(
  provider: Provider,
  { standings, probe }: { readonly standings: Standings; readonly probe: Probe | undefined },
) {
  const models = [...provider.models.values()];
  const standing = models.map((model) => standings.of({ provider, model }));
  const { availability, latency, failure } = judge(standing, probe);
  const isShut = standing.every(({ circuit }) => circuit === 'open');
  const isSound = availability >= soundAvailability && !isShut;
  const why = failure && (reasons[failure] ?? reasonOtherwise);
  const error = models.length === 0 ? (why ?? 'it offers no models') : why;
  return {
    status: isSound ? ('healthy' as const) : ('degraded' as const),
    ...(provider.origin === 'local' ? { models: models.length } : {}),
    ...(latency === undefined ? {} : { latency: Math.round(latency * 10) / 10 }),
    availability: Math.round(availability * 1_000) / 1_000,
    ...(isSound || error === undefined ? {} : { error }),
  };
}

function judge(standing: readonly Standing[], probe: Probe | undefined) {
  const used = standing.filter(({ recentAttempts }) => recentAttempts > 0);
  if (used.length === 0) {
    const availability = probe?.failure === undefined ? 1 : 0;
    return { availability, latency: probe?.latencyMs, failure: probe?.failure };
  }
  const [failure] = used.flatMap(({ lastFailure }) => lastFailure ?? []);
  return { availability: availabilityOf(used), latency: latencyOf(used), failure };
}

function availabilityOf(used: readonly Standing[]): number {
  const attempts = used.reduce((sum, { recentAttempts }) => sum + recentAttempts, 0);
  const good = used.reduce((sum, one) => sum + one.availability * one.recentAttempts, 0);
  return good / attempts;
}

function latencyOf(used: readonly Standing[]): number | undefined {
  const measured = used.flatMap(({ latencyMs }) => latencyMs ?? []);
  if (measured.length === 0) return undefined;
  return measured.reduce((sum, one) => sum + one, 0) / measured.length;
}
