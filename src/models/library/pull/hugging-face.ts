import { Type, type Static } from 'typebox';
import { Value } from 'typebox/value';
import { Fault } from '../../../kit/errors.ts';
import { parseModelName } from '../model-name.ts';
import { namesOfParts, readPartName } from '../split-files.ts';
import type { PullPlan } from './plan.ts';
import type { Reference } from './reference.ts';
import type { PullWeb } from './web.ts';

const TreeFile = Type.Object({
  path: Type.String(),
  size: Type.Integer({ minimum: 0 }),
  lfs: Type.Optional(
    Type.Object({
      oid: Type.String({ pattern: '^[0-9a-f]{64}$' }),
      size: Type.Integer({ minimum: 0 }),
    }),
  ),
});
type TreeFile = Static<typeof TreeFile>;

export type HuggingFaceReference = Extract<Reference, { kind: 'hugging-face' }>;

export interface HuggingFaceOptions {
  readonly web: PullWeb;
  readonly origin: string;
  /** For repositories that want an account. */
  readonly token: string | undefined;
}

/** Without a word about it, the first of these that a repository has. */
const preferred = ['Q4_K_M', 'Q4_0', 'Q8_0', 'F16'];
const namedMax = 30;

/** Finds the files of a reference with their sizes and digests (Hub API, `/api/models/…/tree`). */
export async function planHuggingFace(
  reference: HuggingFaceReference,
  { web, origin, token }: HuggingFaceOptions,
  signal: AbortSignal,
): Promise<PullPlan> {
  const { repository, revision } = reference;
  const secretHeaders = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const address = `${origin}/api/models/${repository}/tree/${revision}?recursive=true`;
  const listed: TreeFile[] = [];
  for await (const page of web.pages(address, { secretHeaders, signal })) {
    listed.push(...readTree(page));
  }
  const chosen = chooseFile(listed, reference);
  return {
    name: reference.name ?? nameOf(reference, chosen.path),
    files: findParts(listed, chosen, repository).map((file) => ({
      url: `${origin}/${repository}/resolve/${revision}/${encodePath(file.path)}`,
      digest: file.lfs?.oid,
      bytes: file.lfs?.size ?? file.size,
      secretHeaders,
    })),
    licence: reference.licence,
  };
}

function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

/** All files of the model that a file belongs to. */
function findParts(files: readonly TreeFile[], { path }: TreeFile, repository: string): TreeFile[] {
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  return namesOfParts(path.slice(folder.length)).map((name) => {
    const part = files.find((file) => file.path === folder + name);
    if (part) return part;
    throw new Fault('upstream', `hf.co/${repository} lacks ${folder}${name}`, {
      reason: 'bad_source',
    });
  });
}

function readTree(tree: unknown): TreeFile[] {
  if (!Array.isArray(tree)) throw new Fault('upstream', 'Hugging Face lists no files');
  return tree.filter(
    (file): file is TreeFile => Value.Check(TreeFile, file) && /\.gguf$/i.test(file.path),
  );
}

function chooseFile(files: readonly TreeFile[], reference: HuggingFaceReference): TreeFile {
  const { repository, selector } = reference;
  // A projector for pictures is no model by itself.
  const models = files.filter(({ path }) => !/(^|\/)mmproj/i.test(path));
  const chosen = findFile(models, selector);
  if (!chosen) {
    const message = `hf.co/${repository} has no GGUF file ${selector ?? ''}`.trimEnd();
    const available = models.slice(0, namedMax).map(({ path }) => path);
    throw new Fault('not_found', message, { reason: 'model_not_found', detail: { available } });
  }
  return chosen;
}

/** The file of a repository that a selector means; without one, the best guess. */
export function findFile<T extends { readonly path: string }>(
  files: readonly T[],
  selector: string | undefined,
): T | undefined {
  return selector === undefined ? chooseDefault(files) : findSelected(files, selector);
}

function chooseDefault<T extends { readonly path: string }>(models: readonly T[]): T | undefined {
  const ranked = preferred.map((quantisation) => findSelected(models, quantisation));
  return ranked.find((file) => file !== undefined) ?? models[0];
}

function findSelected<T extends { readonly path: string }>(
  models: readonly T[],
  selector: string,
): T | undefined {
  const wanted = selector.toLowerCase();
  if (wanted.endsWith('.gguf')) {
    return models.find(({ path }) => {
      const lower = path.toLowerCase();
      return lower === wanted || lower.endsWith(`/${wanted}`);
    });
  }
  return models.find(({ path }) => quantisationOf(path).toLowerCase() === wanted);
}

/** `Q4_K_M` of `Some-Model-Q4_K_M.gguf`; of a split model too. */
function quantisationOf(path: string): string {
  const stem = stemOf(path);
  return /[-._/]((?:UD-)?(?:I?Q\d\w*|B?F16|F32|MXFP4\w*|TQ\d\w*))$/i.exec(stem)?.[1] ?? stem;
}

function stemOf(path: string): string {
  return readPartName(path)?.stem ?? path.replace(/\.gguf$/i, '');
}

function nameOf({ repository }: HuggingFaceReference, path: string): string {
  const stem = stemOf(path);
  const quantisation = quantisationOf(path);
  const tag = quantisation === stem ? (stem.split('/').at(-1) ?? '') : quantisation;
  return parseModelName(`hf.co/${repository}:${tag}`);
}
