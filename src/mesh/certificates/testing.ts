import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bus } from '../../kit/bus/bus.ts';
import { openBus } from '../../kit/bus/open-bus.ts';
import type { Database } from '../../kit/database/database.ts';
import { openTestDatabase } from '../../kit/database/testing.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import { silentLog } from '../../kit/testing.ts';
import { CertificateAuthority, type AuthorityOptions, type RootChange } from './authority.ts';
import { createRequest } from './request.ts';
import type { IssuedIdentity } from './renewed-identity.ts';
import type { CertificateGrant } from './spiffe.ts';

/** What the replicas of one mesh share. */
export interface AuthorityGround extends AsyncDisposable {
  readonly database: Database;
  readonly bus: Bus;
  readonly dataFolder: string;
  /** Another replica's authority. */
  open(options?: Partial<AuthorityOptions>): Promise<CertificateAuthority>;
}

/** An empty database with the tables of the certificates, and a data folder. */
export async function openAuthorityGround(): Promise<AuthorityGround> {
  const lifetime = new Lifetime(silentLog);
  const dataFolder = await mkdtemp(join(tmpdir(), 'ennead-certificates-'));
  lifetime.defer('the data folder', () => rm(dataFolder, { recursive: true }));
  const database = lifetime.own('the database', await openTestDatabase());
  const bus = lifetime.own('the bus', await openBus({ log: silentLog }));
  await database.query('drop schema if exists mesh cascade');
  await database.query('create schema mesh');
  await database.query(
    await readFile(new URL('../migrations/005-certificates.sql', import.meta.url), 'utf8'),
  );
  const topic = bus.topic<RootChange>('mesh.roots');
  return {
    database,
    bus,
    dataFolder,
    open: async (options = {}) =>
      lifetime.own(
        'an authority',
        await CertificateAuthority.open({
          sql: database,
          topic,
          dataFolder,
          log: silentLog,
          ...options,
        }),
      ),
    [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose](),
  };
}

/** A certificate of an agent with its key, as the agent would get it. */
export async function issueFor(
  authority: CertificateAuthority,
  agentId: string,
  ownerId = 'usr_owner',
): Promise<IssuedIdentity> {
  const { csr, privateKey } = await createRequest(agentId);
  const { certificate, ca, expiresAt } = await authority.issue({
    agentId,
    csr,
    grant: grantTo(ownerId),
  });
  return { certificate, ca, privateKey, expiresAtMs: expiresAt.getTime() };
}

/** A first token of a subject. */
export function grantTo(ownerId: string): CertificateGrant {
  return { ownerId, sessionId: 'ses_test', tokenEpoch: 0, kind: 'user' };
}
