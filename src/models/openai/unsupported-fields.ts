import { refuseAsked, refuseChanged } from '../unsupported.ts';

/** Fields that change the answer and that the runtimes do not know: OpenAI's own and those of others. */
const unsupportedFields = [
  'logit_bias',
  'suffix',
  // Ollama's.
  'think',
  'template',
  'context',
  'images',
  'system',
  'raw',
  'format',
  'options',
  // llama-server's.
  'grammar',
  'json_schema',
  'samplers',
  'n_probs',
  'ignore_eos',
  'dry_multiplier',
  'xtc_probability',
  'dynatemp_range',
  // vLLM's.
  'structured_outputs',
  'guided_json',
  'guided_regex',
  'guided_choice',
  'guided_grammar',
  'min_tokens',
  'stop_token_ids',
  'bad_words',
  'allowed_token_ids',
  'prompt_logprobs',
  'logits_processors',
  'truncate_prompt_tokens',
  'use_beam_search',
  'include_stop_str_in_output',
  'continue_final_message',
  'documents',
  'chat_template',
  'chat_template_kwargs',
];

/** The same of fields that ask for nothing with the value beside them. */
const neutralValues = {
  n: 1,
  best_of: 1,
  mirostat: 0,
  tfs_z: 1,
  typical_p: 1,
  repeat_last_n: 64,
  n_predict: -1,
  top_n_sigma: -1,
  repetition_penalty: 1,
  length_penalty: 1,
  add_generation_prompt: true,
  skip_special_tokens: true,
};

/** Refuses by name what neither a chat nor a text can have, lest it be ignored in silence. */
export function refuseUnsupported(body: object): void {
  refuseAsked(body, unsupportedFields);
  refuseChanged(body, neutralValues);
}
