/** A block of a tool's answer, as it is shown. */
export type ContentBlock =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly url: string }
  | { readonly kind: 'file'; readonly name: string; readonly url: string }
  | { readonly kind: 'link'; readonly uri: string; readonly name: string }
  | { readonly kind: 'other'; readonly value: unknown };

type Fields = Readonly<Record<string, unknown>>;

/** Reads a content block of MCP; what has no known form is shown as it came. */
export function readBlock(block: unknown): ContentBlock {
  const other = { kind: 'other', value: block } as const;
  if (!isRecord(block)) return other;
  const { type, text, uri, name } = block;
  if (type === 'text' && typeof text === 'string') return { kind: 'text', text };
  if (type === 'image' || type === 'audio') return readMedia(block, other);
  if (type === 'resource' && isRecord(block['resource'])) {
    return readResource(block['resource'], other);
  }
  if (type !== 'resource_link' || typeof uri !== 'string') return other;
  return { kind: 'link', uri, name: typeof name === 'string' ? name : uri };
}

function readMedia({ type, data, mimeType }: Fields, other: ContentBlock): ContentBlock {
  if (typeof data !== 'string' || typeof mimeType !== 'string') return other;
  if (type === 'image') return imageOf(mimeType, data);
  return { kind: 'file', name: 'audio', url: dataUrl(mimeType, data) };
}

function readResource({ uri, mimeType, text, blob }: Fields, other: ContentBlock): ContentBlock {
  if (typeof text === 'string') return { kind: 'text', text };
  if (typeof blob !== 'string') return other;
  const type = typeof mimeType === 'string' ? mimeType : 'application/octet-stream';
  if (type.startsWith('image/')) return imageOf(type, blob);
  return { kind: 'file', name: nameIn(uri), url: dataUrl(type, blob) };
}

/** An image that a browser draws as one; all else may only be saved. */
function imageOf(type: string, data: string): ContentBlock {
  const url = dataUrl(type, data);
  return type.startsWith('image/') ? { kind: 'image', url } : { kind: 'file', name: 'file', url };
}

function dataUrl(type: string, data: string): string {
  return `data:${type.replaceAll(/[^\w.+/-]/g, '')};base64,${data}`;
}

function nameIn(uri: unknown): string {
  const last = typeof uri === 'string' ? uri.split('/').at(-1) : '';
  return last || 'file';
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}
