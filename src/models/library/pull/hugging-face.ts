import { Type, type Static } from 'typebox';
import { Value } from 'typebox/value';
import { Fault } from '../../../kit/errors.ts';
import { parseModelName } from '../model-name.ts';
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

/** Finds the file of a reference with its size and its digest (Hub API, `/api/models/…/tree`). */
export async function planHuggingFace(
  reference: HuggingFaceReference,
  { web, origin, token }: HuggingFaceOptions,
  signal: AbortSignal,
): Promise<PullPlan> {
  const { repository, revision } = reference;
  const secretHeaders = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const tree = await web.document(
    `${origin}/api/models/${repository}/tree/${revision}?recursive=true`,
    { secretHeaders, signal },
  );
  const file = chooseFile(readTree(tree), reference);
  const path = file.path.split('/').map(encodeURIComponent).join('/');
  return {
    name: reference.name ?? nameOf(reference, file.path),
    url: `${origin}/${repository}/resolve/${revision}/${path}`,
    digest: file.lfs?.oid,
    bytes: file.lfs?.size ?? file.size,
    licence: reference.licence,
    secretHeaders,
  };
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
  const chosen = selector === undefined ? chooseDefault(models) : findSelected(models, selector);
  if (!chosen) {
    const message = `hf.co/${repository} has no GGUF file ${selector ?? ''}`.trimEnd();
    const available = models.slice(0, namedMax).map(({ path }) => path);
    throw new Fault('not_found', message, { reason: 'model_not_found', detail: { available } });
  }
  if (!/-\d{5}-of-\d{5}\.gguf$/i.test(chosen.path)) return chosen;
  throw new Fault(
    'invalid',
    `${chosen.path} is one part of a split model, which cannot be pulled`,
    {
      reason: 'split_model',
    },
  );
}

function chooseDefault(models: readonly TreeFile[]): TreeFile | undefined {
  const ranked = preferred.map((quantisation) => findSelected(models, quantisation));
  return ranked.find((file) => file !== undefined) ?? models[0];
}

function findSelected(models: readonly TreeFile[], selector: string): TreeFile | undefined {
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
  const stem = path.replace(/\.gguf$/i, '').replace(/-\d{5}-of-\d{5}$/, '');
  return /[-._/]((?:UD-)?(?:I?Q\d\w*|B?F16|F32|MXFP4\w*|TQ\d\w*))$/i.exec(stem)?.[1] ?? stem;
}

function nameOf({ repository }: HuggingFaceReference, path: string): string {
  const stem =
    path
      .split('/')
      .at(-1)
      ?.replace(/\.gguf$/i, '') ?? '';
  const quantisation = quantisationOf(path);
  const tag = quantisation === path.replace(/\.gguf$/i, '') ? stem : quantisation;
  return parseModelName(`hf.co/${repository}:${tag}`);
}
