import type { Host } from '../kit/service.ts';
import type { ChatConfig } from './config.ts';
import { chatContract } from './contract.ts';
import { openParts } from './parts.ts';
import { chatHandlers, chatSocketHandlers } from './routes/routes.ts';

export async function start(host: Host<ChatConfig>): Promise<AsyncDisposable> {
  const parts = await openParts(host);
  host.http.serve(chatContract, chatHandlers(parts));
  host.http.serveSockets(chatContract, chatSocketHandlers(parts));
  return parts;
}
