import { processEnvironment } from '../../../kit/environment.ts';
import { Fault } from '../../../kit/errors.ts';
import type { AgentAnswer, TestReport } from '../../tasks/task.ts';
import { cannotDo, workspaceOf, type Job } from '../job.ts';
import { answerOf } from './answer.ts';
import type { Template } from './template.ts';

/** Runs the tests of a workspace. */
export const tester: Template = {
  name: 'tester',
  description: 'Runs the workspace’s test command and reports what passed and what failed.',
  capabilities: ['test'],
  resources: { cpu: 1, memory: 1024 * 2 ** 20 },
  // Two runs in one folder would disturb each other.
  concurrency: 1,
  taskTypes: ['test'],
  perform: (job) => {
    if (job.type === 'test') return testJob(job);
    throw cannotDo('tester', job.type, 'a coder or an assistant');
  },
};

/** What is left of a task's time for telling how the tests went. */
const tellingShare = 0.1;
const tellingMsMax = 3_000;

/** A task of the type `test`: tests that fail are a result, not a failure. */
export async function testJob(job: Job): Promise<AgentAnswer> {
  const report = await runWorkspaceTests(job);
  return answerOf(job, summaryOf(report), [{ kind: 'test_report', report }]);
}

/** Runs the command of the workspace's settings; Fault `invalid` where there is none or no folder. */
export async function runWorkspaceTests(job: Job): Promise<TestReport> {
  const { folder, testCommand } = workspaceOf(job);
  const command = await testCommand();
  if (!command || command.length === 0) {
    throw new Fault('invalid', 'The workspace has no test command: set settings.testCommand.', {
      reason: 'no_test_command',
    });
  }
  if (folder === undefined) {
    throw new Fault('unavailable', 'The workspace’s folder is not where this agent runs.');
  }
  const leftMs = job.timeLeftMs();
  const timeLimitMs = leftMs - Math.min(tellingMsMax, leftMs * tellingShare);
  job.tell(`runs ${command[0] ?? ''}`);
  const { signal } = job;
  const environment = processEnvironment();
  // Loaded when it is needed: who spawns an agent waits for all that it loads before.
  const { runTests } = await import('../test-runs/test-run.ts');
  return runTests({ command, folder, timeLimitMs, signal, environment });
}

/** The report in one line. */
export function summaryOf({ passed, failed, skipped, exitCode, durationMs }: TestReport): string {
  const seconds = (durationMs / 1_000).toFixed(1);
  const counts = `${passed} passed, ${failed} failed, ${skipped} skipped`;
  const end = exitCode === null ? 'The tests were stopped' : `Exit code ${exitCode}`;
  return `${end} after ${seconds} s: ${counts}.`;
}
