import type { Service } from '../kit/service.ts';
import { gatewaySettings } from './config.ts';
import { gatewayContract } from './contract.ts';
import { gatewayEnvelope } from './envelope.ts';

/** The gateway takes chats to the models that answer them. */
export const gateway = {
  contract: gatewayContract,
  envelope: gatewayEnvelope,
  rate: { perMinute: 1000, burst: 1500 },
  settings: gatewaySettings,
  migrations: new URL('./migrations/', import.meta.url),
  grants: [],
  load: () => import('./start.ts'),
} satisfies Service<typeof gatewayContract, typeof gatewaySettings>;
