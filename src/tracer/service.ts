import { plainEnvelope } from '../kit/envelope.ts';
import type { Service } from '../kit/service.ts';
import { tracerSettings } from './config.ts';
import { tracerContract } from './contract.ts';
import { otlpGrpc } from './events.ts';

/** The tracer keeps what everything that runs tells of itself, and explains it. */
export const tracer = {
  contract: tracerContract,
  envelope: plainEnvelope,
  rate: { perMinute: 200, burst: 300 },
  settings: tracerSettings,
  ports: { [otlpGrpc]: 12 },
  migrations: new URL('./migrations/', import.meta.url),
  grants: [],
  load: () => import('./start.ts'),
} satisfies Service<typeof tracerContract, typeof tracerSettings>;
