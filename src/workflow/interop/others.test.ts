import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Draft } from './draft.ts';
import type { Fields } from './fields.ts';
import { importFlowise } from './flowise/import.ts';
import { importLangflow } from './langflow/import.ts';
import { mendDraft } from './mending.ts';
import { openCompiler } from './testing-components.ts';

const compiler = openCompiler();

function finish(draft: Draft) {
  const made = mendDraft(draft, (flow) => compiler.read(flow).faults);
  const { flow } = compiler.read(made.flow);
  if (!flow) throw new Error('the flow does not hold');
  return {
    ...made,
    node: (id: string) => flow.nodes.find((one) => one.id === id),
    status: Object.fromEntries(made.steps.map(({ source, status }) => [source, status])),
    edges: flow.edges.map(
      ({ source, target, sourceHandle }) =>
        `${source}${sourceHandle === undefined ? '' : `:${sourceHandle}`} > ${target}`,
    ),
  };
}

function fixture(name: string): Fields {
  const file = new URL(`fixtures/flowise-${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as Fields;
}

describe('Flowise', () => {
  test('a person in the loop is an Approval; tools and ways back are said to be lost', () => {
    const { node, status, edges } = finish(importFlowise(fixture('human-in-the-loop')));
    expect(status).toEqual({
      Start: 'exact',
      'Email Reply Agent': 'adapted',
      'Human Input 0': 'exact',
      'Loop back to Agent': 'unsupported',
      'Send Email': 'unsupported',
      'Email Subject & Body': 'adapted',
    });
    expect(node('human_input_0')).toMatchObject({
      type: 'Approval',
      data: { message: 'Are you sure you want to proceed?' },
    });
    expect(edges).toContain('human_input_0:approved > email_subject_body');
    expect(node('email_subject_body')?.data['responseFormat']).toMatchObject({
      required: ['subject', 'body'],
    });
  });

  test('an iteration is a Loop around the steps that it holds', () => {
    const { node, edges } = finish(importFlowise(fixture('iterations')));
    expect(node('iteration_0')).toMatchObject({
      type: 'Loop',
      data: { items: [{ item: 'abc' }, { item: 'def' }] },
    });
    const body = edges.find((edge) => edge.startsWith('iteration_0:body'));
    expect(body).toBeDefined();
    expect(edges.filter((edge) => edge.endsWith('> iteration_0'))).toHaveLength(1);
    const texts = JSON.stringify(node(body?.split(' > ')[1] ?? ''));
    expect(texts).toContain('{{ loop.item.item }}');
  });

  test('a chatflow of before says how little of it can be taken over', () => {
    const { warnings, steps } = finish(
      importFlowise({
        nodes: [{ id: 'chatOpenAI_0', data: { name: 'chatOpenAI', inputs: {} } }],
        edges: [],
      }),
    );
    expect(warnings.join()).toContain('AgentFlow 2');
    expect(steps).toMatchObject([{ status: 'unsupported' }]);
  });
});

describe('Langflow', () => {
  const field = (value: unknown) => ({ value });
  const node = (id: string, type: string, template: Fields) => ({
    id,
    data: { id, type, node: { display_name: type, template } },
  });
  const edge = (source: string, target: string, fieldName: string) => ({
    source,
    target,
    data: { targetHandle: { fieldName, id: target } },
  });
  const document = (...extra: readonly unknown[]) => ({
    name: 'Prompting',
    data: {
      nodes: [
        node('in', 'ChatInput', {}),
        node('p', 'Prompt', {
          template: field('Answer as {who}: {question} {{x}} {% raw'),
          who: field('a pirate'),
          question: field(''),
        }),
        node('m', 'OpenAIModel', {
          code: field('import os; os.system("x")'),
          model_name: field('gpt-4o-mini'),
          temperature: field(0.1),
          api_key: field('sk-secret'),
        }),
        node('out', 'ChatOutput', {}),
        ...extra,
      ],
      edges: [
        edge('in', 'p', 'question'),
        edge('p', 'm', 'system_message'),
        edge('in', 'm', 'input_value'),
        edge('m', 'out', 'input_value'),
        edge('m', 'py', 'data'),
      ],
    },
  });

  test('prompts are put together, and a model is asked', () => {
    const made = finish(importLangflow(document()));
    expect(made.node('open_aimodel')?.data).toEqual({
      prompt: '{{ inputs.message }}',
      system: 'Answer as a pirate: {{ inputs.message }}{% raw %} {x} {% raw{% endraw %}',
      model: 'gpt-4o-mini',
      temperature: 0.1,
    });
    expect(made.steps.every(({ status }) => status !== 'unsupported')).toBe(true);
  });

  test('Python is neither run nor kept, and no secret is', () => {
    const python = node('py', 'CustomComponent', {
      code: field('import os; os.system("x")'),
      data: field('x'),
      token: { value: 'hidden', password: true },
    });
    const made = finish(importLangflow(document(python)));
    expect(made.status['CustomComponent']).toBe('unsupported');
    expect(JSON.stringify(made.flow)).not.toMatch(/os\.system|sk-secret|hidden/);
    expect(made.edges).toEqual(['open_aimodel > custom_component']);
  });
});
