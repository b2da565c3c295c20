export const triggerTypes = ['schedule', 'webhook', 'event'] as const;
export type TriggerType = (typeof triggerTypes)[number];

/** What a firing does while the execution of the one before still runs. */
export type Overlap = 'skip' | 'queue';

/** What a trigger was set to; which fields there are depends on its type. */
export interface TriggerSettings {
  /** Of a schedule: five fields, minutes first, or `@daily` and the like. */
  readonly cron?: string;
  /** Of a schedule: an IANA name. */
  readonly timeZone?: string;
  /** Of a schedule or event. */
  readonly overlap?: Overlap;
  /** Of a webhook. */
  readonly method?: HookMethod;
  /** Of a webhook: `none` lets everybody in who knows the address. */
  readonly verification?: 'secret' | 'none';
  /** Of an event. */
  readonly topic?: string;
  /** CEL, of a webhook or event: only what it holds for starts the workflow. */
  readonly filter?: string;
  /** The execution's inputs, with placeholders; what came in itself when absent. */
  readonly inputs?: Readonly<Record<string, unknown>>;
}

export const hookMethods = ['POST', 'PUT', 'GET'] as const;
export type HookMethod = (typeof hookMethods)[number];

/** What starts a workflow by itself, in the name of its owner. */
export interface Trigger {
  readonly id: string;
  readonly workflowId: string;
  readonly ownerId: string;
  /** Of what components ask for, what the owner held when it was made or last changed. */
  readonly permissions: readonly string[];
  readonly type: TriggerType;
  readonly name: string | undefined;
  readonly isEnabled: boolean;
  readonly settings: TriggerSettings;
  /** Sealed. */
  readonly secret: string | undefined;
  /** Grows with every change. */
  readonly revision: number;
  readonly nextAt: Date | undefined;
  readonly firedCount: number;
  readonly firedAt: Date | undefined;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export const firingStatuses = ['claimed', 'queued', 'started', 'skipped', 'failed'] as const;
export type FiringStatus = (typeof firingStatuses)[number];

/** One time that a trigger fired. */
export interface Firing {
  readonly id: string;
  readonly triggerId: string;
  /** The due time, the delivery or the event. */
  readonly key: string;
  readonly status: FiringStatus;
  readonly at: Date;
  readonly inputs: Readonly<Record<string, unknown>> | undefined;
  readonly executionId: string | undefined;
  readonly error: string | undefined;
}

/** What replicas tell each other when a trigger changed. */
export interface TriggerNews {
  readonly triggerId: string;
}

/** Where replicas tell that a trigger changed. */
export const triggerTopic = 'workflow.triggers';

/** What the suite's own events are called in triggers, and where the bus carries them. */
export const eventTopics: Readonly<Record<string, EventTopic>> = {
  'mesh.activity': { busTopic: 'mesh.activity' },
  'registry.events': { busTopic: 'registry.events' },
  'tracer.trace-completed': { busTopic: 'tracer.completed', permission: 'tracer:read' },
};

export interface EventTopic {
  readonly busTopic: string;
  /** What whoever makes such a trigger must hold to see these events; any identity when absent. */
  readonly permission?: string;
}

/** Whether everybody who knows its address, and that is its id, starts the workflow. */
export function isOpenHook({ type, settings }: Pick<Trigger, 'type' | 'settings'>): boolean {
  return type === 'webhook' && settings.verification === 'none';
}
