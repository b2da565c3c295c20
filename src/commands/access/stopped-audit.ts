import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { openCheckpointKey } from '../../auth/audit/checkpoint-key.ts';
import { verifyAudit } from '../../auth/audit/verification.ts';
import { authContract } from '../../auth/contract.ts';
import type { AuthTables } from '../../auth/tables.ts';
import { lockDataFolder } from '../../kit/database/data-folder.ts';
import { openDatabase } from '../../kit/database/database.ts';
import { Fault } from '../../kit/errors.ts';
import { databaseOf } from '../../ground.ts';
import type { SuiteConfig } from '../../suite-settings.ts';

/** The answer of auth's own verification. */
export interface VerifiedAudit {
  readonly valid: boolean;
  readonly checked: number;
  readonly brokenAt?: number;
  readonly reason?: string;
  readonly head: { readonly seq: number; readonly hash: string };
}

/**
 * Verifies the audit log in the database itself, while no service runs; throws `conflict` when the
 * data folder is in use, `not_found` when there is no database. Changes nothing.
 */
export async function verifyStoppedAudit(suite: SuiteConfig): Promise<VerifiedAudit> {
  const dataFolder = resolve(suite.dataFolder);
  const where = databaseOf(suite, dataFolder);
  if ('folder' in where && !existsSync(where.folder)) {
    throw new Fault('not_found', `there is no database in ${dataFolder}: set ENNEAD_DATA_DIR`);
  }
  const lock = 'folder' in where ? await lockDataFolder(dataFolder) : undefined;
  try {
    await using database = await openDatabase(where);
    const checkpointKey = await openCheckpointKey(dataFolder);
    const sql = database.kysely<AuthTables>(authContract.name);
    const { head, ...verified } = await verifyAudit(sql, { checkpointKey }).catch(explain);
    return { ...verified, head: { seq: head.seq, hash: head.hash.toString('hex') } };
  } finally {
    await lock?.[Symbol.asyncDispose]();
  }
}

const undefinedTableOrColumn = new Set(['42P01', '42703', '3F000']);

function explain(error: unknown): never {
  const { code } = error as { code?: unknown };
  if (typeof code !== 'string' || !undefinedTableOrColumn.has(code)) throw error;
  throw new Fault('conflict', 'the tables are of an older version: run "ennead migrate" first', {
    cause: error,
  });
}
