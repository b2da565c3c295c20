import type { Egress } from '../../../kit/egress/egress.ts';
import { Fault } from '../../../kit/errors.ts';
import type { Identity } from '../../../kit/identity/identity.ts';
import { newId } from '../../../kit/ids.ts';
import type { Log } from '../../../kit/log.ts';
import type { Directory } from '../../connections/connection.ts';
import { requireAllowedCms } from './cms-address.ts';
import { CmsClient } from './cms-client.ts';
import { Lease } from '../../leases/lease.ts';
import { beginSync, endSync, leaseOfSync, listSyncs } from './cms-store.ts';
import type { CmsSql, PastSync, StartedSync } from './cms-store.ts';
import type { Registrar } from '../registrar.ts';
import type { SyncMode, SyncResult } from './sync-result.ts';
import { SyncRun } from './sync-run.ts';

export interface CmsSyncsOptions {
  readonly sql: CmsSql;
  readonly egress: Egress;
  readonly directory: Pick<Directory, 'all' | 'find'>;
  readonly registrar: Registrar;
  /** Addresses of CMS that may be called, separated by commas. */
  readonly allowList: string;
  readonly log: Log;
  /** For each request to a CMS; 10,000 unless told. */
  readonly requestTimeoutMs?: number;
}

export interface SyncRequest {
  readonly cmsEndpoint: string;
  readonly apiKey: string;
  readonly syncMode: SyncMode;
  readonly dryRun: boolean;
  readonly allowMassRemoval: boolean;
  readonly restoreRemoved: boolean;
}

const syncMaxMs = 5 * 60_000;

/** Makes the registry and content-management systems alike, one sync at a time for each. */
export class CmsSyncs implements AsyncDisposable {
  readonly #options: CmsSyncsOptions;
  readonly #stop = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  constructor(options: CmsSyncsOptions) {
    this.#options = options;
  }

  /**
   * Faults: `forbidden` (`cms_not_allowed`, `egress_blocked`), `conflict` (`sync_running`), and when
   * the CMS cannot be read at all `upstream` or `deadline`. All else that fails is in the answer.
   */
  async sync(request: SyncRequest, identity: Identity, signal: AbortSignal): Promise<SyncResult> {
    const { egress, sql, allowList, log } = this.#options;
    const cms = requireAllowedCms(request.cmsEndpoint, allowList);
    egress.checkUrl(cms, { field: 'cmsEndpoint' });
    const syncId = newId('syn');
    const { syncMode: direction, dryRun: isDryRun } = request;
    const sync = { syncId, cms, direction, isDryRun, startedBy: identity.subject };
    const lease = new Lease({ sql, name: leaseOfSync(cms), holder: syncId, log });
    const work = this.#under(lease, sync, { cms, request, identity, signal });
    this.#running.add(work);
    return work.finally(() => this.#running.delete(work));
  }

  list(page: { readonly limit: number; readonly offset: number }): Promise<{
    readonly syncs: readonly PastSync[];
    readonly total: number;
  }> {
    return listSyncs(this.#options.sql, page);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Fault('unavailable', 'the registry stops'));
    await Promise.allSettled(this.#running);
  }

  /** A sync that loses its lease ends: another one may begin. */
  async #under(lease: Lease, sync: StartedSync, work: Work): Promise<SyncResult> {
    await using held = lease;
    await held.start();
    if (held.fence === undefined) {
      throw new Fault('conflict', 'a sync with this CMS is running', { reason: 'sync_running' });
    }
    const lost = new AbortController();
    held.onChange((isHeld) => isHeld || lost.abort(leaseLost()));
    const signal = AbortSignal.any([work.signal, lost.signal]);
    await beginSync(this.#options.sql, sync);
    return await this.#work(sync.syncId, { ...work, signal });
  }

  async #work(syncId: string, work: Work): Promise<SyncResult> {
    const { sql, log } = this.#options;
    try {
      const result = await this.#run(syncId, work);
      await endSync(sql, syncId, { status: 'done', result });
      return result;
    } catch (error) {
      const fault = Fault.from(error);
      const { code, message, reason } = fault;
      const entry = { stage: 'list', side: 'cms', code: reason ?? code, message } as const;
      const failed = { status: 'failed', result: { errors: [entry] } } as const;
      await endSync(sql, syncId, failed).catch((cause: unknown) => {
        log.warn({ err: cause, syncId }, 'the end of a sync could not be stored');
      });
      throw fault;
    }
  }

  #run(syncId: string, { cms, request, identity, signal: caller }: Work): Promise<SyncResult> {
    const { sql, egress, directory, registrar, requestTimeoutMs } = this.#options;
    const { apiKey } = request;
    const signal = AbortSignal.any([caller, this.#stop.signal, AbortSignal.timeout(syncMaxMs)]);
    const timeoutMs = requestTimeoutMs;
    const client = new CmsClient({ egress, address: cms, apiKey, syncId, signal, timeoutMs });
    // Whoever syncs did not read the commands of the CMS: somebody has to approve each.
    const author: Identity = { ...identity, permissions: ['registry:write'] };
    const parts = { sql, directory, registrar, client, signal, author };
    const { syncMode: direction, dryRun: isDryRun } = request;
    const { allowMassRemoval: mayRemoveMany, restoreRemoved: isRestoring } = request;
    const options = { syncId, cms, direction, isDryRun, mayRemoveMany, isRestoring };
    return new SyncRun(parts, options).run();
  }
}

function leaseLost(): Fault {
  return new Fault('unavailable', 'the sync could not go on, and another one may run', {
    reason: 'lease_lost',
  });
}

interface Work {
  /** As `requireAllowedCms` answers it. */
  readonly cms: string;
  readonly request: SyncRequest;
  readonly identity: Identity;
  /** Of the caller. */
  readonly signal: AbortSignal;
}
