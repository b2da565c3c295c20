import type { ReactNode } from 'react';

/** How good a state is, which gives it its colour. */
export type Tone = 'good' | 'busy' | 'warning' | 'bad' | 'neutral';

const tones: Readonly<Record<string, Tone>> = {
  healthy: 'good',
  active: 'good',
  online: 'good',
  completed: 'good',
  success: 'good',
  ok: 'good',
  running: 'busy',
  processing: 'busy',
  cancelling: 'busy',
  pending: 'busy',
  queued: 'busy',
  connecting: 'busy',
  busy: 'busy',
  waiting: 'busy',
  degraded: 'warning',
  suspect: 'warning',
  idle: 'neutral',
  failed: 'bad',
  error: 'bad',
  unhealthy: 'bad',
  unreachable: 'bad',
  offline: 'bad',
  cancelled: 'neutral',
};

/** A state in a word. Its tone is known by the word unless told. */
export function Badge({
  state,
  tone,
}: {
  readonly state: string;
  readonly tone?: Tone;
}): ReactNode {
  return (
    <span className={`badge ${tone ?? tones[state.toLowerCase()] ?? 'neutral'}`}>{state}</span>
  );
}
