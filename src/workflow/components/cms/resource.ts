import { fieldsOf, wordsOf } from '../answer-fields.ts';

/** An entity of a CMS: its attributes, and what it is. */
export interface Entity extends Readonly<Record<string, unknown>> {
  readonly uuid: string;
  /** Its number in the CMS; null where it tells none. */
  readonly nid: number | string | null;
  readonly bundle: string;
  readonly entityType: string;
  readonly url: string;
  readonly relationships: Readonly<Record<string, unknown>>;
}

/** Fields as JSON:API wants them: what holds `{data: …}` of resources are relationships. */
export function splitFields(fields: Readonly<Record<string, unknown>>) {
  const entries = Object.entries(fields);
  const relationships = entries.filter(([, value]) => isRelationship(value));
  const attributes = entries.filter(([, value]) => !isRelationship(value));
  return {
    attributes: Object.fromEntries(attributes),
    ...(relationships.length > 0 && { relationships: Object.fromEntries(relationships) }),
  };
}

function isRelationship(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('data' in value)) return false;
  const { data } = value;
  return data === null || (Array.isArray(data) ? data.every(isIdentifier) : isIdentifier(data));
}

function isIdentifier(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'type' in value && 'id' in value;
}

/**
 * A resource object of JSON:API (section 7.2) as flows see it: `entity.title`, `entity.nid`,
 * `entity.relationships.uid`. What of it has no such form is not there.
 */
export function readResource(
  resource: Readonly<Record<string, unknown>>,
  {
    baseUrl,
    entityType,
    bundle,
  }: {
    readonly baseUrl: string;
    readonly entityType: string;
    readonly bundle: string;
  },
): Entity {
  const uuid = String(resource['id']);
  const attributes = fieldsOf(resource['attributes']);
  const relationships = fieldsOf(resource['relationships']);
  const links = fieldsOf(resource['links']);
  const nid = numberOf(attributes);
  const url = urlOf({ attributes, links, baseUrl, canonical: canonicalPath(entityType, nid) });
  return { ...attributes, uuid, nid, bundle, entityType, url, relationships };
}

function numberOf(attributes: Readonly<Record<string, unknown>>): number | string | null {
  const names = ['nid', 'tid', 'uid', 'mid', 'fid', 'cid', 'id'];
  const numbers = names.map((name) => attributes[`drupal_internal__${name}`]);
  const number = numbers.find((one) => typeof one === 'number' || typeof one === 'string');
  return number ?? null;
}

function canonicalPath(entityType: string, nid: number | string | null): string | undefined {
  if (nid === null) return undefined;
  if (entityType === 'taxonomy_term') return `/taxonomy/term/${nid}`;
  return ['node', 'user', 'media'].includes(entityType) ? `/${entityType}/${nid}` : undefined;
}

interface Addresses {
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: Readonly<Record<string, unknown>>;
  readonly baseUrl: string;
  readonly canonical: string | undefined;
}

/** Its alias, else its own page, else its resource. */
function urlOf({ attributes, links, baseUrl, canonical }: Addresses): string {
  const alias = wordsOf(fieldsOf(attributes['path'])['alias']);
  const path = alias?.startsWith('/') ? alias : canonical;
  if (path !== undefined) return baseUrl + path;
  // A link is a text, or an object with one (section 8.8).
  const { self } = links;
  return wordsOf(self) ?? wordsOf(fieldsOf(self)['href']) ?? baseUrl;
}
