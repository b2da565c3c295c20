import { pathText, presenceOf, type DataPlace } from './paths.ts';

/** A part of a condition as CEL. Asking for what is not there fails in CEL, and nowhere else. */
export interface Guarded {
  readonly text: string;
  /** CEL: whether a path leads to something, empty for a root; absent for what always is there. */
  readonly isThere?: string;
}

/** A place as a part of a condition. */
export function guardedPath(place: DataPlace): Required<Guarded> {
  return { text: pathText(place), isThere: presenceOf(place) };
}

/** CEL: whether there is a value, null being none. */
export function existenceOf({ text, isThere }: Guarded): string {
  if (isThere === undefined) return 'true';
  return [...(isThere === '' ? [] : [isThere]), `${text} != null`].join(' && ');
}

/** CEL: `value`, the part itself unless told, or `none` where there is no value. */
export function orElse(part: Guarded, none: string, value = part.text): string {
  return part.isThere === undefined ? value : `(${existenceOf(part)} ? ${value} : ${none})`;
}
