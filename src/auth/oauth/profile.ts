import type { Egress } from '../../kit/egress/egress.ts';
import type { Fault } from '../../kit/errors.ts';
import { isJsonObject } from '../../kit/json-object.ts';
import type { ProviderConfig } from '../tables.ts';
import { fetchResource, providerError } from './provider-fetch.ts';

/** Somebody as the identity provider describes them. */
export interface Profile {
  /** Stable and never given to another (OpenID Connect Core, section 5.7). */
  readonly subject: string;
  readonly username: string;
  readonly name: string;
  readonly email: string;
  readonly avatarUrl: string;
  /** The provider's own number of the user, where it has one. */
  readonly numericId: number | undefined;
  readonly groups: readonly ProviderGroup[];
}

export interface ProviderGroup {
  readonly id?: number;
  /** The whole path, as group mappings name it. */
  readonly path: string;
}

export interface ProfileRequest {
  readonly egress: Egress;
  readonly accessToken: string;
  /** For each request; the provider's own deadline unless told. */
  readonly timeoutMs?: number | undefined;
}

const groupPathLengthMax = 512;
const groupsMax = 10_000;
const pagesMax = 100;

/** Reads who holds a provider's token; throws when the groups cannot be told, never guesses none. */
export async function readProfile(
  config: Pick<ProviderConfig, 'userInfoURL' | 'groupsURL'>,
  request: ProfileRequest,
): Promise<Profile> {
  const { content } = await fetchResource(request.egress, config.userInfoURL, request);
  const claims = toRecord(content);
  const { groupsURL } = config;
  const claimed = claims['groups'];
  const isListed = !Array.isArray(claimed) && groupsURL !== undefined;
  const all = isListed ? await listGroups(groupsURL, request) : toGroups(claimed);
  if (all.length > groupsMax) throw providerError(`names more than ${groupsMax} groups`);
  return toProfile(claims, all);
}

/** The paths that a mapping can name, each once, sorted. */
export function groupsOf({ groups }: Pick<Profile, 'groups'>): string[] {
  const paths = groups.map(({ path }) => path);
  return [...new Set(paths.filter(isMappable))].toSorted();
}

/** PostgreSQL stores no NUL, and half a surrogate pair would be stored as another character. */
function isMappable(path: string): boolean {
  return path !== '' && path.length <= groupPathLengthMax && !/[\0\p{Cs}]/u.test(path);
}

function toProfile(claims: Claims, groups: readonly ProviderGroup[]): Profile {
  const subject = firstText([claims['sub'], toText(claims['id'])]);
  if (subject === '' || subject.length > 255) throw providerError('names no subject');
  const names = [claims['preferred_username'], claims['nickname'], claims['username']];
  const username = firstText([...names, claims['login']]);
  const numericId = toInteger(claims['id']) ?? toInteger(subject);
  return {
    subject,
    username,
    name: cleanText(firstText([claims['name'], username]), 200),
    email: cleanText(firstText([claims['email']]), 254),
    avatarUrl: toWebAddress(firstText([claims['picture'], claims['avatar_url']])),
    numericId,
    groups,
  };
}

/** The groups at an address, page by page as GitLab has them. */
async function listGroups(url: string, request: ProfileRequest): Promise<ProviderGroup[]> {
  const groups: ProviderGroup[] = [];
  const address = toOwnGroups(new URL(url));
  let page = '1';
  for (let count = 0; page !== ''; count += 1) {
    if (count === pagesMax) throw providerError(`has more than ${pagesMax} pages of groups`);
    address.searchParams.set('page', page);
    const { content, headers } = await fetchResource(request.egress, address.href, request);
    if (!Array.isArray(content)) throw providerError('lists no groups');
    groups.push(...content.map(toGroup));
    const next = headers.get('x-next-page') ?? '';
    page = /^\d{1,6}$/.test(next) ? next : '';
  }
  return groups;
}

/** GitLab lists every group that a user can see, and 20 a page, unless the query says else. */
function toOwnGroups(address: URL): URL {
  if (!/\/api\/v4\/groups\/?$/.test(address.pathname)) return address;
  for (const [name, value] of [
    ['min_access_level', '10'],
    ['per_page', '100'],
  ] as const) {
    if (!address.searchParams.has(name)) address.searchParams.set(name, value);
  }
  return address;
}

/** The groups of a claim; who is in none may have none or null, as lists that are empty are written. */
function toGroups(claimed: unknown): ProviderGroup[] {
  if (claimed === undefined || claimed === null) return [];
  if (!Array.isArray(claimed)) throw unreadableGroups();
  return claimed.map(toGroup);
}

/** A path alone, or an object of GitLab's groups API. */
function toGroup(value: unknown): ProviderGroup {
  if (typeof value === 'string') return { path: value };
  const { id, full_path: path } = toRecord(value);
  if (typeof path !== 'string') throw unreadableGroups();
  const number = toInteger(id);
  return { path, ...(number === undefined ? {} : { id: number }) };
}

function unreadableGroups(): Fault {
  return providerError('names groups in a form that cannot be read');
}

type Claims = Readonly<Record<string, unknown>>;

function toRecord(value: unknown): Claims {
  return isJsonObject(value) ? value : {};
}

function firstText(values: readonly unknown[]): string {
  return values.find((value) => typeof value === 'string' && value !== '')?.toString() ?? '';
}

function toText(value: unknown): string | undefined {
  return toInteger(value)?.toString();
}

function toInteger(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^[1-9]\d{0,14}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : undefined;
}

/** One line without control characters, cut to a length. */
function cleanText(text: string, lengthMax: number): string {
  return text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '')
    .trim()
    .slice(0, lengthMax);
}

function toWebAddress(text: string): string {
  const isWeb = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  return isWeb && text.length <= 2048 ? text : '';
}
