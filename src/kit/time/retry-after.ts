/**
 * Whole seconds that a server's `Retry-After` asks for, said as a number or as a date, 0 for one that has
 * passed (RFC 9110, section 10.2.3); undefined where it says neither.
 */
export function readRetryAfter(header: string | null | undefined): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text);
  // Numbers with signs would be years.
  const seconds = /[a-z]/i.test(text) ? (Date.parse(text) - Date.now()) / 1_000 : Number.NaN;
  return Number.isNaN(seconds) ? undefined : Math.max(0, Math.ceil(seconds));
}
