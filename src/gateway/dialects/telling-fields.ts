import type { ChatRequest } from '../conversation/request.ts';
import { firstUnsaid } from './harmless-fields.ts';

/**
 * Fields of a chat beyond those that every dialect has words for, by which some API of models tells that the answer is
 * to be another. What none of them knows tells nothing, and is left out like any unknown field of JSON.
 */
const names = [
  // OpenAI's.
  `audio function_call functions input_audio logit_bias logprobs modalities prediction refusal seed
   suffix text top_logprobs verbosity web_search_options type custom grammar format strict
   allowed_tools filters include max_tool_calls truncation prompt conversation background
   reasoning_effort response_format tool_choice`,
  // Anthropic's.
  `container context_management citations inference_geo mcp_servers output_config speed system
   thinking title context defer_loading input_examples caller allowed_callers eager_input_streaming
   signature`,
  // Gemini's, by its API of OpenAI's form.
  `extra_body google cached_content video_url`,
  // Ollama's.
  `images options raw template think`,
  // llama-server's, vLLM's and those of others that run open models.
  `add_generation_prompt allowed_token_ids bad_words best_of chat_template chat_template_kwargs
   continue_final_message documents dry_multiplier dynatemp_range echo enable_search
   enable_thinking guided_choice guided_grammar guided_json guided_regex ignore_eos
   include_stop_str_in_output json_schema length_penalty logits_processors min_p min_tokens
   mirostat n_predict n_probs prompt_logprobs repeat_last_n repeat_penalty repetition_penalty
   samplers skip_special_tokens stop_token_ids structured_outputs tfs_z thinking_budget top_a
   top_n_sigma truncate_prompt_tokens typical_p use_beam_search xtc_probability`,
  // Those of other providers.
  `citation_options compound_custom context_length_exceeded_behavior data_sources deferred
   disable_tool_validation exclude_domains guardrails include_domains include_reasoning models
   partial plugins prefix prompt_mode prompt_truncate_len provider random_seed reasoning
   reasoning_content reasoning_details reasoning_format return_images return_related_questions
   route safe_prompt safety_mode safety_model search search_domain_filter search_mode
   search_options search_parameters search_recency_filter search_settings transforms
   user_security_context`,
];

const tellingFields: ReadonlySet<string> = new Set(names.flatMap((text) => text.split(/\s+/)));

/**
 * Whether a field, by its name or by its place in the request such as `messages[0].prefix`, tells something.
 * What stands in a list, as a tool or a part of an unknown type does, always does.
 */
export function isTelling(place: string): boolean {
  return place.endsWith(']') || tellingFields.has(place.slice(place.lastIndexOf('.') + 1));
}

/** The first of a chat's fields that a dialect may not leave out, by its name; `known` are those that it can say. */
export function firstUnsaidInChat(
  extras: ChatRequest['extras'],
  known?: ReadonlySet<string>,
): string | undefined {
  const telling = Object.entries(extras).filter(([place]) => isTelling(place));
  return telling.length === 0 ? undefined : firstUnsaid(Object.fromEntries(telling), known);
}
