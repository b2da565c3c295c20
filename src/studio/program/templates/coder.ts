import { code } from '../coding/coding.ts';
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
  perform: (job) => {
    if (job.type === 'test') return testJob(job);
    if (job.type === 'code_generation' || job.type === 'refactor') return code(job);
    throw cannotDo('coder', job.type, 'another agent');
  },
};
