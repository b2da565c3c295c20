import { flowOf, node, patientNode } from './drawing.ts';
import type { Template } from './template.ts';

/** Built-in workflows that look things up. */
export const knowledgeTemplates: readonly Template[] = [
  {
    id: 'tpl_answer_from_documents',
    name: 'Answer from documents',
    description:
      'Searches a collection for what belongs to a question, and answers from that alone, with its sources; without sources where the search fails or finds nothing.',
    category: 'knowledge',
    tags: ['search', 'rag', 'starter'],
    inputs: [
      { name: 'question', description: 'what is asked', example: 'How do I reset it?' },
      { name: 'collection', description: 'the name of a collection', example: 'manuals' },
    ],
    flow: flowOf(
      [
        patientNode('search', 'VectorSearch', {
          at: [0, 0],
          data: {
            query: '{{ inputs.question }}',
            collection: '{{ inputs.collection }}',
            limit: 5,
          },
          onError: 'continue',
        }),
        patientNode('answer', 'LLMNode', {
          at: [1, 0],
          data: {
            system:
              'You answer from the passages alone. When they do not hold the answer, you say so.',
            prompt:
              'Passages:\n{% for hit in search.results %}[{{ forloop.index }}] {{ hit.content }}\n{% endfor %}\nQuestion: {{ inputs.question }}',
            maxTokens: 400,
          },
        }),
        node('cite', 'Transform', {
          at: [2, 0],
          data: {
            input: { answer: '{{ answer.text }}', results: '{{ search.results | default: "" }}' },
            expression:
              '{ "answer": answer, "sources": [results[$exists(id)].{ "id": id, "score": $round(score, 3) }] }',
          },
        }),
      ],
      'search > answer > cite',
    ),
  },
  {
    id: 'tpl_compare_texts',
    name: 'Compare two texts by meaning',
    description: 'Says how alike two texts are in what they mean, from -1 to 1.',
    category: 'knowledge',
    tags: ['embeddings', 'similarity'],
    inputs: [
      { name: 'first', description: 'a text', example: 'The cat sleeps.' },
      { name: 'second', description: 'another text', example: 'A kitten is asleep.' },
    ],
    flow: flowOf(
      [
        patientNode('embed', 'Embeddings', {
          at: [0, 0],
          data: { texts: ['{{ inputs.first }}', '{{ inputs.second }}'] },
        }),
        node('compare', 'Transform', {
          at: [1, 0],
          data: {
            input: { a: '{{ embed.vectors[0] }}', b: '{{ embed.vectors[1] }}' },
            expression: [
              '( $a := a; $b := b;',
              '$dot := function($x, $y) { $sum($map($x, function($v, $i) { $v * $y[$i] })) };',
              '{ "similarity": $round($dot($a, $b) / $sqrt($dot($a, $a) * $dot($b, $b)), 4) } )',
            ].join(' '),
            timeout: 2_000,
          },
        }),
      ],
      'embed > compare',
    ),
  },
  {
    id: 'tpl_fetch_and_summarize',
    name: 'Fetch a page and summarize it',
    description: 'Reads an address and says in short what stands there.',
    category: 'knowledge',
    tags: ['http', 'summary'],
    inputs: [{ name: 'url', description: 'an address', example: 'https://example.com/' }],
    flow: flowOf(
      [
        patientNode('fetch', 'HttpRequest', {
          at: [0, 0],
          data: { method: 'GET', url: '{{ inputs.url }}', responseType: 'text' },
        }),
        patientNode('summarize', 'LLMNode', {
          at: [1, 0],
          data: {
            prompt:
              'Say in three sentences what this page is about.\n\n{{ fetch.body | strip_html | truncate: 6000 }}',
            maxTokens: 300,
          },
        }),
      ],
      'fetch > summarize',
    ),
  },
  {
    id: 'tpl_scheduled_report',
    name: 'Report on several topics',
    description:
      'Writes a section for every topic and joins them to one report in Markdown; made to be started by a schedule, such as every working day at seven.',
    category: 'knowledge',
    tags: ['report', 'schedule', 'loop'],
    inputs: [
      { name: 'topics', description: 'a list of topics', example: ['Sales', 'Support'] },
      { name: 'facts', description: 'what is known', example: 'Sales rose by 4 %.' },
    ],
    flow: flowOf(
      [
        node('each', 'Loop', {
          at: [0, 0],
          data: { items: '{{ inputs.topics }}', concurrency: 2 },
        }),
        patientNode('write', 'LLMNode', {
          at: [1, 1],
          data: {
            prompt:
              'Write two sentences on “{{ loop.item }}” from these facts alone:\n\n{{ inputs.facts }}',
            maxTokens: 200,
          },
        }),
        node('section', 'Transform', {
          at: [2, 1],
          data: {
            input: { title: '{{ loop.item }}', text: '{{ write.text }}' },
            expression: '"## " & title & "\\n\\n" & text',
          },
        }),
        node('report', 'Transform', {
          at: [1, 0],
          data: {
            input: '{{ each.results }}',
            expression: '{ "markdown": "# Report\\n\\n" & $join([$.result], "\\n\\n") }',
          },
        }),
      ],
      'each:body > write > section > each',
      'each:done > report',
    ),
  },
];
