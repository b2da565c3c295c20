import { Fault } from '../../kit/errors.ts';
import type { Resources } from '../agents/agent.ts';

const memoryUnits: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/** What a task takes of an agent, of texts as Kubernetes writes them; what is left out is nothing. */
export function parseResources({
  cpu = '0',
  memory = '0',
}: {
  readonly cpu?: string | undefined;
  readonly memory?: string | undefined;
}): Resources {
  return { cpu: parseCpu(cpu), memory: parseMemory(memory) };
}

/** The same as texts, so that `parseResources` reads the same numbers. */
export function showResources({ cpu, memory }: Resources): { cpu: string; memory: string } {
  const milli = Math.round(cpu * 1_000);
  const unit = ['Gi', 'Mi', 'Ki'].find((name) => memory % (memoryUnits[name] ?? 1) === 0);
  return {
    cpu: milli % 1_000 === 0 ? String(milli / 1_000) : `${milli}m`,
    memory:
      unit === undefined || memory === 0
        ? String(memory)
        : `${memory / (memoryUnits[unit] ?? 1)}${unit}`,
  };
}

function parseCpu(text: string): number {
  const [, digits, milli] = /^(\d{1,6}(?:\.\d{1,3})?)(m?)$/.exec(text) ?? [];
  if (digits === undefined) throw unreadable('cpu', '"500m" or "0.5"');
  return milli === 'm' ? Number(digits) / 1_000 : Number(digits);
}

function parseMemory(text: string): number {
  const [, digits, unit = ''] = /^(\d{1,15}(?:\.\d{1,3})?)([kMGT]|[KMGT]i)?$/.exec(text) ?? [];
  const bytes = Math.round(Number(digits) * (memoryUnits[unit] ?? 1));
  if (digits === undefined || !Number.isSafeInteger(bytes)) throw unreadable('memory', '"512Mi"');
  return bytes;
}

function unreadable(name: string, example: string): Fault {
  return new Fault('invalid', `requirements.resources.${name} is to be like ${example}`, {
    reason: 'validation_error',
    detail: { param: `requirements.resources.${name}` },
  });
}
