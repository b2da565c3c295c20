/** The largest whole number that grammars write: JSON's readers hold each up to it, fractions aside. */
export const wholeMax = 999_999_999_999_999;

/**
 * An expression of the whole numbers from `low` to `high`, neither below 0, in decimal and without leading
 * zeros; nothing above `wholeMax` is among them. Undefined where there is none.
 */
export function wholeBetween(low: number, high: number): string | undefined {
  const most = Math.min(high, wholeMax);
  if (low > most) return undefined;
  if (low === 0 && most === wholeMax) return 'whole';
  const choices: string[] = [];
  for (let first = low; first <= most;) {
    const last = Math.min(most, 10 ** String(first).length - 1);
    choices.push(sameLength(String(first), String(last)));
    first = last + 1;
  }
  return anyOf(choices);
}

/** The numbers between two that have the same number of digits. */
function sameLength(low: string, high: string): string {
  const rest = low.length - 1;
  if (isAll(low.slice(1), '0') && isAll(high.slice(1), '9')) {
    return rest === 0 ? digit(low, high) : `${digit(low, high)} ${digits(rest)}`;
  }
  const [first = '', last = ''] = [low[0], high[0]];
  if (first === last) return `"${first}" ${sameLength(low.slice(1), high.slice(1))}`;
  const [next, previous] = [String(Number(first) + 1), String(Number(last) - 1)];
  const choices = [`"${first}" ${sameLength(low.slice(1), '9'.repeat(rest))}`];
  if (next <= previous) choices.push(`${digit(next, previous)} ${digits(rest)}`);
  choices.push(`"${last}" ${sameLength('0'.repeat(rest), high.slice(1))}`);
  return anyOf(choices);
}

function isAll(text: string, digitOfAll: string): boolean {
  return text === digitOfAll.repeat(text.length);
}

function digit(low: string, high: string): string {
  return low[0] === high[0] ? `"${low[0]}"` : `[${low[0]}-${high[0]}]`;
}

function digits(count: number): string {
  return count === 1 ? '[0-9]' : `[0-9]{${count}}`;
}

/** An expression of any of these. */
export function anyOf(choices: readonly string[]): string {
  return choices.length === 1 ? `${choices[0]}` : `( ${choices.join(' | ')} )`;
}
