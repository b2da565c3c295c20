import type { Sealer } from '../../kit/secrets/sealing.ts';
import type { ItemTask } from './batch.ts';

type Inputs = Readonly<Record<string, unknown>>;

const context = 'workflow batch inputs';

/** The inputs of an item as JSON: of a flow with secret settings a sealed text, else the object. */
export function writeItemInputs(
  inputs: Inputs,
  sealer: Pick<Sealer, 'seal'>,
  hasSecrets: boolean,
): string {
  const text = JSON.stringify(inputs);
  return hasSecrets ? JSON.stringify(sealer.seal(Buffer.from(text), context)) : text;
}

/** What an item is to be run with. */
export function readItemInputs(
  { inputs }: Pick<ItemTask, 'inputs'>,
  sealer: Pick<Sealer, 'unseal'>,
): Inputs {
  if (typeof inputs !== 'string') return inputs;
  // Written by `writeItemInputs`.
  return JSON.parse(sealer.unseal(inputs, context).toString()) as Inputs;
}
