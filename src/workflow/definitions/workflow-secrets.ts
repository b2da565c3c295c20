import { newSecret } from '../../kit/ids.ts';
import type { Sealer } from '../../kit/secrets/sealing.ts';
import { unknownWorkflow } from './refusals.ts';
import { readSecret, type WorkflowSql } from './workflow-store.ts';

/** What the callbacks of each workflow are signed with, sealed in the database. */
export class WorkflowSecrets {
  readonly #sql: WorkflowSql;
  readonly #nobodys = newSecret();
  readonly #sealer: Pick<Sealer, 'seal' | 'unseal'>;

  constructor(sql: WorkflowSql, sealer: Pick<Sealer, 'seal' | 'unseal'>) {
    this.#sql = sql;
    this.#sealer = sealer;
  }

  /** A new secret, sealed. */
  make(workflowId: string): string {
    return this.#sealer.seal(Buffer.from(newSecret()), contextOf(workflowId));
  }

  /** Undefined for workflows that are built in, and for those that are not there. */
  async find(workflowId: string): Promise<string | undefined> {
    const sealed = await readSecret(this.#sql, workflowId);
    if (sealed === undefined) return undefined;
    return this.#sealer.unseal(sealed, contextOf(workflowId)).toString();
  }

  /**
   * What signs what is called back. Of a workflow that is built in nobody can read it, so that callers
   * give one of their own.
   */
  async signing(workflowId: string): Promise<string> {
    return (await this.find(workflowId)) ?? this.#nobodys;
  }

  /** Throws `not_found`. */
  async read(workflowId: string): Promise<string> {
    const secret = await this.find(workflowId);
    if (secret === undefined) throw unknownWorkflow();
    return secret;
  }
}

function contextOf(workflowId: string): string {
  return `workflow secret ${workflowId}`;
}
