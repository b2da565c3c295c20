import { Fault } from '../../kit/errors.ts';
import type { Resources } from '../agents/agent.ts';
import { readQuantity, type ResourceTexts } from '../quantities.ts';

const cpuForm = /^\d{1,6}(?:\.\d{1,3})?m?$/;
const memoryForm = /^\d{1,15}(?:\.\d{1,3})?([kMGT]|[KMGT]i)?$/;

/** What a task takes of an agent; what is left out is nothing. */
export function parseRequirements(texts: {
  readonly [Name in keyof ResourceTexts]?: string | undefined;
}): Resources {
  const { cpu = '0', memory = '0' } = texts;
  const cores = cpuForm.test(cpu) ? readQuantity(cpu) : undefined;
  if (cores === undefined) throw unreadable('cpu', '"500m" or "0.5"');
  const bytes = memoryForm.test(memory) ? Math.round(readQuantity(memory) ?? Number.NaN) : -1;
  if (bytes < 0 || !Number.isSafeInteger(bytes)) throw unreadable('memory', '"512Mi"');
  return { cpu: cores, memory: bytes };
}

function unreadable(name: string, example: string): Fault {
  return new Fault('invalid', `requirements.resources.${name} is to be like ${example}`, {
    reason: 'validation_error',
    detail: { param: `requirements.resources.${name}` },
  });
}
