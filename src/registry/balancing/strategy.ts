export const strategies = [
  'least-loaded',
  'round-robin',
  'power-of-two',
  'latency',
  'consistent-hash',
] as const;

export type Strategy = (typeof strategies)[number];

/** Safe with several replicas, whose figures of one another are two seconds old. */
export const strategyDefault: Strategy = 'power-of-two';

/** Why a candidate stands where it does: a strategy chose it, none was asked for, or it is an outlier. */
export type Reason = Strategy | 'none' | 'ejected';
