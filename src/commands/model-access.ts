import { resolve } from 'node:path';
import { addressBook } from '../addresses.ts';
import { authContract } from '../auth/contract.ts';
import { createClient } from '../kit/client.ts';
import { processEnvironment, readConfig } from '../kit/config.ts';
import { Fault } from '../kit/errors.ts';
import { modelsContract } from '../models/contract.ts';
import type { PullProgress } from '../models/library/pull/puller.ts';
import { addressSetting, suiteSettings, type SuiteConfig } from '../suite-settings.ts';
import type { AdministrationOptions } from './administration.ts';
import { tracer } from './auth-session.ts';
import type { ListedModel, ShownModel } from './model-listing.ts';

/** The models of a suite, whether it runs or not. */
export interface ModelAccess extends AsyncDisposable {
  list(): Promise<readonly ListedModel[]>;
  show(name: string): Promise<ShownModel>;
  delete(name: string): Promise<void>;
  pull(name: string): AsyncIterable<PullProgress>;
}

/** Where the settings say that the models are. */
export interface ModelPlace {
  readonly suite: SuiteConfig;
  readonly modelsUrl: string;
  readonly authUrl: string;
  readonly dataFolder: string;
  /** True when they belong to a process on another machine, whose folder is not here. */
  readonly isElsewhere: boolean;
}

/** Reads the few settings of a client. */
export function readModelPlace(): ModelPlace {
  const groups = {
    suite: suiteSettings,
    addresses: {
      auth: addressSetting(authContract.name),
      models: addressSetting(modelsContract.name),
    },
  };
  const { suite, addresses } = readConfig(groups, processEnvironment());
  const addressOf = (service: string) =>
    service === authContract.name ? addresses.auth : addresses.models;
  const book = addressBook({ suite, addressOf }, []);
  return {
    suite,
    modelsUrl: book.urlOf(modelsContract.name),
    authUrl: book.urlOf(authContract.name),
    dataFolder: resolve(suite.dataFolder),
    isElsewhere: addresses.models !== undefined,
  };
}

/** Whether models answers. */
export async function isRunning({ modelsUrl }: ModelPlace): Promise<boolean> {
  try {
    await createClient(modelsContract, { baseUrl: modelsUrl, tracer }).health({});
    return true;
  } catch (error) {
    if (error instanceof Fault && error.code === 'unavailable') return false;
    throw error;
  }
}

/** The models of the running suite, else those of its folder; says which of the two on standard error. */
export async function openModels(options: AdministrationOptions): Promise<ModelAccess> {
  const place = readModelPlace();
  if (await isRunning(place)) {
    const { openRunningModels } = await import('./running-models.ts');
    return openRunningModels(place, options);
  }
  if (place.isElsewhere) {
    throw new Fault('unavailable', `models cannot be reached at ${place.modelsUrl}`);
  }
  const { openStoppedModels } = await import('./stopped-models.ts');
  return openStoppedModels(place);
}
