/** The functions that are used, as llama.h and ggml.h declare them, but for pointers, which are all alike. */
export const llamaPrototypes = {
  setLog: 'void llama_log_set(void *callback, void *user_data)',
  initBackend: 'void llama_backend_init()',

  modelDefaultParams: 'llama_model_params llama_model_default_params()',
  modelLoad: 'void *llama_model_load_from_file(str path, llama_model_params params)',
  modelFree: 'void llama_model_free(void *model)',
  modelVocabulary: 'void *llama_model_get_vocab(void *model)',
  modelTrainContext: 'int32_t llama_model_n_ctx_train(void *model)',
  modelEmbeddingSize: 'int32_t llama_model_n_embd_out(void *model)',
  modelSize: 'uint64_t llama_model_size(void *model)',
  modelIsRecurrent: 'bool llama_model_is_recurrent(void *model)',
  modelIsHybrid: 'bool llama_model_is_hybrid(void *model)',
  modelWindow: 'int32_t llama_model_n_swa(void *model)',

  vocabularyType: 'int llama_vocab_type(void *vocab)',
  vocabularySize: 'int32_t llama_vocab_n_tokens(void *vocab)',
  bosOf: 'int32_t llama_vocab_bos(void *vocab)',
  eosOf: 'int32_t llama_vocab_eos(void *vocab)',
  eotOf: 'int32_t llama_vocab_eot(void *vocab)',
  sepOf: 'int32_t llama_vocab_sep(void *vocab)',
  nlOf: 'int32_t llama_vocab_nl(void *vocab)',
  addsBos: 'bool llama_vocab_get_add_bos(void *vocab)',
  addsEos: 'bool llama_vocab_get_add_eos(void *vocab)',
  attributesOf: 'int llama_vocab_get_attr(void *vocab, int32_t token)',
  isEog: 'bool llama_vocab_is_eog(void *vocab, int32_t token)',
  textOf: 'str llama_vocab_get_text(void *vocab, int32_t token)',
  tokenize:
    'int32_t llama_tokenize(void *vocab, void *text, int32_t text_len, ' +
    'void *tokens, int32_t n_tokens_max, bool add_special, bool parse_special)',
  detokenize:
    'int32_t llama_detokenize(void *vocab, void *tokens, int32_t n_tokens, ' +
    'void *text, int32_t text_len_max, bool remove_special, bool unparse_special)',

  contextDefaultParams: 'llama_context_params llama_context_default_params()',
  contextInit: 'void *llama_init_from_model(void *model, llama_context_params params)',
  contextFree: 'void llama_free(void *ctx)',
  contextMemory: 'void *llama_get_memory(void *ctx)',
  contextPooling: 'int llama_pooling_type(void *ctx)',
  sequenceTokens: 'uint32_t llama_n_ctx_seq(void *ctx)',
  attachThreadPool: 'void llama_attach_threadpool(void *ctx, void *pool, void *pool_batch)',
  decode: 'int32_t llama_decode(void *ctx, llama_batch batch)',
  memoryRemove: 'bool llama_memory_seq_rm(void *mem, int32_t seq_id, int32_t p0, int32_t p1)',
  logitsAt: 'void *llama_get_logits_ith(void *ctx, int32_t i)',
  embeddingsAt: 'void *llama_get_embeddings_ith(void *ctx, int32_t i)',
  embeddingsOf: 'void *llama_get_embeddings_seq(void *ctx, int32_t seq_id)',

  chainInit: 'void *llama_sampler_chain_init(llama_sampler_chain_params params)',
  chainAdd: 'void llama_sampler_chain_add(void *chain, void *smpl)',
  samplerFree: 'void llama_sampler_free(void *smpl)',
  samplerSample: 'int32_t llama_sampler_sample(void *smpl, void *ctx, int32_t idx)',
  samplerApply: 'void llama_sampler_apply(void *smpl, _Inout_ llama_token_data_array *cur_p)',
  samplerAccept: 'void llama_sampler_accept(void *smpl, int32_t token)',
  initGreedy: 'void *llama_sampler_init_greedy()',
  initDistribution: 'void *llama_sampler_init_dist(uint32_t seed)',
  initTopK: 'void *llama_sampler_init_top_k(int32_t k)',
  initTopP: 'void *llama_sampler_init_top_p(float p, size_t min_keep)',
  initMinP: 'void *llama_sampler_init_min_p(float p, size_t min_keep)',
  initTemperature: 'void *llama_sampler_init_temp(float t)',
  initPenalties:
    'void *llama_sampler_init_penalties(int32_t n_vocab, int32_t penalty_last_n, ' +
    'float penalty_repeat, float penalty_freq, float penalty_present)',
  initGrammar: 'void *llama_sampler_init_grammar(void *vocab, str grammar_str, str grammar_root)',
} as const;

export const ggmlPrototypes = {
  loadBackends: 'void ggml_backend_load_all_from_path(str dir_path)',
  backendOf: 'void *ggml_backend_reg_by_name(str name)',
} as const;

export const ggmlBasePrototypes = {
  threadPoolDefaultParams: 'ggml_threadpool_params ggml_threadpool_params_default(int n_threads)',
  functionOf: 'void *ggml_backend_reg_get_proc_address(void *reg, str name)',
} as const;

/** The library for this processor is asked for these by name, and answers their addresses. */
export const cpuPrototypes = {
  threadPoolNew: 'void *ggml_threadpool_new(ggml_threadpool_params *params)',
  threadPoolFree: 'void ggml_threadpool_free(void *pool)',
} as const;
