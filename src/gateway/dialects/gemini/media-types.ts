const types: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['webp', 'image/webp'],
  ['gif', 'image/gif'],
  ['heic', 'image/heic'],
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
]);

/** What the end of an address's path says of its media type; the provider looks itself else. */
export function typeByEnding(url: string): string | undefined {
  const ending = /\.([a-z]+)(?:[?#]|$)/i.exec(url)?.[1];
  return types.get(ending?.toLowerCase() ?? '');
}
