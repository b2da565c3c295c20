import { InvalidArgumentError } from 'commander';
import { printRemark } from './output.ts';

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** A page of a listing, and how long the whole of it is. */
export interface Listed<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}

/** What was read of a listing: its items, and the rest of an answer of the API that holds them. */
export interface ListedPage<Item> {
  readonly items: readonly Item[];
  readonly rest: Page & { readonly total: number };
}

const pageItemsMax = 100;

/** Reads `limit` items of a listing, page by page, from the first on unless told. */
export async function readItems<Item>(
  limit: number,
  fetch: (page: Page) => Promise<Listed<Item>>,
  offset = 0,
): Promise<ListedPage<Item>> {
  const items: Item[] = [];
  for (;;) {
    const wanted = Math.min(pageItemsMax, limit - items.length);
    const page = await fetch({ limit: wanted, offset: offset + items.length });
    items.push(...page.items);
    const isLast = page.items.length < wanted || offset + items.length >= page.total;
    if (!isLast && items.length < limit) continue;
    return { items, rest: { total: page.total, limit, offset } };
  }
}

/** The value of a `--limit` option. */
export function parseCount(text: string): number {
  const count = toWhole(text);
  if (count !== undefined && count > 0) return count;
  throw new InvalidArgumentError('It must be a whole number above 0.');
}

/** The value of an option that may be 0, such as `--offset`. */
export function parseWhole(text: string): number {
  const count = toWhole(text);
  if (count !== undefined) return count;
  throw new InvalidArgumentError('It must be a whole number, 0 or more.');
}

function toWhole(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** Says on standard error that a listing was cut. */
export function remarkOnRest({ items, rest: { total, offset } }: ListedPage<unknown>): void {
  if (offset + items.length < total) printRemark(`${items.length} of ${total}; --limit shows more`);
}
