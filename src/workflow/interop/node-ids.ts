/** Words that placeholders or conditions take for something else. */
const reserved = new Set(
  'nodes inputs loop execution true false null nil in as break const continue else for function if import let namespace package return var void while and or contains empty blank not constructor prototype forloop size type'.split(
    ' ',
  ),
);
const idLengthMax = 48;

/** Gives each step an id that can be written in placeholders and conditions as it is. */
export class NodeIds {
  readonly #ids = new Map<string, string>();
  readonly #taken = new Set<string>();

  /** The id of a step; the same for the same key. */
  allot(key: string, name: string): string {
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const id = this.unused(name);
    this.#ids.set(key, id);
    return id;
  }

  /** An id for a node that the source has no step for. */
  unused(name: string): string {
    const base = toIdentifier(name);
    let id = base;
    for (let count = 2; this.#taken.has(id); count += 1) id = `${base}_${count}`;
    this.#taken.add(id);
    return id;
  }

  find(key: string): string | undefined {
    return this.#ids.get(key);
  }
}

/** A text as a word of letters, digits and underscores. */
export function toIdentifier(name: string): string {
  const plain = name.normalize('NFKD').replaceAll(/[\u0300-\u036F]/g, '');
  const word = plain
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .toLowerCase()
    .slice(0, idLengthMax)
    .replace(/_+$/, '');
  if (word === '') return 'step';
  return reserved.has(word) || /^\d/.test(word) ? `step_${word}` : word;
}
