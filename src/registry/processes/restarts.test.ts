import { expect, test } from 'vitest';
import { Restarts } from './restarts.ts';

const crash = (nowMs: number, livedMs = 10) => ({
  command: 'x',
  lastEnd: 'it crashed',
  livedMs,
  nowMs,
});

test('pauses double from 1 s to 60 s while crashes follow one another', () => {
  const restarts = new Restarts();
  const pauses = Array.from({ length: 9 }, (_, at) => {
    restarts.noteCrash('a', crash(at));
    return findPauseMs(restarts, at);
  });
  expect(pauses).toEqual([0, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
});

const findPauseMs = (restarts: Restarts, nowMs: number) => {
  for (const pauseMs of [0, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000]) {
    try {
      restarts.require('a', 'x', nowMs + pauseMs);
      return pauseMs;
    } catch {
      expect(() => restarts.require('a', 'x', nowMs + pauseMs)).toThrow('again and again');
    }
  }
  return Infinity;
};

test('a life of a minute, another command and being forgotten each end the row', () => {
  const restarts = new Restarts();
  for (const at of [0, 1, 2]) restarts.noteCrash('a', crash(at));
  expect(() => restarts.require('a', 'x', 3)).toThrow(
    expect.objectContaining({ reason: 'restarting_too_often', retryAfter: 2 }),
  );
  expect(() => restarts.require('a', 'y', 3)).not.toThrow();
  expect(() => restarts.require('b', 'x', 3)).not.toThrow();
  restarts.noteCrash('a', crash(100_000, 60_000));
  expect(() => restarts.require('a', 'x', 100_001)).not.toThrow();
  for (const at of [0, 1, 2]) restarts.noteCrash('a', crash(at));
  restarts.forget('a');
  expect(() => restarts.require('a', 'x', 3)).not.toThrow();
});

test('being closed by us in between does not end a row of crashes', () => {
  const restarts = new Restarts();
  restarts.noteCrash('a', crash(0));
  restarts.noteClosed('a', crash(1));
  expect(() => restarts.require('a', 'x', 2)).not.toThrow();
  restarts.noteCrash('a', crash(3));
  expect(() => restarts.require('a', 'x', 4)).toThrow('again and again');
});
