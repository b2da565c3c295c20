import { describe, expect, it } from 'vitest';
import { Fault } from '../../../kit/errors.ts';
import { ollamaDialect } from '../../dialects/ollama.ts';
import { openAiDialect } from '../../dialects/openai.ts';
import { responsesFace } from '../responses.ts';

function paramOf(body: Record<string, unknown>): unknown {
  try {
    responsesFace.read(body);
  } catch (error) {
    if (error instanceof Fault && error.code === 'invalid') return error.detail['param'];
    throw error;
  }
  return undefined;
}

const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' };

describe('a response request', () => {
  it.each([
    ['input', {}],
    ['input', { input: 7 }],
    ['input', { input: [] }],
    ['input[0]', { input: ['Hi'] }],
    ['input[0].type', { input: [{}] }],
    ['input[0].type', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
    ['input[0].type', { input: [{ type: 'web_search_call', id: 'ws_1' }] }],
    ['input[0].role', { input: [{ role: 'robot', content: 'Hi' }] }],
    ['input[0].content', { input: [{ role: 'user' }] }],
    ['input[0].content[0].type', { input: [{ role: 'user', content: [{ type: 'input_video' }] }] }],
    ['input[0].content[0].text', { input: [{ role: 'user', content: [{ type: 'input_text' }] }] }],
    [
      'input[0].content[0].image_url',
      { input: [{ role: 'user', content: [{ type: 'input_image' }] }] },
    ],
    [
      'input[0].content[0].file_id',
      { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }] },
    ],
    [
      'input[0].content[0].file_id',
      { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'f' }] }] },
    ],
    [
      'input[0].content[0].type',
      { input: [{ role: 'system', content: [{ type: 'input_image', image_url: 'https://x' }] }] },
    ],
    [
      'input[0].content[0].type',
      { input: [{ role: 'assistant', content: [{ type: 'input_image' }] }] },
    ],
    ['input[0].call_id', { input: [{ ...call, call_id: undefined }] }],
    ['input[0].arguments', { input: [{ ...call, arguments: {} }] }],
    ['input[0].output', { input: [{ type: 'function_call_output', call_id: 'c' }] }],
    ['input[0].summary', { input: [{ type: 'reasoning', summary: 'x' }] }],
  ])('is refused with the place %s', (param, body) => {
    expect(paramOf(body)).toBe(param);
  });

  it.each([
    ['model', 7],
    ['instructions', 7],
    ['previous_response_id', 'resp_1'],
    ['conversation', 'conv_1'],
    ['background', true],
    ['prompt', { id: 'pmpt_1' }],
    ['top_logprobs', 3],
    ['truncation', 'auto'],
    ['store', 'yes'],
    ['stream', 1],
    ['stream_options', 'x'],
    ['stream_options.include_obfuscation', { include_obfuscation: 5 }],
    ['tools', {}],
    ['tools[0].type', [{ type: 'web_search' }]],
    ['tools[0].type', [{ type: 'mcp', server_label: 'x' }]],
    ['tools[0].name', [{ type: 'function' }]],
    ['tool_choice', 'any'],
    ['tool_choice.type', { type: 'web_search' }],
    ['tool_choice.name', { type: 'function' }],
    ['text', 'x'],
    ['text.format.type', { format: { type: 'xml' } }],
    ['text.format.name', { format: { type: 'json_schema' } }],
    ['reasoning', 'high'],
    ['reasoning.effort', { effort: 'huge' }],
    ['max_output_tokens', 0],
    ['temperature', 3],
    ['top_p', 2],
    ['include[0]', ['message.output_text.logprobs']],
  ])('is refused with the field %s at fault in %o', (param, value) => {
    expect(paramOf({ input: 'Hi', [param.replace(/[.[].*/, '')]: value })).toBe(param);
  });

  it.each([
    [{ type: 'input_image', image_url: 'https://example.org/a.png' }, 'image_url'],
    [{ type: 'input_file', file_data: 'data:application/pdf;base64,JV' }, 'file_data'],
    [{ type: 'input_file', file_url: 'https://example.org/a.pdf' }, 'file_url'],
  ])('is refused by the place of a part that Ollama does not take: %o', (part, name) => {
    const content = [{ type: 'input_text', text: 'x' }, part];
    const request = responsesFace.read({ model: 'm', input: [{ role: 'user', content }] });
    expect(ollamaDialect.unsupported(request)).toBe(`input[0].content[1].${name}`);
  });

  it('needs an input alone, whether it is to be stored or not', () => {
    for (const store of [true, false, undefined, null]) {
      expect(responsesFace.read({ input: 'Hi', store })).toMatchObject({
        model: 'auto-route',
        messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
        isStream: false,
        extras: {},
      });
    }
  });

  it('becomes a chat completion with everything in it', () => {
    const parameters = { type: 'object', properties: {} };
    const body = {
      model: 'm',
      instructions: 'Be brief.',
      input: [
        { role: 'developer', content: 'Be kind.' },
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_text', text: 'What is it?' },
            { type: 'input_image', image_url: 'https://example.org/a.png', detail: 'low' },
            { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JV' },
          ],
        },
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA' },
        {
          type: 'message',
          id: 'msg_1',
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'A cat?', annotations: [] }],
        },
        call,
        { type: 'function_call_output', call_id: 'c', output: 'yes' },
        {
          type: 'function_call_output',
          call_id: 'd',
          output: [{ type: 'input_text', text: 'no' }],
        },
      ],
      tools: [{ type: 'function', name: 'f', description: 'F.', parameters, strict: false }],
      tool_choice: { type: 'function', name: 'f' },
      parallel_tool_calls: false,
      max_output_tokens: 50,
      temperature: 1,
      top_p: 0.5,
      text: {
        format: { type: 'json_schema', name: 'a', schema: parameters, strict: true },
        verbosity: 'low',
      },
      reasoning: { effort: 'high', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
      metadata: { a: 'b' },
      service_tier: 'flex',
      prompt_cache_key: 'k',
      user: 'u',
      stream: true,
    };
    expect(openAiDialect.writeChat(responsesFace.read(body), 'm').body).toEqual({
      model: 'm',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'system', content: 'Be kind.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: 'image_url', image_url: { url: 'https://example.org/a.png', detail: 'low' } },
            {
              type: 'file',
              file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JV' },
            },
          ],
        },
        {
          role: 'assistant',
          content: 'A cat?',
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: 'yes' },
        { role: 'tool', tool_call_id: 'd', content: 'no' },
      ],
      tools: [
        { type: 'function', function: { name: 'f', description: 'F.', parameters, strict: false } },
      ],
      tool_choice: { type: 'function', function: { name: 'f' } },
      parallel_tool_calls: false,
      max_tokens: 50,
      temperature: 1,
      top_p: 0.5,
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'a', schema: parameters, strict: true },
      },
      reasoning_effort: 'high',
      verbosity: 'low',
      service_tier: 'flex',
      prompt_cache_key: 'k',
      user: 'u',
      stream: true,
      stream_options: { include_usage: true },
    });
  });
});
