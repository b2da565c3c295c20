import { Type } from 'typebox';
import { settingOr, type ConfigOf, type Settings } from '../../kit/config.ts';
import { timesDefault } from './dispatcher.ts';
import type { TaskLimits } from './stored-tasks.ts';

/** The environment of the tasks. */
export const taskSettings = {
  agentTasksMax: settingOr(
    'STUDIO_AGENT_TASKS_MAX',
    { schema: Type.Integer({ minimum: 1, maximum: 1_000 }), or: 4 },
    'tasks that an agent gets at the same time',
  ),
  tasksOpenMax: settingOr(
    'STUDIO_TASKS_OPEN_MAX',
    { schema: Type.Integer({ minimum: 1, maximum: 1_000_000 }), or: 10_000 },
    'tasks that may wait and run; more are refused',
  ),
  taskAgeingSeconds: settingOr(
    'STUDIO_TASK_AGEING_SECONDS',
    { schema: Type.Integer({ minimum: 1 }), or: 600 },
    'a task of low priority waits at most behind critical ones that came so long after it',
  ),
  taskWaitSeconds: settingOr(
    'STUDIO_TASK_WAIT_SECONDS',
    { schema: Type.Integer({ minimum: 1 }), or: 3_600 },
    'how long a task waits for an agent that can do it',
  ),
  tasksKeptDays: settingOr(
    'STUDIO_TASKS_KEPT_DAYS',
    { schema: Type.Integer({ minimum: 1, maximum: 3_650 }), or: 30 },
    'how long tasks that have ended can be read',
  ),
} satisfies Settings;

/** The limits that these settings stand for. */
export function taskLimitsOf(config: ConfigOf<typeof taskSettings>): Partial<TaskLimits> {
  const { agentTasksMax, tasksOpenMax, tasksKeptDays } = config;
  return {
    agentTasksMax,
    openMax: tasksOpenMax,
    keptMs: tasksKeptDays * 86_400_000,
    times: {
      ...timesDefault,
      ageingMs: config.taskAgeingSeconds * 1_000,
      waitMsMax: config.taskWaitSeconds * 1_000,
    },
  };
}
