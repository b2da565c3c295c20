import type { Candidate } from './candidate.ts';
import type { Reason, Strategy } from './strategy.ts';

/** The reason in words of ASCII without quotes. */
export function whyOf(candidate: Candidate, reason: Reason, nowMs: number): string {
  if (reason === 'none') return 'none: offers all that is asked for';
  if (reason === 'ejected') return whyEjected(candidate, nowMs);
  return whyChosen(candidate, reason, nowMs);
}

/** Whether the words stay the same while the candidate's figures do. */
export function isLasting(candidate: Candidate, reason: Reason, nowMs: number): boolean {
  if (reason === 'latency' || reason === 'ejected') return false;
  return candidate.slowStartShare(nowMs) === 1;
}

function whyChosen(candidate: Candidate, strategy: Strategy, nowMs: number): string {
  return `${strategy}: ${reasons[strategy](candidate, nowMs)}${slowStartOf(candidate, nowMs)}`;
}

function whyEjected({ ejectedUntilMs, ejectionReason }: Candidate, nowMs: number): string {
  const seconds = Math.max(1, Math.ceil((ejectedUntilMs - nowMs) / 1000));
  return `last: kept out for ${seconds} s more after ${ejectionReason}`;
}

const reasons: Readonly<Record<Strategy, (candidate: Candidate, nowMs: number) => string>> = {
  'power-of-two': (one) => `the less loaded of two drawn, ${loadOf(one)}`,
  'least-loaded': (one) => loadOf(one),
  'round-robin': (one) => `its turn${one.weight === 1 ? '' : ` by weight ${one.weight}`}`,
  latency: (one, nowMs) => `the quicker of two drawn, ${latencyOf(one, nowMs)}`,
  'consistent-hash': (one) =>
    `where the key leads${one.weight === 1 ? '' : ` by weight ${one.weight}`}`,
};

function loadOf({ active, capacity, weight }: Candidate): string {
  return `${active} of ${capacity} in use${weight === 1 ? '' : ` at weight ${weight}`}`;
}

function latencyOf({ active, meter }: Candidate, nowMs: number): string {
  const latencyMs = meter.latencyMs(nowMs);
  if (latencyMs === undefined) return 'not measured yet';
  return `about ${Number(latencyMs.toPrecision(2))} ms with ${active} in use`;
}

function slowStartOf(candidate: Candidate, nowMs: number): string {
  const share = candidate.slowStartShare(nowMs);
  return share === 1 ? '' : `; new, at ${Math.round(share * 100)} % of its share`;
}
