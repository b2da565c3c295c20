import type { Service } from '../kit/service.ts';
import { chatSettings } from './config.ts';
import { chatContract } from './contract.ts';
import { chatEnvelope } from './envelope.ts';
import { chatRate } from './suite/completion-limit.ts';

/** Chat keeps conversations with models, and does what is asked in them. */
export const chat = {
  contract: chatContract,
  envelope: chatEnvelope,
  rate: chatRate,
  settings: chatSettings,
  migrations: new URL('./migrations/', import.meta.url),
  // Orchestrations outlive the calls that began them, and agents are measured by the tracer. All else
  // is done with the caller's own credential.
  grants: ['mesh:communicate', 'tracer:read'],
  load: () => import('./start.ts'),
} satisfies Service<typeof chatContract, typeof chatSettings>;
