import { basename } from 'node:path';
import {
  GeneralChatWrapper,
  resolveChatWrapper,
  type ChatWrapper,
  type GgufFileInfo,
} from 'node-llama-cpp';
import type { Vocabulary } from '../llama/vocabulary.ts';

/** A model's file, as far as its chat format depends on it. */
export interface FormattedFile {
  readonly path: string;
  readonly info: GgufFileInfo;
  readonly vocabulary: Vocabulary;
}

/** One of these stands in every chat of each format that the binding knows by heart. */
export const knownMarks: readonly string[] = [
  '<|im_start|>',
  '<|start_header_id|>',
  '[INST]',
  '<start_of_turn>',
  '<|turn>',
  '<|start|>',
  '<｜User｜>',
  '<|from|>',
  '<seed:bos>',
  '###',
  'User:',
];

/**
 * The chat format of a model by its own template; a plain one where it has none. Of the formats that the binding
 * knows by heart it takes one that says the same as the template, for it knows how the models of that format call
 * tools. To find it the template is rendered more than a hundred times; one that has no mark of theirs is spared
 * that. Takes as long as a foreign program likes.
 */
export function readChatFormat({ info, vocabulary, path }: FormattedFile): ChatWrapper {
  const template = info.metadata.tokenizer?.chat_template ?? '';
  const isForeign = template !== '' && !knownMarks.some((mark) => template.includes(mark));
  const known = resolveChatWrapper({
    fileInfo: info,
    filename: basename(path),
    tokenizer: vocabulary.tokenizer,
    bosString: vocabulary.bos?.text ?? null,
    warningLogs: false,
    ...(isForeign && { type: 'jinjaTemplate' as const }),
  });
  return known ?? new GeneralChatWrapper();
}
