import type { HttpServer } from '../kit/http/server.ts';
import { openTogether, type Lifetime } from '../kit/lifecycle.ts';
import type { Host } from '../kit/service.ts';
import { auditRefusals } from './audit/refused-requests.ts';
import type { AuthConfig } from './config.ts';
import { authContract } from './contract.ts';
import { announceLogin, ensureAdministrator } from './accounts/first-administrator.ts';
import { createParts, type AuthParts } from './parts.ts';
import { authHandlers } from './routes/routes.ts';
import { ensureServiceIdentities } from './api-keys/service-identities.ts';
import { deleteOldSessions } from './sessions/session-store.ts';

const cleaningIntervalMs = 3_600_000;
const signingIntervalMs = 60_000;

/** Starts the service; a start that fails ends what it had begun. */
export function start(host: Host<AuthConfig>): Promise<AsyncDisposable> {
  return openTogether(host.log, async (lifetime) => {
    const parts = await createParts(host);
    const { feed, keyring } = parts;
    endWith(lifetime, parts);
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
    host.http.serve(authContract, authHandlers(parts));
    lifetime.defer('the cleaning', await startCleaning(parts));
    lifetime.defer('the signing of the audit log', await startSigning(parts));
    return parts;
  });
}

/** In reverse: what revokes ends before what carries it, and the audit log after all that it records. */
function endWith(lifetime: Lifetime, parts: AuthParts): void {
  lifetime.own('the audit log', parts.audit);
  lifetime.own('the limits', parts.limits);
  lifetime.own('the sessions', parts.sessions);
  lifetime.own('the login with API keys', parts.apiKeyLogin);
  lifetime.own('the revoker', parts.revoker);
  lifetime.own('the feed of revocations', parts.feed);
  lifetime.own('the group mappings', parts.groupMappings);
  lifetime.own('the signing keys', parts.signingKeys);
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
