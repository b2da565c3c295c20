const pauseMsMax = 60_000;
const restartsMax = 5;
const windowMs = 600_000;

/** When an agent that failed is started again, and what is remembered of it then. */
export interface NextRestart {
  readonly pauseMs: number;
  readonly restartedAtMs: readonly number[];
}

/**
 * Each pause is twice the one before, at most a minute; undefined after five restarts within ten
 * minutes: then it fails for good.
 */
export function nextRestart(
  before: readonly number[],
  { firstPauseMs, nowMs }: { readonly firstPauseMs: number; readonly nowMs: number },
): NextRestart | undefined {
  const lately = before.filter((atMs) => atMs > nowMs - windowMs);
  if (lately.length >= restartsMax) return undefined;
  const pauseMs = Math.min(pauseMsMax, firstPauseMs * 2 ** lately.length);
  return { pauseMs, restartedAtMs: [...lately, nowMs] };
}
