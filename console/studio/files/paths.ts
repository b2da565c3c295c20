/** A free-looking path for a text that cannot have its own: `src/a.ts` gives `src/a.mine-20260131-142501.ts`. */
export function pathBeside(path: string, at: Date): string {
  const stamp = at.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
  const [, stem = path, ending = ''] = /^(.*[^/])(\.[^./]+)$/.exec(path) ?? [];
  return `${stem}.mine-${stamp}${ending}`;
}
