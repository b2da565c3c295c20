/** An ISO 8601 time as a `datetime-local` control shows it, in the viewer's own time. */
export function toLocalTime(iso: string): string {
  const time = Date.parse(iso);
  if (Number.isNaN(time)) return '';
  const offsetMs = new Date(time).getTimezoneOffset() * 60_000;
  return new Date(time - offsetMs).toISOString().slice(0, 19);
}

/** The ISO 8601 time that a `datetime-local` control means; an empty text for none. */
export function fromLocalTime(local: string): string {
  const time = Date.parse(local);
  return Number.isNaN(time) ? '' : new Date(time).toISOString();
}
