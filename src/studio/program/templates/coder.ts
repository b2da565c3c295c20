import { cannotDo } from '../job.ts';
import type { Template } from './template.ts';
import { testJob } from './tester.ts';

/** Writes code. */
export const coder: Template = {
  name: 'coder',
  description: 'Changes files of the workspace as asked, and runs its tests.',
  capabilities: ['code_generation', 'refactor', 'test'],
  resources: { cpu: 1, memory: 512 * 2 ** 20 },
  concurrency: 2,
  taskTypes: ['code_generation', 'refactor', 'test'],
  perform: async (job) => {
    if (job.type === 'test') return testJob(job);
    if (job.type !== 'code_generation' && job.type !== 'refactor') {
      throw cannotDo('coder', job.type, 'another agent');
    }
    // Loaded when it is needed: who spawns an agent waits for all that it loads before.
    const { code } = await import('../coding/coding.ts');
    return code(job);
  },
};
