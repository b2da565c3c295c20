const dayMs = 86_400_000;

/** A time of day; with its date when it is not of the last 24 hours. */
export function formatClock(timeMs: number, nowMs: number = Date.now()): string {
  return nowMs - timeMs < dayMs
    ? new Date(timeMs).toLocaleTimeString('en-GB')
    : formatMinute(timeMs, nowMs);
}

/** A time without its seconds, as on an axis. */
export function formatMinute(timeMs: number, nowMs: number = Date.now()): string {
  const time = new Date(timeMs);
  const clock = time.toLocaleTimeString('en-GB').slice(0, 5);
  return nowMs - timeMs < dayMs ? clock : `${formatDay(time)} ${clock}`;
}

/** A time to the millisecond, as it is compared with logs. */
export function formatMoment(iso: string): string {
  const time = new Date(iso);
  const ms = String(time.getMilliseconds()).padStart(3, '0');
  return `${formatDay(time)} ${time.toLocaleTimeString('en-GB')}.${ms}`;
}

function formatDay(time: Date): string {
  return time.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
}
