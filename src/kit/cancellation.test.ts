import { expect, test } from 'vitest';
import { Cancellation } from './cancellation.ts';

const reason = new Error('nobody waits');

test('listeners hear of it once, and not after they left', () => {
  const cancellation = new Cancellation();
  const heard: string[] = [];
  const leaver = () => void heard.push('leaver');
  cancellation.onCancel(() => void heard.push('one'));
  cancellation.onCancel(leaver);
  cancellation.offCancel(leaver);
  expect(cancellation.isCancelled).toBe(false);
  cancellation.throwIfCancelled();
  cancellation.cancel(reason);
  cancellation.cancel(new Error('another'));
  expect(heard).toEqual(['one']);
  expect(cancellation.reason).toBe(reason);
  expect(() => cancellation.throwIfCancelled()).toThrow(reason);
});

test('who comes late hears of it at once', () => {
  const cancellation = new Cancellation();
  cancellation.cancel(reason);
  let times = 0;
  cancellation.onCancel(() => (times += 1));
  expect(times).toBe(1);
});

test('its signal is aborted with the same reason, whenever it was made', () => {
  const early = new Cancellation();
  const { signal } = early;
  early.cancel(reason);
  expect(signal.aborted).toBe(true);
  expect(signal.reason).toBe(reason);
  const late = new Cancellation();
  late.cancel(reason);
  expect(late.signal.reason).toBe(reason);
});
