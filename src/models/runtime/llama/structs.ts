/**
 * The structs of llama.h and ggml.h that are passed by value, with all of their fields in order; koffi knows
 * them by these names from then on. The types beside them name what is set or read here. They belong to one
 * release of llama.cpp, which `openLibrary` compares with that of the libraries.
 */
import * as koffi from 'koffi';

/** The release of llama.cpp whose headers these are. */
export const headerRelease = 'v0.4.0';

/** An address in native memory; 0 is NULL. */
export type Pointer = bigint;

/** `llama_model_params`. */
export interface ModelParams {
  n_gpu_layers: number;
}

koffi.struct('llama_model_params', {
  devices: 'void *',
  tensor_buft_overrides: 'void *',
  n_gpu_layers: 'int32_t',
  split_mode: 'int',
  load_mode: 'int',
  lazy_mode: 'int',
  main_gpu: 'int32_t',
  tensor_split: 'void *',
  progress_callback: 'void *',
  progress_callback_user_data: 'void *',
  kv_overrides: 'void *',
  vocab_only: 'bool',
  check_tensors: 'bool',
  use_extra_bufts: 'bool',
  no_host: 'bool',
  no_alloc: 'bool',
  load_mtp: 'bool',
});

/** `llama_context_params`. */
export interface ContextParams {
  /** Of all sequences together. */
  n_ctx: number;
  n_batch: number;
  n_ubatch: number;
  n_seq_max: number;
  n_threads: number;
  n_threads_batch: number;
  embeddings: boolean;
  no_perf: boolean;
  swa_full: boolean;
}

koffi.struct('llama_context_params', {
  n_ctx: 'uint32_t',
  n_batch: 'uint32_t',
  n_ubatch: 'uint32_t',
  n_seq_max: 'uint32_t',
  n_rs_seq: 'uint32_t',
  n_outputs_max: 'uint32_t',
  n_outputs_max_per_seq: 'uint32_t',
  n_threads: 'int32_t',
  n_threads_batch: 'int32_t',
  ctx_type: 'int',
  rope_scaling_type: 'int',
  pooling_type: 'int',
  attention_type: 'int',
  flash_attn_type: 'int',
  rope_freq_base: 'float',
  rope_freq_scale: 'float',
  yarn_ext_factor: 'float',
  yarn_attn_factor: 'float',
  yarn_beta_fast: 'float',
  yarn_beta_slow: 'float',
  yarn_orig_ctx: 'uint32_t',
  defrag_thold: 'float',
  cb_eval: 'void *',
  cb_eval_user_data: 'void *',
  type_k: 'int',
  type_v: 'int',
  abort_callback: 'void *',
  abort_callback_data: 'void *',
  embeddings: 'bool',
  offload_kqv: 'bool',
  no_perf: 'bool',
  op_offload: 'bool',
  swa_full: 'bool',
  kv_unified: 'bool',
  samplers: 'void *',
  n_samplers: 'size_t',
  ctx_other: 'void *',
});

/** `llama_batch`. */
export interface BatchStruct {
  n_tokens: number;
  readonly token: Pointer;
  readonly embd: null;
  readonly pos: Pointer;
  readonly n_seq_id: Pointer;
  readonly seq_id: Pointer;
  readonly logits: Pointer;
}

koffi.struct('llama_batch', {
  n_tokens: 'int32_t',
  token: 'void *',
  embd: 'void *',
  pos: 'void *',
  n_seq_id: 'void *',
  seq_id: 'void *',
  logits: 'void *',
});

/** `llama_sampler_chain_params`. */
koffi.struct('llama_sampler_chain_params', { no_perf: 'bool' });

/** `llama_token_data_array`. */
export interface Candidates {
  /** Each a token, its logit and its probability: 32 bits each. */
  readonly data: Pointer;
  readonly size: number;
  /** The place of the chosen one; -1 for none. */
  readonly selected: number;
  readonly sorted: boolean;
}

koffi.struct('llama_token_data_array', {
  data: 'void *',
  size: 'size_t',
  selected: 'int64_t',
  sorted: 'bool',
});

/** `ggml_threadpool_params`. */
export interface ThreadPoolParams {
  n_threads: number;
}

const threadsMax = 512;

koffi.struct('ggml_threadpool_params', {
  cpumask: koffi.array('bool', threadsMax),
  n_threads: 'int',
  prio: 'int',
  poll: 'uint32_t',
  strict_cpu: 'bool',
  paused: 'bool',
});
