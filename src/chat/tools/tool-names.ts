import { createHash } from 'node:crypto';

const fit = /^[a-zA-Z0-9_-]{1,64}$/;
const lengthMax = 64;
const markLength = 8;

/**
 * Names that the dialects of all providers take, by the registry's names. One that is fit stays as it
 * is; another gets a mark of its own, which is the same at every listing.
 */
export function fitNames(names: readonly string[]): ReadonlyMap<string, string> {
  const fitted = new Map(names.filter((name) => fit.test(name)).map((name) => [name, name]));
  const taken = new Set(fitted.values());
  for (const name of names) {
    if (fitted.has(name)) continue;
    const free = firstFree(name, taken);
    taken.add(free);
    fitted.set(name, free);
  }
  return fitted;
}

/** A server could have a tool that is named like another's mark: then the mark is another one. */
function firstFree(name: string, taken: ReadonlySet<string>): string {
  for (let round = 0; ; round++) {
    const marked = mark(name, round);
    if (!taken.has(marked)) return marked;
  }
}

function mark(name: string, round: number): string {
  const salted = round === 0 ? name : `${name}\n${round}`;
  const digest = createHash('sha256').update(salted).digest('hex').slice(0, markLength);
  const start = name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, lengthMax - markLength - 1);
  return `${start}_${digest}`;
}
