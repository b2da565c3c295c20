import type { Host, Service } from '../kit/service.ts';
import { chatSettings, type ChatConfig } from './config.ts';
import { chatContract } from './contract.ts';
import { chatEnvelope } from './envelope.ts';
import { openParts } from './parts.ts';
import { chatHandlers, chatSocketHandlers } from './routes/routes.ts';
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
  start,
} satisfies Service<typeof chatContract, typeof chatSettings>;

async function start(host: Host<ChatConfig>): Promise<AsyncDisposable> {
  const parts = await openParts(host);
  host.http.serve(chatContract, chatHandlers(parts));
  host.http.serveSockets(chatContract, chatSocketHandlers(parts));
  return parts;
}
