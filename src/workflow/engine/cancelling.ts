import { isUniqueViolation } from '../../kit/database/sql-errors.ts';
import { cancelExecution } from './journal/executions-store.ts';
import type { EngineSql } from './journal/journal-store.ts';

const tellAgainMs = 30_000;
/** A run that only computes writes without a pause. */
const attemptsMax = 50;

/** Ends an execution that has not ended; undefined when it has. */
export async function cancelStored(
  sql: EngineSql,
  executionId: string,
  { by, nowMs }: { readonly by: string; readonly nowMs: number },
): ReturnType<typeof cancelExecution> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const tellAtMs = nowMs + tellAgainMs;
      return await cancelExecution(sql, executionId, { by, nowMs, tellAtMs });
    } catch (error) {
      // A run that says something at the same moment may have taken the seq; then the next is free.
      if (attempt === attemptsMax || !isUniqueViolation(error)) throw error;
    }
  }
}
