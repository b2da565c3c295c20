import { Fault } from '../../kit/errors.ts';
import { readQuantity, type ResourceTexts } from '../quantities.ts';
import type { Resources } from './agent.ts';

/** What a text of cores may be. */
export const cpuPattern = '^([0-9]{1,6}m|[0-9]{1,3}(\\.[0-9]{1,3})?)$';
/** What a text of memory may be. */
export const memoryPattern = '^[0-9]{1,15}(Ki|Mi|Gi|k|K|M|G)?$';

/** The parts that are there, as numbers; `invalid` for what is no quantity. */
export function parseResources({ cpu, memory }: Partial<ResourceTexts>): Partial<Resources> {
  return {
    ...(cpu === undefined ? {} : { cpu: parse('cpu', cpu, cpuPattern) }),
    ...(memory === undefined ? {} : { memory: parse('memory', memory, memoryPattern) }),
  };
}

function parse(name: keyof Resources, text: string, pattern: string): number {
  const amount = new RegExp(pattern).test(text) ? readQuantity(text) : undefined;
  if (amount !== undefined) return amount;
  throw new Fault('invalid', `${JSON.stringify(text)} is no quantity of ${name}`, {
    reason: 'invalid_resources',
    detail: { [name]: text },
  });
}
