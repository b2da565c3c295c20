import { isDeepStrictEqual } from 'node:util';
import { Fault } from '../../kit/errors.ts';
import type { StoredExecution } from './journal/execution-row.ts';
import { readExecutionByKey } from './journal/executions-store.ts';
import { openInputs } from './requests.ts';
import type { EngineSealer } from './journal/output-secrets.ts';

/**
 * The execution that the idempotency key of another start made; undefined when there is none. Throws
 * `conflict` (`idempotency_key_reused`) when a caller wanted another one by the same key.
 */
export async function readFirstStart(
  sql: Parameters<typeof readExecutionByKey>[0],
  wanted: StoredExecution,
  sealer: EngineSealer,
): Promise<StoredExecution | undefined> {
  if (wanted.idempotencyKey === undefined) return undefined;
  const first = await readExecutionByKey(sql, wanted.ownerId, wanted.idempotencyKey);
  if (!first || wanted.trigger !== 'api') return first;
  const inputs = inputsOf(wanted, sealer);
  const isSame = isDeepStrictEqual(inputsOf(first, sealer), inputs);
  if (isSame && first.workflowId === wanted.workflowId) return first;
  throw new Fault('conflict', `the idempotency key started ${first.id} with other inputs`, {
    reason: 'idempotency_key_reused',
    detail: { executionId: first.id },
  });
}

/** As JSON has them. */
function inputsOf(stored: StoredExecution, sealer: EngineSealer): unknown {
  return JSON.parse(JSON.stringify(openInputs(stored, sealer).request.inputs));
}
