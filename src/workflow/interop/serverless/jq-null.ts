import { orElse, type Guarded } from '../guards.ts';

/** A part of a condition as CEL. In jq what is not there is null. */
export interface Operand extends Guarded {
  /** What is known of its kind beforehand. */
  readonly rank?: number;
}

/** The order of kinds: null, false, true, numbers, texts, lists, objects. */
export const ranks = { null: 0, false: 1, true: 2, number: 3, text: 4 } as const;

/** A comparison; one between kinds goes by their order. */
export function compareJq(left: Operand, sign: string, right: Operand): string {
  if (sign === '==' || sign === '!=') return `${valueOf(left)} ${sign} ${valueOf(right)}`;
  const plain = `${left.text} ${sign} ${right.text}`;
  const kinds = `${rankOf(left)} ${sign} ${rankOf(right)}`;
  const sides = [left, right];
  const same = sides.flatMap(({ rank }) => (rank === undefined ? [] : [rank]))[0];
  if (sides.every(({ rank }) => rank !== undefined))
    return left.rank === right.rank ? plain : kinds;
  // Of null and booleans the kind says all.
  if (same !== undefined && same < ranks.number) return kinds;
  const types =
    same === undefined ? ['double', 'string'] : [same === ranks.number ? 'double' : 'string'];
  const alike = types.map((type) => sides.flatMap((side) => isOf(side, type)).join(' && '));
  return `((${alike.join(') || (')}) ? ${plain} : ${kinds})`;
}

/** CEL: whether a side whose kind is not known beforehand is of a type. */
function isOf(side: Operand, type: string): readonly string[] {
  return side.rank === undefined ? [`type(${valueOf(side)}) == ${type}`] : [];
}

function rankOf(side: Operand): string {
  if (side.rank !== undefined) return String(side.rank);
  const { text, isThere } = side;
  if (isThere === undefined) return `(${text} ? ${ranks.true} : ${ranks.false})`;
  const kinds = [
    `${text} == null ? ${ranks.null}`,
    `${text} == false ? ${ranks.false}`,
    `${text} == true ? ${ranks.true}`,
    `type(${text}) == double ? ${ranks.number}`,
    `type(${text}) == string ? ${ranks.text}`,
    `type(${text}) == list ? 5 : 6`,
  ];
  return `(${isThere === '' ? '' : `!(${isThere}) ? ${ranks.null} : `}${kinds.join(' : ')})`;
}

/** Everything is true but false and null. */
export function truthOf({ text, isThere }: Operand): string {
  return isThere ? `(${isThere} && ${text} != null && ${text} != false)` : text;
}

/** The length of null is 0. */
export function lengthOf(operand: Operand): Operand {
  return { text: orElse(operand, '0', `size(${operand.text})`), rank: ranks.number };
}

function valueOf({ text, isThere }: Operand): string {
  return isThere ? `(${isThere} ? ${text} : null)` : text;
}
