/** Milliseconds in the unit that reads best: `0.4 ms`, `12 ms`, `3.2 s`, `4 min`. */
export function formatDuration(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return formatSeconds(ms / 1_000);
}

/** Seconds as the two largest units: `3 d 4 h`, `5 min 6 s`, `7 s`. */
export function formatSeconds(seconds: number): string {
  const units = [
    ['d', Math.floor(seconds / 86_400)],
    ['h', Math.floor(seconds / 3_600) % 24],
    ['min', Math.floor(seconds / 60) % 60],
    ['s', Math.floor(seconds) % 60],
  ] as const;
  const first = units.findIndex(([, amount]) => amount > 0);
  const shown =
    first === -1
      ? units.slice(-1)
      : units.slice(first, first + 2).filter(([, amount]) => amount > 0);
  return shown.map(([unit, amount]) => `${amount} ${unit}`).join(' ');
}

/** How long ago an ISO 8601 time is, in its largest unit: `just now`, `5 min ago`. */
export function formatAge(time: string, nowMs: number = Date.now()): string {
  const seconds = (nowMs - Date.parse(time)) / 1_000;
  if (Number.isNaN(seconds)) return '';
  if (seconds < 5) return 'just now';
  return `${formatSeconds(seconds).split(' ').slice(0, 2).join(' ')} ago`;
}

/** A whole number with its thousands set off. */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US');
}

const smallFormat = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 2 });

/** Dollars to the cent; less than a cent with two figures that count. */
export function formatDollars(dollars: number): string {
  const isSmall = dollars !== 0 && Math.abs(dollars) < 0.01;
  return `$${isSmall ? smallFormat.format(dollars) : dollars.toFixed(2)}`;
}

/** A share of 0..1 as percent. */
export function formatShare(share: number): string {
  const percent = share * 100;
  return `${percent > 0 && percent < 1 ? percent.toFixed(2) : percent.toFixed(1)} %`;
}
