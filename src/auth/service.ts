import type { Service } from '../kit/service.ts';
import { authSettings } from './config.ts';
import { authContract } from './contract.ts';
import { authEnvelope } from './envelope.ts';

/** Auth issues, refreshes, revokes and validates the tokens of the whole suite. */
export const auth = {
  contract: authContract,
  envelope: authEnvelope,
  rate: { perMinute: 1000, burst: 1500 },
  settings: authSettings,
  migrations: new URL('./migrations/', import.meta.url),
  grants: [],
  load: () => import('./start.ts'),
} satisfies Service<typeof authContract, typeof authSettings>;
