import { Fault } from '../../kit/errors.ts';
import { allows } from '../../kit/permissions.ts';
import { parseSchedule } from './cron.ts';
import { compileMapping } from './mapping.ts';
import { eventTopics, type TriggerSettings, type TriggerType } from './trigger.ts';

/** The settings that a request may hold, of all types. */
export type TriggerFields = {
  readonly [K in keyof TriggerSettings]?: TriggerSettings[K] | undefined;
};

const fieldsOf: Readonly<Record<TriggerType, readonly (keyof TriggerSettings)[]>> = {
  schedule: ['cron', 'timeZone', 'overlap', 'inputs'],
  webhook: ['method', 'verification', 'filter', 'inputs'],
  event: ['topic', 'overlap', 'filter', 'inputs'],
};

const defaults: Readonly<Record<TriggerType, TriggerSettings>> = {
  schedule: { timeZone: 'UTC', overlap: 'skip' },
  webhook: { method: 'POST', verification: 'secret' },
  event: { overlap: 'skip' },
};

/** The settings of a type, with its defaults, without what belongs to other types. */
export function settingsOf(type: TriggerType, fields: TriggerFields): TriggerSettings {
  const own = fieldsOf[type].flatMap((name) =>
    fields[name] === undefined ? [] : [[name, fields[name]]],
  );
  return { ...defaults[type], ...Object.fromEntries(own) };
}

/**
 * Refuses settings that could never work: `invalid` with the field's name; `forbidden` for events
 * that the caller may not read.
 */
export function checkSettings(
  type: TriggerType,
  settings: TriggerSettings,
  { permissions, now }: { readonly permissions: readonly string[]; readonly now: Date },
): void {
  if (type === 'schedule') {
    if (settings.cron === undefined) throw missing('cron');
    parseSchedule(settings.cron, settings.timeZone, now);
  }
  if (type === 'event') checkTopic(settings.topic, permissions);
  compileMapping(type, settings);
}

function checkTopic(topic: string | undefined, permissions: readonly string[]): void {
  if (topic === undefined) throw missing('topic');
  const known = Object.hasOwn(eventTopics, topic) ? eventTopics[topic] : undefined;
  if (!known) {
    const topics = Object.keys(eventTopics).join(', ');
    throw new Fault('invalid', `topic: there is ${topics}`, {
      reason: 'unknown_topic',
      detail: { param: 'topic' },
    });
  }
  const { permission } = known;
  if (permission === undefined || allows(permissions, permission)) return;
  throw new Fault('forbidden', `events of ${topic} need the permission ${permission}`, {
    reason: 'insufficient_permissions',
    detail: { required: permission },
  });
}

function missing(param: string): Fault {
  return new Fault('invalid', `${param} is missing`, {
    reason: 'validation_error',
    detail: { param },
  });
}
