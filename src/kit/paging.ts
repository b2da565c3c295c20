import { Type } from 'typebox';

const offsetMax = 1_000_000_000;

export interface PageBounds {
  /** The most that one page may have; 100 when absent. */
  readonly max?: number;
  /** What it has where nobody says; 20 when absent. */
  readonly usual?: number;
}

/** What a listing is asked for: which part of it. */
export function pageQuery({ max = 100, usual = 20 }: PageBounds = {}) {
  return {
    limit: Type.Integer({
      minimum: 1,
      maximum: max,
      default: usual,
      description: 'at most so many entries',
    }),
    offset: Type.Integer({
      minimum: 0,
      maximum: offsetMax,
      default: 0,
      description: 'how many entries to skip',
    }),
  };
}

/** What a listing says of the part that it answers. */
export const pageAnswer = {
  total: Type.Integer({ description: 'all entries that match, on every page' }),
  limit: Type.Integer(),
  offset: Type.Integer(),
};
