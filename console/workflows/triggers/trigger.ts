import type { Answer } from '../../api/contracts.ts';

/** What starts a workflow by itself. */
export type Trigger = Answer<
  'workflow',
  'GET /api/v1/workflows/:workflowId/triggers'
>['triggers'][number];

/** What a trigger is called: by what fires it when nobody named it. */
export function nameOf({ name, type, cron, topic }: Trigger): string {
  return name ?? cron ?? topic ?? type;
}
