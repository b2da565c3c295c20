import { expect, test } from 'vitest';
import { drawMinimap, failedLayer, minimapWidth } from './minimap-paths.ts';

const whole = { fromUs: 0, toUs: 1_000 };

test('each service has a path of its own, and what failed one above them', () => {
  const paths = drawMinimap(
    [
      { service: 'a', status: 'success', offsetUs: 0, durationUs: 1_000 },
      { service: 'b', status: 'success', offsetUs: 500, durationUs: 100 },
      { service: 'b', status: 'error', offsetUs: 600, durationUs: 0 },
    ],
    whole,
  );
  expect([...paths.keys()]).toEqual(['a', 'b', failedLayer]);
  expect(paths.get('a')).toBe(`M0 10H${minimapWidth}`);
  expect(paths.get('b')).toBe('M500 30H600');
  expect(paths.get(failedLayer)).toBe('M600 50H602');
});

test('a large trace is drawn with no more lines than there are points', () => {
  const spans = Array.from({ length: 20_000 }, () => ({
    service: 'a',
    status: 'success',
    offsetUs: 0,
    durationUs: 10,
  }));
  expect(drawMinimap(spans, whole).get('a')?.split('M')).toHaveLength(122);
});
