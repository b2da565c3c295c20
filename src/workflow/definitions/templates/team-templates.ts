import { flowOf, node, patientNode } from './drawing.ts';
import type { Template } from './template.ts';

const opinion = (id: string, row: number, role: string) =>
  patientNode(id, 'LLMNode', {
    at: [1, row],
    data: {
      system: `You are ${role}. You answer in two sentences.`,
      prompt: '{{ inputs.question }}',
      maxTokens: 150,
    },
  });

/** Built-in workflows in which several work together: models, agents, people. */
export const teamTemplates: readonly Template[] = [
  {
    id: 'tpl_parallel_opinions',
    name: 'Several opinions, one answer',
    description: 'Asks an optimist, a sceptic and an engineer at once, and weighs what they say.',
    category: 'team',
    tags: ['parallel', 'merge', 'decision'],
    inputs: [{ name: 'question', description: 'what is asked', example: 'Should we rewrite it?' }],
    flow: flowOf(
      [
        node('ask', 'Parallel', { at: [0, 1], data: {} }),
        opinion('optimist', 0, 'an optimist'),
        opinion('sceptic', 1, 'a sceptic'),
        opinion('engineer', 2, 'an engineer who has to build it'),
        node('opinions', 'Merge', {
          at: [2, 1],
          data: {
            inputs: {
              optimist: '{{ optimist.text }}',
              sceptic: '{{ sceptic.text }}',
              engineer: '{{ engineer.text }}',
            },
          },
        }),
        patientNode('weigh', 'LLMNode', {
          at: [3, 1],
          data: {
            prompt:
              'Question: {{ inputs.question }}\n\nOpinions:\n{{ opinions.merged | json }}\n\nWeigh them and answer in three sentences.',
            maxTokens: 250,
          },
        }),
      ],
      'ask > optimist > opinions',
      'ask > sceptic > opinions',
      'ask > engineer > opinions',
      'opinions > weigh',
    ),
  },
  {
    id: 'tpl_approved_mail',
    name: 'Mail that a person approves',
    description:
      'Drafts a mail and waits until somebody has approved it; nothing runs and nothing is lost while it waits.',
    category: 'team',
    tags: ['approval', 'mail'],
    inputs: [
      { name: 'to', description: 'whom it is for', example: 'Ada' },
      { name: 'about', description: 'what it says', example: 'the meeting moves to Friday' },
    ],
    flow: flowOf(
      [
        patientNode('draft', 'LLMNode', {
          at: [0, 0],
          data: {
            prompt: 'Write a short, friendly mail to {{ inputs.to }}: {{ inputs.about }}',
            maxTokens: 250,
          },
        }),
        node('review', 'Approval', {
          at: [1, 0],
          data: { message: 'Send this mail to {{ inputs.to }}?\n\n{{ draft.text }}' },
        }),
        node('approved', 'Transform', {
          at: [2, 0],
          data: {
            input: { to: '{{ inputs.to }}', text: '{{ draft.text }}' },
            expression: '{ "isApproved": true, "to": to, "text": text }',
          },
        }),
        node('rejected', 'Transform', {
          at: [2, 1],
          data: {
            input: { comment: '{{ review.comment }}' },
            expression: '{ "isApproved": false, "comment": comment }',
          },
        }),
      ],
      'draft > review',
      'review:approved > approved',
      'review:rejected > rejected',
    ),
  },
  {
    id: 'tpl_agent_task',
    name: 'Give a task to an agent',
    description:
      'Has an agent of the mesh do something, the suite’s own `assistant-1` unless another is named.',
    category: 'team',
    tags: ['agent', 'mesh', 'starter'],
    inputs: [
      { name: 'task', description: 'what is to be done', example: 'Name three risks of it.' },
      { name: 'agent', description: 'the id of an agent', example: 'assistant-1' },
    ],
    flow: flowOf([
      node('work', 'AgentTask', {
        at: [0, 0],
        data: {
          agent: '{{ inputs.agent | default: "assistant-1" }}',
          type: 'chat',
          input: { prompt: '{{ inputs.task }}' },
        },
      }),
    ]),
  },
];
