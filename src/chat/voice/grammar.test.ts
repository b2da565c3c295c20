import { describe, expect, test } from 'vitest';
import { readAgreement, readCommand } from './grammar.ts';

describe('what is no command stays a question', () => {
  test.each([
    'What is the capital of France?',
    'Tell me how to cook rice',
    'Tell us to which party she belongs',
    'Write a poem about a conversation',
    'Send an email to Bob',
    'How do I delete a file?',
    'Open the pod bay doors',
    'Search the web for restaurants in Rome',
    'Find out how far the moon is',
    'Stop words are what?',
    'Read the room and give me advice',
    'Lösche die Unterhaltung Einkauf',
    'Is it raining?',
    '',
    '?!',
  ])('%s', (text) => {
    expect(readCommand(text)).toBeUndefined();
  });
});

describe('commands', () => {
  test.each([
    ['New conversation', { action: 'new_conversation' }],
    [
      'start a new chat called Shopping list.',
      { action: 'new_conversation', title: 'Shopping list' },
    ],
    [
      'Hey Ennead, please create a conversation named "Taxes 2026"!',
      { action: 'new_conversation', title: 'Taxes 2026' },
    ],
    ['Open conversation Taxes', { action: 'open_conversation', name: 'Taxes' }],
    ['could you please switch to the taxes chat', { action: 'open_conversation', name: 'taxes' }],
    [
      'rename this conversation to Holiday plans',
      { action: 'rename_conversation', title: 'Holiday plans' },
    ],
    [
      'Rename conversation Road to Rome to Italy',
      { action: 'rename_conversation', name: 'Road', title: 'Rome to Italy' },
    ],
    [
      'rename the taxes chat to Money',
      { action: 'rename_conversation', name: 'taxes', title: 'Money' },
    ],
    ['call this chat Ideas', { action: 'rename_conversation', title: 'Ideas' }],
    ['Delete this conversation', { action: 'delete_conversation' }],
    [
      'delete the conversation called Old stuff please',
      { action: 'delete_conversation', name: 'Old stuff' },
    ],
    ['Remove my shopping thread', { action: 'delete_conversation', name: 'shopping' }],
    ['list my conversations', { action: 'list_conversations' }],
    ['What chats do I have?', { action: 'list_conversations' }],
    [
      'Search my conversations for tax returns',
      { action: 'search_conversations', query: 'tax returns' },
    ],
    ['find the recipe in all my chats', { action: 'search_conversations', query: 'recipe' }],
    ['search for tomatoes', { action: 'search_conversations', query: 'tomatoes' }],
    ['Search tomato soup, please', { action: 'search_conversations', query: 'tomato soup' }],
    ['look for the tax form', { action: 'search_conversations', query: 'tax form' }],
    ['find tomatoes', { action: 'search_conversations', query: 'tomatoes', isGuess: true }],
    ['What did we say about Rome?', { action: 'search_conversations', query: 'Rome' }],
    ['What agents are there?', { action: 'list_agents' }],
    ['list the agents', { action: 'list_agents' }],
    ['which models can I use', { action: 'list_models' }],
    ['which models do we have', { action: 'list_models' }],
    ['show me all tools', { action: 'list_tools' }],
    ['Status of agent assistant one', { action: 'agent_status', name: 'assistant one' }],
    [
      "what's the status of assistant-1?",
      { action: 'agent_status', name: 'assistant-1', isGuess: true },
    ],
    ['How is agent Smith doing?', { action: 'agent_status', name: 'Smith' }],
    [
      'Ask the agent assistant-1 to summarise my day',
      { action: 'ask_agent', name: 'assistant-1', task: 'summarise my day' },
    ],
    [
      'Can you ask Bob to write to Alice',
      { action: 'ask_agent', name: 'Bob', task: 'write to Alice' },
    ],
    ['how far is it', { action: 'task_status' }],
    ['Is it done yet?', { action: 'task_status' }],
    ['what is the status', { action: 'task_status' }],
    ['Stop', { action: 'stop' }],
    ['Stop talking now', { action: 'stop' }],
    ['never mind', { action: 'stop' }],
    ['read the last answer', { action: 'read_answer' }],
    ['Repeat that again', { action: 'read_answer' }],
    ['What did you say?', { action: 'read_answer' }],
    ['Send the message I will be late', { action: 'send_message', text: 'I will be late' }],
    ['say hello world', { action: 'send_message', text: 'hello world' }],
    ['Help', { action: 'help' }],
    ['what can I say?', { action: 'help' }],
  ])('%s', (text, action) => {
    expect(readCommand(text)).toEqual(action);
  });

  test('long texts are something to say, and cost little to find so', () => {
    const began = performance.now();
    for (const text of ['ask a to '.repeat(400), `${'.'.repeat(9_000)}x`, 'x'.repeat(10_000)]) {
      expect(readCommand(text)).toBeUndefined();
      expect(readAgreement(text)).toBeUndefined();
    }
    expect(performance.now() - began).toBeLessThan(200);
  });
});

describe('agreement', () => {
  test.each([
    'yes',
    'Yes please!',
    'OK, do it',
    'Sure thanks',
    'yeah',
    'okay',
    'Yes, delete it',
    'confirm',
  ])('%s agrees', (text) => {
    expect(readAgreement(text)).toBe(true);
  });
  test.each(['no', 'No, thanks.', "don't do that", 'never mind', 'cancel it', 'stop'])(
    '%s does not',
    (text) => {
      expect(readAgreement(text)).toBe(false);
    },
  );
  test.each(['yes minister is a good show', 'no idea', 'okay google', 'what?'])(
    '%s is no answer',
    (text) => {
      expect(readAgreement(text)).toBeUndefined();
    },
  );
});
