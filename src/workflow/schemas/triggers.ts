import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { pageAnswer, pageQuery } from '../../kit/paging.ts';
import { eventTopics, firingStatuses, hookMethods, triggerTypes } from '../triggers/trigger.ts';
import { mayCreate, mayRead } from './access.ts';
import { triggerId, workflowId } from './ids.ts';

const hookBytesMax = 1024 * 1024;

const timestamp = Type.String({ format: 'date-time' });
const name = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '^[^\\u0000-\\u001f\\u007f\\ud800-\\udfff]+$',
});
const enabled = Type.Boolean({ description: 'false pauses it' });
const secret = Type.String({
  minLength: 16,
  maxLength: 256,
  pattern: '^[\\x21-\\x7e]+$',
  description:
    'of a webhook with `verification: secret`; one is made, and answered this once, when it is left out',
});
const topics = Object.keys(eventTopics);

const settings = {
  cron: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'of `schedule`: five fields, minutes first, or `@hourly`, `@daily`, …',
    }),
  ),
  timeZone: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'of `schedule`: IANA; UTC when absent',
    }),
  ),
  overlap: Type.Optional(
    Type.Enum(['skip', 'queue'], {
      description:
        'of `schedule` and `event`: what a firing does while the execution of the one before still runs; `skip` when absent. 100 firings wait at most; events fire a trigger 60 times a minute at most, and what comes then is `skipped`, of which 60 a minute are listed',
    }),
  ),
  method: Type.Optional(
    Type.Enum(hookMethods, { description: 'of `webhook`; `POST` when absent' }),
  ),
  verification: Type.Optional(
    Type.Enum(['secret', 'none'], {
      description:
        'of `webhook`: `secret` (when absent) wants it in `X-Webhook-Secret` or `X-Gitlab-Token`, or as HMAC-SHA256 of the body in `X-Hub-Signature-256` or `X-Ennead-Signature`; `none` lets everybody in who knows the address, and so shows the trigger to its owner, the owner of the workflow and administrators only',
    }),
  ),
  topic: Type.Optional(
    Type.String({ maxLength: 64, description: `of \`event\`: ${topics.join(', ')}` }),
  ),
  filter: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4_096,
      description:
        'of `webhook` and `event`: CEL over `body`, `query` and `headers`, or over `event.topic`, `event.at` and `event.data`; only what it holds for starts the workflow',
    }),
  ),
  inputs: Type.Optional(
    Type.Object(
      {},
      {
        additionalProperties: true,
        description:
          'of the execution, with placeholders such as `{{ body.name }}`, `{{ event.data.agentId }}` or `{{ schedule.dueAt }}`; those of a node’s id are merged over its settings, where what came in is never rendered. When absent `body`, `query` and `headers`, or `event`, or `schedule`, to be read as `inputs.<name>` only',
      },
    ),
  ),
};

const trigger = Type.Object(
  {
    id: Type.String(),
    workflowId: Type.String(),
    type: Type.Enum(triggerTypes),
    name: Type.Optional(Type.String()),
    enabled: Type.Boolean(),
    ...settings,
    hookUrl: Type.Optional(Type.String({ description: 'of a webhook: where to deliver' })),
    nextRuns: Type.Optional(
      Type.Array(timestamp, { description: 'of an enabled schedule: the next five times' }),
    ),
    firedCount: Type.Integer(),
    firedAt: Type.Optional(timestamp),
    ownerId: Type.String({ description: 'in whose name it starts the workflow' }),
    createdAt: timestamp,
    updatedAt: timestamp,
    secret: Type.Optional(Type.String({ description: 'answered once, when it was made' })),
  },
  { $id: 'Trigger' },
);

const firing = Type.Object(
  {
    id: Type.String(),
    key: Type.String({ description: 'the due time, the delivery or the event' }),
    status: Type.Enum(firingStatuses, {
      description:
        '`claimed`: it is being started; `queued`: it waits for the execution before; `skipped`: that ran still, too many wait already, or it fires too often; `failed`: it could not be started, or its filter or inputs could not be worked out, as `error` says',
    }),
    at: timestamp,
    executionId: Type.Optional(Type.String()),
    error: Type.Optional(Type.String()),
  },
  { $id: 'TriggerFiring' },
);

const hookQuery = Type.Object(
  {
    wait: Type.Optional(
      Type.Boolean({
        description: 'answers when the execution has ended, after 60 seconds at most',
      }),
    ),
  },
  { additionalProperties: true },
);

const hookAnswer = Type.Object(
  {
    status: Type.String({ description: 'of the execution; `ignored` when the filter kept it out' }),
    executionId: Type.Optional(Type.String()),
    result: Type.Optional(Type.Object({}, { additionalProperties: true })),
    error: Type.Optional(
      Type.Object({
        nodeId: Type.String(),
        attempt: Type.Integer(),
        message: Type.String(),
        code: Type.String(),
      }),
    ),
  },
  { $id: 'HookAnswer' },
);

const hookSchema = {
  params: Type.Object({ triggerId }),
  query: hookQuery,
  response: { 200: hookAnswer, 202: hookAnswer },
};
const hook = { url: '/api/v1/hooks/:triggerId', auth: 'none' } as const;
const hookDescription =
  'A sender that repeats a delivery with the same `Idempotency-Key`, `X-Delivery-Id`, `X-Ennead-Delivery`, `X-GitHub-Delivery` or `Webhook-Id`, or without any but with the same body and `X-Ennead-Signature`, gets the first one’s execution. With `wait=true` it answers 200 once the execution has ended.';

const list = '/api/v1/workflows/:workflowId/triggers';
const one = `${list}/:triggerId` as const;
const oneParams = Type.Object({ workflowId, triggerId });

/** What starts workflows by itself. */
export const triggerRoutes = {
  createTrigger: {
    method: 'POST',
    url: list,
    summary: 'Have a schedule, a webhook or an event start a workflow',
    permission: mayCreate,
    schema: {
      params: Type.Object({ workflowId }),
      body: Type.Object(
        {
          type: Type.Enum(triggerTypes),
          name: Type.Optional(name),
          enabled: Type.Optional(enabled),
          secret: Type.Optional(secret),
          ...settings,
        },
        { $id: 'NewTrigger' },
      ),
      response: { 201: trigger },
    },
  },
  listTriggers: {
    method: 'GET',
    url: list,
    summary: 'List a workflow’s triggers',
    permission: mayRead,
    schema: {
      params: Type.Object({ workflowId }),
      query: Type.Object(pageQuery()),
      response: {
        200: Type.Object({
          triggers: Type.Array(trigger),
          ...pageAnswer,
        }),
      },
    },
  },
  readTrigger: {
    method: 'GET',
    url: one,
    summary: 'Read a trigger',
    permission: mayRead,
    schema: { params: oneParams, response: { 200: trigger } },
  },
  changeTrigger: {
    method: 'PATCH',
    url: one,
    summary: 'Change a trigger',
    permission: mayCreate,
    schema: {
      params: oneParams,
      body: Type.Object(
        {
          name: Type.Optional(name),
          enabled: Type.Optional(enabled),
          secret: Type.Optional(secret),
          ...settings,
        },
        { $id: 'TriggerChanges' },
      ),
      response: { 200: trigger },
    },
  },
  deleteTrigger: {
    method: 'DELETE',
    url: one,
    summary: 'Delete a trigger with its history',
    permission: mayCreate,
    schema: {
      params: oneParams,
      response: { 200: Type.Object({ id: Type.String(), deleted: Type.Boolean() }) },
    },
  },
  listFirings: {
    method: 'GET',
    url: `${one}/firings`,
    summary: 'List when a trigger fired in the last 30 days',
    permission: mayRead,
    schema: {
      params: oneParams,
      query: Type.Object(pageQuery()),
      response: {
        200: Type.Object({
          firings: Type.Array(firing),
          ...pageAnswer,
        }),
      },
    },
  },
  postHook: {
    ...hook,
    method: 'POST',
    summary: 'Deliver to a webhook',
    description: hookDescription,
    takesBytes: true,
    bodyBytesMax: hookBytesMax,
    schema: hookSchema,
  },
  putHook: {
    ...hook,
    method: 'PUT',
    summary: 'Deliver to a webhook that takes PUT',
    description: hookDescription,
    takesBytes: true,
    bodyBytesMax: hookBytesMax,
    schema: hookSchema,
  },
  getHook: {
    ...hook,
    method: 'GET',
    summary: 'Deliver to a webhook that takes GET',
    description: hookDescription,
    schema: hookSchema,
  },
} as const satisfies Readonly<Record<string, Route>>;
