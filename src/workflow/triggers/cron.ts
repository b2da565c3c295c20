import { Cron } from 'croner';
import { Fault } from '../../kit/errors.ts';

/** When a schedule is due. */
export interface Schedule {
  /** The first time behind a moment; undefined when there is none any more. */
  next(after: Date): Date | undefined;
  /** So many times behind a moment, fewer when there are no more. */
  nextRuns(count: number, after: Date): Date[];
}

const defaultTimeZone = 'UTC';

/**
 * Reads a cron expression of five fields. A time that daylight saving skips is made up for after the
 * change, one that comes twice is taken once. Fault `invalid` (`bad_schedule`) for what is no
 * expression, no time zone, or never due.
 */
export function parseSchedule(cron: string, timeZone: string | undefined, now: Date): Schedule {
  const zone = timeZone ?? defaultTimeZone;
  requireTimeZone(zone);
  const job = parse(cron, zone);
  const schedule: Schedule = {
    next: (after) => job.nextRun(after) ?? undefined,
    nextRuns: (count, after) => job.nextRuns(count, after),
  };
  if (!schedule.next(now)) throw badSchedule(`"${cron}" is never due`, 'cron');
  return schedule;
}

function parse(cron: string, timezone: string): Cron {
  try {
    // Paused, and without a function: it only reckons and sets no timer.
    return new Cron(cron, { timezone, paused: true, mode: '5-part' });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : '';
    throw badSchedule(`"${cron}" is no cron expression of five fields: ${why}`, 'cron', cause);
  }
}

function requireTimeZone(timeZone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone }).format(0);
  } catch (cause) {
    throw badSchedule(`"${timeZone}" is no time zone such as Europe/Berlin`, 'timeZone', cause);
  }
}

function badSchedule(message: string, param: string, cause?: unknown): Fault {
  return new Fault('invalid', message, { reason: 'bad_schedule', detail: { param }, cause });
}
