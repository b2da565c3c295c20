import type { PullProgress } from '../../models/library/pull/puller.ts';
import type { ListedModel, ShownModel } from './model-listing.ts';
import type { ServicePlace } from '../operator/service-access.ts';

/** The models of a suite, whether it runs or not. */
export interface ModelAccess extends AsyncDisposable {
  list(): Promise<readonly ListedModel[]>;
  show(name: string): Promise<ShownModel>;
  delete(name: string): Promise<void>;
  pull(name: string): AsyncIterable<PullProgress>;
}

/** Where the settings say that the models are. */
export type ModelPlace = ServicePlace;
