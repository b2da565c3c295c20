import { Fault } from '../../kit/errors.ts';
import type { Resources } from './agent.ts';

/** Resources as callers write and read them: `500m` or `0.5` cores, `512Mi` of memory. */
export interface ResourceTexts {
  readonly cpu: string;
  readonly memory: string;
}

/** What a text of cores may be. */
export const cpuPattern = '^([0-9]{1,6}m|[0-9]{1,3}(\\.[0-9]{1,3})?)$';
/** What a text of memory may be. */
export const memoryPattern = '^[0-9]{1,15}(Ki|Mi|Gi|k|K|M|G)?$';

const units: Readonly<Record<string, number>> = {
  '': 1,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  k: 1e3,
  K: 1e3,
  M: 1e6,
  G: 1e9,
};
const shownUnits = ['Gi', 'Mi', 'Ki'] as const;

/** Cores; `invalid` for what is no quantity. */
export function parseCpu(text: string): number {
  if (!new RegExp(cpuPattern).test(text)) throw notAQuantity('cpu', text);
  return text.endsWith('m') ? Number(text.slice(0, -1)) / 1_000 : Number(text);
}

/** Bytes; `invalid` for what is no quantity. */
export function parseMemory(text: string): number {
  if (!new RegExp(memoryPattern).test(text)) throw notAQuantity('memory', text);
  const [, digits = '', unit = ''] = /^([0-9]+)([A-Za-z]*)$/.exec(text) ?? [];
  return Number(digits) * (units[unit] ?? 1);
}

/** The parts that are there, as numbers. */
export function parseResources(texts: Partial<ResourceTexts>): Partial<Resources> {
  return {
    ...(texts.cpu === undefined ? {} : { cpu: parseCpu(texts.cpu) }),
    ...(texts.memory === undefined ? {} : { memory: parseMemory(texts.memory) }),
  };
}

/** Whole cores as `2`, all else in thousandths: `500m`. */
export function formatCpu(cores: number): string {
  return Number.isInteger(cores) && cores > 0 ? String(cores) : `${Math.round(cores * 1_000)}m`;
}

/** In the largest unit that says it exactly. */
export function formatMemory(bytes: number): string {
  for (const unit of shownUnits) {
    const count = bytes / (units[unit] ?? 1);
    if (count >= 1 && Number.isInteger(count)) return `${count}${unit}`;
  }
  return String(bytes);
}

/** As callers read them. */
export function formatResources({ cpu, memory }: Resources): ResourceTexts {
  return { cpu: formatCpu(cpu), memory: formatMemory(memory) };
}

function notAQuantity(name: string, text: string): Fault {
  return new Fault('invalid', `${JSON.stringify(text)} is no quantity of ${name}`, {
    reason: 'invalid_resources',
    detail: { [name]: text },
  });
}
