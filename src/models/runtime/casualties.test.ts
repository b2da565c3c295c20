import { expect, test } from 'vitest';
import { assess } from './casualties.ts';
import { Job } from './job.ts';
import { Lanes, type Lane } from './lanes.ts';

let lastId = 0;

function start(lanes: Lanes, model: string): { job: Job; lane: Lane } {
  const size = { memoryBytes: 1, contextTokens: 1 };
  const file = { path: model, key: model, kind: 'generative', ...size } as const;
  const options = { task: { kind: 'load' }, subject: 'anna', keepAliveMs: undefined } as const;
  const job = new Job({ id: ++lastId, file, ...options });
  lanes.admit(job);
  return { job, lane: lanes.find(model) as Lane };
}

function open() {
  const lanes = new Lanes({ parallel: 4, memoryBytes: 10 });
  const [silent, speaking, loading] = ['a', 'b', 'c'].map((model) => start(lanes, model));
  if (!silent || !speaking || !loading) throw new Error('three jobs were started');
  for (const { lane } of [silent, speaking]) {
    const { key: path } = lane.file;
    lane.loaded = {
      path,
      name: path,
      architecture: 'llama',
      sizeBytes: 1,
      contextTokens: 1,
      loadMs: 1,
    };
  }
  speaking.job.append('the');
  return { lanes, silent, speaking, loading, jobs: [silent.job, speaking.job, loading.job] };
}

test.for(['SIGKILL', null] as const)('a death by %s blames no model', (signal) => {
  const { lanes, jobs } = open();
  expect(assess(jobs, lanes.all, signal)).toEqual({
    culprit: undefined,
    lost: jobs,
    unharmed: [],
  });
});

test('two models that were loading blame each other, so none is blamed', () => {
  const { lanes, jobs } = open();
  start(lanes, 'd');
  expect(assess(jobs, lanes.all, 'SIGABRT').culprit).toBeUndefined();
});

test('the one model that was loading is blamed, and only answers that had begun are lost', () => {
  const { lanes, jobs, silent, speaking, loading } = open();
  expect(assess(jobs, lanes.all, 'SIGSEGV')).toEqual({
    culprit: loading.lane,
    lost: [speaking.job, loading.job],
    unharmed: [silent.job],
  });
});
