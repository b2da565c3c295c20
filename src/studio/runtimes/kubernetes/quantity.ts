const factors: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/** An amount as clusters write it (`250m`, `64Mi`) as a number; 0 when it cannot be read. */
export function readQuantity(text: string): number {
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)([A-Za-z]*)$/.exec(text) ?? [];
  return Number(number) * (factors[unit] ?? 0);
}
