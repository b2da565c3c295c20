import { findFile } from './pull/hugging-face.ts';
import { parseReference, withoutQuery, type Reference } from './pull/reference.ts';
import { withoutLatest, findNamed } from './model-name.ts';

interface Pulled {
  readonly name: string;
  /** Where it came from. */
  readonly source: string | undefined;
  readonly digest: string | undefined;
}

/**
 * The installed model that a pull of this text would fetch, or did: `hf.co/<owner>/<repository>` and
 * addresses are no names of models.
 */
export function findPulled<T extends Pulled>(models: readonly T[], text: string): T | undefined {
  const reference = referenceOf(text);
  if (reference?.kind === 'ollama') return findNamed(models, reference.name);
  if (reference?.kind === 'address') return models.find((model) => isFrom(model, reference));
  return reference && findInRepository(models, reference);
}

function referenceOf(text: string): Reference | undefined {
  try {
    return parseReference(withoutLatest(text));
  } catch {
    return undefined;
  }
}

function isFrom(
  { source, digest }: Pulled,
  { urls, digest: wanted = digest }: Extract<Reference, { kind: 'address' }>,
): boolean {
  return source === withoutQuery(urls[0] ?? '') && digest === wanted;
}

function findInRepository<T extends Pulled>(
  models: readonly T[],
  { repository, revision, selector, name }: Extract<Reference, { kind: 'hugging-face' }>,
): T | undefined {
  // A name of the catalogue is the model's own.
  if (name !== undefined) return undefined;
  const folder = `/${repository}/resolve/${revision}/`.toLowerCase();
  const files = models.flatMap((model) => {
    const path = pathOf(model);
    return path.toLowerCase().startsWith(folder)
      ? [{ path: path.slice(folder.length), model }]
      : [];
  });
  return findFile(files, selector)?.model;
}

function pathOf({ source = '' }: Pulled): string {
  try {
    return decodeURIComponent(new URL(source).pathname);
  } catch {
    // A path of this machine, or an address that no repository has.
    return '';
  }
}
