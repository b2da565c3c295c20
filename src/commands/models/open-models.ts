import { createClient } from '../../kit/client.ts';
import { Fault } from '../../kit/errors.ts';
import { modelsContract } from '../../models/contract.ts';
import type { AdministrationOptions } from '../operator/work.ts';
import { tracer } from '../operator/auth-session.ts';
import { readServicePlace } from '../operator/service-access.ts';
import type { ModelAccess, ModelPlace } from './model-access.ts';

/** The models of the running suite, else those of its folder; says which of the two on standard error. */
export async function openModels(options: AdministrationOptions): Promise<ModelAccess> {
  const place = readModelPlace();
  if (await isRunning(place)) {
    const { openRunningModels } = await import('./running-models.ts');
    return openRunningModels(place, options);
  }
  if (place.isElsewhere) {
    throw new Fault('unavailable', `models cannot be reached at ${place.url}`);
  }
  const { openStoppedModels } = await import('./stopped-models.ts');
  return openStoppedModels(place);
}

/** Whether models answers. */
export async function isRunning({ url }: ModelPlace): Promise<boolean> {
  try {
    await createClient(modelsContract, { baseUrl: url, tracer }).health({});
    return true;
  } catch (error) {
    if (error instanceof Fault && error.code === 'unavailable') return false;
    throw error;
  }
}

/** Reads the few settings of a client. */
export function readModelPlace(): ModelPlace {
  return readServicePlace(modelsContract.name);
}
