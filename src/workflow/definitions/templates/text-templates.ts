import { flowOf, node, patientNode } from './drawing.ts';
import type { Template } from './template.ts';

/** Built-in workflows that write and read texts. */
export const textTemplates: readonly Template[] = [
  {
    id: 'tpl_summarize_text',
    name: 'Summarize a text',
    description: 'Says in a few sentences what a text says.',
    category: 'text',
    tags: ['summary', 'starter'],
    inputs: [
      { name: 'text', description: 'what is to be summarized', example: 'A long report …' },
      { name: 'sentences', description: 'how many sentences, 3 when absent', example: 3 },
    ],
    flow: flowOf([
      patientNode('summarize', 'LLMNode', {
        at: [0, 0],
        data: {
          system: 'You summarize texts. You add nothing that is not in the text.',
          prompt:
            'Summarize this text in at most {{ inputs.sentences | default: 3 }} sentences.\n\n{{ inputs.text }}',
          maxTokens: 300,
        },
      }),
    ]),
  },
  {
    id: 'tpl_classify_and_route',
    name: 'Classify a message and route it',
    description:
      'Has a model say whether a message is a complaint, a question or something else, and goes on along that way.',
    category: 'text',
    tags: ['classification', 'routing', 'support'],
    inputs: [{ name: 'message', description: 'what somebody wrote', example: 'It is broken!' }],
    flow: flowOf(
      [
        patientNode('classify', 'LLMNode', {
          at: [0, 1],
          data: {
            system: 'You answer with one word: complaint, question or other.',
            prompt: 'What is this message?\n\n{{ inputs.message }}',
            temperature: 0,
            maxTokens: 10,
          },
        }),
        node('route', 'Switch', {
          at: [1, 1],
          data: {
            cases: [
              { when: 'classify.text.contains("omplaint")', handle: 'complaint' },
              { when: 'classify.text.contains("uestion")', handle: 'question' },
            ],
            default: 'other',
          },
        }),
        patientNode('apologize', 'LLMNode', {
          at: [2, 0],
          data: {
            prompt:
              'Write two friendly sentences in answer to this complaint:\n\n{{ inputs.message }}',
            maxTokens: 150,
          },
        }),
        patientNode('answer', 'LLMNode', {
          at: [2, 1],
          data: { prompt: 'Answer in short:\n\n{{ inputs.message }}', maxTokens: 200 },
        }),
        node('file', 'Transform', {
          at: [2, 2],
          data: {
            input: { message: '{{ inputs.message }}' },
            expression: '{ "filed": true, "message": message }',
          },
        }),
      ],
      'classify > route',
      'route:complaint > apologize',
      'route:question > answer',
      'route:other > file',
    ),
  },
  {
    id: 'tpl_extract_json',
    name: 'Extract fields from a text',
    description: 'Reads the fields that are asked for out of a text, as JSON.',
    category: 'text',
    tags: ['extraction', 'json', 'starter'],
    inputs: [
      { name: 'text', description: 'where the facts stand', example: 'Ada Lovelace, born 1815' },
      { name: 'fields', description: 'their names, with commas', example: 'name, year' },
    ],
    flow: flowOf(
      [
        patientNode('extract', 'LLMNode', {
          at: [0, 0],
          data: {
            system: 'You answer with one JSON object and nothing else.',
            prompt:
              'Give an object with the fields {{ inputs.fields | default: "title, summary" }} of this text; null where it does not say.\n\n{{ inputs.text }}',
            temperature: 0,
            maxTokens: 400,
          },
        }),
        node('read', 'Transform', {
          at: [1, 0],
          data: {
            input: '{{ extract.text }}',
            expression:
              '( $found := $match($, /\\{[^{}]*\\}/); { "json": $count($found) > 0 ? $found[0].match : null, "text": $ } )',
          },
        }),
      ],
      'extract > read',
    ),
  },
  {
    id: 'tpl_translate_list',
    name: 'Translate a list',
    description: 'Translates every text of a list, four at once, in their order.',
    category: 'text',
    tags: ['translation', 'loop', 'batch'],
    inputs: [
      { name: 'texts', description: 'a list of texts', example: ['Good morning', 'Thank you'] },
      { name: 'language', description: 'the language, English when absent', example: 'French' },
    ],
    flow: flowOf(
      [
        node('each', 'Loop', {
          at: [0, 0],
          data: { items: '{{ inputs.texts }}', concurrency: 4 },
        }),
        patientNode('translate', 'LLMNode', {
          at: [1, 1],
          data: {
            system: 'You translate. You answer with the translation and nothing else.',
            prompt: 'Translate to {{ inputs.language | default: "English" }}:\n\n{{ loop.item }}',
            temperature: 0,
            maxTokens: 400,
          },
        }),
        node('collect', 'Transform', {
          at: [1, 0],
          data: { input: '{{ each.results }}', expression: '[$.text]' },
        }),
      ],
      'each:body > translate > each',
      'each:done > collect',
    ),
  },
  {
    id: 'tpl_improve_draft',
    name: 'Write, criticize, improve',
    description:
      'Writes a draft, has it criticized, and writes it again with the criticism in mind.',
    category: 'text',
    tags: ['writing', 'chain'],
    inputs: [{ name: 'topic', description: 'what to write about', example: 'Why tests help' }],
    flow: flowOf(
      [
        patientNode('draft', 'LLMNode', {
          at: [0, 0],
          data: { prompt: 'Write a short paragraph about: {{ inputs.topic }}', maxTokens: 300 },
        }),
        patientNode('criticize', 'LLMNode', {
          at: [1, 0],
          data: {
            prompt: 'Name up to three weaknesses of this paragraph.\n\n{{ draft.text }}',
            maxTokens: 200,
          },
        }),
        patientNode('improve', 'LLMNode', {
          at: [2, 0],
          data: {
            prompt:
              'Write the paragraph again without these weaknesses.\n\nParagraph:\n{{ draft.text }}\n\nWeaknesses:\n{{ criticize.text }}',
            maxTokens: 300,
          },
        }),
      ],
      'draft > criticize > improve',
    ),
  },
];
