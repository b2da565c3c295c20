import { Fault } from '../../../kit/errors.ts';
import type { CmsClient, CmsListing } from './cms-client.ts';
import { isSame, type CmsRecord, type UnreadRecord } from './cms-record.ts';
import { readTag, type CmsSql } from './cms-store.ts';
import { bundlesField } from './sync-fields.ts';
import type { CmsLink } from './sync-plan.ts';
import type { SyncReport } from './sync-report.ts';

/** What a CMS says now. */
export interface Listed {
  readonly records: readonly CmsRecord[];
  /** False: what is not listed may be there all the same. */
  readonly isComplete: boolean;
  /** What is listed and cannot be read. */
  readonly unread: readonly UnreadRecord[];
  readonly tag: string | undefined;
  /** False when the bundles could not be read. */
  readonly hasReadBundles: boolean;
}

export interface ListingOptions {
  readonly cms: string;
  readonly links: readonly CmsLink[];
  /** Is told what of the listing cannot be used. */
  readonly report: SyncReport;
}

/** Reads all records with their bundles; throws when the CMS cannot be read at all. */
export async function readListing(
  { client, sql }: { readonly client: CmsClient; readonly sql: CmsSql },
  { cms, links, report }: ListingOptions,
): Promise<Listed> {
  const tag = await readTag(sql, cms);
  const listing = await client.list(tag);
  if (listing) noteFlaws(listing, report);
  const found = listing?.records ?? links.filter(isLiveLink).map(recordOfLink);
  const bundled = await withBundles(client, found, report);
  return {
    records: bundled ?? found,
    isComplete: !listing?.cut,
    unread: listing?.unread ?? [],
    tag: listing ? listing.tag : tag,
    hasReadBundles: bundled !== undefined,
  };
}

/** Whether every record is linked and as its base has it, so that the listing's tag stands for all bases. */
export function isLikeBases(
  { records, hasReadBundles }: Listed,
  links: readonly CmsLink[],
): boolean {
  const bases = new Map(links.map(({ recordId, base }) => [recordId, base.remote]));
  const isLike = ({ id, fields }: CmsRecord): boolean => {
    const base = bases.get(id);
    if (!base) return false;
    return Object.entries(fields).every(([field, value]) => isSame(value, base[field]));
  };
  return hasReadBundles && records.length === bases.size && records.every(isLike);
}

/** Whether both sides still have it. */
export function isLiveLink({ removedBy }: CmsLink): boolean {
  return removedBy === undefined;
}

function noteFlaws({ cut, unread }: CmsListing, report: SyncReport): void {
  const place = { stage: 'list', side: 'cms' } as const;
  if (cut) report.fail(place, cut);
  if (unread.length === 0) return;
  const sentence = `records without an id or name that can be used: ${unread.length}`;
  report.fail(place, new Fault('upstream', sentence));
}

async function withBundles(
  client: CmsClient,
  records: readonly CmsRecord[],
  report: SyncReport,
): Promise<readonly CmsRecord[] | undefined> {
  try {
    const bundles = await client.listBundles();
    if (!bundles) return records;
    return records.map((record) => {
      const { [bundlesField]: _, ...fields } = record.fields;
      const names = bundles.get(record.id) ?? bundles.get(record.name);
      const all = names ? { ...fields, [bundlesField]: names } : fields;
      return { ...record, fields: all, hasBundles: true };
    });
  } catch (error) {
    report.fail({ stage: 'bundles', side: 'cms' }, error);
    return undefined;
  }
}

/** A record of a listing that did not change: it is as it was. */
function recordOfLink({ recordId, connectionId, base }: CmsLink): CmsRecord {
  const { name } = base.remote;
  return {
    id: recordId,
    name: typeof name === 'string' ? name : recordId,
    connectionId,
    fields: base.remote,
    hasMetadata: true,
    hasBundles: false,
    isRemoved: false,
  };
}
