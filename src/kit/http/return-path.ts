/** The path on this origin that was asked for, or `/` for whatever could lead elsewhere. */
export function toReturnPath(text: string | undefined): string {
  const isPath = text !== undefined && /^\/(?!\/)[^\\\p{Cc}]*$/u.test(text);
  if (!isPath) return '/';
  const base = 'http://own.invalid';
  return URL.canParse(text, base) && new URL(text, base).origin === base ? text : '/';
}
