const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** Bytes in the unit that reads best: `512 B`, `3.2 MB`. */
export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1);
  const amount = bytes / 1_000 ** power;
  return `${power === 0 ? amount : amount.toFixed(1)} ${units[power] ?? 'B'}`;
}
