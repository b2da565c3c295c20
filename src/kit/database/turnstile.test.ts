import { describe, expect, it } from 'vitest';
import { Turnstile } from './turnstile.ts';

describe('a turnstile', () => {
  it('refuses who waited too long, and serves those behind', async () => {
    const turnstile = new Turnstile(5);
    await turnstile.hold();
    await expect(turnstile.pass()).rejects.toMatchObject({ code: 'deadline' });
    await expect(turnstile.hold()).rejects.toThrow('held the database for more than 0.005 s');
    turnstile.release();
    expect(turnstile.isOpen).toBe(true);
  });

  it('admits in the order of arrival, holders one at a time', async () => {
    const turnstile = new Turnstile(60_000);
    const order: string[] = [];
    await turnstile.hold();
    const arrivals = [
      turnstile.pass().then(() => order.push('first pass')),
      turnstile.hold().then(() => order.push('holder')),
      turnstile.pass().then(() => order.push('second pass')),
    ];
    turnstile.release();
    await Promise.all(arrivals.slice(0, 2));
    expect(order).toEqual(['first pass', 'holder']);
    turnstile.release();
    await Promise.all(arrivals);
    expect(order).toEqual(['first pass', 'holder', 'second pass']);
  });
});
