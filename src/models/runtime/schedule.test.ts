import { describe, expect, test } from 'vitest';
import { Job } from './job.ts';
import { resolveRequest } from './request.ts';
import { Schedule, type Lane } from './schedule.ts';

let lastId = 0;

function job(model: string): Job {
  const work = resolveRequest({ modelPath: model, prompt: { text: 'one' } });
  return new Job(++lastId, { path: model, key: model }, work);
}

/** Enqueues a job for each of the models and starts what can start. */
function fill(schedule: Schedule, models: readonly string[]): void {
  for (const model of models) {
    schedule.enqueue(job(model));
    schedule.next();
  }
}

const exhausted = expect.objectContaining({ code: 'exhausted' });

describe('a schedule', () => {
  test('without a queue refuses only what cannot start at once', () => {
    const schedule = new Schedule({ parallel: 1, queueMax: 0 });
    const first = job('a');
    schedule.enqueue(first);
    expect(schedule.next()?.job).toBe(first);
    expect(() => schedule.enqueue(job('a'))).toThrow(exhausted);
    schedule.finish('a', 1);
    expect(() => schedule.enqueue(job('a'))).not.toThrow();
  });

  test('without a queue refuses a fifth model while four are busy, not when one is idle', () => {
    const schedule = new Schedule({ parallel: 1, queueMax: 0 });
    fill(schedule, ['a', 'b', 'c', 'd']);
    expect(() => schedule.enqueue(job('e'))).toThrow(exhausted);
    schedule.finish('b', 1);
    schedule.enqueue(job('e'));
    expect(schedule.next()?.evicted?.key).toBe('b');
  });

  test('lets no full queue of one model hold up another', () => {
    const schedule = new Schedule({ parallel: 1, queueMax: 1 });
    fill(schedule, ['a', 'a', 'b']);
    expect(schedule.lane('b')?.active).toBe(1);
    expect(() => schedule.enqueue(job('b'))).not.toThrow();
    expect(() => schedule.enqueue(job('a'))).toThrow(exhausted);
  });

  test('keeps the new lane of a model when its old one is closed late', () => {
    const schedule = new Schedule({ parallel: 1, queueMax: 1 });
    fill(schedule, ['a']);
    const old = schedule.lane('a') as Lane;
    schedule.close(old);
    fill(schedule, ['a']);
    schedule.close(old);
    expect(schedule.lane('a')).toMatchObject({ active: 1 });
  });
});
