import { Type } from 'typebox';
import { Fault } from '../../../kit/errors.ts';
import { isTemplate } from '../../flow/expressions/templates.ts';
import type { Component, SettingFault } from '../component.ts';
import { defineComponent } from '../schema.ts';

/** Milliseconds; a year. */
const waitMax = 366 * 24 * 3_600 * 1_000;

const input = Type.Object(
  {
    duration: Type.Optional(
      Type.Integer({ minimum: 0, maximum: waitMax, description: 'milliseconds from now' }),
    ),
    until: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'a time (ISO 8601, with Z or an offset); one that is over does not wait',
      }),
    ),
  },
  { examples: [{ duration: 60_000 }, { until: '2026-12-24T18:00:00Z' }] },
);

/** Goes on later; `now` tells Unix milliseconds. */
export function createWait(now: () => number): Component {
  return defineComponent({
    name: 'Wait',
    group: 'logic',
    title: 'Wait',
    description:
      'Goes on after a time, or at a time. It takes no memory while it waits and outlives restarts. One of `duration` and `until` is needed.',
    input,
    check: findFaults,
    output: Type.Object({ until: Type.String({ description: 'when it went on (ISO 8601)' }) }),
    effect: 'none',
    parks: true,
    typicalMs: 1_000,
    run: async ({ duration, until }) => {
      const startedAtMs = now();
      const wakeAtMs = readWake(startedAtMs, duration, until);
      const output = { until: new Date(wakeAtMs).toISOString() };
      if (wakeAtMs <= startedAtMs) return { kind: 'done', output };
      return { kind: 'parked', reason: 'wait', wakeAtMs, output, detail: output };
    },
  });
}

const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;

/** What can be said before anything is rendered: a setting that is missing may come with the inputs. */
function findFaults({ duration, until }: Readonly<Record<string, unknown>>): SettingFault[] {
  if (typeof until !== 'string' || isTemplate(until)) return [];
  if (typeof duration === 'number') return [{ path: '', message: oneNeeded }];
  return Number.isNaN(readTime(until)) ? [{ path: '/until', message: badTime }] : [];
}

const oneNeeded = 'one of duration and until is needed, and not both';
const badTime = 'until must be a time such as 2026-12-24T18:00:00Z';

function readWake(startedAtMs: number, duration?: number, until?: string): number {
  if ((duration === undefined) === (until === undefined)) {
    throw badWait(oneNeeded);
  }
  if (until === undefined) return startedAtMs + (duration ?? 0);
  const wakeAtMs = readTime(until);
  if (Number.isNaN(wakeAtMs)) throw badWait(badTime);
  if (wakeAtMs - startedAtMs > waitMax) throw badWait('until must not be more than a year away');
  return wakeAtMs;
}

/** Unix milliseconds; NaN for what is no time. */
function readTime(until: string): number {
  return timePattern.test(until) && isDay(until) ? Date.parse(until) : Number.NaN;
}

/** Dates roll over: February 30th would be a day in March. */
function isDay(time: string): boolean {
  const day = time.slice(0, 10);
  const read = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(read.getTime()) && read.toISOString().startsWith(day);
}

function badWait(message: string): Fault {
  return new Fault('invalid', message, { reason: 'bad_setting' });
}
