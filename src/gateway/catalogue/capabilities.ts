import type { Capability } from '../providers/provider.ts';
import { bareName } from './model-names.ts';

const text: readonly Capability[] = ['chat', 'code', 'summarization', 'json'];
const agent: readonly Capability[] = [...text, 'tools'];
const seeing: readonly Capability[] = [...agent, 'vision'];
const thinking: readonly Capability[] = [...agent, 'reasoning'];
const all: readonly Capability[] = [...seeing, 'reasoning'];

/**
 * What models can do, by name, as their makers document it. The first pattern that fits counts. An
 * empty list is a model that answers nothing here: speech, moderation, ranking.
 */
export const capabilityTable: readonly (readonly [RegExp, readonly Capability[]])[] = [
  [
    /whisper|transcri|[-_]tts|^tts|moderation|guard|realtime|native-audio|[-_]live|voice|rerank|ocr|lyria|veo/,
    [],
  ],
  [/^(sora|computer-use|aqa|davinci-00|babbage|ada$|curie)/, []],
  [/^gpt-audio|^gpt-4o.*-audio/, ['chat', 'tools']],
  [/^voxtral/, agent],
  [/embed|^bge-|^e5-|^gte-|minilm|^use-lite/, ['embedding']],
  [/^(dall-e|gpt-image|chatgpt-image|imagen|flux|stable-diffusion|sd3|grok-.*imag)/, ['image']],
  [/image/, ['image']],
  [/^gpt-(5|6)/, all],
  [/^gpt-oss/, thinking],
  [/^o1-(mini|preview)/, [...text, 'reasoning']],
  [/^o3-mini/, thinking],
  [/^o\d/, all],
  [/^(chatgpt-4o|gpt-chat|gpt-4o|gpt-4\.|gpt-4-(turbo|vision))/, seeing],
  [/^gpt-3\.5-turbo-instruct/, []],
  [/^(gpt-4|gpt-3\.5)/, agent],
  [/^claude-(2|v1|instant)/, ['chat', 'code', 'summarization']],
  [/^claude-3-(7|\d-7)|^claude-(opus|sonnet|haiku|fable)-[4-9]|^claude-\d-(opus|sonnet)/, all],
  [/^claude/, seeing],
  [/^gemini-(2\.5|[3-9])/, all],
  [/^gemini/, seeing],
  [/^gemma-?(3|4)/, [...text, 'vision']],
  [/^gemma/, ['chat', 'code', 'summarization']],
  [/^grok-.*non-reasoning/, seeing],
  [/^grok-4/, all],
  [/^grok-(3-mini|code|build)/, thinking],
  [/^grok-.*vision/, seeing],
  [/^grok/, agent],
  [/^deepseek-(reasoner|r1|v[4-9]|v3\.[12])/, thinking],
  [/^deepseek/, agent],
  [/^magistral/, all],
  [/^pixtral|^mistral-(medium|small|large-2[5-9]|large-latest)|^ministral-.*2512/, seeing],
  [/^(mistral|ministral|mixtral|open-mi|codestral|devstral)/, agent],
  [/^qwen.*(vl|omni)/, seeing],
  [/^(qwen3|qwq)(?!.*coder)/, thinking],
  [/^qwen/, agent],
  [/^(kimi|glm|minimax|nemotron)/, thinking],
  [/^(meta-)?llama-?4|^llama-?3(\.|p)2-(11|90)b/, seeing],
  [/^llama-?2|^codellama/, ['chat', 'code', 'summarization']],
  [/^(meta-)?llama/, agent],
  [/^sonar-(reasoning|deep)/, [...text, 'reasoning']],
  [/^sonar/, [...text, 'vision']],
  [/^command/, agent],
  [/^phi-?4-multimodal|^llava|^moondream|^minicpm-v/, [...text, 'vision']],
  [/^phi/, text],
  [/^(smollm|tinyllama|stories|tinystories)/, ['chat']],
];

/** The table's word on a model; undefined when its name says nothing. */
export function capabilitiesOf(model: string): ReadonlySet<Capability> | undefined {
  const name = bareName(model);
  const found = capabilityTable.find(([pattern]) => pattern.test(name));
  return found && new Set(found[1]);
}

/**
 * Whether a model is for chats that are heard or spoken: OpenAI's refuse any other. Who names it knows
 * that; automatic routing leaves it alone.
 */
export function isForSound(model: string): boolean {
  return /^gpt-audio|^gpt-4o.*-audio|^voxtral/.test(bareName(model));
}

/** Of a model whose name says nothing. */
export const defaultCapabilities: ReadonlySet<Capability> = new Set(['chat']);
