import { plainEnvelope } from '../../../src/kit/envelope.ts';
import type { Service } from '../../../src/kit/service.ts';
import { notesContract } from './contract.ts';

/** Notes keeps short texts for their owners. */
export const notes = {
  contract: notesContract,
  envelope: plainEnvelope,
  rate: { perMinute: 500, burst: 750 },
  settings: {},
  migrations: new URL('./migrations/', import.meta.url),
  grants: [],
  load: () => import('./start.ts'),
} satisfies Service<typeof notesContract>;
