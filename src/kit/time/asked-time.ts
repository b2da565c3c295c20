import { Type } from 'typebox';

/** A time that somebody asks from or to; `parseTime` reads it. */
export const askedTime = Type.String({
  maxLength: 40,
  description: 'a day (`2026-11-22`), or a date and time of ISO 8601; without an offset in UTC',
});
