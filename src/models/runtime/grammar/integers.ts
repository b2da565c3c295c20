/** An expression of the whole numbers in a range; undefined where it would grow too long. */
export function integerBetween(low: number, high: number): string | undefined {
  if (low > high) return undefined;
  if (low === -Infinity && high === Infinity) return 'integer';
  if (high === Infinity && low === 0) return 'whole';
  if (high === Infinity && low === 1) return '( [1-9] [0-9]{0,15} )';
  if (high - low >= listMax) return undefined;
  const values = Array.from({ length: high - low + 1 }, (_, i) => `"${low + i}"`);
  return `( ${values.join(' | ')} )`;
}

const listMax = 1000;
