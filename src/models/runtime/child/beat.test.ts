import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { Beat } from './beat.ts';

/** Requests by name, and in which order they went on. */
function openBeat(...names: readonly string[]) {
  const beat = new Beat();
  const members = new Map(names.map((name, number) => [name, beat.join(number)]));
  const gone: string[] = [];
  const memberOf = (name: string) => {
    const member = members.get(name);
    if (!member) throw new Error(`nobody is called ${name}`);
    return member;
  };
  return {
    gone,
    rest: (name: string) => memberOf(name).rest(),
    step: (name: string) => {
      const turn = memberOf(name).step();
      if (turn) void turn.then(() => gone.push(name));
      else gone.push(name);
    },
  };
}

/** Longer than a release takes. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await nextTurn();
}

describe('the requests of one model', () => {
  test('a single one never waits', () => {
    const beat = openBeat('a');
    for (let step = 0; step < 3; step++) beat.step('a');
    expect(beat.gone).toEqual(['a', 'a', 'a']);
  });

  test('go on together in the order of their sequences, once each of them has its token', async () => {
    const beat = openBeat('a', 'b', 'c');
    beat.step('a');
    beat.step('b');
    beat.step('c');
    await settle();
    expect(beat.gone).toEqual(['a']);
    beat.step('a');
    await settle();
    expect(beat.gone).toEqual(['a', 'a', 'b', 'c']);
    beat.step('b');
    beat.step('a');
    await settle();
    expect(beat.gone).toHaveLength(4);
    beat.step('c');
    await settle();
    expect(beat.gone.slice(4)).toEqual(['a', 'b', 'c']);
  });

  test('wait neither for one that has not taken a step nor for one that rests', async () => {
    const beat = openBeat('a', 'b', 'reading');
    beat.step('a');
    beat.step('b');
    beat.rest('a');
    await settle();
    expect(beat.gone).toEqual(['a', 'b']);
    beat.step('b');
    expect(beat.gone).toEqual(['a', 'b', 'b']);
  });

  test('may rest twice, which counts once', async () => {
    const beat = openBeat('a', 'b');
    beat.step('a');
    beat.rest('a');
    beat.rest('a');
    beat.step('b');
    beat.step('a');
    await settle();
    expect(beat.gone).toEqual(['a', 'b']);
  });
});
