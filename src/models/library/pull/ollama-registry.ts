import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { Fault } from '../../../kit/errors.ts';
import type { PullPlan } from './plan.ts';
import type { Reference } from './reference.ts';
import type { PullWeb } from './web.ts';

const ImageManifest = Type.Object({
  layers: Type.Array(
    Type.Object({
      mediaType: Type.String(),
      digest: Type.String({ pattern: '^sha256:[0-9a-f]{64}$' }),
      size: Type.Integer({ minimum: 0 }),
    }),
    { maxItems: 64 },
  ),
});

const manifestType = 'application/vnd.docker.distribution.manifest.v2+json';
const modelType = 'application/vnd.ollama.image.model';

export type OllamaReference = Extract<Reference, { kind: 'ollama' }>;

/** Finds the layer with the weights (registry API v2); its prompt template is the file's own. */
export async function planOllama(
  { repository, tag, name }: OllamaReference,
  { web, origin }: { readonly web: PullWeb; readonly origin: string },
  signal: AbortSignal,
): Promise<PullPlan> {
  const base = `${origin}/v2/${repository}`;
  const manifest = await web.document(`${base}/manifests/${tag}`, {
    headers: { accept: manifestType },
    signal,
  });
  if (!Value.Check(ImageManifest, manifest)) {
    throw new Fault('upstream', `the registry's manifest of ${name} is not understood`);
  }
  const [layer, second] = manifest.layers.filter(({ mediaType }) => mediaType === modelType);
  if (!layer || second) {
    throw new Fault('invalid', `${name} is not one GGUF model`, { reason: 'split_model' });
  }
  return {
    name,
    files: [
      {
        url: `${base}/blobs/${layer.digest}`,
        digest: layer.digest.slice('sha256:'.length),
        bytes: layer.size,
        secretHeaders: {},
      },
    ],
    licence: undefined,
  };
}
