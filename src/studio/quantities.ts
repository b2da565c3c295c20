import type { Resources } from './agents/agent.ts';

/** Resources as callers write and read them: `500m` or `0.5` cores, `512Mi` of memory. */
export interface ResourceTexts {
  readonly cpu: string;
  readonly memory: string;
}

const factors: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  K: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};
const shownUnits = ['Gi', 'Mi', 'Ki'] as const;

/** An amount as Kubernetes writes it (`250m`, `64Mi`) as a number; undefined for what is none. */
export function readQuantity(text: string): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,15}(?:\.\d{1,9})?)([A-Za-z]*)$/.exec(text) ?? [];
  const factor = factors[unit];
  if (digits === undefined || factor === undefined) return undefined;
  // Divided, because a thousandth has no exact number.
  return factor < 1 ? Number(digits) / Math.round(1 / factor) : Number(digits) * factor;
}

/** Whole cores as `2`, all else in thousandths: `500m`. */
export function formatCpu(cores: number): string {
  const milli = Math.round(cores * 1_000);
  return milli > 0 && milli % 1_000 === 0 ? String(milli / 1_000) : `${milli}m`;
}

/** In the largest unit that says it exactly. */
export function formatMemory(bytes: number): string {
  for (const unit of shownUnits) {
    const count = bytes / (factors[unit] ?? 1);
    if (count >= 1 && Number.isInteger(count)) return `${count}${unit}`;
  }
  return String(bytes);
}

/** As callers read them. */
export function formatResources({ cpu, memory }: Resources): ResourceTexts {
  return { cpu: formatCpu(cpu), memory: formatMemory(memory) };
}
