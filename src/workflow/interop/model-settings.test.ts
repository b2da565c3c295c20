import { expect, test } from 'vitest';
import type { Draft } from './draft.ts';
import { importFlowise } from './flowise/import.ts';
import { importLangflow } from './langflow/import.ts';
import { importN8n } from './n8n/import.ts';
import { documentOf, hook } from './n8n/testing.ts';

const notesOf = ({ steps }: Draft) => steps.map(({ note }) => note).join('\n');
const dataOf = ({ steps }: Draft) => steps.find(({ node }) => node?.type === 'LLMNode')?.node?.data;

test('of a model of n8n the report names what an LLMNode has not', () => {
  const parameters = {
    prompt: { messages: [] },
    options: { maxTokens: 77, topP: 0.5, timeout: 9 },
  };
  const steps = { Hook: hook, Ask: { type: 'openAi', parameters } };
  const draft = importN8n(documentOf(steps, 'Hook > Ask'));
  expect(dataOf(draft)).toMatchObject({ maxTokens: 77 });
  expect(notesOf(draft)).toContain('left out: topP, timeout');
});

test('of a model that an agent of n8n asks too', () => {
  const model = {
    name: 'Model',
    type: '@n8n/n8n-nodes-langchain.lmChatOpenAi',
    typeVersion: 1,
    position: [0, 0],
    parameters: { options: { maxTokens: 77, presencePenalty: 0.5 } },
  };
  const drawn = documentOf({ Hook: hook, Ask: { type: 'agent' } }, 'Hook > Ask');
  const link = [[{ node: 'Ask', type: 'ai_languageModel', index: 0 }]];
  const draft = importN8n({
    ...drawn,
    nodes: [...(drawn['nodes'] as unknown[]), model],
    connections: { ...(drawn['connections'] as object), Model: { ai_languageModel: link } },
  });
  expect(dataOf(draft)).toMatchObject({ maxTokens: 77 });
  expect(notesOf(draft)).toContain('left out: presencePenalty');
});

test('of a model of Flowise too, and what is not set is not told of', () => {
  const config = {
    modelName: 'm',
    maxTokens: '77',
    topP: '0.5',
    frequencyPenalty: '',
    timeout: '',
  };
  const inputs = { llmModelConfig: config, llmUserMessage: 'Hi' };
  const draft = importFlowise({
    nodes: [{ id: 'llm_0', data: { id: 'llm_0', name: 'llmAgentflow', label: 'Ask', inputs } }],
    edges: [],
  });
  expect(dataOf(draft)).toMatchObject({ maxTokens: 77 });
  expect(draft.steps).toMatchObject([{ status: 'adapted', note: 'left out: topP' }]);
});

test('of a model of Langflow too', () => {
  const template = {
    model_name: { value: 'm' },
    max_tokens: { value: 77 },
    seed: { value: 1 },
    json_mode: { value: false },
  };
  const node = { display_name: 'Ask', template };
  const draft = importLangflow({
    data: { nodes: [{ id: 'm', data: { id: 'm', type: 'OpenAIModel', node } }], edges: [] },
  });
  expect(dataOf(draft)).toMatchObject({ maxTokens: 77 });
  expect(notesOf(draft)).toContain('left out: seed');
});
