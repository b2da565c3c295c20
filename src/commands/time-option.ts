import { InvalidArgumentError } from 'commander';
import { parseTime } from '../kit/time/time-text.ts';

/** A time as it was typed, which the services read as they read it from anybody. */
export function timeOption(text: string): string {
  if (parseTime(text) !== undefined) return text;
  throw new InvalidArgumentError(
    'It must be a day such as 2026-01-31, or a time such as 2026-01-31T08:00Z.',
  );
}
