import { expect, test } from 'vitest';
import { testLibrary as library } from './testing.ts';

test('the structs have the fields of the library at their places', () => {
  // What llama.cpp sets by itself, from the first field to the last.
  expect(library.modelDefaultParams()).toMatchObject({
    devices: null,
    n_gpu_layers: -1,
    kv_overrides: null,
    vocab_only: false,
    check_tensors: false,
    use_extra_bufts: true,
    no_host: false,
    no_alloc: false,
  });
  expect(library.contextDefaultParams()).toMatchObject({
    n_ctx: 512,
    n_batch: 2048,
    n_ubatch: 512,
    n_seq_max: 1,
    rope_scaling_type: -1,
    pooling_type: -1,
    flash_attn_type: -1,
    yarn_ext_factor: -1,
    defrag_thold: -1,
    cb_eval: null,
    // F16.
    type_k: 1,
    type_v: 1,
    embeddings: false,
    offload_kqv: true,
    no_perf: true,
    op_offload: true,
    swa_full: true,
    kv_unified: false,
    samplers: null,
    n_samplers: 0,
    ctx_other: null,
  });
  expect(library.threadPoolDefaultParams(3)).toMatchObject({
    n_threads: 3,
    prio: 0,
    poll: 50,
    strict_cpu: false,
    paused: false,
  });
});

test('a file that is no model is no reason to end the process', () => {
  const params = library.modelDefaultParams();
  expect(library.modelLoad('/nowhere.gguf', params)).toBeNull();
});
