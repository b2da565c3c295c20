import { fieldsOf, numberOf } from '../fields.ts';

const isoPattern = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;

/** Milliseconds of a duration: ISO 8601 or `{days, hours, minutes, seconds, milliseconds}`. */
export function durationMs(value: unknown): number | undefined {
  if (typeof value === 'string') {
    const found = isoPattern.exec(value);
    if (!found) return undefined;
    const [, days = 0, hours = 0, minutes = 0, seconds = 0] = found.map((one) => Number(one ?? 0));
    return Math.round(toMs({ days, hours, minutes, seconds, milliseconds: 0 }));
  }
  const given = fieldsOf(value);
  const read = (name: string) => numberOf(given[name]) ?? 0;
  return Math.round(
    toMs({
      days: read('days'),
      hours: read('hours'),
      minutes: read('minutes'),
      seconds: read('seconds'),
      milliseconds: read('milliseconds'),
    }),
  );
}

interface Duration {
  readonly days: number;
  readonly hours: number;
  readonly minutes: number;
  readonly seconds: number;
  readonly milliseconds: number;
}

function toMs({ days, hours, minutes, seconds, milliseconds }: Duration): number {
  return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000 + milliseconds;
}
