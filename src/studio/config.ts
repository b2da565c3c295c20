import { Type } from 'typebox';
import { setting, settingOr, type ConfigOf, type Settings } from '../kit/config.ts';
import { agentSettings } from './agents/settings.ts';
import { runtimeSettings } from './runtimes/settings.ts';
import { taskSettings } from './tasks/task-settings.ts';

/** The environment of the studio. */
export const studioSettings = {
  ...agentSettings,
  ...runtimeSettings,
  root: setting(
    'STUDIO_WORKSPACES_ROOT',
    Type.String({ minLength: 1, maxLength: 4_096 }),
    'the folder in which workspaces lie; `workspaces` in the data folder when absent',
  ),
  quotaBytes: settingOr(
    'STUDIO_QUOTA_BYTES',
    { schema: Type.Integer({ minimum: 0 }), or: 10 * 2 ** 30 },
    'what the files of a workspace may take that says nothing else',
  ),
  fileBytesMax: settingOr(
    'STUDIO_FILE_BYTES_MAX',
    { schema: Type.Integer({ minimum: 1 }), or: 2 ** 30 },
    'the largest file',
  ),
  changesKept: settingOr(
    'STUDIO_CHANGES_KEPT',
    { schema: Type.Integer({ minimum: 100 }), or: 100_000 },
    'changes of a workspace that are kept, with what files held; older ones are forgotten',
  ),
  ...taskSettings,
} satisfies Settings;

export type StudioConfig = ConfigOf<typeof studioSettings>;
