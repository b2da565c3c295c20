/** The number of one of our versions as a semantic one, which the language asks for. */
export function writeVersion(version: unknown): string {
  return `${String(version)}.0.0`;
}

/** The number that was so written; undefined for what others call a version. */
export function readVersion(text: string): number | undefined {
  const [, digits] = /^([1-9]\d{0,8})\.0\.0$/.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits);
}
