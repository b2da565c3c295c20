import { Type } from 'typebox';
import { settingOr, type ConfigOf, type Settings } from '../kit/config.ts';
import { alertSettings } from './alerts/alert-settings.ts';

const Milliseconds = Type.Integer({ minimum: 50, maximum: 600_000 });

const ownSettings = {
  quietMs: settingOr(
    'TRACER_QUIET_MS',
    { schema: Milliseconds, or: 2_000 },
    'milliseconds without a new span after which a trace is complete whose root has ended',
  ),
  partialMs: settingOr(
    'TRACER_PARTIAL_MS',
    { schema: Milliseconds, or: 30_000 },
    'milliseconds without a new span after which a trace is complete whose root has not come',
  ),
  queuedMegabytes: settingOr(
    'TRACER_QUEUED_MEGABYTES',
    { schema: Type.Integer({ minimum: 1, maximum: 4_096 }), or: 64 },
    'megabytes of exports that may wait to be stored; senders of more are asked to come again',
  ),
  openSpansMax: settingOr(
    'TRACER_OPEN_SPANS_MAX',
    { schema: Type.Integer({ minimum: 1_000, maximum: 10_000_000 }), or: 400_000 },
    'spans of open traces kept in memory; beyond it the oldest traces are completed early',
  ),
} satisfies Settings;

/** The environment of the tracer. */
export const tracerSettings = { ...ownSettings, ...alertSettings };

export type TracerConfig = ConfigOf<typeof tracerSettings>;
