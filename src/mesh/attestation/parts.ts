import type { Bus } from '../../kit/bus/bus.ts';
import { hasUnheardWriters } from '../../kit/bus/unheard-writers.ts';
import type { Database } from '../../kit/database/database.ts';
import { openTogether } from '../../kit/lifecycle.ts';
import type { Log } from '../../kit/log.ts';
import type { Activity } from '../activity/activity.ts';
import type { AgentSource } from './agent-source.ts';
import { AttestationFeed, attestationTopic } from './attestation-feed.ts';
import type { AttestationEvent } from './attestation.ts';
import { Attestations } from './attestations.ts';
import { LiveAttestations } from './live-attestations.ts';
import type { ProofChecker } from './proof-checker.ts';
import { SigningKeys, type KeyRotation } from './signing-key.ts';
import { StatusLists } from './status-lists.ts';

export interface AttestationPartsOptions {
  readonly database: Database;
  readonly bus: Bus;
  readonly agents: AgentSource;
  readonly activity: Activity;
  readonly checker: Pick<ProofChecker, 'check'>;
  /** The suite's. */
  readonly dataFolder: string;
  /** Where this mesh is reached: it goes into every token. */
  readonly url: string;
  readonly log: Log;
  /** The clock, in milliseconds. */
  readonly now?: () => number;
}

/** All of attestation; disposing it ends what it does. The checker is the caller's. */
export interface AttestationParts extends AsyncDisposable {
  readonly attestations: Attestations;
  readonly lists: StatusLists;
  /** Keeps this replica equal to the others. */
  readonly feed: AttestationFeed;
  /** What signs the tokens and verifies them. */
  readonly keys: SigningKeys;
  /** Lets the next key take over, on all replicas. */
  rotateKey(wish: { readonly isCompromised: boolean }): Promise<KeyRotation>;
}

/** Opens everything; when it resolves, memory is what the database says. */
export async function openAttestationParts(
  options: AttestationPartsOptions,
): Promise<AttestationParts> {
  const { database: sql, bus, agents, activity, checker, dataFolder, url, log } = options;
  const now = options.now ?? Date.now;
  const keys = await SigningKeys.open({ sql, dataFolder, now });
  const issuer = { signer: keys, url: url.replace(/\/$/, '') };
  const live = new LiveAttestations();
  const lists = new StatusLists({ sql, issuer, live, now });
  const topic = bus.topic<AttestationEvent>(attestationTopic);
  return openTogether(log, async (lifetime) => {
    const feed = new AttestationFeed({
      sql,
      topic,
      live,
      lists,
      keys,
      log,
      now,
      hasUnheardWriters: () => hasUnheardWriters(bus, sql),
    });
    lifetime.own('the feed of attestations', feed);
    await feed.start();
    const dependencies = { sql, agents, activity, checker, issuer, keys, live, feed, now };
    const attestations = lifetime.own('attestations', new Attestations(dependencies));
    const rotateKey: AttestationParts['rotateKey'] = async (wish) => {
      const rotation = await keys.rotate(wish);
      lists.dropAll();
      feed.tell({ kind: 'keys-changed' });
      return rotation;
    };
    return { attestations, lists, feed, keys, rotateKey };
  });
}
