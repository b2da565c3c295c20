import { Type } from 'typebox';
import { secretSetting, setting, settingOr, type ConfigOf, type Settings } from '../kit/config.ts';

const Address = Type.String({ pattern: '^https?://', maxLength: 2048 });

/** The environment of the workflows. */
export const workflowSettings = {
  concurrency: settingOr(
    'WORKFLOW_CONCURRENCY',
    { schema: Type.Integer({ minimum: 1, maximum: 10_000 }), or: 200 },
    'executions that run at once in one process; others wait in the database for their turn',
  ),
  nodesMax: settingOr(
    'WORKFLOW_NODE_CONCURRENCY',
    { schema: Type.Integer({ minimum: 1, maximum: 1_000 }), or: 32 },
    'nodes of one execution that run at once',
  ),
  nodeRunsMax: settingOr(
    'WORKFLOW_NODE_RUNS_MAX',
    { schema: Type.Integer({ minimum: 1, maximum: 10_000_000 }), or: 100_000 },
    'nodes of one execution in all, each round of a loop counted; one more fails as `TOO_MANY_NODE_RUNS`',
  ),
  filesRoot: setting(
    'WORKFLOW_FILES_ROOT',
    Type.String({ minLength: 1, maxLength: 4_096 }),
    'the folder below which `FileSystemRead` reads; when absent it reads nothing',
  ),
  cmsUrl: setting('CMS_URL', Address, 'address of the Drupal whose content flows work on'),
  cmsToken: secretSetting('CMS_TOKEN', 'a bearer token of an account of the CMS'),
  cmsBasicAuth: secretSetting(
    'CMS_BASIC_AUTH',
    '`name:password` of an account of the CMS, in place of a token',
  ),
  idpApiUrl: setting(
    'IDP_API_URL',
    Address,
    'address of the GitLab that `IdpAPI` speaks to, without `/api/v4`',
  ),
} satisfies Settings;

export type WorkflowConfig = ConfigOf<typeof workflowSettings>;
