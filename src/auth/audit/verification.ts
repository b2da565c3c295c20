import type { Sql } from '../tables.ts';
import { digestOf, linkOf, noHash, type ChainHead } from './chain.ts';
import { pageChain, readChainState, type ChainRow, type ChainState } from './chain-store.ts';
import type { CheckpointKey, SignedHead } from './checkpoint-key.ts';

/** What can be wrong with the log. */
export type AuditFlaw =
  /** An event is missing, or stands under another number. */
  | 'event_missing'
  | 'event_changed'
  /** An event has a number that was never given out. */
  | 'event_inserted'
  /** The chain is whole, but it is not the one that was signed. */
  | 'history_rewritten'
  | 'checkpoint_forged'
  | 'head_changed';

export interface AuditVerification {
  readonly valid: boolean;
  /** How many events were found good, from the first on. */
  readonly checked: number;
  /** The number at which the chain breaks. */
  readonly brokenAt?: number;
  readonly reason?: AuditFlaw;
  /** Where the log stands; who keeps it elsewhere can tell later that nothing before it changed. */
  readonly head: ChainHead;
}

export interface VerifyOptions {
  /** Without it checkpoints are not looked at: who can write the database can rewrite the chain. */
  readonly checkpointKey?: CheckpointKey | undefined;
  /** A head that is known to be good; what comes before it is not read. */
  readonly from?: ChainHead | undefined;
}

const pageSize = 500;

interface Break {
  readonly brokenAt: number;
  readonly reason: AuditFlaw;
}

/**
 * Reads the log page by page and computes its chain again, as far as it was written when this
 * began. Events from before there was a chain are not covered.
 */
export async function verifyAudit(
  sql: Sql,
  options: VerifyOptions = {},
): Promise<AuditVerification> {
  const kept = await options.checkpointKey?.readKept();
  const state = await readChainState(sql);
  const head = state?.head ?? { seq: 0, hash: noHash };
  if (!state) return { valid: false, checked: 0, brokenAt: 1, reason: 'head_changed', head };
  const walk = new Walk(options, { state, kept });
  let flaw: Break | undefined;
  for (let page = await walk.read(sql); page.length > 0; page = flaw ? [] : await walk.read(sql)) {
    flaw = walk.findFlaw(page);
  }
  flaw ??= walk.findFinalFlaw();
  return { valid: !flaw, checked: walk.checked, ...flaw, head };
}

/** One verification under way. */
class Walk {
  checked = 0;
  readonly #key: CheckpointKey | undefined;
  readonly #state: ChainState;
  readonly #kept: SignedHead | undefined;
  #last: ChainHead;

  constructor(
    { checkpointKey, from }: VerifyOptions,
    found: { readonly state: ChainState; readonly kept: SignedHead | undefined },
  ) {
    this.#key = checkpointKey;
    this.#state = found.state;
    this.#kept = found.kept;
    this.#last = from ?? { seq: found.state.startSeq, hash: noHash };
  }

  read(sql: Sql): Promise<ChainRow[]> {
    const { seq: to } = this.#state.head;
    return pageChain(sql, { after: this.#last.seq, to, limit: pageSize });
  }

  findFlaw(rows: readonly ChainRow[]): Break | undefined {
    for (const row of rows) {
      const flaw = this.#findRowFlaw(row);
      if (flaw) return flaw;
      this.checked += 1;
    }
    return undefined;
  }

  /** What only shows at the end: a tail that is missing, or more than was ever written. */
  findFinalFlaw(): Break | undefined {
    const { head, strayRow, signedSeq } = this.#state;
    const { seq, hash } = this.#last;
    const promised = Math.max(head.seq, this.#key ? (signedSeq ?? 0) : 0, this.#kept?.seq ?? 0);
    if (seq < promised) return { brokenAt: seq + 1, reason: 'event_missing' };
    if (!hash.equals(head.hash)) return { brokenAt: head.seq, reason: 'head_changed' };
    return strayRow === null ? undefined : { brokenAt: strayRow, reason: 'event_inserted' };
  }

  #findRowFlaw(row: ChainRow): Break | undefined {
    const expected = this.#last.seq + 1;
    if (row.seq !== expected) return { brokenAt: expected, reason: 'event_missing' };
    const hash = linkOf(this.#last.hash, row.seq, digestOf(row));
    if (!row.hash?.equals(hash)) return { brokenAt: row.seq, reason: 'event_changed' };
    const head = { seq: row.seq, hash };
    const reason = checkpointsOf(row, this.#kept)
      .map((checkpoint) => this.#findCheckpointFlaw(checkpoint, head))
      .find((flaw) => flaw !== undefined);
    if (reason) return { brokenAt: row.seq, reason };
    this.#last = head;
    return undefined;
  }

  #findCheckpointFlaw(checkpoint: SignedHead, { hash }: ChainHead): AuditFlaw | undefined {
    if (!this.#key) return undefined;
    if (!this.#key.isSigned(checkpoint)) return 'checkpoint_forged';
    return checkpoint.hash.equals(hash) ? undefined : 'history_rewritten';
  }
}

function checkpointsOf(row: ChainRow, kept: SignedHead | undefined): SignedHead[] {
  const { seq, checkpoint_hash: hash, signature } = row;
  const stored = hash && signature !== null ? [{ seq, hash, signature }] : [];
  return kept?.seq === seq ? [...stored, kept] : stored;
}
