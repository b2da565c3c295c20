import type { Service } from '../kit/service.ts';
import { meshSettings } from './config.ts';
import { meshContract } from './contract.ts';
import { meshEnvelope } from './envelope.ts';
import { meshGrpc } from './events.ts';

/** The mesh has agents find one another, work for one another and decide together. */
export const mesh = {
  contract: meshContract,
  envelope: meshEnvelope,
  rate: { perMinute: 500, burst: 750 },
  settings: meshSettings,
  ports: { [meshGrpc]: 11 },
  migrations: new URL('./migrations/', import.meta.url),
  // Its own agent joins as any other.
  grants: ['mesh:communicate'],
  load: () => import('./start.ts'),
} satisfies Service<typeof meshContract, typeof meshSettings>;
