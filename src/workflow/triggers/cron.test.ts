import { expect, test } from 'vitest';
import { parseSchedule } from './cron.ts';

test.each([
  // The clock goes from two to three: half past two is made up for at once.
  ['30 2 * * *', 'Europe/Berlin', '2027-03-27T12:00Z', ['03-28T01:00', '03-29T00:30']],
  // It goes back from three to two: half past two comes twice, and is taken once.
  ['30 2 * * *', 'Europe/Berlin', '2027-10-30T12:00Z', ['10-31T00:30', '11-01T01:30']],
  ['30 1 * * *', 'America/New_York', '2026-10-31T12:00Z', ['11-01T05:30', '11-02T06:30']],
  // There is no midnight on that day.
  ['0 0 * * *', 'America/Santiago', '2027-09-04T12:00Z', ['09-05T04:00', '09-06T03:00']],
  // What is due every half hour is due in the hour that comes twice, too.
  [
    '*/30 * * * *',
    'Europe/Berlin',
    '2027-10-31T00:10Z',
    ['10-31T00:30', '10-31T01:00', '10-31T01:30'],
  ],
])('%s in %s behind %s', (cron, timeZone, after, due) => {
  const now = new Date(after);
  const runs = parseSchedule(cron, timeZone, now).nextRuns(due.length, now);
  expect(runs.map((run) => run.toISOString().slice(5, 16))).toEqual(due);
});
