import { expect, test } from 'vitest';
import { assess } from './casualties.ts';
import { Job } from './job.ts';
import { Lanes, type Lane } from './lanes.ts';
import type { LoadedModel } from './protocol.ts';

let lastId = 0;

function start(lanes: Lanes, model: string): { job: Job; lane: Lane } {
  const size = { memoryBytes: 1, contextTokens: 1 };
  const file = { path: model, key: model, kind: 'generative', ...size } as const;
  const options = { task: { kind: 'load' }, subject: 'anna', keepAliveMs: undefined } as const;
  const job = new Job({ id: ++lastId, file, ...options });
  lanes.admit(job);
  return { job, lane: lanes.find(model) as Lane };
}

function describeLoaded(path: string): LoadedModel {
  return { path, name: path, architecture: 'llama', sizeBytes: 1, contextTokens: 1, loadMs: 1 };
}

function open() {
  const lanes = new Lanes({ parallel: 4, memoryBytes: 10 });
  const [silent, speaking, loading] = ['a', 'b', 'c'].map((model) => start(lanes, model));
  if (!silent || !speaking || !loading) throw new Error('three jobs were started');
  for (const { lane } of [silent, speaking]) {
    lane.loaded = describeLoaded(lane.file.key);
  }
  speaking.job.append('the');
  return { lanes, silent, speaking, loading, jobs: [silent.job, speaking.job, loading.job] };
}

test.for(['SIGKILL', null] as const)('a death by %s blames no model', (signal) => {
  const { lanes, jobs } = open();
  expect(assess(jobs, lanes.all, { signal, hasAnswered: () => false })).toEqual({
    culprit: undefined,
    isCertain: false,
    lost: jobs,
    unharmed: [],
  });
});

test('two models that were loading blame each other, so none is blamed', () => {
  const { lanes, jobs } = open();
  start(lanes, 'd');
  const { culprit } = assess(jobs, lanes.all, { signal: 'SIGABRT', hasAnswered: () => true });
  expect(culprit).toBeUndefined();
});

test('two models that answer for the first time blame each other, so none is blamed', () => {
  const { lanes, jobs, loading } = open();
  loading.lane.loaded = describeLoaded('c');
  const signal = 'SIGABRT';
  expect(assess(jobs, lanes.all, { signal, hasAnswered: () => false }).culprit).toBeUndefined();
});

test('the one model that answers for the first time is blamed, which is not certain', () => {
  const { lanes, jobs, silent, speaking, loading } = open();
  loading.lane.loaded = describeLoaded('c');
  const hasAnswered = ({ key }: { readonly key: string }) => key !== 'c';
  expect(assess(jobs, lanes.all, { signal: 'SIGABRT', hasAnswered })).toEqual({
    culprit: loading.lane,
    isCertain: false,
    lost: [speaking.job, loading.job],
    unharmed: [silent.job],
  });
});

test('a model that was loading beside one that answers for the first time is not certain', () => {
  const { lanes, jobs, loading } = open();
  const hasAnswered = ({ key }: { readonly key: string }) => key !== 'a';
  expect(assess(jobs, lanes.all, { signal: 'SIGABRT', hasAnswered })).toMatchObject({
    culprit: loading.lane,
    isCertain: false,
  });
});

test('the one model that was loading is blamed, and only answers that had begun are lost', () => {
  const { lanes, jobs, silent, speaking, loading } = open();
  expect(assess(jobs, lanes.all, { signal: 'SIGSEGV', hasAnswered: () => true })).toEqual({
    culprit: loading.lane,
    isCertain: true,
    lost: [speaking.job, loading.job],
    unharmed: [silent.job],
  });
});
