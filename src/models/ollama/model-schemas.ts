import { Type, type Static } from 'typebox';
import { nullable } from '../optional-fields.ts';
import { KeepAlive, ModelName } from './schemas.ts';
import { AnyKey } from '../../kit/any-key.ts';

const name = nullable(ModelName);

/** A model by `model`, or by its older field `name`. */
const named = { model: name, name };

export const ShowBody = Type.Object({ ...named });
export const DeleteBody = Type.Object({ ...named });

export const PullBody = Type.Object({
  ...named,
  stream: nullable(Type.Boolean({ description: 'true when absent' })),
  insecure: nullable(Type.Boolean()),
});

export const CopyBody = Type.Object({ source: ModelName, destination: ModelName });

/** What is answered with a refusal needs no closer look. */
export const AnyBody = Type.Object({});

export const EmbedBody = Type.Object(
  {
    model: name,
    input: Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 2048 })]),
    truncate: nullable(Type.Boolean({ description: 'a text too long is refused in either case' })),
    dimensions: nullable(
      Type.Integer({ minimum: 1, description: 'only the number that the model has' }),
    ),
    keep_alive: KeepAlive,
  },
  { $id: 'OllamaEmbedRequest' },
);
export type EmbedBody = Static<typeof EmbedBody>;

export const EmbeddingBody = Type.Object({
  model: name,
  prompt: Type.String(),
  keep_alive: KeepAlive,
});

const Details = Type.Object(
  {
    parent_model: Type.String(),
    format: Type.String(),
    family: Type.String(),
    families: Type.Array(Type.String()),
    parameter_size: Type.String({ description: '`1.2B`, `360.0M`; empty when unknown' }),
    quantization_level: Type.String({ description: '`Q4_K_M`, `F16`; empty when unknown' }),
  },
  { $id: 'OllamaModelDetails' },
);
export type Details = Static<typeof Details>;

const modelFields = {
  name: Type.String(),
  model: Type.String(),
  size: Type.Integer({ description: 'bytes' }),
  digest: Type.String({ description: 'SHA-256 in hex; empty while unknown' }),
  details: Details,
};

export const TagList = Type.Object({
  models: Type.Array(
    Type.Object({
      ...modelFields,
      modified_at: Type.String(),
      removable: Type.Boolean({
        description:
          'whether `/api/delete` takes it: not what came with Ennead, nor another runtime’s',
      }),
    }),
  ),
});

export const RunningList = Type.Object({
  models: Type.Array(
    Type.Object({
      ...modelFields,
      expires_at: Type.String({
        description: 'when it leaves the memory if nobody asks it before',
      }),
      size_vram: Type.Integer({ description: 'bytes on a graphics card' }),
      context_length: Type.Integer(),
    }),
  ),
});

export const ShowAnswer = Type.Object(
  {
    license: Type.String(),
    modelfile: Type.String(),
    parameters: Type.String(),
    template: Type.String({ description: 'the chat template of the file (Jinja)' }),
    system: Type.String(),
    details: Details,
    model_info: Type.Record(AnyKey, Type.Unknown(), {
      description: 'the keys of the file; of long lists only the length',
    }),
    capabilities: Type.Array(Type.String(), {
      description: '`completion`, `tools`, `embedding`',
    }),
    modified_at: Type.String(),
  },
  { $id: 'OllamaModel' },
);
export type ShowAnswer = Static<typeof ShowAnswer>;

export const EmbedAnswer = Type.Object(
  {
    model: Type.String(),
    embeddings: Type.Array(Type.Array(Type.Number())),
    dimensions: Type.Integer(),
    normalised: Type.Boolean({ description: 'whether each vector has length 1' }),
    total_duration: Type.Integer({ description: 'nanoseconds' }),
    load_duration: Type.Integer({ description: 'nanoseconds' }),
    prompt_eval_count: Type.Integer({ description: 'tokens' }),
  },
  { $id: 'OllamaEmbeddings' },
);
export type EmbedAnswer = Static<typeof EmbedAnswer>;

/** How far a pull has come. */
export const Progress = Type.Object(
  {
    status: Type.String({ description: 'ends with `success`' }),
    digest: Type.Optional(Type.String()),
    total: Type.Optional(Type.Integer({ description: 'bytes' })),
    completed: Type.Optional(Type.Integer({ description: 'bytes' })),
  },
  { $id: 'OllamaProgress' },
);
