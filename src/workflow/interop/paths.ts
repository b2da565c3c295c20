/** A place among the outputs of nodes and the inputs. */
export interface DataPlace {
  /** The id of a node, `inputs`, `loop` or `execution`. */
  readonly root: string;
  readonly steps: readonly (string | number)[];
  /** Names that the source has for what is called otherwise here. */
  readonly aliases?: readonly Alias[];
}

export interface Alias {
  readonly from: readonly string[];
  readonly to: readonly string[];
}

/** The place of something within another place. */
export function within(place: DataPlace, steps: readonly (string | number)[]): DataPlace {
  const alias = place.aliases?.find(({ from }) => from.every((name, at) => steps[at] === name));
  const behind = alias ? [...alias.to, ...steps.slice(alias.from.length)] : steps;
  return { root: place.root, steps: [...place.steps, ...behind] };
}

/** The place as placeholders and conditions write it. */
export function pathText({ root, steps }: DataPlace): string {
  return steps.reduce<string>((path, step) => path + stepText(step), root);
}

/** CEL: whether every step of a place leads to something, which may be null; empty for a root. */
export function presenceOf({ root, steps }: DataPlace): string {
  const parts = steps.flatMap((step, at) => {
    const holder = pathText({ root, steps: steps.slice(0, at) });
    const own = pathText({ root, steps: steps.slice(0, at + 1) });
    if (typeof step === 'number') return [`type(${holder}) == list`, `size(${holder}) > ${step}`];
    // CEL asks only a name behind names whether it is there.
    if (own.includes('[')) {
      return [`type(${holder}) == map`, `${JSON.stringify(step)} in ${holder}`];
    }
    return [...(at === 0 ? [] : [`${holder} != null`]), `has(${own})`];
  });
  return parts.join(' && ');
}

/** A lone placeholder for a place. */
export function placeholderText(place: DataPlace): string {
  return `{{ ${pathText(place)} }}`;
}

/** A text that is shown as it is, whatever of our own language it happens to hold. */
export function literalText(text: string): string {
  if (!text.includes('{{') && !text.includes('{%')) return text;
  // The word that ends such a passage must not stand within it.
  return `{% raw %}${text.replaceAll('endraw', 'end raw')}{% endraw %}`;
}

function stepText(step: string | number): string {
  if (typeof step === 'number') return `[${step}]`;
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(step) && !celWords.has(step)
    ? `.${step}`
    : `[${JSON.stringify(step)}]`;
}

/** Not to be written behind a dot in a condition. */
const celWords = new Set(['in', 'true', 'false', 'null']);
