import { cannotDo, promptOf, type Job } from '../job.ts';
import type { AgentAnswer } from '../../tasks/task.ts';
import { answerOf } from './answer.ts';
import { contextText } from './context.ts';
import type { Template } from './template.ts';
import { testJob } from './tester.ts';

const instructions =
  'You are an assistant in a workspace of files. Answer from what you are given; say so when it is not enough.';

/** Answers prompts; files are read, never written. */
export const assistant: Template = {
  name: 'assistant',
  description: 'Answers a prompt, with files of the workspace as context.',
  capabilities: ['assist', 'chat'],
  resources: { cpu: 0.5, memory: 256 * 2 ** 20 },
  concurrency: 8,
  taskTypes: ['code_generation', 'refactor', 'test'],
  perform: (job) => {
    if (job.type === 'deploy') {
      throw cannotDo('assistant', job.type, 'the workspace’s deploy workflow');
    }
    return job.type === 'test' ? testJob(job) : answerPrompt(job);
  },
};

/** One question to the model, with the task's context. */
export async function answerPrompt(job: Job): Promise<AgentAnswer> {
  const prompt = promptOf(job);
  const context = await contextText(job);
  const { text } = await job.model.ask([
    { role: 'system', content: instructions },
    { role: 'user', content: context === '' ? prompt : `${context}\n\n${prompt}` },
  ]);
  return answerOf(job, text);
}
