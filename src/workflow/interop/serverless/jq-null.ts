import { pathText, type DataPlace } from '../paths.ts';

/** A part of a condition as CEL. In jq what is not there is null; in CEL asking for it fails. */
export interface Operand {
  readonly text: string;
  /** CEL: whether a path leads to something; absent for what always is there. */
  readonly isThere?: string;
}

/** Whether every step of a path leads to something. */
export function presenceOf({ root, steps }: DataPlace): string {
  const parts = steps.flatMap((step, at) => {
    const holder = pathText({ root, steps: steps.slice(0, at) });
    const own = pathText({ root, steps: steps.slice(0, at + 1) });
    const isNull = at === 0 ? [] : [`${holder} != null`];
    if (typeof step === 'number') return [...isNull, `size(${holder}) > ${step}`];
    return [...isNull, own.endsWith(']') ? `${JSON.stringify(step)} in ${holder}` : `has(${own})`];
  });
  return parts.join(' && ');
}

/** A comparison; null is less than everything else. */
export function compareJq(left: Operand, sign: string, right: Operand): string {
  const plain = `${left.text} ${sign} ${right.text}`;
  const both = [left, right].flatMap(({ isThere }) => (isThere ? [isThere] : []));
  if (both.length === 0) return plain;
  if (both.length === 2) return `${valueOf(left)} ${sign} ${valueOf(right)}`;
  const [isThere = 'true'] = both;
  const [path, other] = left.isThere ? [left.text, right.text] : [right.text, left.text];
  if (other === 'null') return nullCheck({ path, isThere }, sign);
  if (sign === '==') return `(${isThere} && ${plain})`;
  const isLess = left.isThere ? sign.startsWith('<') : sign.startsWith('>');
  const isSome = `${isThere} && ${path} != null`;
  return sign === '!=' || isLess ? `(!(${isSome}) || ${plain})` : `(${isSome} && ${plain})`;
}

/** Everything is true but false and null. */
export function truthOf({ text, isThere }: Operand): string {
  return isThere ? `(${isThere} && ${text} != null && ${text} != false)` : text;
}

/** The length of null is 0. */
export function lengthOf({ text, isThere }: Operand): Operand {
  const length = `size(${text})`;
  return { text: isThere ? `(${isThere} && ${text} != null ? ${length} : 0)` : length };
}

function nullCheck({ path, isThere }: { path: string; isThere: string }, sign: string): string {
  const isNull = `(!(${isThere}) || ${path} == null)`;
  return sign === '!=' ? `!${isNull}` : isNull;
}

function valueOf({ text, isThere }: Operand): string {
  return isThere ? `(${isThere} ? ${text} : null)` : text;
}
