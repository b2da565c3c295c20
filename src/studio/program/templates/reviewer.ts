import { Fault } from '../../../kit/errors.ts';
import type { AgentAnswer } from '../../tasks/task.ts';
import { cannotDo, type Job } from '../job.ts';
import type { ChatMessage } from '../suite/model.ts';
import { answerOf } from './answer.ts';
import { contextText } from './context.ts';
import { findingsForm, readReview, type Review } from './findings.ts';
import type { Template } from './template.ts';
import { testJob } from './tester.ts';

/** Finds what is wrong; writes nothing. */
export const reviewer: Template = {
  name: 'reviewer',
  description: 'Reads a diff or files of the workspace and answers findings with file and line.',
  capabilities: ['review', 'code_review'],
  resources: { cpu: 0.5, memory: 256 * 2 ** 20 },
  concurrency: 4,
  taskTypes: ['refactor', 'test'],
  perform: (job) => {
    if (job.type === 'test') return testJob(job);
    if (!reviewed.has(job.type)) {
      throw cannotDo('reviewer', job.type, 'a coder or an assistant');
    }
    return review(job);
  },
};

const reviewed = new Set(['review', 'code_review', 'refactor']);

const instructions = [
  'You review code. Name what is wrong or risky, each with its file and line; do not praise, and do',
  'not invent. Lines of files count from 1; those of a diff are the new file’s.',
  findingsForm,
].join('\n');

async function review(job: Job): Promise<AgentAnswer> {
  const context = await contextText(job);
  const { prompt = '' } = job.input;
  if (context === '' && prompt.trim() === '') {
    throw new Fault(
      'invalid',
      'A review needs input.context.files, input.context.diff or a prompt.',
    );
  }
  const question = [context, prompt].filter((part) => part !== '').join('\n\n');
  const { summary, findings } = await askForReview(job, question);
  const count = findings.length === 1 ? '1 finding' : `${findings.length} findings`;
  return answerOf(job, summary === '' ? `${count}.` : summary, [{ kind: 'findings', findings }]);
}

/** Asks once more, with what was wrong, when the answer has another form. */
async function askForReview(job: Job, question: string): Promise<Review> {
  const messages: ChatMessage[] = [
    { role: 'system', content: instructions },
    { role: 'user', content: question },
  ];
  const first = await job.model.ask(messages);
  const read = readReview(first.text);
  if (typeof read !== 'string') return read;
  job.tell('asks the model for the right form');
  const second = await job.model.ask([
    ...messages,
    { role: 'assistant', content: first.text },
    { role: 'user', content: `${read} ${findingsForm}` },
  ]);
  const repaired = readReview(second.text);
  if (typeof repaired !== 'string') return repaired;
  throw new Fault('upstream', `The model’s answer is no review: ${repaired}`, {
    reason: 'answer_malformed',
  });
}
