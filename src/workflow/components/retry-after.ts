/** Seconds that a `Retry-After` header asks for, as a number or a date (RFC 9110, section 10.2.3). */
export function secondsAsked(header: string | null | undefined): number | undefined {
  if (header === null || header === undefined) return undefined;
  const text = header.trim();
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1_000;
  return seconds > 0 ? Math.ceil(seconds) : undefined;
}
