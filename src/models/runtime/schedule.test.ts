import { describe, expect, test } from 'vitest';
import { Job } from './job.ts';
import type { Lane } from './lanes.ts';
import { Schedule, type ScheduleOptions } from './schedule.ts';

let lastId = 0;

interface JobOptions {
  readonly subject?: string;
  readonly memoryBytes?: number;
}

function job(model: string, { subject = 'anna', memoryBytes = 1 }: JobOptions = {}): Job {
  const size = { memoryBytes, contextTokens: 1 };
  const file = { path: model, key: model, kind: 'generative', ...size } as const;
  return new Job({ id: ++lastId, file, task: { kind: 'load' }, subject, keepAliveMs: undefined });
}

function open(options: Partial<ScheduleOptions> = {}): Schedule {
  return new Schedule({ parallel: 1, queueMax: 10, memoryBytes: 4, ...options });
}

/** Enqueues a job for each of the models and starts what can start. */
function fill(schedule: Schedule, models: readonly string[]): Job[] {
  return models.map((model) => {
    const one = job(model);
    schedule.enqueue(one);
    schedule.next();
    return one;
  });
}

const exhausted = expect.objectContaining({ code: 'exhausted' });

describe('a schedule', () => {
  test('without a queue refuses only what cannot start at once', () => {
    const schedule = open({ queueMax: 0 });
    const first = job('a');
    schedule.enqueue(first);
    expect(schedule.next()?.job).toBe(first);
    expect(() => schedule.enqueue(job('a'))).toThrow(exhausted);
    schedule.finish(first, 1);
    expect(() => schedule.enqueue(job('a'))).not.toThrow();
  });

  test('lets no full queue of one model hold up another', () => {
    const schedule = open({ queueMax: 1 });
    fill(schedule, ['a', 'a', 'b']);
    expect(schedule.lane('b')?.active).toBe(1);
    expect(() => schedule.enqueue(job('b'))).not.toThrow();
    expect(() => schedule.enqueue(job('a'))).toThrow(exhausted);
  });

  test('keeps the new lane of a model when its old one is closed late', () => {
    const schedule = open({ queueMax: 1 });
    fill(schedule, ['a']);
    const old = schedule.lane('a') as Lane;
    schedule.close(old);
    fill(schedule, ['a']);
    schedule.close(old);
    expect(schedule.lane('a')).toMatchObject({ active: 1 });
  });
});

describe('the memory of models', () => {
  test('refuses a model that is larger than all of it and names both figures', () => {
    const schedule = open({ memoryBytes: 4 });
    expect(() => schedule.enqueue(job('a', { memoryBytes: 5 }))).toThrow(
      expect.objectContaining({
        code: 'invalid',
        reason: 'insufficient_memory',
        detail: { neededBytes: 5, budgetBytes: 4 },
      }),
    );
  });

  test('makes a model wait while those in memory are busy, and takes the longest unused then', () => {
    const schedule = open({ queueMax: 1 });
    const [, b, , d] = fill(schedule, ['a', 'b', 'c', 'd']);
    const large = job('e', { memoryBytes: 2 });
    schedule.enqueue(large);
    expect(schedule.next()).toBeUndefined();
    schedule.finish(d as Job, 1);
    expect(schedule.next()).toBeUndefined();
    schedule.finish(b as Job, 1);
    const start = schedule.next();
    expect(start?.job).toBe(large);
    expect(start?.evicted.map(({ file }) => file.key)).toEqual(['b', 'd']);
    expect(schedule.lanes.map(({ file }) => file.key)).toEqual(['a', 'c', 'e']);
  });

  test('evicts no more models than it has to', () => {
    const schedule = open();
    for (const one of fill(schedule, ['a', 'b', 'c', 'd'])) schedule.finish(one, 1);
    schedule.enqueue(job('e'));
    expect(schedule.next()?.evicted.map(({ file }) => file.key)).toEqual(['a']);
  });

  test('is given in the end to a model that others keep overtaking', () => {
    const schedule = open({ memoryBytes: 2, queueMax: 100 });
    let running = fill(schedule, ['a', 'b']);
    const large = job('large', { memoryBytes: 2 });
    schedule.enqueue(large);
    const started: Job[] = [];
    for (let i = 0; i < 60 && !started.includes(large); i++) {
      schedule.enqueue(job(i % 2 === 0 ? 'a' : 'b'));
      const [first, ...rest] = running;
      if (first) schedule.finish(first, 1);
      const start = schedule.next();
      running = start ? [...rest, start.job] : rest;
      if (start) started.push(start.job);
    }
    expect(started).toContain(large);
    expect(started.length).toBeGreaterThan(10);
  });

  test('is not given to a model that is leaving', () => {
    const schedule = open();
    const [first] = fill(schedule, ['a']);
    schedule.finish(first as Job, 1);
    const lane = schedule.lane('a') as Lane;
    lane.isLeaving = true;
    schedule.enqueue(job('a'));
    expect(schedule.next()).toBeUndefined();
    schedule.close(lane);
    expect(schedule.next()?.job.file.key).toBe('a');
  });
});

describe('a share', () => {
  test('of a newcomer comes after one request of a subject that sent many, not after all', () => {
    const schedule = open({ parallel: 2 });
    const many = Array.from({ length: 6 }, () => job('a'));
    for (const one of many) schedule.enqueue(one);
    const active = [schedule.next(), schedule.next()].map((start) => start?.job);
    const newcomer = job('a', { subject: 'ben' });
    schedule.enqueue(newcomer);
    schedule.finish(active[0] as Job, 1);
    expect(schedule.next()?.job).toBe(newcomer);
    schedule.finish(active[1] as Job, 1);
    expect(schedule.next()?.job).toBe(many[2]);
  });

  test('is taken in turns, and within a subject in the order of arrival', () => {
    const schedule = open();
    const sent = ['anna', 'anna', 'anna', 'ben', 'ben', 'eva'].map((subject) =>
      job('a', { subject }),
    );
    for (const one of sent) schedule.enqueue(one);
    const order = sent.map(() => {
      const started = schedule.next()?.job as Job;
      schedule.finish(started, 1);
      return sent.indexOf(started);
    });
    expect(order).toEqual([0, 3, 5, 1, 4, 2]);
  });

  test('of a full queue is given up by the subject that holds the most', () => {
    const schedule = open({ queueMax: 4 });
    fill(schedule, ['a']);
    const annas = Array.from({ length: 4 }, () => job('a'));
    for (const one of annas) schedule.enqueue(one);
    const bens = [1, 2].map(() => job('a', { subject: 'ben' }));
    expect(bens.map((one) => schedule.enqueue(one))).toEqual([annas[3], annas[2]]);
    expect(() => schedule.enqueue(job('a', { subject: 'ben' }))).toThrow(exhausted);
    expect(() => schedule.enqueue(job('a'))).toThrow(exhausted);
    expect(schedule.drainWaiting()).toEqual([annas[0], annas[1], ...bens]);
  });
});
