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

const allFields = Object.values(fieldsOf).flat();

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

/** What somebody asks for; a secret is none of the settings. */
interface Asked extends TriggerFields {
  readonly secret?: string | undefined;
}

/**
 * Refuses settings that could never work, and what is asked for in vain: `invalid` with the field's name;
 * `forbidden` for events that the caller may not read.
 */
export function checkSettings(
  type: TriggerType,
  settings: TriggerSettings,
  {
    asked,
    permissions,
    now,
  }: { readonly asked: Asked; readonly permissions: readonly string[]; readonly now: Date },
): void {
  refuseVain(type, asked, settings);
  if (type === 'schedule') {
    if (settings.cron === undefined) throw badField('cron', 'a schedule needs it');
    parseSchedule(settings.cron, settings.timeZone, now);
  }
  if (type === 'event') checkTopic(settings.topic, permissions);
  compileMapping(type, settings);
}

/** Without what is not to be changed. */
export function withoutAbsent(change: TriggerFields): TriggerFields {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
}

/** Throws `invalid` (`validation_error`) where there is no secret. */
export function requireSecret(secret: string | undefined): void {
  if (secret === undefined) throw badField('secret', 'this hook has none yet; give one');
}

/** What belongs to another type would be dropped without a word. */
function refuseVain(type: TriggerType, asked: Asked, { verification }: TriggerSettings): void {
  const own: ReadonlySet<string> = new Set(fieldsOf[type]);
  const foreign = allFields.find((name) => !own.has(name) && asked[name] !== undefined);
  if (foreign) throw badField(foreign, `a trigger of type ${type} has no such setting`);
  if (asked.secret === undefined || verification === 'secret') return;
  throw badField('secret', 'only a webhook with `verification: secret` asks for one');
}

function checkTopic(topic: string | undefined, permissions: readonly string[]): void {
  if (topic === undefined) throw badField('topic', 'a trigger of events needs it');
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

function badField(param: string, problem: string): Fault {
  return new Fault('invalid', `${param}: ${problem}`, {
    reason: 'validation_error',
    detail: { param },
  });
}
