import type { AudioPart, FilePart, ImagePart, Tool } from '../conversation/request.ts';

const names = { image: 'image_url', audio: 'input_audio', file: 'file' } as const;

/** By what a part is refused that an upstream has no words for: its place, or its kind where it has none. */
export function placeOfPart({ type, at }: ImagePart | AudioPart | FilePart): string {
  return at ?? names[type];
}

/** By what the first tool is refused whose arguments must hold to its schema. */
export function findStrict(tools: readonly Tool[]): string | undefined {
  const strict = tools.find(({ isStrict }) => isStrict);
  return strict && (strict.strictAt ?? 'strict');
}
