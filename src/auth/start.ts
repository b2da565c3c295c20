import type { HttpServer } from '../kit/http/server.ts';
import { auditRefusals } from './audit/refused-requests.ts';
import type { Host } from '../kit/service.ts';
import type { AuthConfig } from './config.ts';
import { authContract } from './contract.ts';
import { announceLogin, ensureAdministrator } from './accounts/first-administrator.ts';
import { createParts, type AuthParts } from './parts.ts';
import { authRoutes } from './routes/routes.ts';
import { ensureServiceIdentities } from './api-keys/service-identities.ts';
import { deleteOldSessions } from './sessions/session-store.ts';

const cleaningIntervalMs = 3_600_000;
const signingIntervalMs = 60_000;

export async function start(host: Host<AuthConfig>): Promise<AsyncDisposable> {
  const parts = await createParts(host);
  const { feed, keyring } = parts;
  host.serveKeys?.(keyring.findKey);
  await feed.read();
  await parts.oauth.rekeyIdentities();
  await ensureAdministrator({ ...parts, ...host });
  await announceLogin(host);
  await ensureServiceIdentities(host.peers, { ...parts, folder: host.serviceKeysFolder });
  await feed.start();
  await parts.signingKeys.start();
  await parts.groupMappings.start();
  forbidCaching(host.http);
  auditRefusals(host.http, parts.audit);
  host.http.serve(authContract, authRoutes(parts));
  const stopCleaning = await startCleaning(parts);
  const stopSigning = await startSigning(parts);
  return {
    [Symbol.asyncDispose]: async () => {
      stopCleaning();
      stopSigning();
      await parts.signingKeys[Symbol.asyncDispose]();
      await parts.groupMappings[Symbol.asyncDispose]();
      await feed[Symbol.asyncDispose]();
      await parts.revoker[Symbol.asyncDispose]();
      await parts.apiKeyLogin[Symbol.asyncDispose]();
      await parts.sessions[Symbol.asyncDispose]();
      await parts.limits[Symbol.asyncDispose]();
      await parts.audit[Symbol.asyncDispose]();
    },
  };
}

/** No answer may stay in a cache, refusals included (RFC 6749, section 5.1); the key set says else. */
function forbidCaching({ app }: HttpServer): void {
  app.addHook('onRequest', (_request, reply, done) => {
    void reply.header('cache-control', 'no-store');
    done();
  });
}

/** Removes now and every hour what has expired; answers how to stop. */
async function startCleaning(parts: AuthParts): Promise<() => void> {
  const { sql, revoker, host, oauth, signingKeys, limits } = parts;
  const clean = async () => {
    const now = new Date();
    await deleteOldSessions(sql, now);
    await revoker.deleteExpired();
    await oauth.deleteExpired(now);
    await limits.deleteExpired();
    await signingKeys.maintain();
  };
  await clean();
  const cleanOrLog = () => {
    clean().catch((error: unknown) =>
      host.log.warn({ err: error }, 'expired rows were not removed'),
    );
  };
  const timer = setInterval(cleanOrLog, cleaningIntervalMs).unref();
  return () => clearInterval(timer);
}

/** Signs the audit log now and every minute, so that little can be cut off unseen; answers how to stop. */
async function startSigning({ audit }: AuthParts): Promise<() => void> {
  await audit.checkpoint();
  const timer = setInterval(() => void audit.checkpoint(), signingIntervalMs).unref();
  return () => clearInterval(timer);
}
